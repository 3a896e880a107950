package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A Placement says what became of a tool output when it came.
type Placement struct {
	CallID  string
	Message llm.MessageID // that it stands in
	Part    int
	Shown   Shown
	Reason  Cause   // why it is not shown whole; empty if it is
	Ref     llm.Ref // under which the whole of it is stored; empty if it is shown whole
	Bytes   int     // of the whole

	came Shown // as far as no rule has acted
	ref  llm.Ref
}

// Shown is how much of an output the model sees.
type Shown string

// What the model sees.
const (
	ShownWhole  Shown = "whole"
	ShownPart   Shown = "part"   // shortened: the rest can be read back
	ShownHandle Shown = "handle" // nothing of it, but its ref
	ShownFailed Shown = "failed" // that there was no room for it
)

// A Cause is why an output is not shown whole.
type Cause string

// The causes.
const (
	CauseSizeCap     Cause = "size_cap"     // it is larger than one output may be
	CauseTokenBudget Cause = "token_budget" // no target has room for it
	CauseRepeated    Cause = "repeated"     // what it says is shown already
)

// untouched is where an output stands before any rule has acted on it.
func (p Placement) untouched() Placement {
	p.Shown, p.Ref, p.Reason = p.came, p.ref, ""
	if p.came != ShownWhole {
		p.Reason = CauseSizeCap
	}
	return p
}

// What is shown of an output that the host has stored where no rule says how much.
const (
	storedHead = 2_000 // bytes of its beginning
	storedTail = 1_000 // and of its end
)

// incoming is an output that the host has stored, while it is appended.
type incoming struct {
	ends edit.Ends
	bare bool // nothing of it is shown
}

// feedStored appends a result whose body is in the store already. The rules see it as
// they see one that was appended, with the figures of the whole and its ends for its
// text. As it comes it is shown by the rule that moves such outputs out, if there is
// one: whole it cannot be.
func (m *Machine) feedStored(in Stored) error {
	if _, err := llm.ParseRef(string(in.Ref)); err != nil {
		return fmt.Errorf("engine: stored: %w", err)
	}
	stub := llm.Stub{Ref: in.Ref, Size: in.Bytes, Lines: in.Lines, Tokens: m.tokensOf(in)}
	m.incoming = incoming{ends: edit.Ends{Ref: in.Ref, Head: in.Head, Tail: in.Tail}}
	defer func() { m.incoming = incoming{} }()
	stub.Text, m.incoming.bare = m.handle(in, stub)
	err := m.feedAppend(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{
		CallID: in.CallID, IsError: in.IsError, Content: []llm.Part{stub},
	}}})
	if err == nil {
		m.stored[in.Ref] = true
	}
	return err
}

// tokensOf returns what an output would take whole: by the host's count, else as its
// beginning does.
func (m *Machine) tokensOf(in Stored) int {
	if in.Tokens > 0 || in.Head == "" {
		return in.Tokens
	}
	n := m.gauge.Text(in.Head)
	return in.Bytes/len(in.Head)*n + in.Bytes%len(in.Head)*n/len(in.Head)
}

// handle returns the text that stands for a stored output as it comes, and whether that
// shows nothing of it.
func (m *Machine) handle(in Stored, stub llm.Stub) (text string, bare bool) {
	template := orElse(m.text(policy.TemplateOffload), backstopOffload)
	v := edit.Values{
		Ref: in.Ref, Bytes: in.Bytes, Lines: in.Lines, Tokens: stub.Tokens, Preview: m.incoming.ends.Short(storedHead, storedTail),
		Tool: m.toolOf(in.CallID),
	}
	for _, r := range m.policy.Rules {
		if r.Do == policy.DoOffload {
			template, v.Preview = m.text(r.Args.Template), beginningOf(r).Of(in.Head)
			break
		}
	}
	return edit.Fill(template, v), v.Preview == "" || !edit.Previews(template)
}

func beginningOf(r policy.Rule) edit.Beginning {
	return edit.Beginning{Chars: r.Args.Chars, Bytes: r.Args.Bytes}
}

func (m *Machine) toolOf(callID string) string {
	c, _ := m.turns.CallOf(callID)
	return c.Name
}

// arrived runs the rules for new tool outputs on each result of msg, one after the
// other: what one of them may take is what those before it have left (R000-13).
func (m *Machine) arrived(msg llm.Message) {
	several := len(msg.Results()) > 1
	if several {
		m.all(func(t *meter.Meter) { t.Ahead(msg) })
	}
	for n, p := range msg.Parts {
		r, ok := p.(llm.ToolResult)
		if !ok {
			continue
		}
		if several {
			m.all(func(t *meter.Meter) { t.Reach(r) })
		}
		m.guard.AddFresh(m.gauge.Part(r))
		m.traceEvaluate(ToolPreflight)
		m.out.Placements = append(m.out.Placements, m.came(msg.ID, n, r))
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

// came returns where an output stands as it comes.
func (m *Machine) came(id llm.MessageID, part int, r llm.ToolResult) Placement {
	p := Placement{CallID: r.CallID, Message: id, Part: part, came: ShownWhole}
	if stub, ok := edit.StubOf(r); ok {
		p.came, p.ref, p.Bytes = ShownPart, stub.Ref, stub.Size
		if m.incoming.bare {
			p.came = ShownHandle
		}
		return p.untouched()
	}
	if text, ok := edit.TextOf(r); ok { // not copied
		p.Bytes = len(text)
	} else {
		p.Bytes = len(edit.Stored(r))
	}
	return p.untouched()
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
		p = m.offloaded(s, sp, r)
	case policy.DoFail:
		p = m.failed(s, sp, r)
	case policy.DoFinal: // at the next call: its note may not stand inside a Round
		m.setDue(r.Name)
	}
	// A cap is a limit: it holds also where its notice takes more than what is cut. But it
	// does not put back what another rule has cut.
	untouched := sp.Stored.Ref != "" || edit.FormOf(sp.Result) == edit.Whole
	if (p.Gain() > 0 || r.Do == policy.DoCap && !p.Empty() && untouched) && m.adopt(p, r.Name) {
		m.placed(p, r)
	}
}

// offloaded plans to move an output out. One that the host has stored came so.
func (m *Machine) offloaded(s edit.Scene, sp edit.Spot, r policy.Rule) edit.Plan {
	if _, done := edit.StubOf(sp.Result); done || sp.Result.IsError && !r.Args.Errors {
		return edit.Plan{}
	}
	why := "size cap"
	if causeOf(r) == CauseTokenBudget {
		why = "token budget"
	}
	return s.Stub(sp, edit.KindOffload, beginningOf(r), fmt.Sprintf("%s: output of %d bytes", why, len(edit.Stored(sp.Result))))
}

// placed notes what a rule has made of the newest output.
func (m *Machine) placed(p edit.Plan, r policy.Rule) {
	at := &m.out.Placements[len(m.out.Placements)-1]
	at.Shown, at.Reason, at.Ref = ShownPart, causeOf(r), p.Edits[0].Refs[0]
	switch {
	case r.Do == policy.DoFail:
		at.Shown = ShownFailed
	case p.Bare:
		at.Shown = ShownHandle
	}
}

// causeOf returns why a rule shows less of an output.
func causeOf(r policy.Rule) Cause {
	switch {
	case r.Do == policy.DoDedup:
		return CauseRepeated
	case r.Do == policy.DoFail, r.When.Measure == policy.MeasureGuard:
		return CauseTokenBudget
	}
	return CauseSizeCap
}
