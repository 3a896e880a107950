package edit

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// Trim plans to replace outputs by the scene's template until need tokens are saved: the
// oldest first, failed ones after all others, and those of pinned messages last. Outputs
// that are a single line already, and those that the template would not make smaller,
// stay.
func (s Scene) Trim(need int) Plan {
	s = s.placed()
	var p Plan
	saved := 0
	for _, sp := range s.dispensable() {
		if saved >= need {
			break
		}
		if FormOf(sp.Result) == Bare {
			continue
		}
		if one := s.Stub(sp, KindTrim, Beginning{}, "the outputs together are over their budget"); one.Gain() > 0 {
			saved += one.Gain()
			p = p.Join(one)
		}
	}
	return p
}

// dispensable returns the outputs in the order in which they may go: what failed is short,
// and what is pinned was to stay.
func (s Scene) dispensable() []Spot {
	rank := func(sp Spot) int {
		switch {
		case s.pinned(sp.ID):
			return 2
		case sp.Result.IsError:
			return 1
		}
		return 0
	}
	spots := s.Outputs()
	slices.SortStableFunc(spots, func(a, b Spot) int { return cmp.Compare(rank(a), rank(b)) })
	return spots
}

// ClearArgs say which outputs [Scene.Clear] touches.
type ClearArgs struct {
	Permille int  // of the messages, from the oldest
	Bytes    int  // smallest output
	Errors   bool // failed outputs too
}

// Clear plans to replace the outputs in the oldest share of messages.
func (s Scene) Clear(a ClearArgs) Plan {
	s = s.placed()
	var p Plan
	last := len(s.View.Items) * a.Permille / 1000
	for _, sp := range s.Outputs() {
		if sp.Item >= last {
			break
		}
		r := s.original(sp)
		if FormOf(sp.Result) != Whole || len(Stored(r)) < a.Bytes || r.IsError && !a.Errors {
			continue
		}
		if one := s.Stub(sp, KindClear, Beginning{}, "one of the oldest outputs"); one.Gain() > 0 {
			p = p.Join(one)
		}
	}
	return p
}

// DemoteArgs say how far [Scene.Demote] may go.
type DemoteArgs struct {
	Preview  int    // permille of an output kept as a preview; 0: no previews
	Stub     string // template of the one-line form
	Archive  string // template of an archive's note; empty: nothing is archived
	Kind     Kind   // of the one-line edits
	KindDrop Kind   // of the archives
}

// Demote plans one batch that saves need tokens: outputs go to previews, then to
// one line, in the order of their score, then the oldest messages are archived.
// Each output changes at most once.
func (s Scene) Demote(need int, a DemoteArgs) Plan {
	s = s.placed()
	cands := s.candidates(a)
	saved := demoteUntil(cands, need)
	p := batch(cands, Plan{})
	if saved >= need || a.Archive == "" {
		return p
	}
	// What an archive takes in saves less than its candidates' own forms would
	// have; ask for a little more until both together are enough.
	s = s.tallied()
	d := s.beyond(cands, a)
	for ask, tries := need-saved, 0; p.Gain() < need && tries < 4 && !d.all; tries++ {
		drops := d.until(ask)
		for i := range drops.Edits {
			drops.Edits[i].Before = s.sizeOf(drops.Edits[i].Span)
		}
		p = batch(cands, drops)
		ask += need - p.Gain()
	}
	return p
}

// demoteUntil takes candidates to previews, then to one line, until need tokens are saved, and
// returns how many are.
func demoteUntil(cands []candidate, need int) int {
	saved := 0
	for form := Preview; form <= Bare && saved < need; form++ {
		for i := range cands {
			if saved >= need {
				break
			}
			saved += cands[i].demote(form)
		}
	}
	return saved
}

// beyond is a dropping in which the candidates save what they do. The scene is tallied.
func (s Scene) beyond(cands []candidate, a DemoteArgs) *dropping {
	saving := map[llm.MessageID]int{}
	for _, c := range cands {
		saving[c.spot.ID] += c.saved()
	}
	shrunk := s
	shrunk.Template = a.Archive
	shrunk.Measure = func(m llm.Message) int { return s.Measure(m) - saving[m.ID] }
	shrunk.tally = slices.Clone(s.tally)
	saved := 0
	for i, it := range s.View.Items {
		saved += saving[it.Message.ID]
		shrunk.tally[i+1] -= saved
	}
	return shrunk.dropping(a.KindDrop, "least needed")
}

