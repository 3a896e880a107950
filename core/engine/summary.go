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

// stands reports whether something of a span is still shown.
func (m *asker) stands(span edit.Span) bool { return m.coveredBy(span) > 0 }

// mayAskAgain reports whether a fault may be gone with a second answer: the second one about
// these messages, whatever became of the first. Code answers the same
// again, and what fails by an error the next request may ask for.
func (m *asker) mayAskAgain(a Ask, in Answer) bool {
	if m.declined.failed && m.declined.to == a.Span.To {
		return false
	}
	return in.Err == "" && a.Fault == "" && !in.byCode() && !m.request.noStore
}

// longestFault is the bytes that are told, and written down, of what was wrong.
const longestFault = 300

// askAgainAbout asks the same once more.
func (m *asker) askAgainAbout(a Ask, fault string) {
	if len(fault) > longestFault {
		fault = strings.ToValidUTF8(fault[:longestFault], "")
	}
	a.ID, a.Fault = m.asked+1, fault
	a.Question.Fault = fault
	a.Prompt = summary.Prompt(a.Question)
	m.asks = append(m.asks, a)
	m.record(journal.Record{Kind: journal.KindAsk, Ask: a.recorded()})
}

// A flaw is why a summary does not stand for what it is about. The zero flaw: it does.
type flaw struct {
	why  string
	size bool // it saves too little, however well it is written
}

// use puts the summary that an answer gives where the policy keeps it, unless it has a flaw.
func (m *asker) use(r policy.Rule, a Ask, in Answer) (journal.Outcome, flaw) {
	j := in.Judgement
	if j == nil {
		j = a.judged(in)
	}
	if j.fault != "" {
		return "", flaw{why: j.fault}
	}
	return m.settle(r, a, j)
}

// useOurs does so with the summary that code writes in place of one that nobody else has written.
func (m *asker) useOurs(r policy.Rule, a Ask) (journal.Outcome, flaw) {
	return m.use(r, a, Answer{Text: m.ours(a)})
}

// ours returns the summary that code writes.
func (m *asker) ours(a Ask) string {
	limit := a.MaxTokens
	if limit == 0 {
		limit = fallbackTokens
	}
	return summary.Write(a.Messages, summary.Options{MaxTokens: limit, Count: m.gauge.Text, Previous: a.Previous})
}

// tooLittle says why a summary says too little to stand for what it is about; empty: it does not.
func (m *asker) tooLittle(a Ask, said summary.Answer) string {
	n := m.gauge.Text(said.Summary) + m.gauge.Text(said.Retain)
	if said.Summary+said.Retain == "" || n == 0 {
		return "the answer is empty"
	}
	covered := a.covered
	least := m.policy.MinimumSummary.Of(covered)
	if a.MaxTokens > 0 {
		least = min(least, a.MaxTokens/2) // what was not allowed is not missed
	}
	if n < least {
		return fmt.Sprintf("the answer has %d tokens, want at least %d to stand for %d", n, least, covered)
	}
	return ""
}

// settle puts a summary where the policy keeps it, or holds it for the batch, unless it has a flaw.
func (m *asker) settle(r policy.Rule, a Ask, j *Judgement) (journal.Outcome, flaw) {
	said := j.said
	if m.policy.SummarySlot != policy.SlotUserMessages {
		said.Retain = "" // shown nowhere
	}
	if why := m.tooLittle(a, said); why != "" {
		return "", flaw{why: why}
	}
	if j.facts != "" {
		said.Summary = strings.TrimSpace(said.Summary + "\n\n" + j.facts)
	}
	if m.holdsForBatch(r) {
		if n := m.gauge.Text(said.Summary); !m.saves(a.covered, a.covered-n) {
			return "", flaw{fmt.Sprintf("it has %d tokens in place of %d, too many", n, a.covered), true}
		}
		m.declined = declined{}
		m.summary = &prepared{ask: a.ID, span: a.Span, text: said.Summary}
		return journal.Held, flaw{}
	}
	s := m.scene(r)
	if r.Name == compactRule {
		s.Template = orElse(m.text(policy.TemplateSummary), compactTemplate)
	}
	s.Keep, s.Written = max(s.Keep, a.Span.To), j.written
	if j.kept {
		for _, w := range j.written {
			m.durableNow(w.Blob.Ref)
		}
	}
	p := m.replaceBySummary(s, a.Span, said)
	if f := m.tooMuch(r, a, p.Gain()); f.why != "" {
		return "", f
	}
	if !m.try(p, r.Name) { // not for what it says: it cannot be stored now
		return m.decline(a.Span), flaw{}
	}
	m.declined = declined{}
	return journal.Used, flaw{}
}

// saves reports whether a gain in place of so many tokens is as much as the policy wants.
func (m *asker) saves(tokens, gain int) bool {
	return edit.Gain(m.policy.MinimumGain).Enough(tokens, tokens-gain)
}

// tooMuch returns the flaw of a summary that saves so many tokens, if that is too little.
// It has to save what the policy wants of a batch, and to leave the view below the
// threshold of its rule, where a shorter one would.
func (m *asker) tooMuch(r policy.Rule, a Ask, gain int) flaw {
	covered := m.coveredBy(a.Span)
	if !m.saves(covered, gain) {
		return flaw{fmt.Sprintf("it saves %d of %d tokens, not enough", gain, covered), true}
	}
	switch r.When.Measure {
	case policy.MeasureView, policy.MeasureHistory, policy.MeasureUsage:
	default:
		return flaw{}
	}
	now, most := m.value(r.When.Measure, nil), m.threshold(r.When)
	if now < most || now-covered*9/10 >= most { // no summary would do
		return flaw{}
	}
	if now-gain >= most {
		return flaw{fmt.Sprintf("with it there are still %d tokens, want less than %d", now-gain, most), true}
	}
	return flaw{}
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
	// An older record: it was judged by that program, and nobody can tell who wrote it.
	said := summary.Parse(d.Answer.Text)
	if d.Answer.Err != "" || m.tooLittle(a, said) != "" {
		said = summary.Parse(m.ours(a))
	}
	m.summary = &prepared{ask: a.ID, span: a.Span, text: said.Summary}
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
			p = p.Join(m.withoutSummaries(s.Drop(piece, edit.KindSummarise, "summarised")))
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

// withoutSummaries takes out of a plan the summaries that stood in what it archives: a newer one,
// which was written with them at hand, stands for all of it.
func (m *asker) withoutSummaries(p edit.Plan) edit.Plan {
	for i := range p.Edits {
		e := &p.Edits[i]
		e.Sections = nil
		e.Notes = slices.DeleteFunc(slices.Clone(e.Notes), func(n llm.Message) bool { return n.Flags.Has(llm.FlagSummary) })
		e.After = 0
		for _, n := range e.Notes {
			e.After += m.gauge.Message(n)
		}
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
