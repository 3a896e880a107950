package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Answer is the reply to an Ask.
type Answer struct {
	Ask   int
	Text  string
	Err   string        // why there is none; empty if there is one
	Stop  llm.Stop      // why a model wrote no more; zero: it is not known, or none was asked
	Calls journal.Calls // of a model, also where there is no answer; zero: none was asked
	// GivenUp says that whoever waited does not any longer: there is no answer, and nothing is
	// done about that. The request that waited for it ends, and the next one asks anew.
	GivenUp bool
}

func (Answer) input() {}

// recorded returns what is written down of an answer, but for what came of it.
func (in Answer) recorded() journal.Answer {
	return journal.Answer{Ask: in.Ask, Text: in.Text, Err: in.Err, Calls: in.Calls}
}

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
	if m.request.phase == phaseAsking {
		m.goOn()
	}
	return nil
}

// giveUp ends a request that waited for an answer. The rule that asked may ask again.
func (m *Machine) giveUp(a Ask) {
	clear(m.tried)
	if m.request.phase == phaseAsking {
		m.request.phase = m.request.after
		if r := m.ruleNamed(a.Rule); r.At != policy.AtPrepare && !a.byHand {
			m.setDue(r.Name)
		}
	}
}

// conclude lets an answer take the place of what it is about. Where it says nothing,
// or there is none, the policy says what does; else the history stays as it is, and
// the next rung acts.
func (m *Machine) conclude(r policy.Rule, a Ask, in Answer) journal.Outcome {
	said, why := m.said(r, a, in.Text, in.Err)
	if why == "" {
		return m.settle(r, a, said)
	}
	out := journal.Outcome("")
	if in.Err == "" || m.policy.OnSummaryError == policy.SummaryFallback { // an error alone may be gone with the next call
		out = m.decline(a.Span)
	}
	if a.byHand && m.policy.OnSummaryError != policy.SummaryKeep {
		m.otherMeans(a, why)
	}
	return out
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