// batch is the plan that takes every candidate to its form, but for those that
// go into an archive, and then makes the archives.
func batch(cands []candidate, drops Plan) Plan {
	var p Plan
	for _, c := range cands {
		if c.form != Whole && !covered(drops, c.spot.ID) {
			p = p.Join(c.plan(c.form))
		}
	}
	return p.Join(drops)
}

// covered reports whether an archive of p takes in message id.
func covered(p Plan, id llm.MessageID) bool {
	for _, e := range p.Edits {
		if e.Op == Archive && e.Span.Contains(id) {
			return true
		}
	}
	return false
}

// A candidate is an output that a batch may demote. Its plans are made when they
// are first looked at.
type candidate struct {
	spot  Spot
	score int
	make  func(Form) Plan
	plans [3]Plan // by Form
	made  [3]bool
	form  Form
}

func (c *candidate) plan(form Form) Plan {
	if !c.made[form] {
		c.plans[form], c.made[form] = c.make(form), true
	}
	return c.plans[form]
}

func (c *candidate) saved() int { return c.plan(c.form).Gain() }

// demote takes c to form if that saves more than it does now.
func (c *candidate) demote(form Form) int {
	was, now := c.saved(), c.plan(form).Gain()
	if now <= was {
		return 0
	}
	c.form = form
	return now - was
}

// candidates returns the outputs that are more than one line now, highest score first.
func (s Scene) candidates(a DemoteArgs) []candidate {
	var out []candidate
	bare := s
	bare.Template = a.Stub
	rounds := s.Turns.Rounds()
	for _, sp := range s.Outputs() {
		shown := FormOf(sp.Result)
		if shown == Bare {
			continue
		}
		out = append(out, candidate{spot: sp, score: score(sp, rounds), make: func(form Form) Plan {
			switch {
			case form == Bare:
				return bare.Stub(sp, a.Kind, Beginning{}, "demoted in a batch")
			case form == Preview && shown == Whole && a.Preview > 0 && onlyText(s.original(sp)):
				return s.preview(sp, a.Preview)
			}
			return Plan{}
		}})
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return out
}

// preview plans the form that keeps a share of an output.
func (s Scene) preview(sp Spot, permille int) Plan {
	p := s.Cap(sp, CapArgs{Tokens: max(sp.Tokens*permille/1000, 40)})
	for i := range p.Edits {
		p.Edits[i].Kind = KindPreview
		p.Edits[i].Why = fmt.Sprintf("demoted to %d permille in a batch", permille)
	}
	return p
}

// score orders outputs for demotion: how many of all Rounds ago, over what agents need
// of that kind of tool (grounding section 7; size does not matter measurably).
func score(sp Spot, rounds []turn.Round) int {
	age := len(rounds) - sort.Search(len(rounds), func(i int) bool { return rounds[i].Call > int(sp.ID)-1 })
	return (age + 3) * 1000 / weight(sp.Tool)
}

// weight is how often later calls refer to the output of a tool, in tenths
// (grounding section 7: edit 17, read 10, shell 7, search 5, other 3).
func weight(tool string) int {
	return kindOf(tool).tenths
}

// kindOf returns what is known of a tool by its name.
func kindOf(tool string) toolKind {
	name := strings.ToLower(tool)
	for _, w := range weights {
		if strings.Contains(name, w.part) {
			return w
		}
	}
	return toolKind{tenths: 3}
}

// A toolKind is the tools whose names have a part in common.
type toolKind struct {
	part   string
	tenths int
	reads  bool // prints files
}

var weights = []toolKind{
	{"edit", 17, false},
	{"write", 17, false},
	{"patch", 17, false},
	{"replace", 17, false},
	{"read", 10, true},
	{"view", 10, true},
	{"cat", 10, true},
	{"bash", 7, false},
	{"shell", 7, false},
	{"exec", 7, false},
	{"command", 7, false},
	{"terminal", 7, false},
	{"grep", 5, false},
	{"glob", 5, false},
	{"search", 5, false},
	{"find", 5, false},
	{"list", 5, false},
	{"ls", 5, false},
}

// onlyText reports whether r is one text.
func onlyText(r llm.ToolResult) bool {
	_, ok := TextOf(r)
	return ok
}
