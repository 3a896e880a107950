package sse

import "fmt"

// MaxHeld is the size in bytes that the open parts of one reply may have together: a few of
// the biggest payloads, far more than any model writes.
const MaxHeld = 4 * MaxPayload

// PerPiece is about what a piece of a part costs that decoders keep as a thing of its own,
// in bytes.
const PerPiece = 256

// perPart is about what a part costs that has begun and says nothing yet, in bytes.
const perPart = 512

// Held counts what a decoder holds of the parts that are open. The zero Held is ready for use.
type Held struct {
	Most int // bytes; MaxHeld if 0
	n    int
}

// A Size is what one open part holds, in bytes.
type Size int

// Begin counts a part that begins with n bytes.
func (h *Held) Begin(s *Size, n int) { h.Grow(s, n+perPart) }

// Grow counts n bytes more of a part.
func (h *Held) Grow(s *Size, n int) {
	*s += Size(n)
	h.n += n
}

// End says that a part is held no more.
func (h *Held) End(s *Size) {
	h.n -= int(*s)
	*s = 0
}

// Check returns an error if too much is held.
func (h *Held) Check() error {
	most := h.Most
	if most == 0 {
		most = MaxHeld
	}
	if h.n > most {
		return fmt.Errorf("sse: open parts, want at most %d bytes, got %d", most, h.n)
	}
	return nil
}
