package guardsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A run is one session on its way.
type run struct {
	*plan
	guarded
	caller *caller
	truth  *truth
	last   scriptmodel.Call // as the server saw it
	sent   *engine.Send     // what it was made of
	tally  *tally
	watch
	now          []budget.Target // where requests may go, the preferred one first
	order        []budget.Target // the same from the next request on; nil: as before
	refs         map[string]bool // that were looked up
	told         map[int]bool    // targets whose refusal stated their true window
	refusedBytes map[string]int  // by target, of the last request that was too large
	calls        int             // of the model that were answered
	over         bool            // the session has ended
	faults       []error
}

// errOver ends a session that has come to its end before its plan has.
var errOver = errors.New("guardsim: the session is over")

func newRun(p *plan) *run {
	return &run{plan: p, now: p.targets, tally: &tally{}, refs: map[string]bool{}, told: map[int]bool{}, refusedBytes: map[string]int{}}
}

// simulate runs the session of a plan and returns what it found wrong.
func simulate(ctx context.Context, p *plan) (*tally, []error) {
	r := newRun(p)
	if err := r.begin(ctx); err != nil {
		return r.tally, []error{err}
	}
	for err := error(nil); err == nil && r.calls < p.steps && !r.over; {
		if err = r.turn(ctx); err != nil && !errors.Is(err, errOver) {
			r.fault("%w", err)
		} else if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	r.tally.sessions++
	r.faults = append(r.faults, r.truth.faults...)
	return r.tally, r.faults
}

func (r *run) begin(ctx context.Context) (err error) {
	if r.truth, err = newTruth(r.models); err != nil {
		return err
	}
	all, err := known()
	if err != nil {
		return err
	}
	server := scriptmodel.New(r.script, scriptmodel.Options{
		Encodings: encodings.Load, Scale: r.truth, Observe: func(c scriptmodel.Call) { r.last = c },
	})
	r.caller = &caller{cable: &cable{handler: server}, known: all, clients: clients{}, stream: r.stream}
	if r.guarded, err = openGuarded(ctx, r.plan); err != nil {
		return err
	}
	if err := r.setSections(ctx, r.sections()); err != nil {
		return err
	}
	return r.setTools(ctx, r.tools())
}

// turn is one message of a person and all that the model does about it.
func (r *run) turn(ctx context.Context) error {
	if err := r.change(ctx); err != nil {
		return err
	}
	if err := r.append(ctx, r.says()); err != nil {
		return err
	}
	r.check("a person's message", grows)
	for r.calls < r.steps {
		done, err := r.step(ctx)
		if err != nil || done {
			return err
		}
	}
	return nil
}

// change now and then changes the tools and the system prompt between two Turns.
func (r *run) change(ctx context.Context) error {
	if r.calls > 0 && r.maybe(15) {
		if err := r.setTools(ctx, r.tools()); err != nil {
			return err
		}
	}
	if r.calls > 0 && r.maybe(7) {
		if err := r.setSections(ctx, r.sections()); err != nil {
			return err
		}
	}
	r.check("other tools", falls)
	if r.calls > 0 && len(r.targets) > 1 && r.maybe(8) {
		r.order = slices.Clone(r.targets)
		r.rng.Shuffle(len(r.order), func(i, j int) { r.order[i], r.order[j] = r.order[j], r.order[i] })
	}
	return nil
}

// step is one call of the model with its retries and the Round that follows. It reports
// whether the Turn is over.
func (r *run) step(ctx context.Context) (done bool, err error) {
	send, err := r.next(ctx)
	if err != nil {
		return false, r.refused(err)
	}
	r.check("prepare", direction(r.order != nil)) // another target counts in its own way
	r.order = nil
	reply, err := r.exchange(ctx, send)
	if err != nil {
		return false, err
	}
	r.calls++
	if err := r.observe(ctx, reply.Usage); err != nil {
		return false, err
	}
	r.check("usage", falls)
	if err := r.append(ctx, reply.Message); err != nil {
		return false, err
	}
	r.check("reply", grows)
	calls := reply.Message.Calls()
	if len(calls) > 0 {
		return false, r.round(ctx, calls)
	}
	r.over = send.Final != engine.ReasonNone
	err = r.turnEnd(ctx)
	r.check("end of the Turn", grows)
	return true, err
}

// round runs the tools of one Round, whose outputs come in any order.
func (r *run) round(ctx context.Context, calls []llm.ToolCall) error {
	var all []output
	for _, c := range calls {
		all = append(all, r.output(c))
	}
	r.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	switch {
	case r.racing:
		return r.race(ctx, all)
	case r.joined || r.pictured:
		m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for _, o := range all {
			m.Parts = append(m.Parts, llm.ToolResult{CallID: o.call, Content: append([]llm.Part{llm.Text{Text: o.text}}, o.pictures...), IsError: o.failed})
		}
		err := r.append(ctx, m)
		r.check("results in one message", grows)
		return err
	}
	for _, o := range all {
		if err := r.result(ctx, o); err != nil {
			return err
		}
		r.check("a result", grows)
	}
	return nil
}

// race hands outputs in from goroutines of their own.
func (r *run) race(ctx context.Context, all []output) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, o := range all {
		wg.Go(func() { errs[i] = r.result(ctx, o) })
	}
	wg.Wait()
	r.check("results from goroutines", grows)
	return errors.Join(errs...)
}

