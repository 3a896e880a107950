package tokenizers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// mergeList reads merges in either form: ["a b", ...] or [["a", "b"], ...]. raw is valid JSON. Real files have up to half
// a million merges; encoding/json spent a third of the whole loading time on them.
func mergeList(raw json.RawMessage) ([][2]string, error) {
	if !given(raw) || raw[0] != '[' {
		return nil, invalid("model.merges", "a list", kindOf(raw))
	}
	s := mergeScanner{raw: raw, at: 1}
	merges := make([][2]string, 0, bytes.Count(raw, []byte{','})/2+1)
	for {
		switch s.next() {
		case ']':
			return merges, nil
		case '"':
			left, right, ok := strings.Cut(s.text(), " ")
			if !ok || left == "" || right == "" || strings.Contains(right, " ") {
				return nil, invalid(mergePath(len(merges)), "two tokens with one space between", fmt.Sprintf("%q", left+" "+right))
			}
			merges = append(merges, [2]string{left, right})
		case '[':
			pair, ok := s.pair()
			if !ok {
				return nil, invalid(mergePath(len(merges)), "two tokens", "another list")
			}
			merges = append(merges, pair)
		default:
			return nil, invalid(mergePath(len(merges)), "a text or a list of two", kindOf(raw[s.at:]))
		}
	}
}

// mergePath is where a merge stands in the file.
func mergePath(i int) string { return fmt.Sprintf("model.merges[%d]", i) }

// kindOf names what a JSON value is.
func kindOf(raw []byte) string {
	if len(raw) == 0 {
		return "none"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 'n':
		return "null"
	}
	return "a number or truth value"
}

// mergeScanner walks through a list of merges.
type mergeScanner struct {
	raw []byte // valid JSON
	at  int
}

// next returns the first byte of the next value, or the bracket that closes the list.
func (s *mergeScanner) next() byte {
	for strings.IndexByte(" \t\r\n,", s.raw[s.at]) >= 0 {
		s.at++
	}
	return s.raw[s.at]
}

// text reads the string that starts here.
func (s *mergeScanner) text() string {
	start, escaped := s.at, false
	for s.at++; s.raw[s.at] != '"'; s.at++ {
		if s.raw[s.at] == '\\' {
			escaped = true
			s.at++
		}
	}
	s.at++
	literal := s.raw[start:s.at]
	if !escaped {
		return string(literal[1 : len(literal)-1])
	}
	var text string
	if json.Unmarshal(literal, &text) != nil {
		return "" // cannot be: the whole was valid; an empty token is refused
	}
	return text
}

// pair reads the list that starts here; false if it is not of two texts.
func (s *mergeScanner) pair() (pair [2]string, ok bool) {
	s.at++
	for i := range pair {
		if s.next() != '"' {
			return pair, false
		}
		if pair[i] = s.text(); pair[i] == "" {
			return pair, false
		}
	}
	if s.next() != ']' {
		return pair, false
	}
	s.at++
	return pair, true
}
