package store

import (
	"unicode"
	"unicode/utf8"
)

// Bytes of what is looked for at most. What is longer is no word: it is base64, or a row of
// dashes with letters in it.
const (
	mostTerm       = 96
	mostIdentifier = 128
)

// A scanner finds the words of a text, and what is made of them: "store/my_file.go" has
// the parts store, my, file and go, the identifier myfile, the name myfilego, and all of it
// as a path. So each is found by its parts, and as a whole in any spelling.
type scanner struct {
	emit  func(term []byte, whole bool)
	parts []byte // of this identifier, lower case
	ends  []int  // where each of them ends
	part  int    // where the one that is not ended begins
	name  joined // of identifiers with . or - between them
	path  joined // of names with / between them
}

// joined is a whole of several.
type joined struct {
	text []byte
	n    int  // of how many
	long bool // too long to be one
}

// scanTerms calls emit for each word of a text and for each whole, in the order in which they
// end. What emit gets is valid until it returns.
func scanTerms(text []byte, emit func(term []byte, whole bool)) {
	s := scanner{emit: emit}
	var before rune
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		switch kind := kindOf(r); kind {
		case letter:
			if unicode.IsUpper(r) && humps(before, text[i+size:]) {
				s.endPart()
			}
			s.parts = utf8.AppendRune(s.parts, unicode.ToLower(r))
		case sign: // a word by itself
			s.endPart()
			s.parts = utf8.AppendRune(s.parts, r)
			s.endPart()
		case underscore:
			s.endPart()
		case dot:
			s.endIdent()
		case slash:
			s.endName()
		default:
			s.endPath()
		}
		before, i = r, i+size
	}
	s.endPath()
}

// The kinds of characters.
const (
	other = iota
	letter
	sign
	underscore
	dot
	slash
)

func kindOf(r rune) int {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return letter
	case r == '_':
		return underscore
	case r == '.' || r == '-':
		return dot
	case r == '/' || r == '\\':
		return slash
	case r < utf8.RuneSelf || r == utf8.RuneError:
		return other
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return sign
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return letter
	}
	return other
}

// humps reports whether an upper-case letter between before and rest begins a word: as in
// findOr and in HTTPServer.
func humps(before rune, rest []byte) bool {
	if !unicode.IsUpper(before) {
		return true
	}
	next, _ := utf8.DecodeRune(rest)
	return unicode.IsLower(next)
}

// endPart ends a word.
func (s *scanner) endPart() {
	if len(s.parts) > s.part {
		s.ends = append(s.ends, len(s.parts))
		s.part = len(s.parts)
	}
}

// endIdent ends an identifier, and tells of its parts.
func (s *scanner) endIdent() {
	s.endPart()
	if len(s.parts) == 0 {
		return
	}
	whole := joined{text: s.parts, n: len(s.ends)}
	if whole.long = len(s.parts) > mostIdentifier; !whole.long {
		from := 0
		for _, end := range s.ends {
			if n := end - from; n > 1 && n <= mostTerm {
				s.emit(s.parts[from:end], false)
			}
			from = end
		}
	}
	s.tell(whole)
	s.name.add(whole)
	s.parts, s.ends, s.part = s.parts[:0], s.ends[:0], 0
}

func (s *scanner) endName() {
	s.endIdent()
	if s.name.n > 0 {
		s.tell(s.name)
		s.path.add(s.name)
		s.name.clear()
	}
}

func (s *scanner) endPath() {
	s.endName()
	if s.path.n > 0 {
		s.tell(s.path)
		s.path.clear()
	}
}

// tell tells of a whole, if it is one.
func (s *scanner) tell(j joined) {
	if j.n > 1 && !j.long && len(j.text) <= mostTerm {
		s.emit(j.text, true)
	}
}

// add makes a whole longer by another.
func (j *joined) add(by joined) {
	j.n++
	if j.long = j.long || by.long || len(j.text)+len(by.text) > mostTerm; !j.long {
		j.text = append(j.text, by.text...)
	}
}

func (j *joined) clear() { j.text, j.n, j.long = j.text[:0], 0, false }

// Terms returns what a text is found by: its words in lower case, the parts of identifiers
// and paths, and each identifier, dotted name and path as a whole without what stands
// between its parts; each once. One letter, and what is longer than any word, is left out.
// All are made of letters and digits.
func Terms(text []byte) []string {
	var out []string
	known := map[string]bool{}
	scanTerms(text, func(term []byte, _ bool) {
		if !known[string(term)] {
			t := string(term)
			known[t] = true
			out = append(out, t)
		}
	})
	return out
}
