package llm

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// A Digest names what a message says to a model. See the package comment.
type Digest [16]byte

// String returns d in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// DigestOf returns the digest of m.
func DigestOf(m Message) Digest {
	w := digester{h: sha256.New()}
	w.num(int(m.Role))
	counted := 0
	for _, p := range m.Parts {
		if _, skip := p.(Thinking); !skip {
			counted++
		}
	}
	w.num(counted)
	for _, p := range m.Parts {
		w.part(p)
	}
	return w.sum()
}

// Chain returns the digest of the prefix that ends with next and is otherwise
// named by prev. The empty prefix is the zero digest.
func Chain(prev, next Digest) Digest {
	var both [32]byte
	copy(both[:16], prev[:])
	copy(both[16:], next[:])
	full := sha256.Sum256(both[:])
	return Digest(full[:16])
}

// A digester hashes what it is told in blocks: a text need not be copied as a whole for
// it, and most of what there is to tell is a few bytes.
type digester struct {
	h    hash.Hash
	buf  [512]byte
	used int // of buf
}

func (w *digester) num(n int) {
	if len(w.buf)-w.used < binary.MaxVarintLen64 {
		w.flush()
	}
	w.used += binary.PutUvarint(w.buf[w.used:], uint64(n))
}

func (w *digester) text(s string) {
	w.num(len(s))
	for len(s) > 0 {
		if w.used == len(w.buf) {
			w.flush()
		}
		n := copy(w.buf[w.used:], s)
		w.used, s = w.used+n, s[n:]
	}
}

func (w *digester) raw(b []byte) {
	w.num(len(b))
	w.flush()
	w.h.Write(b)
}

func (w *digester) flush() {
	w.h.Write(w.buf[:w.used])
	w.used = 0
}

func (w *digester) part(p Part) {
	switch p := p.(type) {
	case Text:
		w.text("t")
		w.text(p.Text)
	case ToolCall:
		w.text("c")
		w.text(p.CallID)
		w.text(p.Name)
		w.text(p.Args)
	case ToolResult:
		w.text("r")
		w.text(p.CallID)
		if p.IsError {
			w.text("1")
		} else {
			w.text("0")
		}
		w.num(len(p.Content))
		for _, c := range p.Content {
			w.part(c)
		}
	case Media:
		w.text("m")
		w.text(p.Type)
		w.raw(p.Data)
	case Stub:
		w.text("s")
		w.text(string(p.Ref))
		w.text(p.Text)
	case Opaque:
		w.text("o")
		w.text(p.Kind)
		w.raw(p.Data)
	}
}

func (w *digester) sum() Digest {
	w.flush()
	return Digest(w.h.Sum(nil)[:16])
}

// A Ref names stored bytes by their content: "r" and 26 lower-case base32 characters.
type Ref string

const (
	refChars    = 26
	refAlphabet = "abcdefghijklmnopqrstuvwxyz234567" // RFC 4648 in lower case
)

// refEncoding is made once: its table costs more than a Ref.
var refEncoding = base32.NewEncoding(refAlphabet).WithPadding(base32.NoPadding)

// RefOf returns the Ref of data.
func RefOf(data []byte) Ref { return RefOfSum(sha256.Sum256(data)) }

// RefOfSum returns the Ref of content of which only the SHA-256 is at hand, such as
// one that was hashed while it was read.
func RefOfSum(sum [sha256.Size]byte) Ref {
	var out [1 + 52]byte // without padding 32 bytes take 52 characters
	out[0] = 'r'
	refEncoding.Encode(out[1:], sum[:])
	return Ref(out[:1+refChars])
}

// ParseRef checks that s has the form of a Ref. It cannot tell whether anything
// is stored under it.
func ParseRef(s string) (Ref, error) {
	if len(s) != refChars+1 || s[0] != 'r' {
		return "", fmt.Errorf("llm: parse ref: %.40q, want \"r\" and %d characters, got %d bytes", s, refChars, len(s))
	}
	// The last eight lie over two of those before them.
	if inRef(s[1:9]) && inRef(s[9:17]) && inRef(s[17:25]) && inRef(s[refChars-7:]) {
		return Ref(s), nil
	}
	i := 1 + strings.IndexFunc(s[1:], func(r rune) bool { return !strings.ContainsRune(refAlphabet, r) })
	return "", fmt.Errorf("llm: parse ref: %q, want only a-z and 2-7, got %q", s, s[i])
}

// inRef reports whether all eight bytes of s are of refAlphabet: a resume reads millions of
// Refs. Where each byte is below 0x80, adding 0x80-c to it sets its highest bit if it is c or
// more, and carries nothing over to the next one.
func inRef(s string) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	letters := (w + (0x80-'a')*ones) &^ (w + (0x80-'z'-1)*ones)
	figures := (w + (0x80-'2')*ones) &^ (w + (0x80-'7'-1)*ones)
	return w&high == 0 && (letters|figures)&high == high
}
