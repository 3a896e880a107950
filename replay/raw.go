package replay

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/replay/verify"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A raw is what is known about a segment after it was run as it was recorded.
type raw struct {
	session  string // the file's name
	id       string // of the session, if the file has one
	number   int    // of the segment, from 1
	dialect  llm.Dialect
	file     *verify.Session // what the file holds, for the judge; nil if nobody asked
	segment  sessionfile.Segment
	model    string
	window   int               // capacity of the model's own window
	input    int               // its most input; 0: the window is the only limit
	guessed  bool              // nobody knows that window
	accepted *inspect.Accepted // more than is known of the model; nil: nothing was
	overhead Overhead
	fixed    int // overhead, and the system prompt and tools that the file has
	peak     int // largest prompt, as reported where it is
	reported int // largest reported prompt
	steps    []rawStep
	whole    inspect.Family // what they took
	exactly  string         // the estimator of BaseMessages; empty: the count
	grounds  *grounds       // nil: nobody asked
	notRun   string         // why the requests cannot be rebuilt

	counter  token.Counter    // the raw count of the model's family
	contents []token.Contents // the size of each message as it was recorded
	counted  []int            // what the raw count has of each
	caches   bool             // the client uses the provider's cache, as far as is known
	long     bool             // with the long lifetime
	billing  Billing
}

// A rawStep is one Step of the raw segment: its size, when it was sent and what it was
// charged for are those of package inspect.
type rawStep struct {
	inspect.MeasuredCall
	cal      *token.Calibration // as it was before this Step's usage was known
	model    string
	reported bool // the size is the provider's
	copied   bool // another session made it
	listed   bool // list prices hold for it, as far as the file says
}

// pair is one prediction of a reported prompt.
type pair struct {
	step         int
	model        string
	output       bool // the output before it was reported
	kind         token.Kind
	real         int
	point, bound int
}

// measure looks at a segment, number n of its session, as it was recorded.
func (r *Replayer) measure(s *sessionfile.Session, seg sessionfile.Segment, n int, carried Overhead) (*raw, error) {
	out := &raw{session: s.Path, id: s.ID, number: n, dialect: s.Dialect, segment: seg, model: r.about().ModelOf(seg)}
	if out.dialect == "" {
		out.dialect = openai.DialectChat
	}
	m, err := r.about().Measure(s, seg, n, carried)
	if err != nil {
		return nil, err
	}
	seg, out.segment, out.whole, out.notRun = m.Segment, m.Segment, m.Family(), m.NotRun
	out.window, out.guessed = r.capacityOf(s, seg)
	out.accepted = r.about().Accepted(s, seg)
	out.input = r.mostInputOf(out)
	cal := token.NewCalibration(r.catalog.FamilyOf(out.model))
	out.counter, out.counted, out.contents, out.overhead, out.caches, out.long = m.Counter, m.Counted, m.Contents, m.Overhead, m.Caches, m.Long
	out.fixed = out.overhead.Tokens + cal.Cost(token.GrowthOf(front{sections: seg.Sections, tools: seg.Tools}.size(out.counter)))
	unseen := 0 // at most
	for _, c := range m.Calls {
		unseen = max(unseen, c.Unseen)
	}
	out.fixed += unseen
	for _, c := range m.Calls {
		out.steps = append(out.steps, rawStep{MeasuredCall: c, model: c.Step.Model, reported: c.Step.Reported, copied: c.Step.Copied != "", listed: c.Step.Unpriced == ""})
		out.peak = max(out.peak, c.Tokens)
		if c.Step.Reported {
			out.reported = max(out.reported, c.Tokens)
		}
	}
	r.bill(out, seg)
	return out, nil
}

// runRaw runs a segment under the policy off: what each Step is predicted to be, and what is
// learnt from each.
func (r *Replayer) runRaw(ctx context.Context, s *sessionfile.Session, out *raw) ([]pair, error) {
	if r.opts.Judge {
		out.file = r.fileOf(s)
	}
	off, err := policy.Preset("off")
	if err != nil {
		return nil, err
	}
	sess, err := r.open(ctx, out, start{policy: off, window: budget.Window{Capacity: 1 << 40}, raw: true})
	if err != nil {
		return nil, err
	}
	var pairs []pair
	at, known, anchored, output := 0, false, "", false
	err = r.walk(ctx, sess, out, func(step *sessionfile.Step, send *engine.Send) error {
		rs := &out.steps[at]
		at++
		rs.cal = sess.Machine().Calibration().Clone()
		if step.Reported {
			if known && anchored == step.Model {
				pairs = append(pairs, pair{at, step.Model, output, send.Count.Kind, rs.Tokens, send.Count.Point, send.Count.Bound})
			}
			known, anchored, output = true, step.Model, step.OutputReported
		}
		return feed(ctx, sess, engine.Usage{Usage: step.Usage, Reported: step.Reported, OutputUnknown: !step.OutputReported})
	})
	return pairs, err
}

// A start says how the session of one run begins.
type start struct {
	policy policy.Policy
	window budget.Window
	cal    *token.Calibration // nil: one that knows nothing
	raw    bool               // it only measures what was recorded
	heard  func(engine.Ready) // what came of each input; nil: nobody listens
	name   string             // under which it is kept, in place of an earlier run of that name; empty: it is not
}