// mostRejections is how often a request may be refused as too long, in one Step, before
// something is wrong: each refusal takes a tenth of the limit at least.
const mostRejections = 30

// exchange sends a request until there is a reply: again after a failure, a smaller one or
// elsewhere after a refusal.
func (r *run) exchange(ctx context.Context, send *engine.Send) (llm.Response, error) {
	rejected, refusedAt := 0, map[string]int{}
	for {
		reply, err := r.send(ctx, send)
		name, n := send.Target.Name(), r.last.Prompt
		if before := refusedAt[name]; before > 0 && n >= before && r.tooLong() && !send.StillOver {
			r.fault("request of %d tokens to %s was refused, and so is a later one of the same Step, of %d", before, name, n)
		}
		if r.tooLong() {
			refusedAt[name] = n
		}
		switch {
		case err == nil && len(reply.Message.Parts) == 0: // the output ended before the first call was whole
			reply.Message.Parts = []llm.Part{llm.Text{Text: "(cut)"}}
			return reply, nil
		case err == nil:
			return reply, nil
		case r.tooLong() || r.tooLarge():
			rejected++
			send, err = r.again(ctx, send, err, rejected)
		case mayPass(err):
			send, err = r.retry(ctx, send)
		}
		if err != nil {
			return llm.Response{}, err
		}
	}
}

// mayPass reports whether a call failed in a way that may pass: the provider has trouble, or
// its answer broke off.
func mayPass(err error) bool {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Class.Retryable()
	}
	_, broken := errors.AsType[*client.AnswerError](err)
	return broken || errors.Is(err, wire.ErrCut)
}

// send sends a request and looks at it.
func (r *run) send(ctx context.Context, s *engine.Send) (llm.Response, error) {
	r.last, r.sent = scriptmodel.Call{}, s
	reply, err := r.caller.call(ctx, s)
	if r.same != nil && !bytes.Equal(r.same, r.caller.cable.body) {
		r.fault("law 4: the request of a retry differs from the one that failed")
	}
	r.same = nil
	r.judge(s)
	r.resolve(ctx)
	return reply, err
}

// again tells of a refusal and returns what is to be sent instead.
func (r *run) again(ctx context.Context, was *engine.Send, refusal error, n int) (*engine.Send, error) {
	if n > mostRejections {
		return nil, fmt.Errorf("guardsim: %d refusals in one Step, the last: %w", n, refusal)
	}
	if _, window, _ := client.TooLong(refusal); window > 0 {
		r.told[r.place(was.Target)] = true
	}
	send, err := r.rejected(ctx, refusal)
	if err != nil {
		return nil, r.refused(err)
	}
	r.check("refusal", falls)
	if send.StillOver && was.StillOver && n > 1 {
		return nil, r.finish()
	}
	return send, nil
}

// retry tells of a failure that reported nothing and prepares the call again: the same
// bytes, by the same counts.
func (r *run) retry(ctx context.Context, was *engine.Send) (*engine.Send, error) {
	r.tally.failures++
	body, before := bytes.Clone(r.caller.cable.body), r.counters()
	if err := r.nothing(ctx); err != nil {
		return nil, err
	}
	send, err := r.prepare(ctx)
	if err != nil {
		return nil, r.refused(err)
	}
	if after := r.counters(); after != before {
		r.fault("R000-2: preparing a retry changed the counters from %+v to %+v", before, after)
	}
	r.check("retry", grows)
	r.same = body
	if send.Target != was.Target {
		r.same = nil
	}
	return send, nil
}

// refused handles a request that cannot be made to fit: a typed error with the figures.
func (r *run) refused(err error) error {
	over, ok := errors.AsType[*budget.OverError](err)
	bad, config := errors.AsType[*budget.ConfigError](err)
	switch {
	case ok && errors.Is(err, plimsoll.ErrRefused) && over.Used > over.Limit && over.Irreducible():
	case config && bad.Got < 1:
	default:
		return err
	}
	r.tally.refused++
	return r.finish()
}

func (r *run) finish() error {
	r.over = true
	return errOver
}
