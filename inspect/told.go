package inspect

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A told is what a file states of all calls of one segment, none of whose prompts it
// reports by itself. It is zero where it states nothing, or not of these calls alone.
type told struct {
	prompt int
	parts  llm.Usage  // the same in parts, with the output; zero if the file has no parts
	each   []toldPart // the same by model; nil if it is not told of each by itself
}

// A toldPart is what is told of some of the calls.
type toldPart struct {
	prompt int
	parts  llm.Usage
	steps  []int // their positions among the calls
}

// over returns what is told in parts of a segment's calls: of each model, or of all.
func (t told) over(calls int) []toldPart {
	if t.each != nil {
		return t.each
	}
	all := toldPart{t.prompt, t.parts, make([]int, calls)}
	for i := range all.steps {
		all.steps[i] = i
	}
	return []toldPart{all}
}

// of returns those of a list of all calls that are its.
func (s toldPart) of(all []int) []int {
	out := make([]int, len(s.steps))
	for i, at := range s.steps {
		out[i] = all[at]
	}
	return out
}

// toldOf returns what the file states of a segment, number number of its session.
func toldOf(s *sessionfile.Session, seg sessionfile.Segment, number int) told {
	if seg.Final || slices.ContainsFunc(s.Abandoned, func(b sessionfile.Branch) bool { return b.Why == sessionfile.WhySubAgent }) {
		return told{}
	}
	for _, e := range seg.Entries {
		if e.Step != nil && (e.Step.Usage.Prompt() > 0 || e.Step.Copied != "") {
			return told{}
		}
	}
	var whole []sessionfile.Figure
	var models []sessionfile.Stated
	wholes := 0
	for _, st := range s.Stated {
		switch {
		case st.To < number || st.From >= number: // of other segments
		case st.From != number-1 || st.To != number:
			return told{}
		case st.Model == "":
			whole = st.Figures
			wholes++
		default:
			models = append(models, st)
		}
	}
	if wholes > 1 {
		return told{}
	}
	if wholes > 0 {
		return toldBy(whole, seg.Steps())
	}
	for _, st := range models {
		whole = append(whole, st.Figures...)
	}
	t := toldBy(whole, seg.Steps())
	t.each = partsOf(seg, models)
	return t
}

// partsOf returns what is stated of each model's calls; nil unless that is all of them.
func partsOf(seg sessionfile.Segment, models []sessionfile.Stated) []toldPart {
	at, calls := map[string][]int{}, 0
	for _, e := range seg.Entries {
		if e.Step != nil {
			at[e.Step.Model] = append(at[e.Step.Model], calls)
			calls++
		}
	}
	var all []toldPart
	for _, st := range models {
		one := toldBy(st.Figures, len(at[st.Model]))
		if one.parts.Prompt() == 0 {
			return nil
		}
		all = append(all, toldPart{one.prompt, one.parts, at[st.Model]})
		calls -= len(at[st.Model])
		delete(at, st.Model)
	}
	if calls != 0 {
		return nil
	}
	return all
}

// toldBy adds up figures that are of so many calls.
func toldBy(figures []sessionfile.Figure, steps int) told {
	var t told
	calls := 0
	for _, f := range figures {
		n := int(f.Value)
		switch f.Name {
		case sessionfile.FigureCalls:
			calls += n
		case sessionfile.FigurePrompt:
			if f.Round > 1 {
				return told{}
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
	if calls > 0 && calls != steps || steps == 0 {
		return told{}
	}
	if t.parts.Prompt() != t.prompt {
		t.parts = llm.Usage{}
	}
	return t
}

// withUsage returns a segment whose only call has the usage that the file states of it, as
// one whose provider reported it; any other segment as it is.
func withUsage(s *sessionfile.Session, seg sessionfile.Segment, number int) sessionfile.Segment {
	t := toldOf(s, seg, number)
	if seg.Steps() != 1 || t.parts.Prompt() == 0 {
		return seg
	}
	i := slices.IndexFunc(seg.Entries, func(e sessionfile.Entry) bool { return e.Step != nil })
	seg.Entries = slices.Clone(seg.Entries)
	step := *seg.Entries[i].Step
	if step.OutputReported {
		t.parts.Output, t.parts.Reasoning = step.Usage.Output, step.Usage.Reasoning
	}
	step.Usage, step.Reported, step.OutputReported = t.parts, true, t.parts.Output > 0
	seg.Entries[i].Step = &step
	return seg
}
