package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// feedRestore takes an empty or stopped machine to where its records end: to the state
// that was written last, and from there on through what came after, as it went. Nothing
// is decided anew.
func (m *Machine) feedRestore(s journal.Snapshot) error {
	old := *m
	m.reset()
	if err := m.relive(s); err != nil {
		*m = old
		return fmt.Errorf("engine: restore: %w", err)
	}
	return nil
}

func (m *Machine) relive(s journal.Snapshot) error {
	if err := m.load(s); err != nil {
		return err
	}
	for rest := s.Tail; len(rest) > 0; {
		n := 1
		if rest[0].Kind == journal.KindEdit { // those of one plan were made at once
			for n < len(rest) && rest[n].Kind == journal.KindEdit && rest[n].Edit.Rule == rest[0].Edit.Rule {
				n++
			}
		}
		if err := m.apply(rest[:n], s.Answered); err != nil {
			return err
		}
		rest = rest[n:]
	}
	m.lastEdit = max(m.lastEdit, s.LastEdit)
	m.asked = s.LastAsk
	if len(m.asks) > 0 { // nobody has answered it, so it is asked again
		m.asked = m.asks[0].ID - 1
	}
	m.confirmed, m.held = len(m.journal), m.summary
	m.out = Ready{}
	if len(s.Tail) == 0 {
		m.stated = s.State
	}
	m.indexLines()
	m.traceInit()
	return nil
}

// load takes m to the state that was written last, with what there was beside it.
func (m *Machine) load(s journal.Snapshot) error {
	p := m.policy
	if s.Base.Policy.Name != "" {
		p = s.Base.Policy
	}
	if err := policy.Validate(p); err != nil {
		return err
	}
	messages, edits := s.Messages[:s.Base.Messages], s.Edits
	edits = edits[:countTo(edits, s.Base.Edit)]
	view, err := edit.Fold(messages, edit.Holding(edits))
	if err != nil {
		return err
	}
	m.policy, m.view = p, view
	m.messages, m.journal = slices.Clone(messages), slices.Clone(edits)
	m.sections, m.tools = s.Base.Sections, s.Base.Tools
	m.reported = s.Outputs
	if s.State != nil {
		for _, l := range s.State.Limits {
			m.taught(l)
		}
	}
	if err := m.setTargets(m.cfg.Targets); err != nil {
		return err
	}
	for _, msg := range messages {
		m.remark(msg)
		_ = m.turns.Append(msg) // orphans were refused when they were appended
	}
	for _, e := range edits {
		m.durableNow(e.Refs...)
	}
	if s.State != nil {
		m.recall(s.State, s.Answered)
	}
	return nil
}

// countTo returns how many edits have a number up to last.
func countTo(edits []edit.Edit, last edit.ID) int {
	n, _ := slices.BinarySearchFunc(edits, last+1, func(e edit.Edit, id edit.ID) int { return int(e.ID - id) })
	return n
}

// taught notes what a refusal said of a target.
func (m *Machine) taught(l journal.Limit) {
	if n, ok := m.learnt[l.Target]; l.Window > 0 && (!ok || l.Window < n) {
		m.learnt[l.Target] = l.Window
	}
	if n, ok := m.learntBytes[l.Target]; l.Bytes > 0 && (!ok || l.Bytes < n) {
		m.learntBytes[l.Target] = l.Bytes
	}
}

// outputsOf returns the sizes of the replies that a model wrote, as they were reported
// before a restart.
func (m *Machine) outputsOf(model string, preferred bool) map[llm.MessageID]int {
	known := map[llm.MessageID]int{}
	for id, o := range m.reported {
		if o.Model == model || o.Model == "" && preferred {
			known[id] = o.Tokens
		}
	}
	return known
}

// durableNow notes that the store has what refs name.
func (m *Machine) durableNow(refs ...llm.Ref) {
	for _, r := range refs {
		m.stored[r] = true
	}
}

