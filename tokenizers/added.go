package tokenizers

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in the text before anything else is done with it.
type addedToken struct {
	id                         uint32
	singleWord, lstrip, rstrip bool
}

// finder finds added tokens: the leftmost, and there the longest.
type finder struct {
	tokens  map[string]addedToken
	lengths [256][]int      // by first byte: the lengths of the tokens, longest first
	begins  [1 << 10]uint64 // bit set of the first two bytes that a token may have
}

func (f *finder) add(text string, a addedToken) {
	if f.tokens == nil {
		f.tokens = map[string]addedToken{}
	}
	f.tokens[text] = a
	first := text[0]
	if !slices.Contains(f.lengths[first], len(text)) {
		f.lengths[first] = append(f.lengths[first], len(text))
		slices.SortFunc(f.lengths[first], func(a, b int) int { return b - a })
	}
	if len(text) > 1 {
		f.mark(first, text[1])
		return
	}
	for second := range 256 {
		f.mark(first, byte(second))
	}
}

func (f *finder) mark(first, second byte) {
	at := int(first)<<8 | int(second)
	f.begins[at>>6] |= 1 << (at & 63)
}

// next returns the first token in text[from:], by its ends in text.
func (f *finder) next(text string, from int) (start, end int, a addedToken, ok bool) {
	for i := from; i < len(text); i++ {
		lengths := f.lengths[text[i]]
		if len(lengths) == 0 {
			continue
		}
		if i+1 < len(text) {
			if at := int(text[i])<<8 | int(text[i+1]); f.begins[at>>6]>>(at&63)&1 == 0 {
				continue
			}
		}
		for _, n := range lengths {
			if n > len(text)-i {
				continue
			}
			if a, ok := f.tokens[text[i:i+n]]; ok {
				return i, i + n, a, true
			}
		}
	}
	return 0, 0, addedToken{}, false
}

// split calls plain with what lies between the added tokens of the text, and token with these.
func (f *finder) split(text string, plain func(string), token func(addedToken)) {
	if f.tokens == nil {
		plain(text)
		return
	}
	done := 0
	for from := 0; ; {
		start, end, a, ok := f.next(text, from)
		if !ok {
			break
		}
		from = end
		if a.singleWord && (inWord(utf8.DecodeLastRuneInString(text[:start])) || inWord(utf8.DecodeRuneInString(text[end:]))) {
			continue
		}
		if a.lstrip {
			start = len(strings.TrimRightFunc(text[:start], unicode.IsSpace))
		}
		if a.rstrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start > done {
			plain(text[done:start])
		}
		token(a)
		done = max(done, end)
	}
	if done < len(text) {
		plain(text[done:])
	}
}

// inWord reports whether a character is part of a word (Unicode Technical Standard 18, \w).
func inWord(r rune, width int) bool {
	return width > 0 && (unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic) ||
		r == 0x200C || r == 0x200D)
}

// addTokens enters the file's added tokens. One that the model's vocabulary has too has its id, as in the original.
func (t *Tokenizer) addTokens(list []addedJSON, vocab map[string]uint32) error {
	for i, j := range list {
		if j.Content == "" {
			continue
		}
		a := addedToken{id: j.ID, singleWord: j.SingleWord, lstrip: j.Lstrip, rstrip: j.Rstrip}
		if id, ok := vocab[j.Content]; ok {
			a.id = id
		}
		name, known := t.model.names[a.id]
		if _, inVocab := vocab[j.Content]; known && !inVocab && name != j.Content {
			return invalid(fmt.Sprintf("added_tokens[%d].id", i), "an id that no other token has", fmt.Sprint(j.ID))
		}
		t.model.names[a.id] = j.Content
		if !j.Normalized {
			t.raw.add(j.Content, a)
			continue
		}
		if text := t.normalize(j.Content); text != "" {
			t.normal.add(text, a)
		}
	}
	return nil
}
