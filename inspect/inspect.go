package inspect

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// empty returns a Report without anything in its lists.
func empty(name string) Report {
	return Report{
		Schema: Schema, Session: name, Segments: []Segment{}, Findings: []Finding{}, Tools: []ToolSum{}, Causes: []CauseSum{}, Largest: []Output{}, Repeated: []Repeat{}, Unanswered: []Call{},
		Cuts: []Cut{}, CacheBreaks: []Break{}, Thinking: []Thinking{}, Problems: []Problem{}, Abandoned: []Branch{},
		Stated: []Stated{}, Kindred: Kindred{Agents: []Agent{}}, Totals: Totals{Kinds: []KindSum{}},
	}
}

// Unreadable returns the Report of a file that could not be read at all.
func Unreadable(name string, err error) Report {
	r := empty(name)
	r.Problems = append(r.Problems, Problem{What: err.Error()})
	return r
}

// Session analyses a whole session. The error says that the counter of a model
// could not be made; whatever is wrong with the file is in the Report.
func Session(s *sessionfile.Session, o Options) (Report, error) {
	report := empty(s.Path)
	report.Format, report.Client, report.ClientVersion, report.ID = string(s.Format), s.Client, s.ClientVersion, s.ID
	report.Parent, report.Kin = s.Parent, string(s.Kin)
	segments, err := measureAll(s, o)
	if err != nil {
		return report, err
	}
	r := &reading{s: s, o: o, segments: segments, report: &report}
	for _, p := range s.Problems {
		report.Problems = append(report.Problems, Problem{p.Line, p.What})
	}
	branches, agents := o.Aside(s)
	report.Abandoned, report.Agents = append(report.Abandoned, branches...), append(report.Agents, agents...)
	r.describe()
	report.End = r.end()
	r.total()
	report.Attach(nil)
	r.outputs()
	r.repeats()
	r.unanswered()
	r.cuts()
	r.thinking()
	r.breaks()
	r.stated()
	if o.Talk {
		r.talk()
	}
	return report, nil
}

// describe writes the segments and their Steps.
func (r *reading) describe() {
	number := 0
	for _, g := range r.segments {
		out := Segment{
			Number: g.number, Start: string(g.Start), Name: g.Name, NotRun: g.notRun, Model: g.model,
			Window: r.o.WindowOf(r.s, g.Segment).Tokens, Accepted: r.o.Accepted(r.s, g.Segment), Messages: len(g.Entries), Hidden: g.hidden, Steps: []Step{}, Failures: failuresOf(g.Segment),
		}
		before := 0
		for i, s := range g.steps {
			number++
			step := Step{
				Step: i + 1, Number: number, Model: s.info.Model, MessageID: s.info.MessageID, RequestID: s.info.RequestID, Copied: s.info.Copied, Tokens: s.tokens, Kind: s.kind, By: named(s.contents),
				New: s.entry - before, CostUSD: s.charge.CostUSD, CostKind: s.charge.CostKind, Estimate: g.prediction(i), Time: cmp.Or(s.info.Time, s.sent),
			}
			if s.entry < len(g.Entries) {
				step.Line = g.Entries[s.entry].Line
			}
			if s.refused != nil {
				step.Refused, step.Line = refusedOf(*s.refused), s.refused.Line
			}
			if s.reported() || !s.info.Usage.IsZero() {
				u := usageOf(s.info.Usage)
				step.Usage = &u
			}
			before = s.entry + 1
			out.Steps = append(out.Steps, step)
		}
		r.report.Segments = append(r.report.Segments, out)
	}
}

// total sums up.
func (r *reading) total() {
	t := &r.report.Totals
	t.Reported, t.OutputReported = true, true
	t.Kinds = []KindSum{{Kind: Reported}, {Kind: ClientCounted}, {Kind: Calibrated}, {Kind: Estimated}}
	cost, seen := catalog.Dollars(0), map[key]bool{}
	var usage llm.Usage
	for _, g := range r.segments {
		for i, e := range g.Entries {
			if k := g.keyOf(place{i, 0}); g.conversation == g.number || !seen[k] {
				t.Messages++
				seen[k] = true
			}
			r.span(e.Time)
		}
		for i, s := range g.steps {
			if s.refused != nil {
				r.span(s.info.Time)
				continue
			}
			if s.copied() {
				t.CopiedSteps++
				t.CopiedTokens += s.tokens
				continue
			}
			t.Steps++
			t.Tokens += s.tokens
			t.addKind(s)
			t.Reported = t.Reported && s.reported()
			t.OutputReported = t.OutputReported && s.info.OutputReported
			usage = usage.Add(s.info.Usage)
			if s.tokens > t.Peak {
				t.Peak, t.PeakStep = s.tokens, StepRef{g.number, i + 1}.Name()
			}
			if c := s.charge.CostUSD; c.Known {
				cost = cost.Add(c)
				t.CostSteps++
			}
			if s.charge.CostKind == CostEstimated {
				t.CostEstimated++
			}
			r.span(s.info.Time)
		}
	}
	t.Kinds = slices.DeleteFunc(t.Kinds, func(k KindSum) bool { return k.Steps == 0 })
	t.Usage = usageOf(usage)
	t.Reported, t.OutputReported = t.Reported && t.Steps > 0, t.OutputReported && t.Steps > 0
	if t.CostSteps == t.Steps && t.Steps > 0 { // a sum with something unknown is unknown
		t.CostUSD = cost
	}
}

// addKind books a Step by what its size stands on.
func (t *Totals) addKind(s step) {
	i := slices.IndexFunc(t.Kinds, func(k KindSum) bool { return k.Kind == s.kind })
	t.Kinds[i].Steps++
	t.Kinds[i].Tokens += s.tokens
}

// span widens the session's time to ms.
func (r *reading) span(ms int64) {
	t := &r.report.Totals
	if ms == 0 {
		return
	}
	if t.Start == 0 || ms < t.Start {
		t.Start = ms
	}
	t.End = max(t.End, ms)
}
