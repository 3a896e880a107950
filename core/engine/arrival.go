package engine

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// An intake takes messages and outputs in, and lets the rules for new content act.
type intake struct{ keeper }

// arrived runs the rules for new tool outputs on each result of msg, one after the
// other: what one of them may take is what those before it have left (R000-13).
func (m *intake) arrived(msg llm.Message) {
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
func (m *intake) came(id llm.MessageID, part int, r llm.ToolResult) Placement {
	p := Placement{CallID: r.CallID, Message: id, Part: part, came: ShownWhole}
	if stub, ok := edit.StubOf(r); ok {
		p.came, p.ref, p.Bytes, p.Lines = ShownPart, stub.Ref, stub.Size, stub.Lines
		if m.incoming.bare {
			p.came = ShownHandle
		}
		return p.untouched()
	}
	if text, ok := edit.TextOf(r); ok && !m.cfg.KeepOutputs { // not copied
		p.Bytes, p.Lines = len(text), edit.CountLines(text)
		return p.untouched()
	}
	data := edit.Stored(r)
	p.Bytes, p.Lines = len(data), bytes.Count(data, []byte("\n"))
	if n := len(data); n > 0 && data[n-1] != '\n' {
		p.Lines++
	}
	if m.cfg.KeepOutputs {
		p.ref = llm.RefOf(data)
		m.keepOutput(edit.Blob{Ref: p.ref, Data: data})
	}
	return p.untouched()
}

// keepOutput puts an output into the next Ready. That it is stored is not remembered: no
// record says so, and a machine that was restarted is to do what this one does.
func (m *intake) keepOutput(b edit.Blob) {
	stored := m.stored[b.Ref]
	m.put(b)
	if !stored {
		delete(m.stored, b.Ref)
	}
}

// arrival lets one rule act on a new output.
func (m *intake) arrival(r policy.Rule, id llm.MessageID, part int) {
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
		p = s.Cap(sp, edit.CapArgs{
			Lines: r.Args.Lines, LineLength: r.Args.LineLength, Bytes: r.Args.Bytes, Tokens: m.down(r), Ends: r.Args.Show == policy.ShowEnds,
		})
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
func (m *intake) offloaded(s edit.Scene, sp edit.Spot, r policy.Rule) edit.Plan {
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
func (m *intake) placed(p edit.Plan, r policy.Rule) {
	at := &m.out.Placements[len(m.out.Placements)-1]
	at.Shown, at.Reason, at.Ref = ShownPart, causeOf(r), p.Edits[0].Refs[0]
	switch {
	case r.Do == policy.DoFail:
		at.Shown = ShownFailed
	case p.Bare:
		at.Shown = ShownHandle
	}
}

// failed plans to show that an output found no room, and notes that the tool budget
// is exceeded.
func (m *intake) failed(s edit.Scene, sp edit.Spot, r policy.Rule) edit.Plan {
	s.Template = orElse(m.text(r.Args.Template), failText)
	if m.guard.Exceeded() {
		s.Template = m.SkippedText()
	} else {
		m.exceed()
		m.event(EventToolBudget, r.Name, "the output of %s found no room: the tool budget is exceeded", orElse(sp.Tool, "a tool"))
	}
	return s.Stub(sp, edit.KindFail, edit.Beginning{}, "token budget: tool budget exceeded")
}
