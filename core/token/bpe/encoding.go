package bpe

import (
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"
)

// The names that Load knows.
const (
	nameCl100kBase   = "cl100k_base"
	nameO200kBase    = "o200k_base"
	nameO200kHarmony = "o200k_harmony"
)

// The packed vocabularies, written by internal/genvocab.
var (
	//go:embed vocab/cl100k_base.bin.gz
	cl100kData []byte
	//go:embed vocab/o200k_base.bin.gz
	o200kData []byte
)

// ErrUnknownEncoding is wrapped by the error of Load for a name it does not know; a caller then falls back to an estimate.
var ErrUnknownEncoding = errors.New("unknown encoding")

// Encoding is one loaded vocabulary with its splitter, or an encoder from outside (Outside). It is immutable and safe for concurrent use; the zero value is
// not usable. Its tables take about 16 MB (o200k) or 8 MB (cl100k) of heap, so a program loads each vocabulary once and keeps
// it.
type Encoding struct {
	name    string
	pattern pattern
	names   map[uint32]string // of the special tokens
	vocab   vocabulary
	pool    *sync.Pool // of *scratch
	memo    *memo      // nil: nothing is remembered
	outside Encoder    // in place of all the above, if not nil
}

// O200kBase loads o200k_base, the vocabulary of GPT-4o, GPT-4.1, GPT-5 and the o-series. Each call loads anew
// (at most 100 ms, DESIGN.md section 10); the caller keeps the result.
func O200kBase() (*Encoding, error) {
	return load(nameO200kBase, patternO200k, o200kData, map[string]uint32{
		"<|endoftext|>":   199999,
		"<|endofprompt|>": 200018,
	})
}

// Cl100kBase loads cl100k_base, the vocabulary of GPT-4 and GPT-3.5-turbo. Each call loads anew; the caller keeps the
// result.
func Cl100kBase() (*Encoding, error) {
	return load(nameCl100kBase, patternCl100k, cl100kData, map[string]uint32{
		"<|endoftext|>":   100257,
		"<|fim_prefix|>":  100258,
		"<|fim_middle|>":  100259,
		"<|fim_suffix|>":  100260,
		"<|endofprompt|>": 100276,
	})
}

// O200kHarmony loads o200k_harmony, the vocabulary of gpt-oss: the tokens and the splitter of o200k_base with the
// special tokens of the harmony chat format, reserved ones included. Ordinary text has the same ids as in o200k_base.
// Each call loads anew; the caller keeps the result.
func O200kHarmony() (*Encoding, error) {
	return load(nameO200kHarmony, patternO200k, o200kData, harmonySpecials())
}

// harmonySpecials lists the special tokens of o200k_harmony as tiktoken 0.14 does. Two of them share the id 200018:
// <|endofprompt|>, which o200k_base has there, and <|reserved_200018|>.
func harmonySpecials() map[string]uint32 {
	const firstReserved, lastReserved = 200013, 201087
	specials := map[string]uint32{
		"<|endofprompt|>":     200018,
		"<|startoftext|>":     199998,
		"<|endoftext|>":       199999,
		"<|reserved_200000|>": 200000,
		"<|reserved_200001|>": 200001,
		"<|return|>":          200002,
		"<|constrain|>":       200003,
		"<|reserved_200004|>": 200004,
		"<|channel|>":         200005,
		"<|start|>":           200006,
		"<|end|>":             200007,
		"<|message|>":         200008,
		"<|reserved_200009|>": 200009,
		"<|reserved_200010|>": 200010,
		"<|reserved_200011|>": 200011,
		"<|call|>":            200012,
	}
	for id := uint32(firstReserved); id <= lastReserved; id++ {
		specials[fmt.Sprintf("<|reserved_%d|>", id)] = id
	}
	return specials
}

// Load loads the encoding of that name: "o200k_base", "cl100k_base" or "o200k_harmony". The error for any other name
// wraps ErrUnknownEncoding and lists these.
func Load(name string) (*Encoding, error) {
	switch name {
	case nameO200kBase:
		return O200kBase()
	case nameCl100kBase:
		return Cl100kBase()
	case nameO200kHarmony:
		return O200kHarmony()
	default:
		return nil, fmt.Errorf("bpe: load: %w, want %s, %s or %s, got %q",
			ErrUnknownEncoding, nameO200kBase, nameCl100kBase, nameO200kHarmony, name)
	}
}

