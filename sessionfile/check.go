package sessionfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Difference is a figure that a file states of a whole and that is not what the calls
// in it add up to.
type Difference struct {
	Line   int    // where it is stated, from 1
	What   string // what states it
	Model  string // of whose calls alone; empty for all
	Name   FigureName
	Stated int64 // Steps, tokens, or picodollars
	Read   int64 // the sum over the Steps that were read
	// Why is what is known to be missing from the sum, or wrong with what is stated; empty if
	// nothing is, so that the file states what it does not show, or was not read as it
	// should be.
	Why string
}

// String returns the difference in the form "line 9: result line: output: 80 stated, 13
// read".
func (d Difference) String() string {
	what := d.What
	if d.Model != "" {
		what += " of " + d.Model
	}
	text := fmt.Sprintf("line %d: %s: %s: %d stated, %d read", d.Line, what, d.Name, d.Stated, d.Read)
	if d.Why != "" {
		text += ": " + d.Why
	}
	return text
}

// Check compares each figure of Stated with the sum over the Steps of its segments, and
// returns those that differ by more than they were rounded. Steps that were copied from
// another session are left out, since its file has them. Costs are compared only where
// Steps state theirs: what list prices come to is not known here. It needs all segments,
// so a session that is read one segment at a time has nothing to compare with.
func (s *Session) Check() []Difference {
	var all []Difference
	for _, stated := range s.Stated {
		sum := s.sum(stated)
		sum.none = stated.From >= stated.To
		sum.aside = slices.ContainsFunc(s.Abandoned, func(b Branch) bool { return b.Why == WhySubAgent })
		whole := s.withAgents(sum, stated.Model)
		for _, f := range stated.Figures {
			got, known := sum.figure(f.Name)
			if !known || !f.Differs(got) {
				continue
			}
			lacks := sum.lacks(f.Name)
			if with, _ := whole.figure(f.Name); sum.aside && !f.Differs(with) {
				lacks = "it is the sum with the calls of sub-agents in the file"
			}
			why := slices.DeleteFunc([]string{lacks, stated.Why}, func(s string) bool { return s == "" })
			all = append(all, Difference{
				Line: stated.Line, What: stated.What, Model: stated.Model,
				Name: f.Name, Stated: f.Value, Read: got, Why: strings.Join(why, "; "),
			})
		}
	}
	return all
}

// A sum is what the Steps of some segments add up to.
type sum struct {
	calls   int
	usage   llm.Usage
	cost    int64
	prompts int  // Steps whose prompt is known
	outputs int  // Steps whose output is final
	thought int  // Steps whose thinking is known not to be 0
	costs   int  // Steps whose cost is known
	aside   bool // the file has lines of sub-agents, whose calls are no Steps
	none    bool // the file has nothing of what is summed up
}

// sum adds up the Steps that are stated.
func (s *Session) sum(of Stated) sum {
	var t sum
	n := 0
	for i := max(of.From, 0); i < min(of.To, len(s.Segments)); i++ {
		for _, e := range s.Segments[i].Entries {
			if e.Step == nil {
				continue
			}
			if of.Sums(n) && e.Step.Copied == "" && (of.Model == "" || of.Model == e.Step.Model) {
				t.add(e.Step)
			}
			n++
		}
	}
	return t
}

// withAgents returns a sum with the calls that sub-agents made whose lines are in the file.
func (s *Session) withAgents(t sum, model string) sum {
	for _, b := range s.Abandoned {
		for i := range b.Calls {
			if c := &b.Calls[i]; b.Why == WhySubAgent && c.Copied == "" && (model == "" || model == c.Model) {
				t.add(c)
			}
		}
	}
	return t
}

func (t *sum) add(step *Step) {
	t.calls++
	t.usage = t.usage.Add(step.Usage)
	t.cost += step.Cost
	if step.Usage.Prompt() > 0 {
		t.prompts++
	}
	if step.OutputReported || step.ClientCount && step.Usage.Output > 0 {
		t.outputs++
	}
	if step.Usage.Reasoning > 0 {
		t.thought++
	}
	if step.Cost > 0 {
		t.costs++
	}
}

// figure returns a figure of the sum, and whether it can be compared.
func (t *sum) figure(name FigureName) (value int64, known bool) {
	if name == FigureCost {
		return t.cost, t.costs > 0
	}
	return name.Of(t.calls, t.usage)
}

// Of returns what a figure is of so many calls with that usage together. A cost is not
// known from these.
func (n FigureName) Of(calls int, u llm.Usage) (value int64, known bool) {
	switch n {
	case FigureCalls:
		return int64(calls), true
	case FigurePrompt:
		return int64(u.Prompt()), true
	case FigureInput:
		return int64(u.Input), true
	case FigureCacheRead:
		return int64(u.CacheRead), true
	case FigureCacheWrite:
		return int64(u.CacheWrite5m + u.CacheWrite1h), true
	case FigureOutput:
		return int64(u.Output), true
	case FigureReasoning:
		return int64(u.Reasoning), true
	}
	return 0, false
}

// Differs reports whether a value is another one than f, by more than f was rounded.
func (f Figure) Differs(value int64) bool {
	off := max(f.Value-value, value-f.Value)
	return off != 0 && 2*off > f.Round
}

// lacks says what is known to be missing from a figure.
func (t *sum) lacks(name FigureName) string {
	if t.none {
		return "the file has none of the conversation"
	}
	have, what := t.calls, ""
	switch name {
	case FigurePrompt, FigureInput, FigureCacheRead, FigureCacheWrite:
		have, what = t.prompts, "size of the prompt"
	case FigureReasoning:
		if t.thought == 0 {
			return "no call says what of its output is thinking"
		}
		have, what = t.outputs, "final size of the output"
	case FigureOutput:
		have, what = t.outputs, "final size of the output"
	case FigureCost:
		have, what = t.costs, "cost"
	}
	switch {
	case have == t.calls && t.aside:
		return "calls of sub-agents in the file are not among those that were added up"
	case have == t.calls:
		return ""
	}
	return fmt.Sprintf("the file has no %s for %d of %d calls", what, t.calls-have, t.calls)
}
