package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
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
	m.record(journal.Record{Kind: journal.KindMessage, Message: msg})
	m.take(msg)
	if msg.Origin == llm.ToolRun {
		m.arrived(msg)
	}
	m.appended()
	return nil
}

// take indexes, shows and measures the next message.
func (m *Machine) take(msg llm.Message) {
	opens := m.remark(msg)
	_ = m.turns.Append(msg) // calls of one reply that share an id are indexed all the same
	m.messages = append(m.messages, msg)
	m.view.Append(msg)
	m.measureAppended()
	m.fresh(msg, opens)
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
	n := m.gauge.Message(msg)
	if opens {
		m.guard.TurnStart(n)
		return
	}
	if msg.Origin == llm.ToolRun {
		for _, r := range msg.Results() {
			n -= m.gauge.Part(r)
		}
	}
	m.guard.AddFresh(n)
}

// isReply reports whether msg is what a call to a model returned.
func isReply(msg llm.Message) bool {
	return msg.Origin == llm.Model && !msg.Flags.Has(llm.FlagSynthetic)
}
