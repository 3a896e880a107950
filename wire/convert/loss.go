package convert

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// nowhere is the place of a loss that is in no message or no part.
const nowhere = -1

// A Loss is one thing that another format does not carry as it was.
type Loss struct {
	Fate    catalog.Fate // Drop: left out; Note: the nearest form, or a line of text in its place
	What    string       // such as "thinking", "image", "tool", "field"
	Name    string       // of the tool, field or media type; empty if it has none
	How     string       // what became of it, where that is not what Fate says alone
	Message int          // its message in the request, counted from 0; -1 if it is in none
	Part    int          // its part there; -1 if it is in none
}

// String returns l in one line, such as "messages[3].parts[0]: thinking left out".
func (l Loss) String() string {
	var b strings.Builder
	if l.Message >= 0 {
		fmt.Fprintf(&b, "messages[%d]", l.Message)
		if l.Part >= 0 {
			fmt.Fprintf(&b, ".parts[%d]", l.Part)
		}
		b.WriteString(": ")
	}
	b.WriteString(l.What)
	if l.Name != "" {
		b.WriteString(" " + l.Name)
	}
	switch {
	case l.How != "":
		b.WriteString(" " + l.How)
	case l.Fate == catalog.Drop:
		b.WriteString(" left out")
	default:
		b.WriteString(" sent in another form")
	}
	return b.String()
}

// lose notes a loss, unless fate says that there is none.
func (c *converter) lose(fate catalog.Fate, what, name string) {
	if fate != catalog.Keep {
		c.note(Loss{Fate: fate, What: what, Name: name})
	}
}

// note adds a loss at the place at hand.
func (c *converter) note(l Loss) {
	l.Message, l.Part = c.message, c.part
	c.losses = append(c.losses, l)
}
