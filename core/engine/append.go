package engine

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// feedAppend numbers and indexes a message, then lets the rules for new content
// act, as the newest content costs no cache.
func (m *Machine) feedAppend(msg llm.Message) error {
	if msg.ID != 0 {
		return fmt.Errorf("engine: append: message has ID %d, want 0", msg.ID)
	}
	if len(msg.Parts) == 0 {
		return fmt.Errorf("engine: append: %s message has no parts", msg.Role)
	}
	msg.ID = llm.MessageID(len(m.messages)) + 1
	if err := m.pairs(msg); err != nil {
		return fmt.Errorf("engine: append: %w", err)
	}
	m.messages = append(m.messages, msg)
	m.view.Append(msg)
	m.record(journal.Record{Kind: journal.KindMessage, Message: msg})
	m.measureAppended(msg)
	m.fresh(msg)
	if msg.Origin == llm.ToolRun {
		m.arrived(msg)
	}
	return nil
}

// pairs indexes msg and refuses it if a result in it has no call.
func (m *Machine) pairs(msg llm.Message) error {
	var orphan *turn.OrphanError
	trial := m.turns
	if len(msg.Results()) > 0 {
		trial = *m.turns.Clone()
	}
	if err := trial.Append(msg); errors.As(err, &orphan) && len(msg.Results()) > 0 {
		return err
	}
	m.turns = trial
	return nil
}

// feedStored appends a result whose body is in the store already.
func (m *Machine) feedStored(in Stored) error {
	if _, err := llm.ParseRef(string(in.Ref)); err != nil {
		return fmt.Errorf("engine: stored: %w", err)
	}
	m.stored[in.Ref] = true
	text := edit.Fill(m.text(policy.TemplateOffload), edit.Values{
		Ref: in.Ref, Bytes: in.Bytes, Lines: in.Lines, Tokens: in.Tokens, Preview: in.Head,
		Tool: m.toolOf(in.CallID),
	})
	return m.feedAppend(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{
		CallID: in.CallID, IsError: in.IsError,
		Content: []llm.Part{llm.Stub{Ref: in.Ref, Text: text, Size: in.Bytes}},
	}}})
}

func (m *Machine) toolOf(callID string) string {
	c, _ := m.turns.CallOf(callID)
	return c.Name
}

// arrived runs the rules for new tool outputs on each result of msg.
func (m *Machine) arrived(msg llm.Message) {
	for n, p := range msg.Parts {
		if _, ok := p.(llm.ToolResult); !ok {
			continue
		}
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
	if !ok || !m.holds(r.When, &sp) {
		return
	}
	var p edit.Plan
	switch r.Do {
	case policy.DoDedup:
		p = s.Dedup(sp, m.shown, edit.DedupArgs{Lines: r.Args.Lines, Chars: r.Args.Chars, Gain: edit.Gain(m.policy.MinimumGain)})
	case policy.DoCap:
		p = s.Cap(sp, edit.CapArgs{LineLength: r.Args.LineLength, Bytes: r.Args.Bytes, Tokens: m.share(r.Args.Permille)})
	case policy.DoOffload:
		if _, done := edit.StubOf(sp.Result); done || sp.Result.IsError && !r.Args.Errors || m.exempt(sp.Tool) {
			return
		}
		p = s.Stub(sp, edit.KindOffload, r.Args.Bytes, fmt.Sprintf("output of %d bytes", len(edit.Stored(sp.Result))))
	case policy.DoFinal:
		m.force(ReasonContext, r)
	}
	if p.Gain() > 0 {
		m.adopt(p, r.Name)
	}
}

// exempt reports whether tool is one of the policy's own readers, whose output
// must not be put away again (R001-5, R002-7 findings).
func (m *Machine) exempt(tool string) bool {
	for _, t := range m.policy.Tools {
		if t == tool {
			return true
		}
	}
	return false
}

// share returns a permille of the preferred target's limit; 0 for 0.
func (m *Machine) share(permille int) int { return m.targets[0].Window.Limit() * permille / 1000 }

// remember notes the lines of an output that is shown in full.
func (m *Machine) remember(id llm.MessageID, part int) {
	if m.shown == nil {
		return
	}
	sp, ok := m.scene(policy.Rule{}).At(id, part)
	if !ok {
		return
	}
	if _, edited := edit.StubOf(sp.Result); !edited {
		m.shown.Add(id, part, sp.Result.Text())
	}
}

// fresh tells the guard about new content.
func (m *Machine) fresh(msg llm.Message) {
	if msg.Origin == llm.Model && m.replyTokens >= 0 {
		m.replyTokens = -1 // the usage that came before it covers it
		return
	}
	m.guard.AddFresh(m.gauge.message(msg))
}

// repair answers calls that never got a result (law 3).
func (m *Machine) repair() error {
	open := m.turns.OpenCalls()
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
