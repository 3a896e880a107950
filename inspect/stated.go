package inspect

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// costTolerance is the permille by which a cost may be off that a client works out from
// prices of its own: it rounds each call.
const costTolerance = 5

// withAgents is why a stated cost is more than that of the Steps.
const withAgents = "it is the sum with the calls of sub-agents in the file"

// stated sets what the file says about its sums beside ours.
func (r *reading) stated() {
	lacks := map[sessionfile.Difference]string{} // by place and name
	for _, d := range r.s.Check() {
		lacks[sessionfile.Difference{Line: d.Line, What: d.What, Model: d.Model, Name: d.Name}] = d.Why
	}
	for _, s := range r.s.Stated {
		out := Stated{Line: s.Line, What: s.What, Model: s.Model, From: s.From + 1, To: s.To, Figures: []StatedFigure{}}
		if s.ToStep > 0 {
			out.FromStep, out.ToStep = s.FromStep+1, s.ToStep
		}
		sum := r.sumOf(s)
		for _, f := range s.Figures {
			why := lacks[sessionfile.Difference{Line: s.Line, What: s.What, Model: s.Model, Name: f.Name}]
			if f.Name == sessionfile.FigureCost {
				if costDiffers(f, sum.cost) && !costDiffers(f, sum.cost.Add(r.aside(s.Model))) {
					why = withAgents
				}
				out.Figures = append(out.Figures, costFigure(f, sum.cost, cmp.Or(why, s.Why, sum.guessed())))
				continue
			}
			one := sum.beside(f)
			if one.Differs || one.Estimated {
				one.Why = why
			}
			if one.Differs && one.Estimated {
				one.Why = cmp.Or(one.Why, "the file has no usage of some calls, and may not have counted them")
			}
			out.Figures = append(out.Figures, one)
		}
		r.report.Stated = append(r.report.Stated, out)
	}
}

// A stepSum is what Steps add up to.
type stepSum struct {
	calls           int
	usage           llm.Usage
	cost            catalog.Money
	costs           int  // that are estimated
	prompts, output bool // some are estimated
	thought         bool
}

// sumOf adds up the Steps that a statement is about.
func (r *reading) sumOf(s sessionfile.Stated) stepSum {
	t := stepSum{cost: catalog.Dollars(0)}
	n := -1
	for _, g := range r.segments[min(max(s.From, 0), len(r.segments)):min(max(s.To, 0), len(r.segments))] {
		for _, st := range g.steps {
			if n++; s.Sums(n) && !st.copied() && (s.Model == "" || st.info.Model == s.Model) {
				t.add(st)
			}
		}
	}
	return t
}

// add adds a Step: what the file has of its usage, and what it is taken for without.
func (t *stepSum) add(s step) {
	t.calls++
	t.cost = t.cost.Add(s.charge.CostUSD)
	if s.charge.CostKind == CostEstimated {
		t.costs++
	}
	u := s.info.Usage
	if u.Prompt() == 0 {
		u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h = s.charge.Usage.Input, s.charge.Usage.CacheRead, s.charge.Usage.CacheWrite5m, s.charge.Usage.CacheWrite1h
		t.prompts = true
	}
	if u.Output == 0 && !s.info.OutputReported {
		u.Output = s.charge.Usage.Output
		t.output = true
	}
	if n := s.charge.Usage.Reasoning; u.Reasoning == 0 && n > 0 {
		u.Reasoning, t.thought = n, true
	}
	t.usage = t.usage.Add(u)
}

// guessed says of how many calls ours is an estimate of the cost, if it is.
func (t *stepSum) guessed() string {
	if t.costs == 0 {
		return ""
	}
	return fmt.Sprintf("what %d of %d calls cost is estimated", t.costs, t.calls)
}

// beside sets ours beside a stated figure.
func (t *stepSum) beside(f sessionfile.Figure) StatedFigure {
	ours, _ := f.Name.Of(t.calls, t.usage)
	one := StatedFigure{Name: string(f.Name), Stated: f.Value, Ours: ours, Differs: f.Differs(ours)}
	switch f.Name {
	case sessionfile.FigurePrompt, sessionfile.FigureInput, sessionfile.FigureCacheRead, sessionfile.FigureCacheWrite:
		one.Estimated = t.prompts
	case sessionfile.FigureOutput:
		one.Estimated = t.output
	case sessionfile.FigureReasoning:
		one.Estimated = t.thought
	}
	return one
}

// costFigure sets a stated cost beside ours, which may be one of list prices. why is what is
// known to be missing from ours, or wrong with what is stated.
func costFigure(f sessionfile.Figure, ours catalog.Money, why string) StatedFigure {
	stated := catalog.Dollars(f.Value)
	one := StatedFigure{Name: string(f.Name), StatedUSD: &stated, OursUSD: &ours}
	if !ours.Known {
		one.Why = "the cost of some calls is not known"
		return one
	}
	if one.Differs = costDiffers(f, ours); one.Differs {
		one.Why = why
	}
	return one
}

// costDiffers reports whether a stated cost is another one than ours.
func costDiffers(f sessionfile.Figure, ours catalog.Money) bool {
	off := max(f.Value-ours.Pico, ours.Pico-f.Value)
	return !ours.Known || f.Differs(ours.Pico) && off > f.Value/1000*costTolerance
}

// aside returns what the calls of sub-agents inside the file cost, of one model or of all.
func (r *reading) aside(model string) catalog.Money {
	sum := catalog.Dollars(0)
	for _, b := range r.s.Abandoned {
		for i := range b.Calls {
			if c := &b.Calls[i]; b.Why == sessionfile.WhySubAgent && c.Copied == "" && (model == "" || c.Model == model) {
				sum = sum.Add(r.o.took(c).CostUSD)
			}
		}
	}
	return sum
}
