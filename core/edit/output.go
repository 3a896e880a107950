package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Ends are what a host read of an output that it has stored: its beginning and its end, or
// all of it as the beginning.
type Ends struct {
	Ref        llm.Ref
	Head, Tail string
}

// text returns the ends of an output of so many bytes as one text with a marker between
// them. They begin and end at whole lines, if that takes no more than half of them.
// Where lines are going to be cut, the end has nothing of a line that it lacks the
// beginning of.
func (e Ends) text(bytes int, cut bool) string {
	head, tail := e.Head, e.Tail
	if len(head) >= bytes {
		return head
	}
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i]
	}
	if _, after, _ := strings.Cut(tail, "\n"); cut || len(after) > len(tail)/2 {
		tail = after
	}
	return joinEnds(wholeRunes(head), startOfRune(tail))
}

// Short returns at most head bytes of the beginning and tail bytes of the end.
func (e Ends) Short(head, tail int) string {
	h, t := e.Head, e.Tail
	if len(h) > head {
		h = wholeLines(h, head)
	}
	if len(t) > tail {
		t = t[len(t)-tail:]
	}
	return joinEnds(wholeRunes(h), startOfRune(t))
}

func joinEnds(head, tail string) string {
	if tail == "" {
		return head
	}
	return head + "\n" + gap + "\n" + tail
}

// wholeRunes cuts off the first bytes of a character that s ends with.
func wholeRunes(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		if !utf8.FullRuneInString(s[i:]) {
			return s[:i]
		}
		break
	}
	return s
}

// startOfRune cuts off the last bytes of a character that s begins with.
func startOfRune(s string) string {
	for range utf8.UTFMax - 1 {
		if s == "" || utf8.RuneStart(s[0]) {
			break
		}
		s = s[1:]
	}
	return s
}

// An output is what is known of a tool output as it came.
type output struct {
	text   string   // as far as it is at hand
	known  bool     // text is the output, or its ends
	stored llm.Stub // what says the rest of one that the host has stored; else zero
}

func (o output) isStored() bool { return o.stored.Ref != "" }

// output returns what is known of the output at sp.
func (s Scene) output(sp Spot) output {
	r := s.original(sp)
	stub, ok := StubOf(r)
	switch {
	case !ok:
		return output{text: r.Text(), known: onlyText(r)}
	case s.Ends.Ref == stub.Ref && stub.Ref != "":
		return output{text: s.Ends.text(stub.Size, false), known: true, stored: stub}
	}
	return output{stored: stub}
}

// cuts reports whether an output, of which so many tokens would be shown, is over a cap,
// although nothing of its ends has to go.
func (a CapArgs) cuts(stub llm.Stub, tokens int) bool {
	return a.Bytes > 0 && stub.Size > a.Bytes || a.Tokens > 0 && tokens > a.Tokens || a.Lines > 0 && stub.Lines > 2*a.Lines+1
}

// CountLines counts the lines of s; a last line without a newline counts.
func CountLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}
