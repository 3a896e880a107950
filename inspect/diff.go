package inspect

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A Diff is what changed between the requests of two Steps. Messages are compared by
// what they say to a model, sections and tools by their text.
type Diff struct {
	Schema  int      `json:"schema"`
	Session string   `json:"session"`
	A       DiffStep `json:"a"`
	B       DiffStep `json:"b"`
	Prefix  int      `json:"prefix"` // messages at the beginning that are the same
	Same    int      `json:"same"`   // messages that are in both
	Removed []Item   `json:"removed"`
	Added   []Item   `json:"added"`
	Changed []Change `json:"changed"`
}

// A DiffStep is one side of a Diff.
type DiffStep struct {
	StepRef
	Tokens   int            `json:"tokens"`
	Kind     string         `json:"kind"`
	By       map[string]int `json:"by"`
	Messages int            `json:"messages"`
}

// A Change is a section, a tool, or a message of the same line of the file, that says
// something else.
type Change struct {
	Before Item `json:"before"`
	After  Item `json:"after"`
}

// Compare says what changed from the request of Step a to that of Step b, which may
// be of different segments and in any order. The error is a [*NoStepError], or that a
// counter could not be made.
func Compare(s *sessionfile.Session, a, b StepRef, o Options) (Diff, error) {
	if err := a.check(s); err != nil {
		return Diff{}, err
	}
	if err := b.check(s); err != nil {
		return Diff{}, err
	}
	ga, err := measureOne(s, a.Segment, o)
	if err != nil {
		return Diff{}, err
	}
	gb, err := measureOne(s, b.Segment, o)
	if err != nil {
		return Diff{}, err
	}
	sa, sb := ga.steps[a.Step-1], gb.steps[b.Step-1]
	was := alignment(ga, sa.entry, gb, sb.entry)
	out := Diff{
		Schema: Schema, Session: s.Path, Prefix: was.prefix, Same: was.same,
		A:       DiffStep{a, sa.tokens, sa.kind, named(sa.contents), sa.entry},
		B:       DiffStep{b, sb.tokens, sb.kind, named(sb.contents), sb.entry},
		Removed: []Item{}, Added: []Item{}, Changed: []Change{},
	}
	ia, ib := ga.items(sa), gb.items(sb)
	out.fronts(front(ia), front(ib))
	ma, mb := ia[len(front(ia)):], ib[len(front(ib)):]
	for _, i := range was.removed {
		out.Removed = append(out.Removed, ma[i])
	}
	for _, i := range was.added {
		out.Added = append(out.Added, mb[i])
	}
	for _, p := range was.changed {
		out.Changed = append(out.Changed, Change{ma[p[0]], mb[p[1]]})
	}
	return out, nil
}

// front returns the items before the messages.
func front(items []Item) []Item {
	n := slices.IndexFunc(items, func(it Item) bool { return it.What == ItemMessage })
	if n < 0 {
		return items
	}
	return items[:n]
}

// fronts compares sections and tools, by their kind and name. What is hidden is
// compared by nobody.
func (d *Diff) fronts(a, b []Item) {
	left := slices.Clone(a)
	for _, it := range b {
		if it.What == ItemHidden {
			continue
		}
		i := slices.IndexFunc(left, func(o Item) bool { return o.What == it.What && o.Name == it.Name })
		if i < 0 {
			d.Added = append(d.Added, it)
			continue
		}
		if left[i].Parts[0].Text != it.Parts[0].Text {
			d.Changed = append(d.Changed, Change{left[i], it})
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, it := range left {
		if it.What != ItemHidden {
			d.Removed = append(d.Removed, it)
		}
	}
}
