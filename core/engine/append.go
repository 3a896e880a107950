package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/deferral"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// Append adds the next message. Its ID must be 0; the machine numbers it and keeps lists
// of parts of its own. The raw bytes of the parts and the data of media are shared, so
// that nobody may write to them any more.
type Append struct {
	Message llm.Message
	// Reserved is the room, in tokens, that was held for the tool output in it
	// ([Reserve]) and ends now: up to that much it has room in any case.
	Reserved int
}

func (Append) input() {}

// feedAppend numbers and indexes a message, then lets the rules for new content
// act, as the newest content costs no cache. Calls that a reply goes on without get
// their stated results before it.
func (m *intake) feedAppend(msg llm.Message) error {
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
	m.promoteCalled(msg)
	m.compacted(msg)
	if msg.Origin == llm.ToolRun {
		m.arrived(msg)
	}
	m.appended()
	return nil
}

// take indexes, shows and measures the next message.
func (m *intake) take(msg llm.Message) {
	opens := m.remark(msg)
	_ = m.turns.Append(msg) // calls of one reply that share an id are indexed all the same
	m.messages = append(m.messages, msg)
	m.view.Append(msg)
	m.measureAppended()
	m.fresh(msg, opens)
	if n := len(m.thoughts); n > 0 && m.thoughts[n-1].Message == msg.ID && m.outdated(m.thoughts[n-1]) {
		m.rethink()
	}
}

// outdated reports whether thinking was made under something else than what there is now, as
// when an answer in the background made an edit, or other tools were set, while the model wrote.
func (m *intake) outdated(t journal.Thought) bool {
	return t.Edit != m.lastEdit || t.Front != m.front || t.Final != (m.final != ReasonNone)
}

// acceptable says what is wrong with a message: it has no form in a journal, or a
// result in it has no call.
func (m *intake) acceptable(msg llm.Message) error {
	const flags = llm.FlagSummary | llm.FlagRules | llm.FlagSynthetic | llm.FlagInterrupted
	switch {
	case msg.ID != 0:
		return fmt.Errorf("message has ID %d, want 0", msg.ID)
	case msg.Role < llm.RoleUser || msg.Role > llm.RoleSystem:
		return fmt.Errorf("message has role %d, want one of package llm (llm.UserText and its like set it)", msg.Role)
	case msg.Origin < llm.Human || msg.Origin > llm.Note:
		return fmt.Errorf("%s message has origin %d, want one of package llm (llm.UserText and its like set it)", msg.Role, msg.Origin)
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

// Acceptable returns the error that Feed would return for an Append of msg, and changes
// nothing.
func (m *intake) Acceptable(msg llm.Message) error { return m.acceptable(msg) }

// thought returns what thinking was made under: what the request was that left last, if it
// answers that one, else what there is now.
func (m *intake) thought(id llm.MessageID) journal.Thought {
	t := journal.Thought{Message: id, Edit: m.lastEdit, Final: m.final != ReasonNone, Front: m.front}
	if m.sent.end == int(id)-1 {
		t.Edit, t.Front = m.sent.edit, m.sent.front
	}
	return t
}

// remark notes what is asked about a message later. If it opens a Turn, what the
// guard did to the Turn before is over (R000-23), and it returns true.
func (m *intake) remark(msg llm.Message) (opens bool) {
	if slices.ContainsFunc(msg.Parts, isThinking) {
		m.thoughts = append(m.thoughts, m.thought(msg.ID))
	}
	if isReply(msg) {
		m.replies++
	}
	if llm.Compacts(msg) != "" {
		m.compacting = append(m.compacting, msg.ID)
	}
	for _, c := range msg.Calls() {
		m.uses[c.Name] = deferral.Use{Calls: m.uses[c.Name].Calls + 1, Last: int(msg.ID)}
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

// fresh tells the guard about new content, but for tool outputs, each of which is
// told when its turn comes. What opens a Turn is pending until its first call
// (R000-2).
func (m *intake) fresh(msg llm.Message, opens bool) {
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

// appended lets the rules that say something about new messages act, where a
// note would not stand inside a Round.
func (m *intake) appended() {
	if !m.turns.CanCut(len(m.messages)) {
		return
	}
	for _, r := range m.policy.Rules {
		if r.At == policy.AtAppend && r.Do == policy.DoNote && m.speaks(r) {
			m.status(r)
		}
	}
}

// goesOnWithout returns the calls that msg goes on without: what the model writes after
// anything but its own words is the next reply, and the one before it is over.
func (m *intake) goesOnWithout(msg llm.Message) []turn.Call {
	if msg.Role != llm.RoleAssistant || len(m.messages) == 0 || m.messages[len(m.messages)-1].Role == llm.RoleAssistant {
		return nil
	}
	return m.turns.OpenCalls()
}

// interrupt gives calls that never got a result a stated one (law 3).
func (m *intake) interrupt(open []turn.Call) error {
	for _, r := range turn.Interrupted(open, "") {
		if err := m.feedAppend(r); err != nil {
			return err
		}
	}
	if len(open) > 0 {
		m.event(EventInterrupted, "", "%d calls had no result and got a stated one", len(open))
	}
	return nil
}

// repair makes what there is fit to be sent: it answers the calls that are open.
func (m *intake) repair() error {
	if err := m.interrupt(m.turns.OpenCalls()); err != nil {
		return err
	}
	m.mend()
	return nil
}