// load unpacks a vocabulary and joins it with its pattern and special tokens. Where two special tokens share an id, the
// one whose name sorts first is the one that Decode gives.
func load(name string, p pattern, data []byte, specials map[string]uint32) (*Encoding, error) {
	vocab, err := unpack(data)
	if err != nil {
		return nil, fmt.Errorf("bpe: load %s: %w", name, err)
	}
	names := make(map[uint32]string, len(specials))
	for text, id := range specials {
		if other, taken := names[id]; !taken || text < other {
			names[id] = text
		}
	}
	return &Encoding{name: name, pattern: p, names: names, vocab: vocab, pool: newPool()}, nil
}

// Name returns the encoding's name, one of those that Load knows or that of an encoder from outside.
func (e *Encoding) Name() string { return e.name }

// Count returns the number of tokens of s as ordinary text: len(Append(nil, s)). It takes time linear in len(s) for any s
// and allocates nothing but scratch memory that later calls use again (a megabyte for each processor that counts; text
// that is not valid UTF-8 and single pieces need more, which is kept up to a megabyte each).
func (e *Encoding) Count(s string) int {
	if e.memo != nil && len(s) >= longText {
		return e.recall(s)
	}
	return e.countString(s)
}

func (e *Encoding) countString(s string) int {
	if e.outside != nil {
		return e.outside.Count(s)
	}
	return e.count([]byte(s)) // the conversion does not copy: count only reads
}

// CountBytes is Count for text in a byte slice, which it only reads.
func (e *Encoding) CountBytes(b []byte) int {
	if e.outside != nil {
		return e.outside.Count(string(b))
	}
	return e.count(b)
}

// Append appends the ids of s as ordinary text to dst and returns the extended slice.
func (e *Encoding) Append(dst []uint32, s string) []uint32 {
	if e.outside != nil {
		return e.outside.Append(dst, s)
	}
	return e.appendIDs(dst, []byte(s))
}

// Decode returns the bytes that the ids stand for; special tokens give their names. The result is valid UTF-8 only if the
// ids are those of whole characters. An id outside the vocabulary is an error.
func (e *Encoding) Decode(ids []uint32) ([]byte, error) {
	if e.outside != nil {
		return e.outside.Decode(ids)
	}
	var out []byte
	for n, id := range ids {
		if int64(id) < int64(e.vocab.size()) {
			out = append(out, e.vocab.token(id)...)
			continue
		}
		name, ok := e.names[id]
		if !ok {
			return nil, fmt.Errorf("bpe: decode: id at %d, want one of %s, got %d", n, e.name, id)
		}
		out = append(out, name...)
	}
	return out, nil
}

// count counts the tokens of b and does not keep or change it.
func (e *Encoding) count(b []byte) int {
	if !utf8.Valid(b) {
		return e.countInvalid(b)
	}
	return e.countValid(b)
}

func (e *Encoding) countInvalid(b []byte) int {
	s := e.scratch()
	s.text = appendValid(s.text[:0], b)
	n := e.countValid(s.text)
	e.release(s)
	return n
}

func (e *Encoding) countValid(b []byte) int {
	var s *scratch
	n := 0
	for i := 0; i < len(b); {
		end := e.pattern.cut(b, i)
		if e.vocab.has(b, i, end) {
			n++
		} else {
			if s == nil {
				s = e.scratch()
			}
			n += e.countPiece(s, b, i, end)
		}
		i = end
	}
	if s != nil {
		e.release(s)
	}
	return n
}

// countPiece counts the piece b[i:end], which is not a token itself.
func (e *Encoding) countPiece(s *scratch, b []byte, i, end int) int {
	if n := end - i; n < minKeyBytes || n > maxKeyBytes {
		return len(e.vocab.merge(s, b, i, end))
	}
	key := keyAt(b, i, end)
	set := &s.cache[key.slot()]
	if set[0].key == key {
		return set[0].count
	}
	set[0], set[1] = set[1], set[0] // the newest first
	if set[0].key != key {
		set[0] = cached{key, len(e.vocab.merge(s, b, i, end))}
	}
	return set[0].count
}

func (e *Encoding) appendIDs(dst []uint32, b []byte) []uint32 {
	if !utf8.Valid(b) {
		b = appendValid(nil, b)
	}
	s := e.scratch()
	for i := 0; i < len(b); {
		end := e.pattern.cut(b, i)
		if id := e.vocab.find(b, i, end); id != none {
			dst = append(dst, id)
		} else {
			dst = append(dst, e.vocab.merge(s, b, i, end)...)
		}
		i = end
	}
	e.release(s)
	return dst
}

// appendValid appends b with every byte outside a valid sequence replaced by U+FFFD.
func appendValid(dst, b []byte) []byte {
	for len(b) > 0 {
		r, width := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[width:]
	}
	return dst
}
