package edit

import (
	"fmt"
	"strings"
)

// Quoted returns s as archives write it.
func Quoted(s string) string { return string(quoted(nil, s)) }

// DropInSteps is [Scene.DropUntil] of the last need, asked for the others before it.
func (s Scene) DropInSteps(needs []int, kind Kind, why string) Plan {
	d := s.tallied().dropping(kind, why)
	var p Plan
	for _, need := range needs {
		p = d.until(need)
	}
	return p
}

// RunsOf returns which runs of a text x has seen, and where.
func RunsOf(x *Lines, text string) string {
	return fmt.Sprint(x.runs(strings.Split(text, "\n"), 0))
}
