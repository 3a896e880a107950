package inspect

import (
	"cmp"
	"errors"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A segment is one segment of a session, measured.
type segment struct {
	sessionfile.Segment
	number  int // from 1
	model   string
	family  catalog.Family
	counter token.Counter
	hidden  Overhead
	notRun  string
	front   token.Contents         // of sections and tools
	weights [][]weight             // of each entry
	calls   map[place]llm.ToolCall // that each result answers, once somebody asked
	digests []llm.Digest           // of each entry

	// conversation is the number of the segment that it goes on from, in the end.
	conversation int
	steps        []step
	turns        int // Turn ends at which could be told what became of thinking
	gone         int // tokens of thinking that left the prompts by themselves
}

// A step is one Step, measured.
type step struct {
	entry    int               // its reply among the entries; all of them for a request without one
	info     *sessionfile.Step // of a request without a reply: its model alone
	tokens   int
	kind     string
	contents token.Contents // they add up to tokens
	gone     int            // tokens of thinking that this prompt has no more
	sent     int64          // Unix milliseconds; 0 if nobody knows
}

// reported reports whether the size is the provider's.
func (s step) reported() bool { return s.kind == Reported }

// measureAll measures the segments of a session.
func measureAll(s *sessionfile.Session, o Options) ([]*segment, error) {
	out := make([]*segment, len(s.Segments))
	var carried Overhead
	for n := range s.Segments {
		g, err := newSegment(s, n, carried, o)
		if err != nil {
			return nil, err
		}
		if g.hidden.Kind == Measured && g.notRun == "" {
			carried = g.hidden
		}
		g.walk(o)
		g.conversation = g.number
		if prev, ok := before(out[:n], g); ok {
			g.conversation = prev.conversation
		}
		out[n] = g
	}
	return out, nil
}

// measureOne measures segment number n alone. Of those before it only what the
// client hides is looked at.
func measureOne(s *sessionfile.Session, n int, o Options) (*segment, error) {
	var carried Overhead
	for i := range s.Segments[:n-1] {
		found, err := o.OverheadOf(s, s.Segments[i], carried)
		if _, missing := errors.AsType[*MissingError](err); err != nil && !missing {
			return nil, err
		}
		if err == nil && found.Kind == Measured && s.Segments[i].NotRun == "" {
			carried = found
		}
	}
	g, err := newSegment(s, n-1, carried, o)
	if err != nil {
		return nil, err
	}
	g.walk(o)
	return g, nil
}

func newSegment(s *sessionfile.Session, n int, carried Overhead, o Options) (*segment, error) {
	g := &segment{Segment: s.Segments[n], number: n + 1, notRun: s.Segments[n].NotRun}
	g.model = o.ModelOf(g.Segment)
	g.family = o.Catalog.FamilyOf(g.model)
	var err error
	if g.counter, err = token.ForFamily(g.family, o.Encodings); err != nil {
		return nil, err
	}
	g.hidden, err = o.OverheadOf(s, s.Segments[n], carried)
	if missing, ok := errors.AsType[*MissingError](err); ok {
		g.notRun = cmp.Or(g.notRun, missing.Error())
	} else if err != nil {
		return nil, err
	}
	return g, nil
}

// walk goes through the messages once.
func (g *segment) walk(o Options) {
	m, _ := o.Catalog.Lookup(g.model)
	r := newRunning(g, m.DropsThinking)
	answered := false
	var sent int64
	for i, e := range g.Entries {
		if e.Message.Origin == llm.Human && answered {
			r.turn()
		}
		answered = e.Message.Origin == llm.Model
		if e.Step != nil {
			g.steps = append(g.steps, r.step(i, e.Step, cmp.Or(sent, e.Step.Time, e.Time)))
		}
		weights := g.weigh(e)
		g.weights = append(g.weights, weights)
		g.digests = append(g.digests, llm.DigestOf(e.Message))
		r.append(e, weights)
		sent = cmp.Or(e.Time, sent)
	}
	if g.Final {
		g.steps = append(g.steps, r.step(len(g.Entries), &sessionfile.Step{Model: g.model}, sent))
	}
	g.turns, g.gone = r.turns, r.gone
}

// A running is what is known at one place of a segment.
type running struct {
	g        *segment
	cal      *token.Calibration
	thinking token.Thinking
	sum      token.Contents // of all that stands in the prompt, raw
	all      token.Size     // of the same
	since    token.Size     // of what came after the anchor
	hosted   bool           // since then a tool of the provider's own ran
	unknown  bool           // since then replies are counted by their text
	anchor   token.Anchor
	anchored string // model that the anchor is of; empty: there is none
	pending  int    // tokens of thinking in Turns that ended since the anchor
	inTurn   int    // in this Turn
	turns    int
	gone     int
}

func newRunning(g *segment, drops bool) *running {
	r := &running{g: g, cal: token.NewCalibration(g.family), thinking: token.NewThinking(drops)}
	r.cal.DropsThinking(drops)
	for _, sec := range g.Sections {
		size := token.SizeOfSection(g.counter, sec)
		g.front[token.ContentOfSection(sec)] += size.All()
		r.all = r.all.Add(size)
	}
	if len(g.Tools) > 0 {
		size := token.SizeOfTools(g.counter, g.Tools)
		g.front[token.ContentTools] += size.All()
		r.all = r.all.Add(size)
	}
	r.sum = g.front
	return r
}

// turn notes that a person begins a Turn.
func (r *running) turn() {
	r.cal.Turn()
	r.thinking.Turn()
	r.pending, r.inTurn = r.pending+r.inTurn, 0
}

// growth returns what came after the anchor.
func (r *running) growth() token.Growth {
	g := token.GrowthOf(r.since)
	g.OutputUnknown, g.Hosted = r.unknown, r.hosted
	return g
}

// leastThinking is how many tokens of thinking it takes to see in a prompt whether
// they are gone, as in package token.
const leastThinking = 150

// step measures the request that is answered by entry i.
func (r *running) step(i int, info *sessionfile.Step, sent int64) step {
	s := step{entry: i, info: info, sent: sent}
	if info.Reported {
		s.tokens, s.kind = info.Usage.Prompt(), Reported
		s.gone = r.observe(info)
	} else {
		s.tokens, s.kind = r.predict(info.Model)
	}
	r.sum[token.ContentThinking] = max(r.sum[token.ContentThinking]-s.gone, 0)
	r.gone += s.gone
	hidden := min(r.g.hidden.all(), s.tokens)
	if r.sum.Total() == 0 {
		hidden = s.tokens
	}
	s.contents = r.sum.Scaled(s.tokens - hidden)
	s.contents[token.ContentHidden] += hidden
	return s
}

// predict returns the size of a prompt that nobody reported.
func (r *running) predict(model string) (int, string) {
	if r.anchored != "" && r.anchored == model {
		return r.cal.After(r.anchor, r.growth()).Point, Calibrated
	}
	e := r.cal.Scratch(r.g.hidden.all(), token.GrowthOf(r.all), token.GrowthOf(r.since))
	if e.Kind == token.Calibrated {
		return e.Point, Calibrated
	}
	return e.Point, Estimated
}

// observe learns from a reported prompt and returns the tokens of thinking that are
// gone from it.
func (r *running) observe(info *sessionfile.Step) (gone int) {
	next := info.Usage.Prompt()
	if r.anchored == info.Model {
		g := r.growth()
		over := r.anchor.Prompt + max(r.anchor.Output, 0) + r.cal.Cost(g) - next
		gone = r.thinking.Observe(over)
		if r.pending >= leastThinking {
			r.turns++
		}
		r.cal.Observe(r.anchor, g, next)
	} else {
		r.cal.Observe(token.Anchor{}, token.Growth{}, next)
	}
	r.pending = 0
	return gone
}

// append adds a message. A reply whose output was reported is a part of the new
// anchor.
func (r *running) append(e sessionfile.Entry, weights []weight) {
	size := token.SizeOf(r.g.counter, e.Message)
	r.sum = r.sum.Add(totalOf(weights))
	r.all = r.all.Add(size)
	if slices.ContainsFunc(e.Message.Calls(), func(c llm.ToolCall) bool { return c.Hosted }) {
		r.hosted = true
		r.cal.Hosted()
		r.thinking.Lost()
	}
	if e.Step == nil || !e.Step.Reported {
		r.since = r.since.Add(size)
		r.unknown = r.unknown || e.Message.Origin == llm.Model
		return
	}
	r.anchored, r.since, r.hosted, r.unknown = e.Step.Model, token.Size{}, false, false
	r.anchor = token.Anchor{Prompt: e.Step.Usage.Prompt(), Output: e.Step.Usage.Output}
	if !e.Step.OutputReported {
		r.anchor.Output = -1
		r.since, r.unknown = size, true
		return
	}
	thinking := thinkingOf(weights)
	r.cal.Reply(thinking)
	r.thinking.Reply(thinking)
	r.inTurn += thinking
}
