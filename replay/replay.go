package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// Options say what is replayed under what.
type Options struct {
	Policies []policy.Policy
	Windows  []WindowSpec // empty: the model's own
	Model    string       // replaces the models of the file
	Join     bool         // ignore recorded compactions: one segment
	Judge    bool         // judge every Step from its exported bytes
	Out      string       // folder for exports; empty: none
}

// A Replayer runs sessions. Make one with [New]; it may be used for many
// sessions, one after the other.
type Replayer struct {
	opts      Options
	catalog   catalog.Catalog
	encodings plimsoll.Encodings
}

// New returns a Replayer.
func New(o Options) (*Replayer, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	if len(o.Windows) == 0 {
		o.Windows = []WindowSpec{{}}
	}
	return &Replayer{opts: o, catalog: c}, nil
}

// errEnded stops a walk where a policy has forced the final Step.
var errEnded = errors.New("ended")

// Session runs all segments of a session and calls f with each result.
func (r *Replayer) Session(ctx context.Context, s *sessionfile.Session, f func(Result) error) error {
	if r.opts.Join {
		s = join(s)
	}
	var carried Overhead
	for n := range s.Segments {
		res, overhead, err := r.segment(ctx, s, n, carried)
		if err != nil {
			return err
		}
		if overhead.Kind == "measured" {
			carried = overhead
		}
		if err := f(res); err != nil {
			return err
		}
	}
	return nil
}

func (r *Replayer) segment(ctx context.Context, s *sessionfile.Session, n int, carried Overhead) (Result, Overhead, error) {
	seg := s.Segments[n]
	res := Result{
		Schema: Schema, Session: s.Path, Format: string(s.Format), Segment: n + 1, Start: string(seg.Start),
		NotRun: seg.NotRun, Model: r.modelOf(seg), Steps: seg.Steps(), Messages: len(seg.Entries),
		Problems: []Problem{}, Runs: []Run{},
	}
	if n == 0 {
		for _, p := range s.Problems {
			res.Problems = append(res.Problems, Problem(p))
		}
	}
	if seg.NotRun == "" && seg.Steps() == 0 && !seg.Final {
		res.NotRun = "the segment has no model call"
	}
	if res.NotRun != "" {
		return res, Overhead{}, nil
	}
	raw, pairs, err := r.measureRaw(ctx, s, n, carried)
	var missing *missingError
	if errors.As(err, &missing) {
		res.NotRun = missing.Error()
		return res, Overhead{}, nil
	}
	if err != nil {
		return res, Overhead{}, err
	}
	res.Reported.Peak, res.Overhead = raw.reported, raw.overhead
	res.Estimate, res.By = estimates(pairs)
	for _, p := range r.opts.Policies {
		for _, w := range r.opts.Windows {
			run, err := r.run(ctx, raw, p, w)
			if err != nil {
				return res, Overhead{}, err
			}
			res.Runs = append(res.Runs, run)
		}
	}
	return res, raw.overhead, nil
}

// step prepares one call and tells f about it.
func (r *Replayer) step(ctx context.Context, sess *plimsoll.Session, step *sessionfile.Step, f func(*sessionfile.Step, *engine.Send) error) error {
	send, err := sess.Prepare(ctx)
	if err != nil && !errors.Is(err, plimsoll.ErrRefused) {
		return err
	}
	return f(step, send)
}

