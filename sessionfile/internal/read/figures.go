package read

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// Said returns the parts of a reply. Where the file has none of one that was paid for, a line
// stands for it, so that the call is no less one.
func Said(parts []llm.Part, step *sessionfile.Step) []llm.Part {
	if len(parts) > 0 || step == nil || step.Usage.Total() == 0 && step.Cost == 0 {
		return parts
	}
	return []llm.Part{llm.Text{Text: sessionfile.NotInFile("a reply")}}
}

// Figures returns what a file states of the tokens of a whole as the figures of a
// sessionfile.Stated; of its calls and of the thinking in the outputs unless they are 0.
func Figures(calls int, u llm.Usage) []sessionfile.Figure {
	all := []sessionfile.Figure{
		{Name: sessionfile.FigurePrompt, Value: int64(u.Prompt())},
		{Name: sessionfile.FigureInput, Value: int64(u.Input)},
		{Name: sessionfile.FigureCacheRead, Value: int64(u.CacheRead)},
		{Name: sessionfile.FigureCacheWrite, Value: int64(u.CacheWrite5m + u.CacheWrite1h)},
		{Name: sessionfile.FigureOutput, Value: int64(u.Output)},
	}
	if u.Reasoning > 0 {
		all = append(all, sessionfile.Figure{Name: sessionfile.FigureReasoning, Value: int64(u.Reasoning)})
	}
	if calls > 0 {
		all = append([]sessionfile.Figure{{Name: sessionfile.FigureCalls, Value: int64(calls)}}, all...)
	}
	return all
}

// A Sum is what a file states of some calls. Zeros are not stated.
type Sum struct {
	Calls int
	Usage llm.Usage
	Cost  int64 // picodollars
}

// A Tally adds up what lines of a file state, model by model.
type Tally struct {
	line, n int
	sums    map[string]Sum
}

// Line begins a line that states sums.
func (t *Tally) Line(no int) { t.line, t.n = no, t.n+1 }

// Add adds what the line states of a model; "" is all of them.
func (t *Tally) Add(model string, s Sum) {
	if t.sums == nil {
		t.sums = map[string]Sum{}
	}
	was := t.sums[model]
	t.sums[model] = Sum{Calls: was.Calls + s.Calls, Usage: was.Usage.Add(s.Usage), Cost: was.Cost + s.Cost}
}

// Stated returns what was stated of the segments from one on and before another, by model.
// what names such a line.
func (t *Tally) Stated(what string, from, to int) []sessionfile.Stated {
	if t.n > 1 {
		what = fmt.Sprintf("%d times %s", t.n, what)
	}
	var all []sessionfile.Stated
	for _, model := range slices.Sorted(maps.Keys(t.sums)) {
		s := t.sums[model]
		one := sessionfile.Stated{Line: t.line, What: what, Model: model, From: from, To: to, Figures: Figures(s.Calls, s.Usage)}
		if s.Usage == (llm.Usage{}) {
			one.Figures = one.Figures[:min(s.Calls, 1)]
		}
		if s.Cost > 0 {
			one.Figures = append(one.Figures, sessionfile.Figure{Name: sessionfile.FigureCost, Value: s.Cost})
		}
		all = append(all, one)
	}
	return all
}

// Unpriced reports, at the first call that it is true of, why list prices do not hold.
func Unpriced(r *Reading, line int, why string) {
	r.Problem(line, "usage: %s: list prices do not hold, so the cost of such calls is not known", why)
}

// A Runs has what each run of a conversation states of its own calls.
type Runs struct {
	calls  int // so far
	from   int // the first call of which nothing was stated yet, of this run
	stated []sessionfile.Stated
}

// Begin begins a run. Calls before it of which nothing was stated stay so.
func (r *Runs) Begin() { r.from = r.calls }

// Call counts a call of the run.
func (r *Runs) Call() { r.calls++ }

// State takes in what is stated of the calls since the run began, or since the last such line.
func (r *Runs) State(stated []sessionfile.Stated) {
	for _, st := range stated {
		st.FromStep, st.ToStep = r.from, r.calls
		r.stated = append(r.stated, st)
	}
	r.from = r.calls
}

// Of returns what was stated, of a segment that was handed over with all the calls; to is
// from if it was not.
func (r *Runs) Of(from, to int) []sessionfile.Stated {
	for i := range r.stated {
		st := &r.stated[i]
		st.From, st.To = from, to
		switch {
		case st.FromStep == st.ToStep, from == to:
			st.FromStep, st.ToStep, st.To = 0, 0, from
		case st.FromStep == 0 && st.ToStep == r.calls:
			st.ToStep = 0
		}
	}
	return r.stated
}
