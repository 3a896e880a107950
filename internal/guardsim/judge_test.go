package guardsim

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// edgeTokens is how far below the limit a count may be that is called near it.
const edgeTokens = 10

// judge looks at a request that was just sent.
func (r *run) judge(s *engine.Send) {
	of, k := &r.tally.classes[r.kindOf(s.Target)], r.kindOf(s.Target)
	ok := r.decision(s) == budget.OK
	of.requests++
	count(&of.ok, ok)
	count(&of.skip, s.Target.Name() != s.Verdict.Entries[0].Target.Name())
	count(&of.final, s.Final != engine.ReasonNone)
	count(&of.stillOver, s.StillOver)
	count(&of.rejected, r.tooLong())
	count(&r.tally.tooLarge, r.tooLarge())
	count(&of.okRejected, r.tooLong() && ok)
	if left := s.Limit - r.last.Prompt; ok && !r.tooLong() && k != lied {
		count(&of.edge, s.Limit-s.Count.Bound <= edgeTokens)
		count(&of.percent, left*100 <= s.Limit)
		of.closest = closer(of.closest, left)
	}
	if r.tooLong() && k != lied && !s.StillOver {
		r.note(s)
	}
	if r.tooLong() && k == exact && !s.StillOver {
		r.fault("law 1: request %d to %s had a count of %d (%s) and a limit of %d, and the server refused it at %d tokens",
			s.Seq, s.Target.Name(), s.Count.Bound, s.Count.Kind, s.Limit, r.last.Prompt)
	}
	r.judgeBytes(s)
	r.judgeVerdict(s, ok)
	r.judgeTools(s)
}

// closer returns the smaller of two distances; 0 is none.
func closer(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}

// judgeVerdict holds the figures of a request against the limit as the plan has it, and
// the target against those that had room.
func (r *run) judgeVerdict(s *engine.Send, ok bool) {
	stated := r.targets[r.place(s.Target)].Window
	most := stated.Capacity
	if r.rules.Window.ReserveOutput {
		most -= max(stated.OutputReserve, 0) // budget.None is below 0
	}
	if r.rules.Window.Buffer > 0 {
		most -= stated.Buffer
	}
	if s.Limit > most {
		r.fault("the limit of %s, want at most %d, got %d", s.Target.Name(), most, s.Limit)
	}
	if fits := s.Count.Bound <= s.Limit; !fits && !s.StillOver || !fits && ok {
		r.fault("law 1: request %d to %s has a count of %d for a limit of %d, verdict ok %t, still over %t", s.Seq, s.Target.Name(), s.Count.Bound, s.Limit, ok, s.StillOver)
	}
	if s.Verdict.Next >= 0 && !ok {
		r.fault("R000-11: request %d goes to %s, which has no room, while %s has", s.Seq, s.Target.Name(), s.Verdict.Entries[s.Verdict.Next].Target.Name())
	}
}

// judgeBytes holds the size of a request against what its target refused as too large, in
// this Step or before. A dialect that has no images in results gets a line in place of each
// anyway: taking one out makes no such request smaller.
func (r *run) judgeBytes(s *engine.Send) {
	name, size := s.Target.Name(), len(r.caller.cable.body)
	dialect, _ := r.caller.known.Dialect(r.last.Dialect)
	if most, ok := r.refusedBytes[name]; ok && dialect.ResultImage == catalog.Keep && size >= most && !s.StillOver {
		r.fault("request %d to %s has %d bytes, want fewer than the %d that were refused", s.Seq, name, size, most)
	}
	if r.tooLarge() {
		r.refusedBytes[name] = size
	}
}

// judgeTools reads from the body that a final Step offers no tool but the report.
func (r *run) judgeTools(s *engine.Send) {
	body, err := readBody(r.last.Dialect, r.caller.cable.body)
	if err != nil {
		r.fault("%w", err)
		return
	}
	for _, t := range body.tools {
		if s.Final != engine.ReasonNone && t.Name != policy.ToolFinalReport {
			r.fault("R000-14: request %d is a final one (%s) and offers %s", s.Seq, s.Final, t.Name)
		}
	}
	if s.Final == engine.ReasonNone && len(body.tools) < 2 {
		r.fault("request %d is not a final one, want the tools that were set, got %d", s.Seq, len(body.tools))
	}
}

