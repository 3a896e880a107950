package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// feedAppend numbers and indexes a message, then lets the rules for new content
// act, as the newest content costs no cache. Calls that a reply goes on without get
// their stated results before it.
func (m *Machine) feedAppend(msg llm.Message) error {
	if err := m.acceptable(msg); err != nil {
		return fmt.Errorf("engine: append: %w", err)
	}
	if err := m.interrupt(m.goesOnWithout(msg)); err != nil {
		return err
	}
	msg = ownMessage(msg)
	msg.ID = llm.MessageID(len(m.messages)) + 1
	opens := m.remark(msg)
	_ = m.turns.Append(msg) // calls of one reply that share an id are indexed all the same
	m.messages = append(m.messages, msg)
	m.view.Append(msg)
	m.record(journal.Record{Kind: journal.KindMessage, Message: msg})
	m.measureAppended()
	m.fresh(msg, opens)
	if msg.Origin == llm.ToolRun {
		m.arrived(msg)
	}
	m.appended()
	return nil
}

// acceptable says what is wrong with a message: it has no form in a journal, or a
// result in it has no call.
func (m *Machine) acceptable(msg llm.Message) error {
	const flags = llm.FlagSummary | llm.FlagRules | llm.FlagSynthetic | llm.FlagInterrupted
	switch {
	case msg.ID != 0:
		return fmt.Errorf("message has ID %d, want 0", msg.ID)
	case msg.Role < llm.RoleUser || msg.Role > llm.RoleSystem:
		return fmt.Errorf("message has role %d, want one of package llm", msg.Role)
	case msg.Origin < llm.Human || msg.Origin > llm.Note:
		return fmt.Errorf("%s message has origin %d, want one of package llm", msg.Role, msg.Origin)
	case msg.Flags&^flags != 0:
		return fmt.Errorf("%s message has flags %#x, want those of package llm", msg.Role, msg.Flags)
	case len(msg.Parts) == 0:
		return fmt.Errorf("%s message has no parts", msg.Role)
	}
	for i, p := range msg.Parts {
		r, result := p.(llm.ToolResult)
		if p == nil || result && slices.Contains(r.Content, nil) {
			return fmt.Errorf("part %d of the %s message is nil", i, msg.Role)
		}
		if result && msg.Role == llm.RoleAssistant && slices.ContainsFunc(m.turns.OpenCalls(), func(c turn.Call) bool { return c.CallID == r.CallID }) {
			return fmt.Errorf("part %d of the %s message is the result of call %q, want it in a message of its own", i, msg.Role, r.CallID)
		}
	}
	if err := m.turns.Check(msg); err != nil && len(msg.Results()) > 0 {
		return err
	}
	return nil
}

// remark notes what is asked about a message later. If it opens a Turn, what the
// guard did to the Turn before is over (R000-23), and it returns true.
func (m *Machine) remark(msg llm.Message) (opens bool) {
	if slices.ContainsFunc(msg.Parts, isThinking) {
		m.thought = msg.ID
	}
	if msg.Origin != llm.Human {
		return false
	}
	if m.humans[0] == 0 {
		m.humans[0] = msg.ID
	}
	m.humans[1] = msg.ID
	if !m.turns.CanCut(m.turns.Len()) {
		return false
	}
	m.turnAt = msg.ID
	m.wanted = ReasonNone
	m.setFinal(ReasonNone)
	m.guard.TurnStart(0)
	m.guard.SetReasoning(m.cfg.Reasoning)
	m.opened = true
	return true
}

// appended lets the rules that say something about new messages act, where a
// note would not stand inside a Round.
func (m *Machine) appended() {
	if !m.turns.CanCut(len(m.messages)) {
		return
	}
	for _, r := range m.policy.Rules {
		if r.At == policy.AtAppend && r.Do == policy.DoNote && m.speaks(r) {
			m.status(r)
		}
	}
}

// feedStored appends a result whose body is in the store already.
func (m *Machine) feedStored(in Stored) error {
	if _, err := llm.ParseRef(string(in.Ref)); err != nil {
		return fmt.Errorf("engine: stored: %w", err)
	}
	preview := in.Head
	if in.Tail != "" {
		preview += "\n[…]\n" + in.Tail
	}
	text := edit.Fill(orElse(m.text(policy.TemplateOffload), backstopOffload), edit.Values{
		Ref: in.Ref, Bytes: in.Bytes, Lines: in.Lines, Tokens: in.Tokens, Preview: preview,
		Tool: m.toolOf(in.CallID),
	})
	err := m.feedAppend(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{
		CallID: in.CallID, IsError: in.IsError,
		Content: []llm.Part{llm.Stub{Ref: in.Ref, Text: text, Size: in.Bytes}},
	}}})
	if err == nil {
		m.stored[in.Ref] = true
	}
	return err
}

