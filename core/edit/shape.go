package edit

import (
	"fmt"
	"strings"
)

// A shaper writes the shape of a JSON text: the keys of its objects, the first elements
// of its lists and how many there are, the beginnings of its strings.
type shaper struct {
	in    string // valid JSON
	at    int
	out   strings.Builder
	keys  int // of an object
	items int // of a list
	chars int // of a string
	depth int // of objects and lists within each other
	room  int // bytes of out, behind which nothing is worth writing
}

// shapes say how much a shape tells, from most to least.
var shapes = []struct{ keys, items, chars, depth int }{
	{512, 64, 400, 12}, {256, 16, 160, 10}, {128, 4, 80, 8}, {64, 2, 60, 6}, {64, 1, 40, 5}, {32, 1, 24, 3}, {16, 1, 12, 2}, {8, 1, 8, 1},
}

const shapeCaption = "[JSON by its shape; … is what is left out]\n"

// shapeOf returns the shape of a JSON text that tells most within so many bytes. It
// reports false if none fits.
func shapeOf(text string, room int) (string, bool) {
	for _, d := range shapes {
		s := shaper{in: text, keys: d.keys, items: d.items, chars: d.chars, depth: d.depth, room: room - len(shapeCaption)}
		s.value(0)
		if s.out.Len() <= s.room {
			return shapeCaption + s.out.String(), true
		}
	}
	return "", false
}

func (s *shaper) space() {
	for s.at < len(s.in) && strings.IndexByte(" \t\r\n", s.in[s.at]) >= 0 {
		s.at++
	}
}

// value writes the value that begins here, and moves behind it.
func (s *shaper) value(depth int) {
	s.space()
	switch c := s.in[s.at]; {
	case s.out.Len() > s.room:
		s.skip()
	case c == '{':
		s.list(depth, '}', s.keys, "key")
	case c == '[':
		s.list(depth, ']', s.items, "element")
	case c == '"':
		s.text(s.chars)
	default:
		from := s.at
		s.skip()
		s.out.WriteString(s.in[from:s.at])
	}
}

// list writes an object or a list, of which at most so many members.
func (s *shaper) list(depth int, closing byte, most int, what string) {
	open := s.in[s.at]
	s.at++
	if depth >= s.depth {
		most = 0
	}
	s.out.WriteByte(open)
	n := 0
	for s.space(); s.in[s.at] != closing; s.space() {
		if s.in[s.at] == ',' {
			s.at++
			s.space()
		}
		if n++; n > most {
			s.member(closing)
			continue
		}
		if n > 1 {
			s.out.WriteByte(',')
		}
		s.begin(depth + 1)
		if closing == '}' {
			s.text(s.chars)
			s.space()
			s.at++ // the colon
			s.out.WriteString(": ")
		}
		s.value(depth + 1)
	}
	s.at++
	if n > most {
		if n != 1 {
			what += "s"
		}
		if s.begin(depth + 1); most > 0 {
			fmt.Fprintf(&s.out, "… %d more of %d %s", n-most, n, what)
		} else {
			fmt.Fprintf(&s.out, "… %d %s", n, what)
		}
	}
	if n > 0 && depth < shapeLines {
		s.begin(depth)
	}
	s.out.WriteByte(closing)
}

// shapeLines is how deep within each other members have lines of their own.
const shapeLines = 2

// begin begins a line where that helps to read.
func (s *shaper) begin(depth int) {
	if depth <= shapeLines {
		s.out.WriteByte('\n')
		s.out.WriteString(strings.Repeat(" ", depth))
	}
}

// member skips a member of a list, or of an object with its key.
func (s *shaper) member(closing byte) {
	if closing == '}' {
		s.skip()
		s.space()
		s.at++
		s.space()
	}
	s.skip()
}

// text writes a string, of which at most so many bytes; no escape is cut in two.
func (s *shaper) text(most int) {
	from := s.at
	s.skip()
	quoted := s.in[from:s.at]
	if text := unencoded(quoted); len(text) != len(quoted) && len(text) <= most+64 { // what it is is worth more than how it begins
		s.out.WriteString(text)
		return
	}
	if len(quoted)-2 <= most {
		s.out.WriteString(quoted)
		return
	}
	end := 1
	for end <= most {
		n := 1
		switch {
		case quoted[end] == '\\' && quoted[end+1] == 'u':
			n = len(`\u0000`)
		case quoted[end] == '\\':
			n = len(`\n`)
		}
		if end+n > most+1 {
			break
		}
		end += n
	}
	s.out.WriteString(wholeRunes(quoted[:end]))
	fmt.Fprintf(&s.out, "…%d bytes\"", len(quoted)-2)
}

// skip moves behind the value that begins here.
func (s *shaper) skip() {
	depth := 0
	for s.at < len(s.in) {
		switch c := s.in[s.at]; c {
		case '"':
			for s.at++; s.in[s.at] != '"'; s.at++ {
				if s.in[s.at] == '\\' {
					s.at++
				}
			}
			s.at++
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.at++
			continue
		default:
			for s.at < len(s.in) && strings.IndexByte(",:]}  \t\r\n", s.in[s.at]) < 0 {
				s.at++
			}
		}
		if depth <= 0 {
			return
		}
	}
}
