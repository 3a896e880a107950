package edit

import (
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// A Scene is what a transform may look at. It never changes it.
type Scene struct {
	Messages []llm.Message // the transcript; Messages[i].ID is i+1
	View     View
	Turns    *turn.Index              // over Messages
	Size     func(llm.Part) int       // tokens of a part
	Measure  func(llm.Message) int    // tokens of a message
	Keep     llm.MessageID            // no message at or after Keep is touched
	Pinned   func(m llm.Message) bool // messages that are never archived
	Own      func(tool string) bool   // tools whose answers say again what stands elsewhere; nil: none
	Rule     string                   // goes into each edit
	Template string                   // the text shown; see [Fill]
	Low      int                      // low-water mark of the batch, for the record
	Ground   *ground.Index            // of all messages; nil but for [Scene.Select]
	Ends     Ends                     // of the output that the host has just stored; zero: none
	Written  []Written                // archives that were written beforehand; see [Scene.Ahead]

	standing *standing // the edits of View by their places; nil: not made yet
	tally    []int     // tokens of View.Items[:i]; nil: not made yet
}

// A Spot is one part of the view that an edit could replace.
type Spot struct {
	Item   int // in View.Items
	ID     llm.MessageID
	Part   int
	Result llm.ToolResult // as it is shown now
	Tool   string         // the name of the tool, if the call is known
	Tokens int            // of what is shown
	// Stored is what the host stored, if no edit has changed how it is shown; else zero.
	Stored llm.Stub
}

// Outputs returns the tool results of the view before Scene.Keep, oldest first.
func (s Scene) Outputs() []Spot {
	var spots []Spot
	for i, it := range s.View.Items {
		if it.IsNote() || it.Message.ID >= s.Keep {
			continue
		}
		for n, p := range it.Message.Parts {
			if r, ok := p.(llm.ToolResult); ok {
				spots = append(spots, s.spot(i, n, r))
			}
		}
	}
	return spots
}

// At returns the result that is part n of message id, if the view shows it.
func (s Scene) At(id llm.MessageID, n int) (Spot, bool) {
	for i := len(s.View.Items) - 1; i >= 0; i-- {
		it := s.View.Items[i]
		if it.IsNote() || it.Message.ID != id {
			continue
		}
		if n < 0 || n >= len(it.Message.Parts) {
			return Spot{}, false
		}
		r, ok := it.Message.Parts[n].(llm.ToolResult)
		if !ok {
			return Spot{}, false
		}
		return s.spot(i, n, r), true
	}
	return Spot{}, false
}

func (s Scene) spot(item, part int, r llm.ToolResult) Spot {
	sp := Spot{Item: item, ID: s.View.Items[item].Message.ID, Part: part, Result: r, Tokens: s.Size(r)}
	if came, ok := StubOf(s.original(sp)); ok {
		if now, _ := StubOf(r); now.Text == came.Text {
			sp.Stored = came
		}
	}
	if c, ok := s.Turns.CallFor(int(sp.ID)-1, part); ok {
		sp.Tool = c.Name
	}
	return sp
}

// original returns the result of sp as it came.
func (s Scene) original(sp Spot) llm.ToolResult {
	r, _ := s.Messages[sp.ID-1].Parts[sp.Part].(llm.ToolResult)
	return r
}

// Values fill the braces of a template.
type Values struct {
	Ref     llm.Ref
	Tool    string
	Bytes   int
	Lines   int
	Tokens  int
	N       int
	Used    int // percent
	Preview string
	Text    string
	Source  llm.Ref
}

// Fill puts v into the braces of a template: {ref}, {tool}, {bytes}, {lines},
// {tokens}, {n}, {used}, {preview}, {text}, {source}; {bytes,} has thousands
// separators. Other braces stay.
func Fill(template string, v Values) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(template, '{')
		if at < 0 {
			break
		}
		b.WriteString(template[:at])
		template = template[at:]
		end := strings.IndexByte(template, '}') + 1
		value, known := "", false
		if end > 0 {
			value, known = v.of(template[1 : end-1])
		}
		if !known {
			value, end = "{", 1
		}
		b.WriteString(value)
		template = template[end:]
	}
	if b.Len() == 0 {
		return template
	}
	b.WriteString(template)
	return b.String()
}

// of returns the value that has a name.
func (v *Values) of(name string) (string, bool) {
	switch name {
	case "ref":
		return string(v.Ref), true
	case "source":
		return string(v.Source), true
	case "tool":
		return v.Tool, true
	case "bytes":
		return strconv.Itoa(v.Bytes), true
	case "bytes,":
		return Thousands(v.Bytes), true
	case "lines":
		return strconv.Itoa(v.Lines), true
	case "tokens":
		return strconv.Itoa(v.Tokens), true
	case "n":
		return strconv.Itoa(v.N), true
	case "used":
		return strconv.Itoa(v.Used), true
	case "preview":
		return v.Preview, true
	case "text":
		return v.Text, true
	}
	return "", false
}

// Thousands writes n with a comma after every three digits.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	head := len(s) % 3
	if n < 0 {
		head = (len(s)-1)%3 + 1
	}
	var b strings.Builder
	b.WriteString(s[:head])
	for i := head; i < len(s); i += 3 {
		if b.Len() > 0 && b.String() != "-" {
			b.WriteByte(',')
		}
		b.WriteString(s[i : i+3])
	}
	return b.String()
}