// nothing tells of a call that failed and reported nothing: no figure changes, and nothing
// is stored, so that a restart cannot take it for a report either.
func (r *run) nothing(ctx context.Context) error {
	type state struct {
		usage, bill any
		records     int
	}
	look := func() (s state, err error) {
		s.usage, s.bill = r.s.Usage(), r.s.Bill()
		s.records, err = r.records(ctx)
		return s, err
	}
	before, err := look()
	if err != nil {
		return err
	}
	if err := r.observe(ctx, llm.Usage{}); err != nil {
		return err
	}
	after, err := look()
	if !reflect.DeepEqual(before, after) {
		r.fault("R000-2: a failed call without usage changed %+v to %+v", before, after)
	}
	return err
}

// next prepares a request, now and then in a program that has just been started anew: what
// it sends is what the one before would have sent (law 4).
func (r *run) next(ctx context.Context) (*engine.Send, error) {
	if r.order != nil {
		r.now = r.order
	}
	if r.order != nil || r.calls == 0 || !r.maybe(12) {
		return r.prepare(ctx, r.order...)
	}
	r.tally.restarts++
	later, err := r.reopened(ctx, fmt.Sprintf("restart-%d", r.tally.restarts), r.now)
	if err != nil {
		return nil, fmt.Errorf("guardsim: restart: %w", err)
	}
	if was, is := r.windows(), later.windows(); !reflect.DeepEqual(was, is) {
		r.fault("the windows that refusals taught, after a restart, want %+v, got %+v", was, is)
	}
	if was, is := r.s.Usage(), later.s.Usage(); !sameUsage(was, is) {
		r.fault("law 4: what fills the window, after a restart, want %+v, got %+v", was, is)
	}
	was, wasErr := r.prepare(ctx)
	r.guarded = later
	send, err := r.prepare(ctx)
	r.check("restart", falls)
	r.tally.same++
	if (wasErr == nil) != (err == nil) {
		r.fault("law 4: before a restart, want what is after it, %v, got %v", err, wasErr)
	}
	if err == nil && wasErr == nil && !bytes.Equal(r.caller.bytes(ctx, was), r.caller.bytes(ctx, send)) {
		r.tally.differ++
		r.fault("law 4: the request after a restart is another one")
	}
	return send, err
}

// sameUsage compares two usages, but for how the guard's sum is divided before the next
// request commits it.
func sameUsage(a, b plimsoll.Usage) bool {
	a.Guard.Fresh += a.Guard.Pending
	b.Guard.Fresh += b.Guard.Pending
	a.Guard.Pending, b.Guard.Pending = 0, 0
	return reflect.DeepEqual(a, b)
}

// bytes returns the body of a request without sending it anywhere.
func (c *caller) bytes(ctx context.Context, s *engine.Send) []byte {
	down := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	alone := &caller{cable: &cable{handler: down}, known: c.known, clients: clients{}, stream: c.stream}
	_, _ = alone.call(ctx, s) // an error, by what the handler says
	return alone.cable.body
}

// says draws what a person types. Where the plan fills prompts up to the limit, it is
// mostly as much as there is room for, give or take some tokens.
func (r *run) says() llm.Message {
	u := r.s.Usage()
	if !r.filling || u.Count.Kind == token.Estimated || u.Final != engine.ReasonNone {
		return r.human()
	}
	// 1,150 permille: of what is new, the bound has 15 % more; a message has some tokens beside its words
	n := (u.Limit-u.Count.Bound)*1000/1150 - messageTokens
	if r.maybe(50) {
		n /= 2
	} else {
		n += r.rng.IntN(7) - 3
	}
	return llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: strings.Repeat(" to", max(n, 1))}}}
}

// messageTokens is about what a message adds to its words.
const messageTokens = 4
