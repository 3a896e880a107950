package replay

import (
	"cmp"
	"slices"
)

// estimates sums up predictions: all of them, and by model and output.
func estimates(pairs []pair) (Estimate, []Estimate) {
	type key struct {
		model  string
		output bool
	}
	groups := map[key][]pair{}
	for _, p := range pairs {
		k := key{p.model, p.output}
		groups[k] = append(groups[k], p)
	}
	by := []Estimate{}
	for k, g := range groups {
		e := estimate(g)
		e.Model = k.model
		by = append(by, e)
	}
	slices.SortFunc(by, func(a, b Estimate) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(b.Pairs, a.Pairs))
	})
	return estimate(pairs), by
}

func estimate(pairs []pair) Estimate {
	e := Estimate{Pairs: len(pairs), OutputReported: len(pairs) > 0}
	if len(pairs) == 0 {
		return e
	}
	ppm, margins, covered := make([]int, len(pairs)), make([]int, len(pairs)), 0
	kind := pairs[0].kind
	for i, p := range pairs {
		ppm[i] = abs(p.point-p.real) * 1_000_000 / p.real
		margins[i] = p.bound - p.point
		if p.real <= p.bound {
			covered++
		}
		kind = max(kind, p.kind)
		e.OutputReported = e.OutputReported && p.output
	}
	slices.Sort(ppm)
	slices.Sort(margins)
	e.Kind = kind.String()
	e.P50PPM, e.P95PPM, e.MaxPPM = at(ppm, 50), at(ppm, 95), ppm[len(ppm)-1]
	e.BoundCoveredPPM = covered * 1_000_000 / len(pairs)
	e.MarginP50Tokens = at(margins, 50)
	return e
}

// at returns the smallest value that p percent of the sorted values do not exceed.
func at(sorted []int, p int) int { return sorted[max((len(sorted)*p+99)/100, 1)-1] }

func abs(n int) int { return max(n, -n) }
