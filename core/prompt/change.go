package prompt

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Change is what became of one section.
type Change struct {
	Name string // as in the request
	At   int    // place in the newer prompt; of one that is gone, of what follows it now
	Was  string // empty: it is new
	Now  string // empty: it is gone
	Kind llm.SectionKind
}

// Changes returns the sections that differ between two prompts, in the order of the newer
// one, each that is gone at its old place. Sections are told apart by their names; one that
// has only moved has not changed.
func Changes(was, now []llm.Section) []Change {
	var out []Change
	for i, s := range now {
		old, had := named(was, s.Name)
		if !had || old.Text != s.Text {
			out = append(out, Change{Name: s.Name, At: i, Was: old.Text, Now: s.Text, Kind: s.Kind})
		}
	}
	for i, s := range was {
		if _, has := named(now, s.Name); !has {
			out = append(out, Change{Name: s.Name, At: min(i, len(now)), Was: s.Text, Kind: s.Kind})
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return a.At - b.At })
	return out
}

func named(sections []llm.Section, name string) (llm.Section, bool) {
	i := slices.IndexFunc(sections, func(s llm.Section) bool { return s.Name == name })
	if i < 0 {
		return llm.Section{}, false
	}
	return sections[i], true
}
