package inspect

import (
	"cmp"
	"iter"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A Brief is what a list says of a session: what its file states, nothing counted. It is made
// of a stream of segments in the memory of one of them.
type Brief struct {
	ID      string `json:"id"`
	Client  string `json:"client,omitempty"`
	Model   string `json:"model,omitempty"` // that most calls asked
	First   string `json:"first,omitempty"` // the first words that a person said, on one line
	Segment int    `json:"segments"`
	BriefSum
	Start int64  `json:"start_ms,omitempty"` // Unix milliseconds
	End   int64  `json:"end_ms,omitempty"`
	Ended string `json:"ended,omitempty"` // the class of the error that ended it, or how it ended; see [End]
	Hours []Hour `json:"hours,omitempty"` // its calls by hour and model
}

// A BriefSum sums up calls by what the file states of them.
type BriefSum struct {
	Steps    int   `json:"steps"`
	Tokens   int   `json:"tokens"`    // of their prompts
	Unsized  int   `json:"unsized"`   // calls of whose prompts the file states no size
	Cost     int64 `json:"cost_pico"` // picodollars: as stated, or the list prices of what was reported
	Unpriced int   `json:"unpriced"`  // calls that are not in Cost
}

// Add adds another sum.
func (s *BriefSum) Add(other BriefSum) {
	s.Steps, s.Tokens, s.Unsized = s.Steps+other.Steps, s.Tokens+other.Tokens, s.Unsized+other.Unsized
	s.Cost, s.Unpriced = s.Cost+other.Cost, s.Unpriced+other.Unpriced
}

// An Hour is the calls to one model in one hour of UTC.
type Hour struct {
	Hour  int64  `json:"hour"` // Unix hours; 0 where nobody knows when
	Model string `json:"model"`
	BriefSum
}

// mostFirst is how many characters of the first words are kept.
const mostFirst = 200

// Briefly sums up a session. s is its header. Calls that were copied from another session are
// in no sum; those of sub-agents inside the file are. The error is that of segments.
func (o Options) Briefly(s *sessionfile.Session, segments iter.Seq2[sessionfile.Segment, error]) (Brief, error) {
	b := briefing{o: o, models: map[string]*listed{}, at: map[hourKey]int{}, Brief: Brief{ID: s.ID, Client: cmp.Or(s.Client, string(s.Format))}}
	for seg, err := range segments {
		if err != nil {
			return b.Brief, err
		}
		b.segment(seg)
	}
	for _, aside := range s.Abandoned {
		if aside.Why != sessionfile.WhySubAgent {
			continue
		}
		for i := range aside.Calls {
			b.step(&aside.Calls[i], 0)
		}
	}
	most := map[string]int{}
	for _, h := range b.Hours {
		b.BriefSum.Add(h.BriefSum)
		if most[h.Model] += h.Steps; h.Model != "" && (b.Model == "" || most[h.Model] > most[b.Model]) {
			b.Model = h.Model
		}
	}
	return b.Brief, nil
}

type hourKey struct {
	hour  int64
	model string
}

type briefing struct {
	Brief
	o      Options
	models map[string]*listed
	at     map[hourKey]int // positions in Hours
	note   bool            // First is nobody's words
}

func (b *briefing) segment(seg sessionfile.Segment) {
	b.Segment++
	g := segment{Segment: seg}
	if f, ok := seg.Last(); ok {
		switch {
		case f.Stopped:
			b.Ended = EndStopped
		case f.Limit:
			b.Ended = EndLimit
		default:
			b.Ended = f.Error.Class.String()
		}
		b.span(f.Time)
	} else {
		b.Ended, _ = g.rest()
	}
	for i := range seg.Entries {
		e := &seg.Entries[i]
		b.first(e.Message)
		b.span(e.Time)
		if e.Step != nil {
			b.step(e.Step, e.Time)
		}
	}
}

// first takes the first words of a person; where nobody said any, those of the first note.
func (b *briefing) first(m llm.Message) {
	human := m.Origin == llm.Human
	if b.First != "" && !(b.note && human) || !human && m.Origin != llm.Note {
		return
	}
	text := m.Text()
	if len(text) > 4*mostFirst {
		text = text[:4*mostFirst]
	}
	words := strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if r := []rune(words); len(r) > mostFirst {
		words = string(r[:mostFirst])
	}
	if words != "" {
		b.First, b.note = words, !human
	}
}

func (b *briefing) span(ms int64) {
	if ms == 0 {
		return
	}
	if b.Start == 0 || ms < b.Start {
		b.Start = ms
	}
	b.End = max(b.End, ms)
}

// step books a call.
func (b *briefing) step(s *sessionfile.Step, at int64) {
	if s.Copied != "" {
		return
	}
	const hour = 3_600_000
	k := hourKey{cmp.Or(s.Time, at) / hour, s.Model}
	i, ok := b.at[k]
	if !ok {
		i, b.at[k] = len(b.Hours), len(b.Hours)
		b.Hours = append(b.Hours, Hour{Hour: k.hour, Model: k.model})
	}
	sum := BriefSum{Steps: 1, Tokens: s.Usage.Prompt()}
	if sum.Tokens == 0 {
		sum.Unsized = 1
	}
	if cost := b.cost(s); cost.Known {
		sum.Cost = cost.Pico
	} else {
		sum.Unpriced = 1
	}
	b.Hours[i].Add(sum)
}

// cost is what the file states, else the list prices of what was reported.
func (b *briefing) cost(s *sessionfile.Step) catalog.Money {
	switch {
	case s.Cost > 0:
		return catalog.Dollars(s.Cost)
	case s.Unpriced != "" || s.Usage.Prompt() == 0:
		return catalog.Money{}
	}
	g := segment{models: b.models}
	return g.price(b.o, s.Model, s.Usage)
}

// Money returns the cost, not known where that of some call is not.
func (s BriefSum) Money() catalog.Money {
	if s.Unpriced > 0 || s.Steps == 0 {
		return catalog.Money{}
	}
	return catalog.Dollars(s.Cost)
}
