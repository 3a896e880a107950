package edit

import (
	"iter"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// SelectArgs say what [Scene.Select] keeps.
type SelectArgs struct {
	Room     int    // tokens of older messages that may stay
	Stub     string // template of the one-line form
	Archive  string // template of an archive's note
	Kind     Kind   // of the one-line edits
	KindDrop Kind   // of the archives
}

// Select plans one batch after which the messages before Keep, without those that are
// pinned, take no more than a.Room tokens: what is worth most for its size stays. Of a Round
// that stays an output may be one line. A Round that does not stay is archived, with what was
// archived beside it. Nothing comes back. The scene needs its Ground.
func (s Scene) Select(a SelectArgs) Plan {
	s = s.tallied()
	groups := s.groups(a)
	room := a.Room
	for c := range choices(groups) {
		need := 0
		if !c.group.taken {
			need = c.group.least
		}
		if c.out != nil {
			need += c.out.more
		}
		if need > room {
			continue
		}
		room -= need
		c.group.taken = true
		if c.out != nil {
			c.out.taken = true
		}
	}
	return s.selected(groups, a)
}

// A group is what leaves together: a Round, or a message beside them.
type group struct {
	span   Span
	pinned bool
	least  int // tokens with each output in one line
	worth  int // of the part that is worth most
	outs   []*outChoice
	taken  bool
}

// An outChoice is an output that may stay as it is shown.
type outChoice struct {
	more  int // tokens beyond its one line
	worth int
	stub  Plan
	taken bool
}

// A choice is something that may stay.
type choice struct {
	group *group
	out   *outChoice // nil: the group with its outputs in one line each
}

// choices goes through what may stay, the most worth first. Where two are worth the same, the
// newer one is first. It sorts numbers: what is worth more has the smaller one, and below its
// worth stands its place.
func choices(groups []group) iter.Seq[choice] {
	n := len(groups)
	for i := range groups {
		n += len(groups[i].outs)
	}
	all, order := make([]choice, 0, n), make([]int64, 0, n)
	add := func(c choice, worth int) {
		order = append(order, int64(-worth)<<placeBits|int64(len(all)))
		all = append(all, c)
	}
	for i := range slices.Backward(groups) {
		g := &groups[i]
		add(choice{g, nil}, g.worth)
		for _, o := range g.outs {
			add(choice{g, o}, o.worth)
		}
	}
	slices.Sort(order)
	return func(yield func(choice) bool) {
		for _, at := range order {
			if !yield(all[at&(1<<placeBits-1)]) {
				return
			}
		}
	}
}

// placeBits are the bits of a place among choices: more than parts of a conversation can be,
// and the worth of one, at least [unworthy], has room above them.
const placeBits = 32

// unworthy is the worth of a group that is nothing but outputs in one line.
const unworthy = -1 << 30

// groups returns what stands before Keep, in its order.
func (s Scene) groups(a SelectArgs) []group {
	out := make([]group, 0, len(s.View.Items))
	bare := s
	bare.Template = a.Stub
	for i := range s.View.Items {
		it := &s.View.Items[i]
		id := it.Message.ID
		if it.IsNote() {
			continue
		}
		if id >= s.Keep {
			break
		}
		if len(out) == 0 || s.Turns.CanCut(int(id)-1) {
			out = append(out, group{span: Span{id, id}, worth: unworthy})
		}
		g := &out[len(out)-1]
		g.span.To = id + 1
		if s.pinned(id) {
			g.pinned = true
		}
		s.weigh(g, i, bare, a.Kind)
	}
	for i := range out {
		out[i].taken = out[i].pinned
	}
	return out
}

// weigh adds item i to its group.
func (s Scene) weigh(g *group, i int, bare Scene, kind Kind) {
	m := &s.View.Items[i].Message
	now := s.Ground.Step()
	size := s.tally[i+1] - s.tally[i]
	for n, p := range m.Parts {
		r, ok := p.(llm.ToolResult)
		if !ok {
			age := now - s.Ground.Used(ground.Place{Message: m.ID, Part: n})
			g.worth = max(g.worth, worth(weightOf(*m, p), age, s.Size(p)))
			continue
		}
		sp := s.spot(i, n, r)
		if FormOf(r) == Bare {
			continue
		}
		stub := bare.Stub(sp, kind, Beginning{}, "worth less than what stays")
		more := stub.Gain()
		if more <= 0 {
			continue
		}
		size -= more
		tenths, step := s.outputWorth(sp)
		g.outs = append(g.outs, &outChoice{more: more, worth: worth(tenths, now-step, sp.Tokens), stub: stub})
	}
	g.least += size
}

// selected plans what a selection comes to.
func (s Scene) selected(groups []group, a SelectArgs) Plan {
	var p Plan
	drop := s
	drop.Template = a.Archive
	least := drop.leastNote()
	var buf []byte // where archives are tried out
	for i := 0; i < len(groups); i++ {
		if groups[i].taken {
			for _, o := range groups[i].outs {
				if !o.taken {
					p = p.Join(o.stub)
				}
			}
			continue
		}
		j := i
		for j+1 < len(groups) && !groups[j+1].taken {
			j++
		}
		span := s.beside(Span{groups[i].span.From, groups[j].span.To})
		i = j
		if s.sizeOf(span) <= least {
			continue
		}
		d := drop.noted(drop.draft(span, buf))
		if d.gain() > 0 {
			p, buf = p.Join(d.plan(drop, a.KindDrop, "worth less than what stays")), nil
		} else if len(s.Written) == 0 { // else it may be one that was written beforehand
			buf = d.blob.Data
		}
	}
	return p
}

// beside widens a span over the archives that stand right before and behind it.
func (s Scene) beside(span Span) Span {
	all := s.standing.byPlace
	behind := s.standing.archivesFrom(span.To)
	for i := len(all) - len(s.standing.archivesFrom(span.From)) - 1; i >= 0 && all[i].Span.To == span.From; i-- {
		span.From = all[i].Span.From
	}
	for ; len(behind) > 0 && behind[0].Span.From == span.To; behind = behind[1:] {
		span.To = behind[0].Span.To
	}
	return span
}
