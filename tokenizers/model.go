package tokenizers

import (
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// A model is a byte-level BPE vocabulary. It never changes once built.
type model struct {
	tokens  map[string]entry  // by bytes
	names   map[uint32]string // by id: bytes; those of tokens outside the byte alphabet are their text
	single  [256]uint32       // by byte; none where there is no such token
	pairs   pairs
	longest int // bytes of the longest token
}

// entry is a token. It is whole if merging its bytes gives it back, or if the file says to look pieces up first
// (ignore_merges).
type entry struct {
	id    uint32
	whole bool
}

const none = ^uint32(0)

// pairs finds what two neighbours merge into: open addressing, linear probing, at most four fifths full.
type pairs struct {
	slots []pairSlot
}

// pairSlot is a pair's two ids and its offer, 0 in a free slot.
type pairSlot struct{ key, offer uint64 }

// An offer is what joining two tokens would give: (rank + 1) << 32 | id. Lower ranks merge first.
type offer = uint64

// noOffer is above every offer.
const noOffer = ^offer(0)

func newPairs(n int) pairs {
	return pairs{slots: make([]pairSlot, 1<<bits.Len(uint(n+n/4+1)))}
}

func pairKey(left, right uint32) uint64 { return uint64(left)<<32 | uint64(right) }

// slot returns the pair's slot, or the free one where it would go.
func (p pairs) slot(key uint64) *pairSlot {
	const mixer = 0x9E3779B97F4A7C15 // 2^64 / golden ratio (Knuth, TAOCP 3, 6.4)
	high, low := bits.Mul64(key, mixer)
	mask := uint64(len(p.slots) - 1)
	for at := high ^ low; ; at++ {
		s := &p.slots[at&mask]
		if s.offer == 0 || s.key == key {
			return s
		}
	}
}

// join returns the offer of two neighbours, or noOffer.
func (p pairs) join(left, right uint32) offer {
	if s := p.slot(pairKey(left, right)); s.offer != 0 {
		return s.offer
	}
	return noOffer
}

// newModel builds the model that the file describes.
func newModel(j *modelJSON) (*model, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	m := &model{tokens: make(map[string]entry, len(j.Vocab)), names: make(map[uint32]string, len(j.Vocab))}
	for i := range m.single {
		m.single[i] = none
	}
	alphabet := byteAlphabet()
	var buf []byte
	for text, id := range j.Vocab {
		if id == none {
			return nil, invalid("model.vocab", "ids below 4294967295", fmt.Sprintf("it for %q", text))
		}
		var ok bool
		if buf, ok = alphabet.appendBytes(buf[:0], text); !ok {
			m.names[id] = text
			continue
		}
		name := string(buf)
		if other, twice := m.names[id]; twice {
			return nil, invalid("model.vocab", "each id once", fmt.Sprintf("id %d for %q and %q", id, other, name))
		}
		m.tokens[name] = entry{id, j.IgnoreMerges}
		m.names[id] = name
		m.longest = max(m.longest, len(name))
		if len(name) == 1 {
			m.single[name[0]] = id
		}
	}
	for b, id := range m.single {
		if id == none && inUTF8(byte(b)) {
			if what := j.unknown(); what != "" {
				return nil, unsupported("model."+what, "none where a byte has no token of its own", fmt.Sprintf("one, and no token for 0x%02X", b))
			}
			break
		}
	}
	if err := m.readMerges(j); err != nil {
		return nil, err
	}
	m.markWhole(j.IgnoreMerges)
	return m, nil
}

// check refuses what newModel cannot do.
func (j *modelJSON) check() error {
	switch {
	case j.Type != "BPE" && (j.Type != "" || !given(j.Merges)):
		return unsupported("model.type", `"BPE"`, fmt.Sprintf("%q", j.Type))
	case given(j.Dropout) && string(j.Dropout) != "0" && string(j.Dropout) != "0.0":
		return unsupported("model.dropout", "none", string(j.Dropout))
	case j.Prefix != "":
		return unsupported("model.continuing_subword_prefix", "none", fmt.Sprintf("%q", j.Prefix))
	case j.Suffix != "":
		return unsupported("model.end_of_word_suffix", "none", fmt.Sprintf("%q", j.Suffix))
	}
	return nil
}

// unknown names the member by which the file has tokens for what is not in its vocabulary; empty if it has none: such
// a byte then gives no token, and its neighbours are each other's.
func (j *modelJSON) unknown() string {
	switch {
	case j.ByteFallback:
		return "byte_fallback"
	case given(j.Unknown):
		return "unk_token"
	}
	return ""
}

// readMerges fills the table of pairs; a merge's rank is its place in the list. Where a pair is listed twice the later
// place holds, as in the original.
func (m *model) readMerges(j *modelJSON) error {
	merges, err := mergeList(j.Merges)
	if err != nil {
		return err
	}
	m.pairs = newPairs(len(merges))
	for rank, pair := range merges {
		left, okLeft := j.Vocab[pair[0]]
		right, okRight := j.Vocab[pair[1]]
		id, ok := j.Vocab[pair[0]+pair[1]]
		if !ok || !okLeft || !okRight {
			return invalid(mergePath(rank), "tokens of model.vocab", fmt.Sprintf("%q and %q", pair[0], pair[1]))
		}
		s := m.pairs.slot(pairKey(left, right))
		*s = pairSlot{pairKey(left, right), offer(rank+1)<<32 | offer(id)}
	}
	return nil
}

// markWhole finds the tokens that merging their own bytes gives back, so that a piece that is such a token needs no
// merging.
func (m *model) markWhole(all bool) {
	if all {
		return
	}
	var s scratch
	for name, e := range m.tokens {
		if ids := m.merge(&s, []byte(name)); len(ids) == 1 && ids[0] == e.id {
			m.tokens[name] = entry{e.id, true}
		}
	}
}

// alphabet is the characters that stand for bytes in a byte-level vocabulary: the printable ones of Latin-1 for
// themselves, U+0100 and up for the others in their order (openai/gpt-2, encoder.py, bytes_to_unicode).
type alphabet map[rune]byte

func byteAlphabet() alphabet {
	a := make(alphabet, 256)
	next := rune(0x100)
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			a[rune(b)] = byte(b)
			continue
		}
		a[next] = byte(b)
		next++
	}
	return a
}

// appendBytes appends the bytes that a token's characters stand for; false if one stands for none, or the text is empty.
func (a alphabet) appendBytes(dst []byte, text string) ([]byte, bool) {
	for _, r := range text {
		b, ok := a[r]
		if !ok {
			return dst, false
		}
		dst = append(dst, b)
	}
	return dst, text != "" && utf8.ValidString(text)
}

// inUTF8 reports whether a byte occurs in valid UTF-8 (RFC 3629, section 1).
func inUTF8(b byte) bool { return b < 0xC0 || b >= 0xC2 && b <= 0xF4 }
