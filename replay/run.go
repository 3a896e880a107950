package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// step prepares one call and tells f about it.
func (r *Replayer) step(ctx context.Context, sess *drive.Driver, step *sessionfile.Step, cold bool, f func(*sessionfile.Step, *engine.Send) error) error {
	done, err := sess.Feed(ctx, engine.Prepare{Cold: cold})
	if err != nil && !errors.Is(err, drive.ErrRefused) {
		return fmt.Errorf("replay: prepare: %w", err)
	}
	return f(step, done.Send)
}

// run runs one policy on one window.
func (r *Replayer) run(ctx context.Context, raw *raw, p policy.Policy, spec WindowSpec) (Run, error) {
	began := time.Now()
	w, note := spec.window(p, raw)
	run := Run{
		Policy: p.Name, Window: spec.String(), Capacity: w.Capacity, Limit: w.Limit(), CommonLimit: r.commonLimit(raw, spec), Note: note,
		Estimator: p.Estimator, Irreducible: []Irreducible{}, RuleBreaks: []RuleBreak{}, ToolsNotOffered: append([]string{}, p.Tools...), Edits: map[string]int{},
	}
	if r.opts.Series {
		run.Series = []Point{}
	}
	cal, key := raw.steps[0].cal.Clone(), ""
	if r.opts.Store != nil {
		key = raw.key(p, spec)
	}
	batches := r.batcher()
	sess, err := r.open(ctx, raw, start{policy: p, window: w, cal: cal, name: key, heard: batches.heard})
	if err != nil {
		return run, busy(key, err)
	}
	j, err := r.judge(raw, &run, sess)
	if err != nil {
		return run, err
	}
	if raw.grounds != nil {
		j.ground = newGrounder(raw.grounds, w.Limit())
		j.ground.tell = r.opts.Series
	}
	ru := &runner{backstop: p.Backstop, run: &run, raw: raw, cal: cal, judge: j, sess: sess, bill: r.biller(raw), meter: newMeter(raw), spent: catalog.Dollars(0), batches: batches}
	ru.bill.bill.LookUpsUSD.Known = j.ground != nil
	if len(raw.steps) > 0 {
		err = r.walk(ctx, sess, raw, func(step *sessionfile.Step, send *engine.Send) error { return ru.step(ctx, step, send) })
	}
	if err != nil && !errors.Is(err, errEnded) {
		return run, busy(key, err)
	}
	st := sess.Machine().Stats()
	run.BackstopEdits, run.StillOver = st.Backstop, st.StillOver
	for k, v := range st.Edits {
		if v != 0 {
			run.Edits[string(k)] = v
		}
	}
	for _, st := range raw.steps {
		if !st.copied {
			run.TokensRaw += st.Tokens
		}
	}
	ru.settle()
	if j.ground != nil {
		run.Grounding, run.Missing = j.ground.finish(), j.ground.missing
	}
	if err := j.finish(&run); err != nil {
		return run, err
	}
	run.Timing.Seconds = time.Since(began).Seconds()
	return run, nil
}

// A runner follows one run Step by Step.
type runner struct {
	run   *Run
	raw   *raw
	cal   *token.Calibration
	judge *judge
	sess  *drive.Driver
	last  []edit.Item // of the view sent last

	sections int // of the view sent last

	at       int  // Steps of the segment that were walked
	backstop bool // the policy has one
	bill     *biller
	meter    *meter
	batches  *batcher
	edited   int           // edits of the journal that the series has told of
	spent    catalog.Money // by the client, for the Steps that were sent
}

func (u *runner) step(ctx context.Context, step *sessionfile.Step, send *engine.Send) error {
	i := u.at
	u.at++
	rs := u.raw.steps[i]
	if !rs.copied {
		u.run.Steps++
	}
	switch {
	case rs.copied && send == nil: // the parent's business
	case send == nil:
		if err := u.irreducible(); err != nil {
			return err
		}
		u.point(Point{Step: u.at, Raw: rs.Tokens, Refused: true})
	default:
		if err := u.sent(i, send); err != nil {
			return err
		}
		u.pay(i, send)
	}
	*u.cal = *u.raw.steps[min(i+1, len(u.raw.steps)-1)].cal
	usage := engine.Usage{Usage: step.Usage, Reported: step.Reported && send != nil && !send.Edited, OutputUnknown: !step.OutputReported}
	if !usage.Reported {
		usage.Usage = llm.Usage{Input: u.sess.Machine().Count().Point, Output: step.Usage.Output, Reasoning: step.Usage.Reasoning}
	}
	if send != nil && send.Final != engine.ReasonNone {
		u.run.EndedAtStep, u.run.EndReason = u.at, string(send.Final)
		return errEnded
	}
	return feed(ctx, u.sess, usage)
}

// sent books a request that left. One that another session made is judged, and not
// booked.
func (u *runner) sent(i int, send *engine.Send) error {
	if !u.raw.steps[i].copied {
		if err := u.book(i, send); err != nil {
			return err
		}
	}
	if g := u.judge.ground; g != nil && !u.raw.steps[i].copied {
		g.step(i, send, u.sess.Machine().Journal())
	}
	return u.judge.step(u.at, send, u.prefix(send))
}

// book adds a request to the sums of the run.
func (u *runner) book(i int, send *engine.Send) error {
	run, size := u.run, u.raw.sizeOf(i, send)
	run.TokensToEnd += u.raw.steps[i].Tokens
	run.TokensSent += size
	run.PeakSent = max(run.PeakSent, size)
	held := u.raw.standsAt(i, send, u.backstop)
	if held > run.CommonLimit {
		run.OverCommon++
	}
	if held > send.Limit {
		if !send.StillOver {
			run.StepsOver++
		} else if err := u.irreducible(); err != nil {
			return err
		}
	}
	if run.CountKind == "" || kindRank(send.Count.Kind.String()) > kindRank(run.CountKind) {
		run.CountKind = send.Count.Kind.String()
	}
	return nil
}

func kindRank(kind string) int {
	for i, k := range []token.Kind{token.Exact, token.Calibrated, token.Estimated} {
		if k.String() == kind {
			return i
		}
	}
	return 0
}

// prefix reports whether the view extends the one before; else it is a break.
func (u *runner) prefix(send *engine.Send) bool {
	same := len(send.Sections) == u.sections && alike(u.last, send.Items) == len(u.last)
	if !same && u.last != nil {
		u.run.PrefixBreaks++
	}
	u.last, u.sections = send.Items, len(send.Sections)
	return same
}

// irreducible lists the Step just prepared with its floor, by the engine and by
// the judge.
func (u *runner) irreducible() error {
	m := u.sess.Machine()
	over := m.Over()
	if over == nil {
		return nil
	}
	recomputed, err := u.judge.floor(m, u.raw.steps[u.at-1].Unseen)
	f := over.Floor
	u.run.Irreducible = append(u.run.Irreducible, Irreducible{
		Step: u.at, Floor: f.Total(), Limit: over.Limit, Recomputed: recomputed,
		Parts: map[string]int{
			"system": f.System, "tools": f.Tools, "pins": f.Pins, "open_calls": f.OpenCalls, "newest_round": f.NewestRound,
			"margin": f.Margin,
		},
	})
	return err
}

// feed tells a session about what was recorded.
func feed(ctx context.Context, sess *drive.Driver, in engine.Input) error {
	if _, err := sess.Feed(ctx, in); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}
