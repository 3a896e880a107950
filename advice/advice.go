package advice

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// A Replayed is what a replay of the same session says about one policy, beside what the
// client sent, on the model's own window. It is nil where nobody replayed it, or where a
// segment could not be run.
type Replayed struct {
	Policy  string
	Paid    catalog.Money // of the client's own requests
	CostUSD catalog.Money // of the policy's
	Peak    int           // tokens of its largest request
	Limit   int           // that a request may have
	// Sent says that it sent every request of the session within its limit.
	Sent bool
}

// Of returns the findings about a session: how it ended first, then the most expensive.
func Of(r inspect.Report, re *Replayed) []inspect.Finding {
	var found []weighed
	for _, rule := range Rules() {
		m := measures[rule.Measure](subject{r, re})
		if m.figure >= rule.Least && m.figure > 0 {
			found = append(found, weighed{rule.First, m.weight(), rule.finding(subject{r, re}, m)})
		}
	}
	slices.SortStableFunc(found, func(a, b weighed) int {
		return cmp.Or(compareBool(b.first, a.first), order(a, b))
	})
	out := []inspect.Finding{}
	for _, f := range found[:min(len(found), Most)] {
		out = append(out, f.Finding)
	}
	return out
}

// A weighed is a finding with what it weighs beside others.
type weighed struct {
	first  bool
	weight int64
	inspect.Finding
}

// order keeps the order of the rules among those that stand first.
func order(a, b weighed) int {
	if a.first {
		return 0
	}
	return cmp.Compare(b.weight, a.weight)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// finding says what a rule found.
func (r Rule) finding(s subject, m measured) inspect.Finding {
	values := s.values()
	for k, v := range m.values {
		values[k] = v
	}
	f := inspect.Finding{Rule: r.Name, Text: fill(r.Text, values), Do: fill(r.Do, values), Command: fill(r.Command, values), Tokens: m.tokens}
	if m.cost.Known {
		f.CostUSD = &m.cost
	}
	return f
}

// fill fills the placeholders of a text, also those in what it is filled with; the text is
// empty if one has no value.
func fill(text string, values map[string]string) string {
	const deepest = 3 // a value in a value in a text
	for range deepest {
		var b strings.Builder
		for rest := text; ; {
			before, after, open := strings.Cut(rest, "{")
			b.WriteString(before)
			name, behind, closed := strings.Cut(after, "}")
			if !open || !closed {
				break
			}
			v, ok := values[name]
			if !ok {
				return ""
			}
			b.WriteString(v)
			rest = behind
		}
		if text = b.String(); !strings.Contains(text, "{") {
			return text
		}
	}
	return text
}
