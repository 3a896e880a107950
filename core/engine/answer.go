package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

// ask makes the question for a summary of what r covers. A call waits for the
// answer unless r runs in the background. A floor above the limit is found
// before any model is asked (law 1).
func (m *Machine) ask(r policy.Rule, s edit.Scene) {
	span, ok := m.summarySpan(r, s)
	if ok && !m.worthAsking(span) {
		if !r.Args.Background {
			m.event(EventNoProgress, r.Name, "no summary is asked for: the last one was not used, and little has come since")
		}
		return
	}
	m.askAbout(r, s, Ask{})
}

// askAbout asks as ask does, also where the last summary was declined. asked says what
// else is known of the question.
func (m *Machine) askAbout(r policy.Rule, s edit.Scene, asked Ask) {
	span, ok := m.summarySpan(r, s)
	if !ok || len(m.asks) > 0 || m.summary != nil && !m.stale() {
		return
	}
	if !r.Args.Background {
		if m.noStore {
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
	m.asks = append(m.asks, a)
	m.record(journal.Record{Kind: journal.KindAsk, Ask: a.recorded()})
	if m.prepare != nil && !a.Background {
		m.prepare.waiting = a.ID
	}
}

// written returns a question by r with its words, about what a view shows.
func (m *Machine) written(r policy.Rule, a Ask, v edit.View) Ask {
	a.Rule, a.Previous = r.Name, previous(v)
	a.Background, a.MaxTokens = r.Args.Background, r.Args.MaxTokens
	a.Prompt = m.question(r, a)
	a.Messages = summary.Prepare(v.Within(a.Span))
	return a
}

// recorded returns what is written down of a question: all but what follows from it.
func (a Ask) recorded() journal.Ask {
	return journal.Ask{
		ID: a.ID, Kind: "summary", Rule: a.Rule, Focus: a.Focus, ByHand: a.byHand, Edit: a.edit, Messages: a.messages,
		From: a.Span.From, To: a.Span.To, MaxTokens: a.MaxTokens, Background: a.Background,
	}
}

// again returns a question as it was asked. It is false where what it was about cannot be
// told.
func (m *Machine) again(a journal.Ask) (Ask, bool) {
	v, ok := m.viewAt(a.Messages, a.Edit)
	if !ok {
		return Ask{}, false
	}
	r := m.ruleNamed(a.Rule)
	r.Args.Background, r.Args.MaxTokens = a.Background, a.MaxTokens
	return m.written(r, Ask{
		ID: a.ID, Span: edit.Span{From: a.From, To: a.To}, Focus: a.Focus, byHand: a.ByHand, edit: a.Edit, messages: a.Messages,
	}, v), true
}

// question returns the text of an ask by r, in the policy's words.
func (m *Machine) question(r policy.Rule, a Ask) string {
	o := summary.PromptOptions{
		SummaryPrompt: m.policy.SummaryPrompt, SummaryDirectives: m.policy.SummaryDirectives,
		Previous: a.Previous, Focus: a.Focus, MaxTokens: a.MaxTokens,
	}
	if r.Args.Retain {
		o.RetainPrompt, o.RetainDirectives = m.policy.RetainPrompt, m.policy.RetainDirectives
	}
	return summary.Prompt(o)
}

// summarySpan returns the messages that a summary by r would stand for.
func (m *Machine) summarySpan(r policy.Rule, s edit.Scene) (edit.Span, bool) {
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

// oldestShare returns the position after the oldest share of the messages that the
// view shows; those that left it long ago do not count (R002-11).
func (m *Machine) oldestShare(permille int) int {
	shown := slices.DeleteFunc(slices.Clone(m.view.Items), edit.Item.IsNote)
	if n := len(shown) * permille / 1000; n > 0 {
		return int(shown[n-1].Message.ID)
	}
	return 0
}

// previous returns the summary that stands in a view.
func previous(v edit.View) string {
	for _, sec := range v.Sections {
		if sec.Kind == llm.SectionSummary {
			return sec.Text
		}
	}
	for _, it := range v.Items {
		if it.Message.Flags.Has(llm.FlagSummary) {
			return it.Message.Text()
		}
	}
	return ""
}

// background lets the rules of a moment ask questions or note that they are due.
func (m *Machine) background(at policy.Moment) {
	for _, r := range m.policy.Rules {
		if r.At != at || !m.speaks(r) {
			continue
		}
		if r.Do == policy.DoSummarise && r.Args.Background {
			m.ask(r, m.scene(r))
			continue
		}
		m.setDue(r.Name)
	}
}

// setDue notes that a rule acts before the next call.
func (m *Machine) setDue(rule string) {
	if !m.due[rule] {
		m.due[rule] = true
		m.record(journal.Record{Kind: journal.KindRule, Rule: journal.RuleMoment{Name: rule}})
	}
}

// fallbackTokens is the longest deterministic summary where the policy states no
// length (R004-4).
const fallbackTokens = 2000

func (m *Machine) feedAnswer(in Answer) error {
	if len(m.asks) == 0 || m.asks[0].ID != in.Ask {
		return fmt.Errorf("engine: answer: nobody asked %d", in.Ask)
	}
	a := m.asks[0]
	m.asks = m.asks[1:]
	at := len(m.out.Records)
	m.record(journal.Record{Kind: journal.KindAnswer, Answer: journal.Answer{Ask: in.Ask, Text: in.Text, Err: in.Err}})
	m.out.Records[at].Answer.Outcome = m.conclude(m.ruleNamed(a.Rule), a, in)
	if m.prepare != nil && m.prepare.waiting == a.ID {
		m.prepare.waiting = 0
		m.goOn()
	}
	return nil
}

// conclude lets an answer take the place of what it is about. Where it says nothing,
// or there is none, the policy says what does; else the history stays as it is, and
// the next rung acts.
func (m *Machine) conclude(r policy.Rule, a Ask, in Answer) journal.Outcome {
	said, why := m.said(r, a, in)
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

// said returns the summary that an answer gives, or, where the policy says so, the one by
// code in its place. Where there is none, it says why.
func (m *Machine) said(r policy.Rule, a Ask, in Answer) (said summary.Answer, why string) {
	if why = in.Err; why == "" {
		said, why = m.usable(a, in.Text)
	}
	if why == "" {
		return said, ""
	}
	m.event(EventAnswer, r.Name, "no summary: %s", why)
	if m.policy.OnSummaryError == policy.SummaryFallback {
		var empty string
		if said, empty = m.byCode(a); empty == "" {
			return said, ""
		}
		m.event(EventAnswer, r.Name, "no summary by code: %s", empty)
	}
	return said, why
}

// byCode writes the summary that nobody else wrote.
func (m *Machine) byCode(a Ask) (said summary.Answer, why string) {
	limit := a.MaxTokens
	if limit == 0 {
		limit = fallbackTokens
	}
	return m.usable(a, summary.Write(a.Messages, summary.Options{MaxTokens: limit, Count: m.gauge.Text, Previous: a.Previous}))
}

// usable takes a summary apart. Where it may not stand for what it is about, it says
// why: it was cut off, or what the view would show of it says next to nothing.
func (m *Machine) usable(a Ask, text string) (said summary.Answer, why string) {
	said = summary.Parse(text)
	if m.policy.SummarySlot != policy.SlotUserMessages {
		said.Retain = "" // shown nowhere
	}
	if said.Open != "" {
		return said, said.Open + " is never closed: the answer was cut off"
	}
	n := m.gauge.Text(said.Summary) + m.gauge.Text(said.Retain)
	if said.Summary+said.Retain == "" || n == 0 {
		return said, "the answer is empty"
	}
	covered := m.coveredBy(a.Span)
	least := m.policy.MinimumSummary.Of(covered)
	if a.MaxTokens > 0 {
		least = min(least, a.MaxTokens/2) // what was not allowed is not missed
	}
	if n < least {
		return said, fmt.Sprintf("the answer has %d tokens, want at least %d to stand for %d", n, least, covered)
	}
	return said, ""
}

// coveredBy returns what a summary of span would stand for, in tokens: what is pinned
// stays where it is.
func (m *Machine) coveredBy(span edit.Span) int {
	n := 0
	for _, it := range m.view.Items {
		if it.Before >= span.From && it.Before < span.To && !m.pinned(it.Message) {
			n += m.gauge.Message(it.Message)
		}
	}
	return n
}

// settle puts a summary where the policy keeps it, or holds it for the batch.
func (m *Machine) settle(r policy.Rule, a Ask, said summary.Answer) journal.Outcome {
	m.declined = declined{}
	if m.holdsForBatch(r) {
		m.summary = &prepared{ask: a.ID, span: a.Span, text: said.Summary}
		return journal.Held
	}
	s := m.scene(r)
	if r.Name == compactRule {
		s.Template = orElse(m.text(policy.TemplateSummary), compactTemplate)
	}
	s.Keep = max(s.Keep, a.Span.To)
	p := m.replaceBySummary(s, a.Span, said)
	if p.Gain() <= 0 {
		m.event(EventAnswer, r.Name, "summary of messages 1 to %d not used: it saves %d tokens", a.Span.To-1, p.Gain())
		return m.decline(a.Span)
	}
	if !m.try(p, r.Name) {
		return m.decline(a.Span)
	}
	return journal.Used
}

// replaceBySummary archives the pieces of span between pinned messages; the last
// piece shows the summary.
func (m *Machine) replaceBySummary(s edit.Scene, span edit.Span, said summary.Answer) edit.Plan {
	head := s.Template
	pieces := s.Unpinned(span)
	var p edit.Plan
	for i, piece := range pieces {
		if i < len(pieces)-1 {
			s.Template = orElse(m.text(policy.TemplateDrop), backstopArchive)
			p = p.Join(s.Drop(piece, edit.KindSummarise, "summarised"))
			continue
		}
		q := s.Archive(piece, edit.KindSummarise, nil, nil)
		e := &q.Edits[0]
		e.Sections = nil // a newer summary stands for the older one too
		e.Why = fmt.Sprintf("a summary stands for messages %d to %d", piece.From, piece.To-1)
		m.place(e, edit.Fill(head, edit.Values{N: int(span.To - span.From), Ref: e.Refs[0]}), said)
		p = p.Join(q)
	}
	return p
}

// place writes a summary into the edit that makes room for it.
func (m *Machine) place(e *edit.Edit, head string, said summary.Answer) {
	body := strings.Trim(head+"\n"+said.Summary, "\n")
	if m.policy.SummarySlot == policy.SlotSection {
		e.Sections = []llm.Section{{Name: "summary", Kind: llm.SectionSummary, Text: body}}
		e.After = m.gauge.Text(body)
		return
	}
	if said.Retain != "" && m.policy.SummarySlot == policy.SlotUserMessages {
		e.Notes = append(e.Notes, summaryNote(strings.TrimPrefix(m.text(policy.TemplateRetain)+"\n"+said.Retain, "\n")))
	}
	e.Notes = append(e.Notes, summaryNote(body))
	e.After = 0
	for _, n := range e.Notes {
		e.After += m.gauge.Message(n)
	}
}

// holdsForBatch reports whether r prepares its summary ahead of a demotion, which
// then shows it.
func (m *Machine) holdsForBatch(r policy.Rule) bool {
	for _, o := range m.policy.Rules {
		if o.Do == policy.DoDemote {
			return r.Args.Background && r.At == policy.AtPrepare
		}
	}
	return false
}

func (m *Machine) ruleNamed(name string) policy.Rule {
	for _, r := range m.policy.Rules {
		if r.Name == name {
			return r
		}
	}
	if name == compactRule {
		return m.compaction()
	}
	return policy.Rule{Name: name}
}

// orElse returns s, or other if s is empty.
func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func summaryNote(text string) llm.Message {
	n := edit.NoteOf(llm.Text{Text: text})
	n.Flags |= llm.FlagSummary
	return n
}
