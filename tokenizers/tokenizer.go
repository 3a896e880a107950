package tokenizers

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// A Tokenizer is a loaded tokenizer.json. It is safe for concurrent use.
type Tokenizer struct {
	model     *model
	forms     []norm.Form
	stages    []stage
	quick     bpe.Splitter // in place of the stages, if isQuick
	isQuick   bool
	raw       finder // added tokens that are found in the text as it is
	normal    finder // those that are found in the normalised text
	scratches *sync.Pool
	slow      atomic.Bool
}

// ErrSlow says that a pattern of the file was given up because a search took longer than a second. It is what Err
// returns from then on.
var ErrSlow = errors.New("tokenizers: count: a pattern of the file takes too long; every byte counts as a token from here on")

// Err returns nil as long as all counts were exact, else ErrSlow.
func (t *Tokenizer) Err() error {
	if t.slow.Load() {
		return ErrSlow
	}
	return nil
}

// Count returns the number of tokens of s: len(Append(nil, s)).
func (t *Tokenizer) Count(s string) int {
	sc := t.scratch()
	sc.count, sc.n = true, 0
	t.text(sc, s)
	n := sc.n
	t.release(sc)
	return n
}

// CountBytes is Count for text in a byte slice.
func (t *Tokenizer) CountBytes(b []byte) int { return t.Count(string(b)) }

// Append appends the ids of s to dst and returns the extended slice.
func (t *Tokenizer) Append(dst []uint32, s string) []uint32 {
	sc := t.scratch()
	sc.count, sc.out = false, dst
	t.text(sc, s)
	out := sc.out
	sc.out = nil
	t.release(sc)
	return out
}

// Decode returns the bytes that the ids stand for; added tokens give their text. An unknown id is an error.
func (t *Tokenizer) Decode(ids []uint32) ([]byte, error) {
	var out []byte
	for i, id := range ids {
		name, ok := t.model.names[id]
		if !ok {
			return nil, fmt.Errorf("tokenizers: decode: id at %d, want one of the vocabulary, got %d", i, id)
		}
		out = append(out, name...)
	}
	return out, nil
}

// text counts or encodes a text.
func (t *Tokenizer) text(s *scratch, text string) {
	if !utf8.ValidString(text) {
		text = valid(text)
	}
	token := func(a addedToken) { s.token(a.id) }
	t.raw.split(text, func(part string) {
		t.normal.split(t.normalize(part), func(p string) { t.plain(s, p) }, token)
	}, token)
}

// normalize brings a text into the file's normal forms, one after another.
func (t *Tokenizer) normalize(text string) string {
	for _, f := range t.forms {
		text = f.String(text)
	}
	return text
}

// plain counts or encodes a text without added tokens.
func (t *Tokenizer) plain(s *scratch, text string) {
	if text == "" {
		return
	}
	if t.isQuick {
		t.cut(s, text)
		return
	}
	s.runes = s.runes[:0]
	for _, r := range text {
		s.runes = append(s.runes, r)
	}
	t.through(s, t.stages, s.runes)
}

// through runs a text, which is not empty, through the stages that are left.
func (t *Tokenizer) through(s *scratch, stages []stage, text []rune) {
	switch {
	case t.slow.Load():
		t.bytes(s, text)
		return
	case len(stages) == 0:
		s.piece = s.piece[:0]
		for _, r := range text {
			s.piece = utf8.AppendRune(s.piece, r)
		}
		t.piece(s, s.piece)
		return
	}
	end, err := stages[0].cut(text, func(part []rune) { t.through(s, stages[1:], part) })
	if err != nil {
		t.slow.Store(true)
		t.bytes(s, text[end:])
	}
}

// bytes gives every byte its own token, if it has one.
func (t *Tokenizer) bytes(s *scratch, text []rune) {
	var buf [utf8.UTFMax]byte
	for _, r := range text {
		for _, b := range buf[:utf8.EncodeRune(buf[:], r)] {
			if id := t.model.single[b]; id != none {
				s.token(id)
			}
		}
	}
}

// piece counts or encodes a piece.
func (t *Tokenizer) piece(s *scratch, piece []byte) {
	m := t.model
	if len(piece) <= m.longest {
		if e, ok := m.tokens[string(piece)]; ok && e.whole { // the conversion does not copy
			s.token(e.id)
			return
		}
	}
	if !s.count {
		s.out = append(s.out, m.merge(s, piece)...)
		return
	}
	if len(piece) > maxKeyBytes {
		s.n += len(m.merge(s, piece))
		return
	}
	key := keyOf(piece)
	c := s.cached(key)
	if c.key != key {
		*c = cached{key, len(m.merge(s, piece))}
	}
	s.n += c.count
}

// valid returns text with every byte outside a valid sequence replaced by U+FFFD.
func valid(text string) string {
	out := make([]byte, 0, len(text)+len(text)/8)
	for _, r := range text {
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// normJSON is a normalizer as it stands in the file.
type normJSON struct {
	Type string            `json:"type"`
	List []json.RawMessage `json:"normalizers"`
}

// readNormalizer returns the normal forms that the file asks for.
func readNormalizer(path string, raw json.RawMessage) ([]norm.Form, error) {
	return normalizers(path, raw, 0)
}

func normalizers(path string, raw json.RawMessage, depth int) ([]norm.Form, error) {
	if !given(raw) {
		return nil, nil
	}
	var j normJSON
	if err := decode(path, raw, &j); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, unsupported(path, fmt.Sprintf("sequences at most %d deep", maxDepth), "more")
	}
	switch j.Type {
	case "NFC":
		return []norm.Form{norm.NFC}, nil
	case "NFD":
		return []norm.Form{norm.NFD}, nil
	case "NFKC":
		return []norm.Form{norm.NFKC}, nil
	case "NFKD":
		return []norm.Form{norm.NFKD}, nil
	case "Sequence":
		var all []norm.Form
		for i, inner := range j.List {
			forms, err := normalizers(fmt.Sprintf("%s.normalizers[%d]", path, i), inner, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, forms...)
		}
		return all, nil
	}
	return nil, unsupported(path+".type", "NFC, NFD, NFKC, NFKD or a Sequence of them", fmt.Sprintf("%q", j.Type))
}
