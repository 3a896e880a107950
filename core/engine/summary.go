package engine

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

// said returns the summary that an answer gives, or, where the policy says so, the one by
// code in its place. Where there is none, it says why.
func (m *asker) said(r policy.Rule, a Ask, text, failed string) (said summary.Answer, why string) {
	if why = failed; why == "" {
		said, why = m.usable(a, text)
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
func (m *asker) byCode(a Ask) (said summary.Answer, why string) {
	limit := a.MaxTokens
	if limit == 0 {
		limit = fallbackTokens
	}
	return m.usable(a, summary.Write(a.Messages, summary.Options{MaxTokens: limit, Count: m.gauge.Text, Previous: a.Previous}))
}

// usable takes a summary apart. Where it may not stand for what it is about, it says
// why: it was cut off, or what the view would show of it says next to nothing.
func (m *asker) usable(a Ask, text string) (said summary.Answer, why string) {
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

// settle puts a summary where the policy keeps it, or holds it for the batch.
func (m *asker) settle(r policy.Rule, a Ask, said summary.Answer) journal.Outcome {
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

// hold takes up a summary that waits for its batch.
func (m *asker) hold(d journal.Dialogue) {
	a, ok := m.again(d.Ask)
	if !ok {
		return
	}
	if d.Answer.Held != "" {
		m.summary = &prepared{ask: a.ID, span: a.Span, text: d.Answer.Held}
		return
	}
	// An older record: the summary is judged once more, by the targets of today.
	if said, why := m.said(m.ruleNamed(a.Rule), a, d.Answer.Text, d.Answer.Err); why == "" {
		m.summary = &prepared{ask: a.ID, span: a.Span, text: said.Summary}
	}
}

// replaceBySummary archives the pieces of span between pinned messages; the last
// piece shows the summary.
func (m *asker) replaceBySummary(s edit.Scene, span edit.Span, said summary.Answer) edit.Plan {
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
func (m *asker) place(e *edit.Edit, head string, said summary.Answer) {
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

func summaryNote(text string) llm.Message {
	n := edit.NoteOf(llm.Text{Text: text})
	n.Flags |= llm.FlagSummary
	return n
}

// withSummary puts a summary that was prepared in time beside the first archive
// of a batch, in place of those that stand there (it was written with them at
// hand), and reports whether there were both.
func (m *asker) withSummary(p edit.Plan) (edit.Plan, bool) {
	if m.summary == nil {
		return p, false
	}
	for i, e := range p.Edits {
		if e.Op != edit.Archive || len(e.Notes) == 0 {
			continue
		}
		head := edit.Fill(m.text(policy.TemplateSummary), edit.Values{N: int(m.summary.span.To - 1), Ref: e.Refs[0]})
		note := summaryNote(strings.TrimPrefix(head+"\n"+m.summary.text, "\n"))
		p.Edits[i].Notes = []llm.Message{e.Notes[0], note}
		p.Edits[i].After = m.gauge.Message(e.Notes[0]) + m.gauge.Message(note)
		return p, true
	}
	return p, false
}
