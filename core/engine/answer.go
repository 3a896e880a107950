package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func (m *Machine) feedAnswer(in Answer) error {
	if m.dropped[in.Ask] {
		delete(m.dropped, in.Ask)
		m.record(journal.Record{Kind: journal.KindAnswer, Answer: in.recorded()})
		m.event(EventAnswer, "", "summary %d not used: the policy that asked for it was changed", in.Ask)
		return nil
	}
	if len(m.asks) == 0 || m.asks[0].ID != in.Ask {
		return fmt.Errorf("engine: answer: nobody asked %d", in.Ask)
	}
	a := m.asks[0]
	m.asks = m.asks[1:]
	at := len(m.out.Records)
	m.record(journal.Record{Kind: journal.KindAnswer, Answer: in.recorded()})
	if in.GivenUp {
		m.giveUp(a)
		return nil
	}
	did := m.conclude(m.ruleNamed(a.Rule), a, in)
	m.out.Records[at].Answer.Outcome = did
	if did == journal.Held {
		m.out.Records[at].Answer.Held = m.summary.text
	}
	if m.request.phase == phaseAsking && did != journal.Again {
		m.goOn()
	}
	return nil
}

// giveUp ends a request that waited for an answer. The rule that asked may ask again.
func (m *Machine) giveUp(a Ask) {
	clear(m.tried)
	if m.request.phase == phaseAsking {
		m.request.phase = m.request.after
	}
	if r := m.ruleNamed(a.Rule); r.At != policy.AtPrepare && !a.byHand && !a.Background {
		m.setDue(r.Name)
	}
}

// conclude lets an answer take the place of what it is about. Where it has a fault it is asked
// for once more, with the fault named; where there is none then, the policy says what does: code
// writes one, the history stays as it is, or the next rung acts.
func (m *Machine) conclude(r policy.Rule, a Ask, in Answer) journal.Outcome {
	if !m.holdsForBatch(r) && !m.stands(a.Span) {
		m.event(EventAnswer, r.Name, "summary of messages 1 to %d not used: they have left the view meanwhile", a.Span.To-1)
		return ""
	}
	f := flaw{why: in.Err}
	if in.Err == "" {
		var did journal.Outcome
		if did, f = m.use(r, a, in); f.why == "" {
			return did
		}
	}
	if f.size {
		m.event(EventAnswer, r.Name, "summary of messages 1 to %d not used: %s", a.Span.To-1, f.why)
	} else {
		m.event(EventAnswer, r.Name, "no summary: %s", f.why)
	}
	if m.mayAskAgain(a, in) {
		m.askAgainAbout(a, f.why)
		return journal.Again
	}
	if m.policy.OnSummaryError == policy.SummaryFallback && !in.byCode() {
		did, ours := m.useOurs(r, a)
		if ours.why == "" {
			return did
		}
		m.event(EventAnswer, r.Name, "no summary by code: %s", ours.why)
		in.Err, f.size = "", f.size || ours.size
	}
	out := m.unused(a, in)
	if a.byHand && !f.size && m.policy.OnSummaryError != policy.SummaryKeep { // what is as short as it gets is not dropped for that
		m.otherMeans(a, f.why)
	}
	return out
}

// unused notes that there is no summary.
func (m *Machine) unused(a Ask, in Answer) journal.Outcome {
	if in.Err != "" && a.Fault == "" {
		return m.fail(a.Span)
	}
	return m.decline(a.Span)
}

// otherMeans does what the policy's other rules do about a full view, whatever their
// thresholds, in their order, until one of them makes room. It is for a compaction by
// hand that has no summary, and why says so.
func (m *Machine) otherMeans(a Ask, why string) {
	need := m.coveredBy(a.Span)
	made := len(m.journal)
	tried := map[policy.Action]bool{}
	for _, r := range m.policy.Rules {
		if tried[r.Do] {
			continue // the same with another threshold
		}
		tried[r.Do] = true
		r.When = policy.Condition{}
		switch r.Do {
		case policy.DoTrim:
			m.try(m.scene(r).Trim(need), r.Name)
		case policy.DoTruncate:
			m.try(m.truncated(r, need), r.Name)
		case policy.DoClear, policy.DoDemote, policy.DoDropTurns:
			m.act(r)
		}
		if len(m.journal) > made {
			return
		}
	}
	m.event(EventCompact, a.Rule, "nothing was taken out: no summary (%s), and the policy %s has no other means that saves enough", why, m.policy.Name)
}
