package inspect

import (
	"cmp"
	"errors"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// measureAll measures the segments of a session.
func measureAll(s *sessionfile.Session, o Options) ([]*segment, error) {
	out := make([]*segment, len(s.Segments))
	var carried Overhead
	for n := range s.Segments {
		g, err := o.newSegment(s, s.Segments[n], n+1, carried)
		if err != nil {
			return nil, err
		}
		if g.hidden.Kind == Measured && g.notRun == "" {
			carried = g.hidden
		}
		g.walk(o)
		g.bill(o, slices.ContainsFunc(g.steps, func(s step) bool { return s.info.Usage.Prompt() <= 0 }))
		g.digest()
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
		found, err := o.OverheadOf(s, s.Segments[i], i+1, carried)
		if _, missing := errors.AsType[*MissingError](err); err != nil && !missing {
			return nil, err
		}
		if err == nil && found.Kind == Measured && s.Segments[i].NotRun == "" {
			carried = found
		}
	}
	g, err := o.newSegment(s, s.Segments[n-1], n, carried)
	if err != nil {
		return nil, err
	}
	g.walk(o)
	g.digest()
	return g, nil
}

// A Measurement is a segment whose Steps are measured and charged, for a program that runs
// it again.
type Measurement struct {
	Segment  sessionfile.Segment // a call that is alone in it has the usage that the file states as a sum
	NotRun   string              // why its requests cannot be rebuilt; empty if they can
	Overhead Overhead
	Counter  token.Counter
	Contents []token.Contents // the size of each message, by content
	Counted  []int            // the tokens that the counter has of each
	Caches   bool             // the client uses the provider's cache, as far as is known
	Long     bool             // with the long lifetime
	Calls    []MeasuredCall
}

// A MeasuredCall is one Step of a [Measurement].
type MeasuredCall struct {
	Step   *sessionfile.Step
	Tokens int            // of the prompt
	Kind   string         // that of Step.Kind
	By     token.Contents // adds up to Tokens
	Shared bool           // its usage is a share of what the file states of all calls
	Unseen int            // tokens that the client counted, beyond the content that the file has
	At     int64          // when its prompt was complete, Unix milliseconds; 0 if nobody knows
	Charge
}

// Measure measures a segment, number number of the session whose header is s. carried is the last
// measured Overhead of the segments before. The error says that the counter of a model could
// not be made.
func (o Options) Measure(s *sessionfile.Session, seg sessionfile.Segment, number int, carried Overhead) (Measurement, error) {
	g, err := o.newSegment(s, seg, number, carried)
	if err != nil {
		return Measurement{}, err
	}
	g.walk(o)
	g.bill(o, true)
	out := Measurement{Segment: g.Segment, NotRun: g.notRun, Overhead: g.hidden, Counter: g.counter, Caches: g.caching.used, Long: g.caching.long}
	for i, w := range g.weights {
		out.Contents, out.Counted = append(out.Contents, totalOf(g.sizes[i])), append(out.Counted, totalOf(w).Total())
	}
	for _, s := range g.steps {
		out.Calls = append(out.Calls, MeasuredCall{s.info, s.tokens, s.kind, s.contents, g.shared(), s.unseen(), s.sent, s.charge})
	}
	return out, nil
}

func (o Options) newSegment(s *sessionfile.Session, seg sessionfile.Segment, number int, carried Overhead) (*segment, error) {
	told := toldOf(s, seg, number)
	g := &segment{Segment: told.withUsage(seg), number: number, notRun: seg.NotRun, told: told}
	g.model = o.ModelOf(g.Segment)
	g.family = o.Catalog.FamilyOf(g.model)
	var err error
	if g.counter, err = token.ForFamily(g.family, o.Encodings); err != nil {
		return nil, err
	}
	g.hidden, g.sized, err = o.overheadOf(s, seg, told, carried)
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
	g.steps = make([]step, 0, g.Segment.Steps()+1)
	g.weights, g.sizes = make([][]weight, 0, len(g.Entries)), make([][]weight, 0, len(g.Entries))
	for i, e := range g.Entries {
		if e.Message.Origin == llm.Human && answered {
			r.turn()
		}
		answered = e.Message.Origin == llm.Model
		if e.Step != nil {
			g.steps = append(g.steps, r.step(i, e.Step, cmp.Or(sent, e.Step.Time, e.Time)))
		}
		e.Message.ID = llm.MessageID(i) + 1
		weights := weigh(e, r.counted.Size(e.Message), g.counter, g.family.Prior)
		g.weights = append(g.weights, weights)
		r.append(i, e, weights)
		sent = cmp.Or(e.Time, sent)
	}
	if g.Final {
		g.steps = append(g.steps, r.unanswered(sent))
	}
	if r.sizes.last == 0 {
		g.frontSize = scaledBy(g.front, r.meter.Calibration().Ratio())
	}
	r.sizes.settle(len(g.Entries), r.sizes.counted(r.sizes.done, len(g.Entries), r.meter.Calibration().Ratio()), r.meter.Calibration().Ratio())
	g.thought = r.thought
}

// digest names what each message says.
func (g *segment) digest() {
	g.digests = make([]llm.Digest, 0, len(g.Entries))
	for _, e := range g.Entries {
		g.digests = append(g.digests, llm.DigestOf(e.Message))
	}
}

// A counted counter knows the size of the message that comes next, so that it is counted
// once for what is learnt here and for the meter.
type counted struct {
	token.Counter
	id   llm.MessageID
	size token.Size
}

// Size implements token.Sizer.
func (c *counted) Size(m llm.Message) token.Size {
	if m.ID != c.id {
		c.id, c.size = m.ID, token.SizeOf(c.Counter, m)
	}
	return c.size
}

// SizePart implements token.Sizer.
func (c *counted) SizePart(p llm.Part) token.Size { return token.SizeOfPart(c.Counter, p) }

// SizeSection implements token.Sizer.
func (c *counted) SizeSection(s llm.Section) token.Size { return token.SizeOfSection(c.Counter, s) }

// A running is what is known at one place of a segment. Sizes are those of package
// meter, told of the same things as the engine is: a prompt that nobody reported is as
// large here as in a replay.
type running struct {
	g        *segment
	meter    *meter.Meter
	counted  *counted // what it counts messages by
	thinking token.Thinking
	sizes    settling
	all      token.Size // of all that stands in the prompt, by the counter
	since    token.Size // of what came after the anchor
	hosted   bool       // since then a tool of the provider's own ran
	unknown  bool       // since then replies are counted by their text
	anchor   token.Anchor
	anchored string // model that the anchor is of; empty: there is none
	pending  int    // tokens of thinking in Turns that ended since the anchor
	inTurn   int    // in this Turn
	thought  thought
}

func newRunning(g *segment, drops bool) *running {
	cal := token.NewCalibration(g.family)
	cal.DropsThinking(drops)
	once := &counted{Counter: g.counter}
	r := &running{g: g, thinking: token.NewThinking(drops), counted: once, meter: meter.New(meter.Options{Counter: once, Calibration: cal, Offline: true})}
	r.meter.SetFront(append(slices.Clone(g.Sections), g.hidden.Sections()...), g.Tools)
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
	r.sizes.g = g
	return r
}

// turn notes that a person begins a Turn.
func (r *running) turn() {
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
	at := meter.Border{Messages: i}
	r.meter.Leave(at, edit.View{})
	s := step{entry: i, info: info, sent: sent, guess: guess{r.meter.Count(), r.g.hidden.all() + r.all.All()}}
	switch {
	case info.Reported:
		s.tokens, s.kind, s.first = info.Usage.Prompt(), Reported, r.anchored == ""
		s.gone = r.observe(info)
	case info.ClientCount && info.Usage.Prompt() > 0:
		s.tokens, s.kind = info.Usage.Prompt(), ClientCounted
	case len(r.g.steps) < len(r.g.sized):
		s.tokens, s.kind = r.g.sized[len(r.g.steps)], Estimated
	default:
		s.tokens, s.kind = s.guess.Point, Estimated
		if r.anchored != "" {
			s.kind = Calibrated
		}
	}
	if !info.Usage.IsZero() {
		r.meter.Usage(meter.Usage{Usage: info.Usage, Reported: info.Reported, OutputUnknown: !info.OutputReported}, at, edit.View{})
	}
	r.thought.gone += s.gone
	r.sizes.step(&s, i, r.meter.Calibration().Ratio())
	s.contents = r.sizes.divided(s)
	return s
}

// unanswered measures a request to which nobody replied. One that was refused has the size
// that the refusal states, and was sent to the model of the call before it.
func (r *running) unanswered(sent int64) step {
	info := &sessionfile.Step{Model: r.g.model}
	failure, ok := r.g.Last()
	if !ok {
		return r.step(len(r.g.Entries), info, sent)
	}
	if n := len(r.g.steps); n > 0 {
		info.Model = cmp.Or(r.g.steps[n-1].info.Model, info.Model)
	}
	info.Time = failure.Time
	s := r.step(len(r.g.Entries), info, cmp.Or(failure.Time, sent))
	s.refused = &failure
	if used := failure.Error.Used; used > 0 {
		s.tokens, s.kind = used, Reported
		s.contents = r.sizes.divided(s)
	}
	return s
}

// observe returns the tokens of thinking that are gone from a reported prompt.
func (r *running) observe(info *sessionfile.Step) (gone int) {
	next := info.Usage.Prompt()
	if r.anchored == info.Model {
		over := r.anchor.Prompt + max(r.anchor.Output, 0) + r.meter.Calibration().Cost(r.growth()) - next
		gone = r.thinking.Observe(over)
		if r.pending >= leastThinking {
			r.thought.turns++
		}
	}
	r.pending = 0
	return gone
}

// append adds message i. A reply whose output was reported is a part of the new anchor.
func (r *running) append(i int, e sessionfile.Entry, weights []weight) {
	m := e.Message
	size := r.counted.Size(m)
	r.meter.Append(edit.Item{Message: m})
	r.all = r.all.Add(size)
	if slices.ContainsFunc(m.Calls(), func(c llm.ToolCall) bool { return c.Hosted }) {
		r.hosted = true
		r.thinking.Lost()
	}
	if e.Step == nil || !e.Step.Reported {
		r.since = r.since.Add(size)
		r.unknown = r.unknown || m.Origin == llm.Model
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
	r.thinking.Reply(thinking)
	r.inTurn += thinking
}

// divide returns the prompts of a segment's calls, which add up to what the file states of
// them, and what each of them has beyond the file. Where the file alone is estimated to be
// more than the sum, all are smaller in proportion. Where the sums are those of runs or of
// models, so is each of them; a call that none is of has what the others have beyond the file.
func (o Options) divide(seg sessionfile.Segment, t told) (Overhead, []int, error) {
	g := &segment{Segment: seg, model: o.ModelOf(seg)}
	g.family = o.Catalog.FamilyOf(g.model)
	var err error
	if g.counter, err = token.ForFamily(g.family, o.Encodings); err != nil {
		return Overhead{}, nil, err
	}
	g.walk(o) // as if nothing were hidden
	sizes := make([]int, len(g.steps))
	for i, st := range g.steps {
		sizes[i] = st.tokens
	}
	hidden := Overhead{Tokens: t[0].prompt, Kind: Measured}
	untold := slices.Repeat([]bool{true}, len(sizes))
	for _, part := range t {
		own, sum := part.of(sizes), 0
		for _, n := range own {
			sum += n
		}
		more := max(part.prompt-sum, 0)
		hidden.Tokens = min(hidden.Tokens, more/len(own))
		beyond := spread(more, make([]int, len(own)))
		for i, n := range spread(part.prompt-more, own) {
			sizes[part.steps[i]], untold[part.steps[i]] = n+beyond[i], false
		}
	}
	for i := range sizes {
		if untold[i] {
			sizes[i] += hidden.Tokens
		}
	}
	return hidden, sizes, nil
}

// OverheadOf returns what the client sends beside what the file holds, for a segment, number
// number of the session whose header is s. Where the file shows its own start, that is what the first reported prompt
// has more than the known content, and the session's later segments carry it on; else
// it is the catalogue's value for the client, or what the sum of all prompts has beyond
// the file where that is stated and no prompt was reported. What that leaves unexplained of a later
// segment's first prompt is unrecorded, such as the files that a client attaches again
// after a compaction. If it is much and the file shows neither the session's start nor a
// summary, the error is a [*MissingError] and the Overhead is good in spite of it. carried is the last measured Overhead of
// the segments before; zero if there is none.
func (o Options) OverheadOf(s *sessionfile.Session, seg sessionfile.Segment, number int, carried Overhead) (Overhead, error) {
	hidden, _, err := o.overheadOf(s, seg, toldOf(s, seg, number), carried)
	return hidden, err
}

// overheadOf is OverheadOf with what the file states of the segment's calls, and returns
// their prompts as well where they follow from that.
func (o Options) overheadOf(s *sessionfile.Session, seg sessionfile.Segment, t told, carried Overhead) (Overhead, []int, error) {
	if s.Client == "" {
		return Overhead{Kind: None}, nil, nil
	}
	if t.divided() {
		return o.divide(seg, t)
	}
	hidden, err := o.observed(s, t.withUsage(seg), carried)
	return hidden, nil, err
}

// before returns the segment whose conversation g goes on with, if there is one, of
// those that were before it.
func before(earlier []*segment, g *segment) (*segment, bool) {
	if g.Start == sessionfile.StartRoot || g.Start == sessionfile.StartResumed {
		return nil, false
	}
	for _, prev := range slices.Backward(earlier) {
		if prev.Name == g.Name {
			return prev, true
		}
	}
	return nil, false
}
