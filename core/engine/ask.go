package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

// An asker has summaries made, and puts them where the policy keeps them.
type asker struct {
	reducer
	asks     []Ask // without an answer
	asked    int   // the highest number given out
	summary  *prepared
	held     *prepared // summary as it was when the last Ready was carried out
	declined declined
	dropped  map[int]bool // questions whose answers are of no use any more
}

// prepared is a summary that waits for the batch it goes with.
type prepared struct {
	ask  int // the question that it answers
	span edit.Span
	text string
}

// A declined summary is one that was made and not used: it said next to nothing, or
// saved nothing. Each is a call that somebody pays for, so that nobody is asked again
// until there is more to summarise. The zero value: there was none.
type declined struct {
	to     llm.MessageID // the messages before it were to be replaced
	tokens int           // what they took in the view, by the policy's estimator
	failed bool          // there was none, as where the network fails: it may be asked for once more
}

// How much has to come: half as much as the summary was about, as a small talk is not
// worth one soon; but no more than a twentieth of the limit, so that a large one, about
// which a model failed once, is asked about again before the window is full. A twentieth
// of a small window is one message: there it is some of them.
const (
	againPermille = 500
	againOfLimit  = 50
	againTokens   = 500
)

// ask makes the question for a summary of what r covers. A call waits for the
// answer unless r runs in the background. A floor above the limit is found
// before any model is asked (law 1).
func (m *asker) ask(r policy.Rule, s edit.Scene) {
	if r.Args.Model && !m.cfg.Modelled {
		return
	}
	span, ok := m.summarySpan(r, s)
	if ok && !m.worthAsking(span) {
		if !r.Args.Background {
			m.event(EventNoProgress, r.Name, "no summary is asked for: the last one was not used, and little has come since")
		}
		return
	}
	m.askAbout(r, s, Ask{})
}

// dropAsks ends the questions that are open, without their answers.
func (m *asker) dropAsks() {
	for _, a := range m.asks {
		if m.dropped == nil {
			m.dropped = map[int]bool{}
		}
		m.dropped[a.ID], m.asked = true, max(m.asked, a.ID)
	}
	m.asks = nil
}

// askAbout asks as ask does, also where the last summary was declined. asked says what
// else is known of the question.
func (m *asker) askAbout(r policy.Rule, s edit.Scene, asked Ask) {
	span, ok := m.summarySpan(r, s)
	if !ok || len(m.asks) > 0 || m.summary != nil && !m.stale() {
		return
	}
	if !r.Args.Background {
		if m.request.noStore {
			m.event(EventNoProgress, r.Name, "no summary is asked for: what it would replace cannot be stored now")
			return
		}
		if err := m.floor(); err != nil {
			m.event(EventIrreducible, r.Name, "no summary is asked for: %v", err)
			return
		}
	}
	asked.ID, asked.Span = m.asked+1, span
	asked.edit, asked.messages = m.newestEdit(), len(m.messages)
	a := m.written(r, asked, m.view)
	a.ahead = m.ahead(r, a)
	m.asks = append(m.asks, a)
	m.record(journal.Record{Kind: journal.KindAsk, Ask: a.recorded()})
	if m.request.phase == phasePreparing && !a.Background {
		m.request.phase = phaseAsking
	}
}

// written returns a question by r with its words, about what a view shows.
func (m *asker) written(r policy.Rule, a Ask, v edit.View) Ask {
	a.Rule, a.Previous = r.Name, previous(v)
	a.Background, a.MaxTokens = r.Args.Background, r.Args.MaxTokens
	a.Question = m.question(r, a)
	a.Prompt = summary.Prompt(a.Question)
	a.Target, a.Sections, a.Tools = m.resolved[m.request.to], m.allSections(), m.offered()
	within := v.Within(a.Span)
	for _, msg := range within {
		if !m.pinned(msg) {
			a.covered += m.gauge.Message(msg)
		}
	}
	a.Messages = summary.Prepare(within)
	return a
}

