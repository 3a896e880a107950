package inspect

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A told is what a file states of the calls of one segment, none of whose prompts it reports
// by itself: of all of them, of those of a run, or of those of a model. It is empty where the
// file states nothing, or not of these calls alone.
type told []toldPart

// A toldPart is what is told of some of the calls.
type toldPart struct {
	prompt int
	parts  llm.Usage // the same in parts, with the output; zero if the file has no parts
	steps  []int     // their positions among the calls; at least one
}

// divided reports whether a part is of several calls, which share it.
func (t told) divided() bool {
	return slices.ContainsFunc(t, func(p toldPart) bool { return len(p.steps) > 1 })
}

// inParts reports whether all that is told is in parts.
func (t told) inParts() bool {
	return len(t) > 0 && !slices.ContainsFunc(t, func(p toldPart) bool { return p.parts.Prompt() == 0 })
}

// cached reports whether something that is told was in a cache.
func (t told) cached() bool {
	return slices.ContainsFunc(t, func(p toldPart) bool { return p.parts.CacheRead+p.parts.CacheWrite5m > 0 })
}

// of returns those of a list of all calls that are its.
func (s toldPart) of(all []int) []int {
	out := make([]int, len(s.steps))
	for i, at := range s.steps {
		out[i] = all[at]
	}
	return out
}

// A statedRun is what is stated of a range of a segment's calls.
type statedRun struct {
	from, to int
	wholes   []sessionfile.Stated // of all of them
	models   []sessionfile.Stated // of those of a model
}

// toldOf returns what the file states of a segment, number number of its session.
func toldOf(s *sessionfile.Session, seg sessionfile.Segment, number int) told {
	if seg.Final && seg.Steps() == 0 || slices.ContainsFunc(s.Abandoned, func(b sessionfile.Branch) bool { return b.Why == sessionfile.WhySubAgent }) {
		return nil
	}
	var models []string // of the calls
	for _, e := range seg.Entries {
		if e.Step == nil {
			continue
		}
		if e.Step.Usage.Prompt() > 0 || e.Step.Copied != "" {
			return nil
		}
		models = append(models, e.Step.Model)
	}
	var out told
	last := 0
	for _, r := range runsOf(s.Stated, len(models), number) {
		if r.from < last || r.to > len(models) { // also of calls that another sum is of
			return nil
		}
		last = r.to
		out = append(out, r.told(models)...)
	}
	return out
}

// runsOf returns what is stated of a segment's calls, by range; one that is none of the
// segment where something is also of other segments.
func runsOf(stated []sessionfile.Stated, calls, number int) []statedRun {
	var all []statedRun
	for _, st := range stated {
		if st.To < number || st.From >= number { // of other segments
			continue
		}
		if st.From != number-1 || st.To != number {
			return nil
		}
		from, to := st.FromStep, cmp.Or(st.ToStep, calls)
		i := slices.IndexFunc(all, func(r statedRun) bool { return r.from == from && r.to == to })
		if i < 0 {
			i, all = len(all), append(all, statedRun{from: from, to: to})
		}
		if st.Model == "" {
			all[i].wholes = append(all[i].wholes, st)
		} else {
			all[i].models = append(all[i].models, st)
		}
	}
	slices.SortStableFunc(all, func(a, b statedRun) int { return cmp.Compare(a.from, b.from) })
	return all
}

// told returns what is told of a run, whose calls are some of those of these models.
func (r statedRun) told(models []string) told {
	steps := make([]int, 0, r.to-r.from)
	for i := r.from; i < r.to; i++ {
		steps = append(steps, i)
	}
	if len(r.wholes) > 1 {
		return nil
	}
	stated := r.wholes
	if len(stated) == 0 {
		if each := r.byModel(steps, models); each != nil {
			return each
		}
		stated = r.models
	}
	var figures []sessionfile.Figure
	for _, st := range stated {
		figures = append(figures, st.Figures...)
	}
	if one := toldBy(figures, steps); one.prompt > 0 {
		return told{one}
	}
	return nil
}

// byModel returns what is stated of each model's calls; nil unless that is all of them.
func (r statedRun) byModel(steps []int, models []string) told {
	at := map[string][]int{}
	for _, i := range steps {
		at[models[i]] = append(at[models[i]], i)
	}
	var all told
	calls := len(steps)
	for _, st := range r.models {
		one := toldBy(st.Figures, at[st.Model])
		if one.parts.Prompt() == 0 {
			return nil
		}
		all = append(all, one)
		calls -= len(at[st.Model])
		delete(at, st.Model)
	}
	if calls != 0 {
		return nil
	}
	return all
}

// toldBy adds up figures that are of some calls.
func toldBy(figures []sessionfile.Figure, steps []int) toldPart {
	t := toldPart{steps: steps}
	calls := 0
	for _, f := range figures {
		n := int(f.Value)
		switch f.Name {
		case sessionfile.FigureCalls:
			calls += n
		case sessionfile.FigurePrompt:
			if f.Round > 1 {
				return toldPart{}
			}
			t.prompt += n
		case sessionfile.FigureInput:
			t.parts.Input += n
		case sessionfile.FigureCacheRead:
			t.parts.CacheRead += n
		case sessionfile.FigureCacheWrite:
			t.parts.CacheWrite5m += n
		case sessionfile.FigureOutput:
			t.parts.Output += n
		case sessionfile.FigureReasoning:
			t.parts.Reasoning += n
		}
	}
	if calls > 0 && calls != len(steps) || len(steps) == 0 {
		return toldPart{}
	}
	if t.parts.Prompt() != t.prompt {
		t.parts = llm.Usage{}
	}
	return t
}

// withUsage returns a segment with the usage that is told of single calls, as if their
// provider had reported it; the other calls are as they were.
func (t told) withUsage(seg sessionfile.Segment) sessionfile.Segment {
	single := map[int]llm.Usage{}
	for _, p := range t {
		if len(p.steps) == 1 && p.parts.Prompt() > 0 {
			single[p.steps[0]] = p.parts
		}
	}
	if len(single) == 0 {
		return seg
	}
	seg.Entries = slices.Clone(seg.Entries)
	n := 0
	for i, e := range seg.Entries {
		if e.Step == nil {
			continue
		}
		if u, ok := single[n]; ok {
			step := *e.Step
			if step.OutputReported {
				u.Output, u.Reasoning = step.Usage.Output, step.Usage.Reasoning
			}
			step.Usage, step.Reported, step.OutputReported = u, true, u.Output > 0
			seg.Entries[i].Step = &step
		}
		n++
	}
	return seg
}