// open starts the session of one run.
func (r *Replayer) open(ctx context.Context, raw *raw, at start) (*drive.Driver, error) {
	c := drive.Config{
		ID: fmt.Sprintf("%s/%d", at.policy.Name, at.window.Capacity), Store: &store.Memory{}, Ephemeral: true, Summariser: plimsoll.Deterministic{},
		Done: at.heard,
		Engine: engine.Config{
			Policy: at.policy, Targets: []budget.Target{{Model: raw.model, Window: at.window.Stated()}}, Catalog: r.catalog, Encodings: r.load,
			Offline: true, Calibration: at.cal, Exactly: raw.exactly,
		},
	}
	if !at.raw {
		c.Debug = drive.Debug(nil)
	}
	if at.name != "" && r.opts.Store != nil {
		c.ID, c.Store, c.Ephemeral = at.name, r.opts.Store, false
		if d, ok := r.opts.Store.(store.Deleter); ok {
			if err := d.Delete(ctx, at.name); err != nil {
				return nil, err
			}
		}
	}
	sess, err := drive.Open(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("replay: open %q: %w", c.ID, err)
	}
	if sections := raw.front(0); len(sections) > 0 {
		if err := feed(ctx, sess, engine.SetSections{Sections: sections}); err != nil {
			return nil, err
		}
	}
	if len(raw.segment.Tools) > 0 {
		if err := feed(ctx, sess, engine.SetTools{Tools: raw.segment.Tools}); err != nil {
			return nil, err
		}
	}
	return sess, nil
}

// front returns the system prompt that a run has: the file's, and what the client sent
// beside it, as far as only its size is known.
func (r *raw) front(unseen int) []llm.Section {
	sections := append(slices.Clone(r.segment.Sections), r.overhead.Sections()...)
	if unseen > 0 {
		sections = append(sections, llm.Section{Name: "unseen", Tokens: unseen})
	}
	return sections
}

// sizeOf returns the size of a request: that of the client's own where it is the same,
// else the count.
func (r *raw) sizeOf(i int, send *engine.Send) int {
	if !send.Edited {
		return r.steps[i].Tokens
	}
	return send.Count.Point
}

// standsAt returns what the request of Step i is held against the limit as: the upper
// bound of the count, by which a policy keeps within it. One that has no backstop keeps
// within nothing: its sizes say how often it was over.
func (r *raw) standsAt(i int, send *engine.Send, backstop bool) int {
	if backstop {
		return send.Count.Bound
	}
	return r.sizeOf(i, send)
}

// walk feeds a segment to a session: every message, and before the reply of each
// Step a Prepare, of which f is told. send is nil if the request was refused. It
// stops without an error when f returns errEnded.
func (r *Replayer) walk(ctx context.Context, sess *drive.Driver, raw *raw, f func(*sessionfile.Step, *engine.Send) error) error {
	answered, unseen, steps := false, 0, raw.steps
	clock := r.clock(raw)
	for i, e := range raw.segment.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Message.Origin == llm.Human && answered {
			if err := feed(ctx, sess, engine.TurnEnd{}); err != nil {
				return err
			}
		}
		answered = e.Message.Origin == llm.Model
		if e.Step != nil {
			if steps[0].Unseen != unseen { // what the client sent beside the file is another
				unseen = steps[0].Unseen
				if err := feed(ctx, sess, engine.SetSections{Sections: raw.front(unseen)}); err != nil {
					return err
				}
			}
			cold := clock.cold(steps[0].At)
			steps = steps[1:]
			if err := r.step(ctx, sess, e.Step, cold, f); err != nil {
				return err
			}
		}
		m := e.Message
		m.ID = 0
		if err := feed(ctx, sess, engine.Append{Message: m}); err != nil {
			return fmt.Errorf("replay: segment entry %d (line %d): %w", i+1, e.Line, err)
		}
	}
	if raw.segment.Final {
		return r.step(ctx, sess, &sessionfile.Step{Model: raw.model}, false, f)
	}
	return nil
}

// zipped begins a zip archive, which is not text.
var zipped = []byte("PK\x03\x04")

// fileOf returns the content of a session file as the judge reads it. What cannot be
// read a second time, such as standard input or a pipe, is not looked at: to read it
// would wait for somebody to write, or never end.
func (r *Replayer) fileOf(s *sessionfile.Session) *verify.Session {
	if r.judged.path == s.Path {
		return r.judged.content
	}
	r.judged.path, r.judged.content = s.Path, nil
	if info, err := os.Stat(s.Path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if data, err := os.ReadFile(s.Path); err == nil {
		if !bytes.HasPrefix(data, zipped) && !utf8.Valid(data) { // as the reader reads it
			data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
		}
		r.judged.content = verify.ReadSession(data, string(s.Format))
	}
	return r.judged.content
}

// mostInputOf returns the most that the model takes as a prompt, as the catalogue has it,
// unless the window is another one or more was accepted.
func (r *Replayer) mostInputOf(raw *raw) int {
	if m, _ := r.catalog.Lookup(raw.model); m.Window == raw.window && raw.accepted == nil {
		return m.MaxInput
	}
	return 0
}

// capacityOf returns the window of a model: by the file, the catalogue, or the
// default, which is a guess.
func (r *Replayer) capacityOf(s *sessionfile.Session, seg sessionfile.Segment) (capacity int, guessed bool) {
	if n := r.about().WindowOf(s, seg).Tokens; n > 0 {
		return n, false
	}
	return budget.DefaultCapacity, true
}
