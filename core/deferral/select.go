package deferral

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Tool is what Select goes by.
type Tool struct {
	Kind   llm.ToolKind
	Tokens int // of its definition
	Use
}

// A Use is how often a tool was called, and when it last was.
type Use struct {
	Calls int
	Last  int // larger is later; 0: never
}

// Select returns the places of the tools that are shown, ascending: all, if they take no
// more than room tokens together. Else so many are left out that the rest does, or that
// nothing is left but what is never left out.
func Select(tools []Tool, room int) []int {
	total, shown := 0, make([]bool, len(tools))
	leaving := make([]int, 0, len(tools))
	for i, t := range tools {
		total += t.Tokens
		shown[i] = true
		if t.Kind != llm.ToolBuiltIn {
			leaving = append(leaving, i)
		}
	}
	if total > room {
		slices.SortFunc(leaving, func(a, b int) int { return sooner(tools, a, b) })
		for _, i := range leaving {
			if total <= room {
				break
			}
			total -= tools[i].Tokens
			shown[i] = false
		}
	}
	places := make([]int, 0, len(tools))
	for i, is := range shown {
		if is {
			places = append(places, i)
		}
	}
	return places
}

// sooner orders tools by which is left out first.
func sooner(tools []Tool, a, b int) int {
	s, t := &tools[a], &tools[b]
	return cmp.Or(cmp.Compare(t.Kind, s.Kind), cmp.Compare(s.Last, t.Last), cmp.Compare(s.Calls, t.Calls), cmp.Compare(b, a))
}
