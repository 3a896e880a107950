package engine

import (
	"errors"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// A requester takes a request from the first rule to the Ready that holds it.
type requester struct{ intake }

// Prepare asks for the next request. Targets are the places it may go to, the
// preferred one first; empty means the same as before.
type Prepare struct {
	Targets []budget.Target
	// Cold says that the provider keeps nothing of the last request any more, by the host's
	// clock: an edit then breaks no cache, and rules need not wait until it pays.
	Cold bool
}

func (Prepare) input() {}

func (m *requester) feedPrepare(in Prepare) error {
	if len(in.Targets) > 0 && !slices.Equal(in.Targets, m.stated) {
		if err := m.setTargets(in.Targets); err != nil {
			return err
		}
	}
	if m.triedFor != m.key { // in other windows another plan may do
		clear(m.tried)
		m.triedFor = m.key
	}
	if err := m.repair(); err != nil {
		return err
	}
	m.reconcile()
	m.chooseTools()
	m.cold, m.anew = in.Cold || m.anew || m.elsewhere(), false
	m.guard.Release(m.guard.Reserved()) // every call has its result by now
	m.traceTurn()
	m.guard.BeginRequest()
	if !m.request.making() {
		m.request.after = m.request.phase
	}
	m.request.noStore = false
	m.traceEvaluate(TurnPreflight)
	m.begin()
	return nil
}

// begin goes through the rules for a request from the first one on.
func (m *requester) begin() {
	m.request.phase, m.request.rule, m.request.to = phasePreparing, m.request.resume, 0
	for _, r := range m.policy.Rules[:m.request.resume] { // they had their turn before the question
		delete(m.due, r.Name)
	}
	m.request.resume = 0
	if m.wanted != ReasonNone {
		m.force(m.wanted, ruleOf(m.wanted), finalTexts[m.wanted])
	}
	m.goOn()
}

// goOn takes the request through the remaining rules, the backstop and out,
// unless an answer has to come first.
func (m *requester) goOn() {
	m.request.phase, m.planned = phasePreparing, planning{}
	for m.request.rule < len(m.policy.Rules) {
		r := m.policy.Rules[m.request.rule]
		m.request.rule++
		if !m.dueNow(r) || m.wouldBreak() || !m.untried(r) {
			continue
		}
		m.patient, m.waiting = m.policy.Waits(r), false
		m.act(r)
		m.patient = false
		if m.request.phase == phaseAsking {
			return
		}
	}
	m.planned = planning{}
	m.finish()
}

// finish lets the backstop act and makes the Send.
func (m *requester) finish() {
	m.request.phase = phaseIdle
	m.out.Send, m.out.Refused, m.out.Torn = nil, nil, nil
	m.restate()
	m.address()
	same := m.sameAsRefused()
	if m.repeats() {
		m.begin()
		return
	}
	if !m.request.noStore { // another Prepare is not to change what has just been made
		m.triedAll()
	}
	if m.policy.Backstop && m.over() {
		refused := m.overError()
		if m.policy.OnFloor == policy.FloorSend && m.final == ReasonNone { // only a final request is sent although it is over
			m.force(ReasonContext, ruleOf(ReasonContext), m.text(policy.TemplateFinal))
			m.begin()
			return
		}
		if m.policy.OnFloor != policy.FloorSend || same {
			m.stats.Refused++
			m.out.Refused = refused
			m.writeState(false)
			return
		}
		m.stats.StillOver++
		m.event(EventStillOver, "", "%s: %v", StillOverText, refused)
	}
	m.send()
}

// address chooses the target, and lets the backstop act for it. With what that takes out
// another target may have room: it is chosen anew, until nothing changes any more, so that
// the same request prepared again goes to the same one.
func (m *requester) address() {
	m.request.to = m.choose()
	for range len(m.resolved) + 1 {
		if !m.policy.Backstop || !m.over() {
			return
		}
		next, made := m.verdict(m.fits).Next, len(m.journal)
		if next < 0 {
			m.request.to = m.reachable()
		}
		if next < 0 || m.floor() == nil { // else nothing that is taken out would do
			m.backstop()
			m.restate()
			m.request.to = m.choose() // one that is named before may have room now, too
		}
		if len(m.journal) > made {
			continue
		}
		if next >= 0 && m.over() {
			m.request.to = next
		}
		return
	}
}

// sameAsRefused reports whether the request would be the one that was just refused, to
// the target that refused it. A smaller window leaves the reply less, which is another
// request: prompt and output together were too long.
func (m *requester) sameAsRefused() bool {
	return m.request.after == phaseRefused && m.sent.meter != nil && m.request.to == m.named(m.sent.to.Name()) && m.sentAnew() &&
		m.sent.end == len(m.messages) && m.sent.output == m.mostOutput(m.request.to)
}

// repeats reports whether the request would be the one that was just rejected,
// after it has taken the window for smaller than that request, so that something
// can happen (law 7). A provider need not say how large its window is: then the
// limit is taken for nine tenths of the request, so that a few rejections in a row
// do not leave a window in which nothing fits.
func (m *requester) repeats() bool {
	same := m.sameAsRefused()
	m.request.after = phaseIdle
	if !same || !m.policy.Backstop || m.over() {
		return false
	}
	i := m.request.to
	w := m.resolved[i].Window
	limit := max(m.count[i].Count().Bound*9/10, 1)
	capacity, ok := m.learnLimit(i, limit, min(w.Capacity-1, limit+w.Buffer+w.OutputReserve))
	if !ok {
		return false // there is no smaller one
	}
	m.record(journal.Record{Kind: journal.KindRejected, Rejected: journal.Rejected{Target: m.resolved[i].Name(), Window: capacity}})
	m.event(EventWindow, "", "the request was rejected: a limit of %d tokens is assumed", limit)
	return true
}

// learn takes a target's window for smaller than it was stated.
func (m *requester) learn(target, capacity int) error {
	name := m.stated[target].Name()
	was, known := m.learnt[name]
	took, more := m.accepted[name]
	m.learnt[name] = capacity
	m.doubt(name, capacity)
	err := m.aim(m.stated)
	if err == nil {
		return nil
	}
	delete(m.learnt, name)
	if known {
		m.learnt[name] = was
	}
	if more {
		m.accepted[name] = took
	}
	return err
}

// learnLimit takes a target's window for one that leaves no more than limit, beginning
// with a capacity that does at most. A smaller capacity may have a smaller buffer and
// reserve too, so that it is approached step by step.
func (m *requester) learnLimit(target, limit, capacity int) (int, bool) {
	const steps = 64 // each leaves a quarter of the excess, or half where the reserve is large
	for range steps {
		if m.learn(target, capacity) != nil {
			return 0, false
		}
		extra := m.resolved[target].Window.Limit() - limit
		if extra <= 0 {
			break
		}
		capacity -= extra
	}
	return capacity, true
}

// send makes the Send of what the view is now.
func (m *requester) send() {
	var torn *turn.TornError
	if errors.As(m.whole(), &torn) {
		m.out.Torn = torn
		m.writeState(false)
		return
	}
	i := m.request.to
	verdict := m.decided(m.fits)
	m.skipped(verdict, i)
	m.guard.BeginRequest() // with what the rules have made of it
	m.traceSend()
	m.request.before = m.sent
	m.sent = sending{
		seq: m.sent.seq + 1, to: m.resolved[i], meter: m.count[i], edit: m.newestEdit(), end: len(m.messages), output: m.mostOutput(i), front: m.front,
	}
	m.all(func(t *meter.Meter) { t.Leave(m.border(), m.view) })
	m.request.phase, m.cold = phaseHanded, false // it is cached now
	drop, strip := m.wayOut(m.resolved[i])
	unread := m.unread()
	items := edit.WithoutCompactions(m.withoutThinking(strip), unread)
	m.out.Send = &Send{
		Seq: m.sent.seq, Target: m.resolved[i], Sections: m.allSections(), Items: items, LeftOut: LeftOut{strip, unread},
		Tools: m.offered(), Count: m.count[i].Count(), Limit: m.resolved[i].Window.Limit(), MaxOutput: m.sent.output,
		Marks: m.marks(m.resolved[i], items), CacheKey: m.cacheKey(m.resolved[i]), Explicit: m.explicit(i, items),
		Effort: m.cfg.Catalog.EffortOf(m.resolved[i].Model, m.cfg.Effort, m.sent.output),
		Clear:  m.clearing(m.resolved[i]),
		Edited: m.edited(), DropBrokenThinking: drop, Final: m.final,
		StillOver: m.policy.Backstop && m.over(), Verdict: verdict,
	}
	if len(strip) == 0 && len(unread) == 0 {
		m.out.Send.messages = m.list()
	}
	m.writeState(true)
}

// skipped tells of the targets before the one that the request goes to. Where none
// has room nothing was skipped.
func (m *requester) skipped(v budget.Verdict, taken int) {
	if v.Next < 0 {
		return
	}
	for i, e := range v.Entries[:taken] {
		if e.Decision != budget.Skip {
			continue
		}
		m.event(EventSkip, "", "%s has no room, %s is taken", e.Target.Name(), m.resolved[taken].Name())
		m.out.Events[len(m.out.Events)-1].Guard = &GuardAction{
			Trigger: TurnPreflight, Did: SkippedProvider, Target: e.Target, Limit: e.Limit, Projected: m.projected(i),
		}
	}
}

// traceSend notes what is said about each target, and the call itself.
func (m *requester) traceSend() {
	if !m.cfg.Trace {
		return
	}
	blocked := m.blocked()
	for _, e := range m.decided(m.fits).Entries {
		m.trace(Trace{Topic: TopicProviderEval, Target: e.Target, Decision: e.Decision, Blocked: blocked})
	}
	m.trace(Trace{
		Topic: TopicBuildMetrics, Target: m.resolved[m.request.to],
		Count: m.count[m.request.to].Count().Bound,
	})
}
