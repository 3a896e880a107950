package edit

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/ground"
)

// DemoteByUse plans one batch that saves need tokens: outputs go to previews, then to one
// line, first those to which calls have referred least lately; then Rounds leave, the least
// lately referred to first. The scene needs its Ground.
func (s Scene) DemoteByUse(need int, a DemoteArgs) Plan {
	s = s.tallied()
	cands := s.candidates(a)
	for i := range cands {
		cands[i].score = s.disuse(cands[i].spot)
	}
	slices.SortStableFunc(cands, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	saved := demoteUntil(cands, need)
	if saved >= need || a.Archive == "" {
		return batch(cands, Plan{})
	}
	lines := SelectArgs{Stub: a.Stub, Archive: a.Archive, Kind: a.Kind, KindDrop: a.KindDrop}
	groups := s.groups(lines)
	order := s.byUse(groups)
	var p Plan
	for ask, freed := need-saved, 0; len(order) > 0; ask += need - p.Gain() {
		for freed < ask && len(order) > 0 {
			order[0].taken = false
			freed += order[0].least
			order = order[1:]
		}
		if p = s.selected(groups, lines); p.Gain() >= need {
			break
		}
	}
	return p
}

// byUse marks all groups as such that stay and returns those that may leave, the least lately
// referred to first.
func (s Scene) byUse(groups []group) []*group {
	used := map[*group]int{}
	var out []*group
	for i := range groups {
		g := &groups[i]
		if g.taken = true; g.pinned {
			continue
		}
		out = append(out, g)
		for id := g.span.From; id < g.span.To; id++ {
			for n := range s.Messages[id-1].Parts {
				used[g] = max(used[g], s.Ground.Used(ground.Place{Message: id, Part: n}))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *group) int { return cmp.Compare(used[a], used[b]) })
	return out
}

// neverUsed is how many times as old an output counts to which no call has referred.
const neverUsed = 2

// disuse orders outputs for demotion (grounding section 7): the Steps since a call referred to
// it and 3, twice that if none did, over its kind's weight, times the fourth root of its size;
// of that the logarithm.
func (s Scene) disuse(sp Spot) int {
	used := s.Ground.Used(ground.Place{Message: sp.ID, Part: sp.Part})
	age := s.Ground.Step() - used + worthAge
	if used == s.Ground.StepOf(sp.ID) {
		age *= neverUsed
	}
	return log2(age) - log2(weight(sp.Tool)) + log2(sp.Tokens)/4
}