// ahead returns what leaves for the answer to a question that nobody waits for, as it is now.
// What is pinned, and which tools are the policy's own, is looked at again when it leaves.
func (m *asker) ahead(r policy.Rule, a Ask) edit.Ahead {
	if !a.Background || m.holdsForBatch(r) {
		return edit.Ahead{}
	}
	s := edit.Scene{Messages: m.messages, View: m.view, Turns: &m.turns, Keep: a.Span.To, Pinned: m.pinned, Own: ownAmong(m.tools)}
	return s.Ahead(s.Unpinned(a.Span))
}

// again returns a question as it was asked. It is false where what it was about cannot be
// told.
func (m *asker) again(a journal.Ask) (Ask, bool) {
	v, ok := m.viewAt(a.Messages, a.Edit)
	if !ok {
		return Ask{}, false
	}
	r := m.ruleNamed(a.Rule)
	r.Args.Background, r.Args.MaxTokens = a.Background, a.MaxTokens
	asked := m.written(r, Ask{
		ID: a.ID, Span: edit.Span{From: a.From, To: a.To}, Focus: a.Focus, Fault: a.Fault, byHand: a.ByHand, edit: a.Edit, messages: a.Messages,
	}, v)
	if a.Covered > 0 { // what has been learnt since, and what is shown otherwise now, is no matter of it
		asked.covered = a.Covered
	}
	return asked, true
}

func (m *asker) askAgain(a journal.Ask) {
	if again, ok := m.again(a); ok {
		again.ahead = m.ahead(m.ruleNamed(a.Rule), again)
		m.asks = append(m.asks, again)
	}
}

// question returns what an ask by r says, in the policy's words.
func (m *asker) question(r policy.Rule, a Ask) summary.PromptOptions {
	o := summary.PromptOptions{
		SummaryPrompt: m.policy.SummaryPrompt, SummaryDirectives: m.policy.SummaryDirectives,
		Previous: summary.WithoutFacts(a.Previous), Focus: a.Focus, MaxTokens: a.MaxTokens, Fault: a.Fault,
	}
	if r.Args.Retain {
		o.RetainPrompt, o.RetainDirectives = m.policy.RetainPrompt, m.policy.RetainDirectives
	}
	return o
}

// summarySpan returns the messages that a summary by r would stand for.
func (m *asker) summarySpan(r policy.Rule, s edit.Scene) (edit.Span, bool) {
	to := int(s.Keep) - 1
	if r.Args.Permille > 0 {
		to = min(to, m.oldestShare(r.Args.Permille))
	}
	if s := m.turns.SafeBoundary(to); r.Args.Keep.Unit == "messages" && s > 0 && s <= to {
		to = s
	}
	to = m.turns.CutBefore(to)
	all, n := 0, 0
	for _, it := range m.view.Items {
		if it.IsNote() {
			continue
		}
		all++
		if int(it.Message.ID) <= to {
			n++
		}
	}
	return edit.Span{From: 1, To: llm.MessageID(to) + 1}, n > 0 && all >= r.Args.Min
}

// worthAsking reports whether a summary of span may end otherwise than the one that was
// declined: enough has come behind what that one was about.
func (m *asker) worthAsking(span edit.Span) bool {
	d := m.declined
	if d.to == 0 || d.failed {
		return true
	}
	more := min(budget.Share(d.tokens, againPermille), max(budget.Share(m.window().Limit(), againOfLimit), againTokens))
	return m.coveredBy(edit.Span{From: d.to, To: span.To}) >= max(more, m.policy.MinimumGain.Tokens, 1)
}

// decline notes that a summary of span was not used.
func (m *asker) decline(span edit.Span) journal.Outcome {
	if m.request.noStore { // it was not the summary's fault
		return ""
	}
	m.declined = declined{to: span.To, tokens: m.coveredBy(span)}
	return journal.Declined
}

// fail notes that there is no summary of span. An error alone may be gone with the next call; a
// second one about the same messages is taken for the last.
func (m *asker) fail(span edit.Span) journal.Outcome {
	if m.declined.failed && m.declined.to == span.To {
		return m.decline(span)
	}
	m.declined = declined{to: span.To, tokens: m.coveredBy(span), failed: true}
	return journal.Failed
}

// stale reports whether all that the prepared summary is about has left the view
// without it, so that a newer one may be asked for.
func (m *asker) stale() bool {
	return m.summary != nil && m.archivedTo() >= int(m.summary.span.To)-1
}