// run runs one policy on one window.
func (r *Replayer) run(ctx context.Context, raw *raw, p policy.Policy, spec WindowSpec) (Run, error) {
	start := time.Now()
	w, note := spec.window(p, raw)
	run := Run{
		Policy: p.Name, Window: spec.String(), Capacity: w.Capacity, Limit: w.Limit(), Note: note, Estimator: p.Estimator,
		Irreducible: []Irreducible{}, ToolsNotOffered: append([]string{}, p.Tools...), Edits: map[string]int{},
	}
	cal := raw.steps[0].cal.Clone()
	sess, err := r.open(ctx, p, raw, w, cal)
	if err != nil {
		return run, err
	}
	j, err := r.judge(raw, &run, sess)
	if err != nil {
		return run, err
	}
	ru := &runner{run: &run, raw: raw, cal: cal, judge: j, sess: sess}
	if len(raw.steps) > 0 {
		err = r.walk(ctx, sess, raw, func(step *sessionfile.Step, send *engine.Send) error { return ru.step(ctx, step, send) })
	}
	if err != nil && !errors.Is(err, errEnded) {
		return run, err
	}
	sess.View(func(m *engine.Machine) {
		st := m.Stats()
		run.BackstopEdits, run.StillOver = st.Backstop, st.StillOver
		for k, v := range st.Edits {
			if v != 0 {
				run.Edits[string(k)] = v
			}
		}
	})
	for _, st := range raw.steps {
		run.TokensRaw += st.prompt
	}
	if err := j.finish(&run); err != nil {
		return run, err
	}
	run.Timing.Seconds = time.Since(start).Seconds()
	return run, nil
}

// A runner follows one run Step by Step.
type runner struct {
	run   *Run
	raw   *raw
	cal   *token.Calibration
	judge *judge
	sess  *plimsoll.Session
	last  []edit.Item // of the view sent last

	sections int // of the view sent last
}

func (u *runner) step(ctx context.Context, step *sessionfile.Step, send *engine.Send) error {
	i := u.run.Steps
	u.run.Steps++
	u.run.TokensToEnd += u.raw.steps[i].prompt
	if send == nil {
		u.irreducible()
	} else {
		if err := u.sent(send); err != nil {
			return err
		}
	}
	*u.cal = *u.raw.steps[min(i+1, len(u.raw.steps)-1)].cal.Clone()
	usage := engine.Usage{Usage: step.Usage, Reported: step.Reported && send != nil && !send.Edited, OutputUnknown: !step.OutputReported}
	if !usage.Reported {
		prompt := 0
		u.sess.View(func(m *engine.Machine) { prompt = m.Count().Point })
		usage.Usage = llm.Usage{Input: prompt, Output: step.Usage.Output, Reasoning: step.Usage.Reasoning}
	}
	if send != nil && send.Final != engine.ReasonNone {
		u.run.EndedAtStep, u.run.EndReason = u.run.Steps, string(send.Final)
		return errEnded
	}
	return u.sess.Usage(ctx, usage)
}

// sent books a request that left.
func (u *runner) sent(send *engine.Send) error {
	run := u.run
	run.TokensSent += send.Count.Point
	run.PeakSent = max(run.PeakSent, send.Count.Bound)
	if send.Count.Bound > send.Limit {
		if send.StillOver {
			u.irreducible()
		} else {
			run.StepsOver++
		}
	}
	if run.CountKind == "" || kindRank(send.Count.Kind.String()) > kindRank(run.CountKind) {
		run.CountKind = send.Count.Kind.String()
	}
	u.prefix(send)
	return u.judge.step(run.Steps, send)
}

func kindRank(kind string) int {
	for i, k := range []token.Kind{token.Exact, token.Calibrated, token.Estimated} {
		if k.String() == kind {
			return i
		}
	}
	return 0
}

// prefix counts the view as a break if it does not extend the one before.
func (u *runner) prefix(send *engine.Send) {
	same := len(send.Items) >= len(u.last) && len(send.Sections) == u.sections
	for i := 0; same && i < len(u.last); i++ {
		a, b := u.last[i], send.Items[i]
		same = a.Message.ID == b.Message.ID && a.Before == b.Before && slices.Equal(a.Edits, b.Edits)
	}
	if !same && u.last != nil {
		u.run.PrefixBreaks++
	}
	u.last, u.sections = send.Items, len(send.Sections)
}

// irreducible lists the Step just prepared with its floor.
func (u *runner) irreducible() {
	u.sess.View(func(m *engine.Machine) {
		over := m.Over()
		if over == nil {
			return
		}
		f := over.Floor
		u.run.Irreducible = append(u.run.Irreducible, Irreducible{
			Step: u.run.Steps, Floor: over.Used, Limit: over.Limit,
			Parts: map[string]int{
				"system": f.System, "tools": f.Tools, "pins": f.Pins, "open_calls": f.OpenCalls, "newest_round": f.NewestRound,
			},
		})
	})
}