// apply does what a record says has happened, as it was done then, without deciding
// anything. Of edits it is given those of one plan.
func (m *Machine) apply(records []journal.Record, answered map[int]journal.Dialogue) error {
	switch r := records[0]; r.Kind {
	case journal.KindMessage:
		m.take(r.Message)
		for _, p := range r.Message.Parts {
			if out, ok := p.(llm.ToolResult); ok && r.Message.Origin == llm.ToolRun {
				m.guard.AddFresh(m.gauge.Part(out))
			}
		}
	case journal.KindEdit:
		return m.applyEdits(records)
	case journal.KindUsage:
		m.answeredBy(r.Usage.Target)
		m.book(Usage{Usage: r.Usage.Usage, Reported: r.Usage.Reported, OutputUnknown: !r.Usage.Output})
	case journal.KindRejected:
		m.answeredBy(r.Rejected.Target)
		m.taught(journal.Limit{Target: r.Rejected.Target, Window: r.Rejected.Window, Bytes: r.Rejected.Bytes})
		if err := m.setTargets(m.cfg.Targets); err != nil {
			return err
		}
		m.heard(r.Rejected.Used)
	case journal.KindSections:
		m.setSections(r.Sections)
	case journal.KindTools:
		m.setTools(r.Tools)
	case journal.KindPolicy:
		return m.feedPolicy(r.Policy)
	case journal.KindForce:
		m.wanted = Reason(r.Reason)
	case journal.KindExceeded:
		m.guard.Exceed()
	case journal.KindRule:
		m.due[r.Rule.Name] = !r.Rule.Room
		if r.Rule.Room {
			delete(m.due, r.Rule.Name)
			delete(m.noted, r.Rule.Name)
		}
	case journal.KindAsk:
		m.applyAsk(r.Ask)
	case journal.KindAnswer:
		m.applyAnswer(answered[r.Answer.Ask])
	case journal.KindFork:
		m.asks = nil
	}
	return nil
}

// applyEdits makes the edits of one plan.
func (m *Machine) applyEdits(records []journal.Record) error {
	edits := make([]edit.Edit, len(records))
	for i, r := range records {
		edits[i] = r.Edit
	}
	old := m.view
	view, err := m.applied(edits)
	if err != nil {
		return err
	}
	m.view = view
	for _, e := range edits {
		m.commit(e)
		m.durableNow(e.Refs...)
	}
	m.remeasureEdited(old, edits)
	for _, e := range edits {
		m.spoken(e)
	}
	if edits[0].Rule == undoRule {
		clear(m.tried)
	}
	return nil
}

// spoken brings back what a note means beyond its words: the final Step was forced, or a
// rule has spoken.
func (m *Machine) spoken(e edit.Edit) {
	r := m.ruleNamed(e.Rule)
	switch {
	case e.Op != edit.Insert:
	case r.Do == policy.DoFinal:
		m.recallFinal(ReasonContext)
	case reasonOf(e.Rule) != ReasonNone:
		m.recallFinal(reasonOf(e.Rule))
	case r.Do == policy.DoNote:
		m.noted[r.Name] = true
	}
}

func (m *Machine) recallFinal(reason Reason) {
	m.wanted = ReasonNone
	m.setFinal(reason)
	m.guard.Enforce()
}

// applyAsk brings back a question that nobody waits for, which is asked again unless its
// answer follows. One that somebody waits for ended with that call.
func (m *Machine) applyAsk(a journal.Ask) {
	if a.ByHand {
		m.summary = nil
	}
	if a.Background {
		m.askAgain(a)
	}
}

func (m *Machine) askAgain(a journal.Ask) {
	if again, ok := m.again(a); ok {
		m.asks = append(m.asks, again)
	}
}

// applyAnswer brings back what became of an answer, but for the edits that show it.
func (m *Machine) applyAnswer(d journal.Dialogue) {
	m.asks = slices.DeleteFunc(m.asks, func(a Ask) bool { return a.ID == d.Ask.ID })
	switch d.Answer.Outcome {
	case journal.Held:
		m.declined = declined{}
		m.hold(d)
	case journal.Used:
		m.declined = declined{}
	case journal.Declined:
		m.decline(edit.Span{From: d.Ask.From, To: d.Ask.To})
	}
}

// hold takes up a summary that waits for its batch.
func (m *Machine) hold(d journal.Dialogue) {
	a, ok := m.again(d.Ask)
	if !ok {
		return
	}
	if said, why := m.said(m.ruleNamed(a.Rule), a, Answer{Ask: a.ID, Text: d.Answer.Text, Err: d.Answer.Err}); why == "" {
		m.summary = &prepared{ask: a.ID, span: a.Span, text: said.Summary}
	}
}

// feedFork is Restore of another machine's past: its messages up to At, and what was made
// of them.
func (m *Machine) feedFork(in Fork) error {
	if len(m.messages) > 0 {
		return fmt.Errorf("engine: fork of %q: this machine has %d messages, want an empty one", in.Parent, len(m.messages))
	}
	if n := len(in.Snapshot.Messages); int(in.At) != n || in.Snapshot.Fork != (journal.Fork{Parent: in.Parent, At: in.At}) {
		return fmt.Errorf("engine: fork of %q: at message %d, want a snapshot that was collected with the fork's own record, got one of %d messages", in.Parent, in.At, n)
	}
	if err := m.feedRestore(in.Snapshot); err != nil {
		return err
	}
	m.record(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: in.Parent, At: in.At}})
	return nil
}
