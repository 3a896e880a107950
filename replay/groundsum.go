package replay

import (
	"cmp"
	"math"
	"slices"
)

// finish writes the sums of a run.
func (g *grounder) finish() *Grounding {
	r := g.run
	if r.Steps > 0 {
		r.Segments, r.MacroPPM = 1, int(g.macro/int64(r.Steps))
	}
	if r.Cost.Raw > 0 {
		r.Cost.SharePPM = int(r.Cost.Sent * million / r.Cost.Raw)
	}
	r.ByKind, r.BySource = sumsOf(g.kinds), sumsOf(g.from)
	r.Hard.interval()
	return r
}

const million = 1_000_000

func sumsOf(m map[string]*Share) []NamedSum {
	out := []NamedSum{}
	for name, s := range m {
		out = append(out, NamedSum{name, *s})
	}
	inOrder(out)
	return out
}

func inOrder(list []NamedSum) {
	slices.SortFunc(list, func(a, b NamedSum) int { return cmp.Or(b.Spans-a.Spans, cmp.Compare(a.Name, b.Name)) })
}

// Add adds the grounding of another segment under the same policy and window. One in which
// nothing refers to anything counts in no mean.
func (g *Grounding) Add(o Grounding) {
	if n := g.Segments + o.Segments; n > 0 {
		mean := func(a, b int) int { return (a*g.Segments + b*o.Segments) / n }
		g.MacroPPM, g.Cost.SharePPM = mean(g.MacroPPM, o.MacroPPM), mean(g.Cost.SharePPM, o.Cost.SharePPM)
		g.Segments = n
	}
	g.Steps += o.Steps
	g.Complete += o.Complete
	g.Share.sum(o.Share)
	g.ByKind, g.BySource = together(g.ByKind, o.ByKind), together(g.BySource, o.BySource)
	g.Hard.sum(o.Hard.Share)
	g.Hard.interval()
	g.Noted += o.Noted
	g.LookUps += o.LookUps
	g.Cost.Raw += o.Cost.Raw
	g.Cost.Sent += o.Cost.Sent
	g.Cost.LookUps += o.Cost.LookUps
}

// Kind returns the sum of one kind of spans.
func (g *Grounding) Kind(name string) Share {
	for _, k := range g.ByKind {
		if k.Name == name {
			return k.Share
		}
	}
	return Share{}
}

func (s *Share) sum(o Share) {
	s.Spans += o.Spans
	s.Visible += o.Visible
	s.Reachable += o.Reachable
	s.Archived += o.Archived
	s.Lost += o.Lost
}

func together(a, b []NamedSum) []NamedSum {
	out := slices.Clone(a)
	for _, s := range b {
		if i := slices.IndexFunc(out, func(o NamedSum) bool { return o.Name == s.Name }); i >= 0 {
			out[i].sum(s.Share)
		} else {
			out = append(out, s)
		}
	}
	inOrder(out)
	return out
}

// interval sets the interval of what is visible.
func (s *Sample) interval() {
	if s.Spans == 0 {
		s.LowPPM, s.HighPPM = 0, million
		return
	}
	const z = 1.96
	n := float64(s.Spans)
	p := float64(s.Visible) / n
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high := (middle-half)/(1+z*z/n), (middle+half)/(1+z*z/n)
	s.LowPPM, s.HighPPM = int(math.Round(max(low, 0)*million)), int(math.Round(min(high, 1)*million))
}