func (m *Machine) toolOf(callID string) string {
	c, _ := m.turns.CallOf(callID)
	return c.Name
}

// arrived runs the rules for new tool outputs on each result of msg, one after the
// other: what one of them may take is what those before it have left (R000-13).
func (m *Machine) arrived(msg llm.Message) {
	if len(msg.Results()) > 1 {
		m.all(func(t *meter) { t.ahead = t.outputsOf(msg) })
		defer m.all(func(t *meter) { t.ahead = token.Size{} })
	}
	for n, p := range msg.Parts {
		r, ok := p.(llm.ToolResult)
		if !ok {
			continue
		}
		if m.gauge.ahead != (token.Size{}) {
			m.all(func(t *meter) { t.ahead = t.ahead.Sub(t.partSize(r)) })
		}
		m.guard.AddFresh(m.gauge.part(r))
		m.traceEvaluate(ToolPreflight)
		for _, moment := range []policy.Moment{policy.AtAppend, policy.AtTool} {
			for _, r := range m.policy.Rules {
				if r.At == moment {
					m.arrival(r, msg.ID, n)
				}
			}
		}
		m.remember(msg.ID, n)
	}
}

// arrival lets one rule act on a new output.
func (m *Machine) arrival(r policy.Rule, id llm.MessageID, part int) {
	s := m.scene(r)
	sp, ok := s.At(id, part)
	if !ok || r.When.Measure == policy.MeasureGuard && sp.Tokens <= m.granted || !m.holds(r.When, &sp) {
		return
	}
	if m.exempt(sp.Tool) && r.Do != policy.DoFinal {
		return
	}
	var p edit.Plan
	switch r.Do {
	case policy.DoDedup:
		p = s.Dedup(sp, m.shown, edit.DedupArgs{Lines: r.Args.Lines, Chars: r.Args.Chars, Gain: edit.Gain(m.policy.MinimumGain)})
	case policy.DoCap:
		p = s.Cap(sp, edit.CapArgs{Lines: r.Args.Lines, LineLength: r.Args.LineLength, Bytes: r.Args.Bytes, Tokens: m.down(r)})
	case policy.DoOffload:
		if _, done := edit.StubOf(sp.Result); done || sp.Result.IsError && !r.Args.Errors {
			return
		}
		why := "size cap"
		if r.When.Measure == policy.MeasureGuard {
			why = "token budget"
		}
		p = s.Stub(sp, edit.KindOffload, edit.Beginning{Chars: r.Args.Chars, Bytes: r.Args.Bytes}, fmt.Sprintf("%s: output of %d bytes", why, len(edit.Stored(sp.Result))))
	case policy.DoFail:
		p = m.failed(s, sp, r)
	case policy.DoFinal: // at the next call: its note may not stand inside a Round
		m.due[r.Name] = true
	}
	// A cap is a limit: it holds also where its notice takes more than what is cut. But it
	// does not put back what another rule has cut.
	if p.Gain() > 0 || r.Do == policy.DoCap && !p.Empty() && edit.FormOf(sp.Result) == edit.Whole {
		m.adopt(p, r.Name)
	}
}

// exempt reports whether tool is one of the policy's own: the one that reports, or a
// reader, whose output is what the model asked for. To cut it, or to point to where it
// stands, would send the model to read it again (R001-5, R002-7 findings). It still goes
// with the oldest ones when there is no room.
func (m *Machine) exempt(tool string) bool {
	return tool != "" && (tool == m.policy.FinalTool || slices.Contains(m.policy.Tools, tool))
}

// remember notes the lines of an output that is shown in full.
func (m *Machine) remember(id llm.MessageID, part int) {
	if m.shown == nil {
		return
	}
	if sp, ok := m.scene(policy.Rule{}).At(id, part); ok {
		m.show(id, part, sp.Result)
	}
}

// fresh tells the guard about new content, but for tool outputs, each of which is
// told when its turn comes. What opens a Turn is pending until its first call
// (R000-2).
func (m *Machine) fresh(msg llm.Message, opens bool) {
	if m.covered && isReply(msg) {
		m.covered = false
		return
	}
	n := m.gauge.message(msg)
	if opens {
		m.guard.TurnStart(n)
		return
	}
	if msg.Origin == llm.ToolRun {
		for _, r := range msg.Results() {
			n -= m.gauge.part(r)
		}
	}
	m.guard.AddFresh(n)
}

// isReply reports whether msg is what a call to a model returned.
func isReply(msg llm.Message) bool {
	return msg.Origin == llm.Model && !msg.Flags.Has(llm.FlagSynthetic)
}
