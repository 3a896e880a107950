package engine_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TestOwnLists is laws 1 and 4 for hosts that use a slice again: what is changed in place
// is neither sent nor missed. When it is set again it is counted and recorded.
func TestOwnLists(t *testing.T) {
	p, err := policy.Preset("balanced")
	must(t, err)
	c, err := configured(p, budget.Target{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 100_000, OutputReserve: 1000}})
	must(t, err)
	long := filler(20_000, "d")
	raw := func(text string) llm.Raw { return llm.Raw{Data: []byte(`{"name":"a","description":"` + text + `"}`)} }

	tools := []llm.Tool{{Name: "a", Description: "x", Schema: "{}", Raw: raw("x")}, {Name: "b", Raw: llm.Raw{Base: []byte("{}")}}}
	sections := []llm.Section{{Name: "s", Text: "x", Raw: raw("x")}}
	for _, tt := range []struct {
		name   string
		set    engine.Input
		change func()
		size   func(budget.Components) int
		sent   func(*engine.Send) []string
		want   []string // that is sent after the change is told
	}{
		{
			"tools",
			engine.SetTools{Tools: tools},
			func() { tools[0].Description, tools[0].Schema = long, long },
			func(c budget.Components) int { return c.Tools }, func(s *engine.Send) []string { return []string{s.Tools[0].Description, s.Tools[0].Schema} },
			[]string{long, long},
		},
		{
			"the bytes of tools",
			engine.SetTools{Tools: tools},
			func() { tools[0].Data[2], tools[1].Base[0] = 'N', '[' },
			nil, func(s *engine.Send) []string { return []string{string(s.Tools[0].Data[:7]), string(s.Tools[1].Base)} },
			[]string{`{"Name"`, "[}"},
		},
		{
			"sections",
			engine.SetSections{Sections: sections},
			func() { sections[0].Text = long },
			func(c budget.Components) int { return c.System }, func(s *engine.Send) []string { return []string{s.Sections[0].Text} },
			[]string{long},
		},
		{
			"the bytes of sections",
			engine.SetSections{Sections: sections},
			func() { sections[0].Data[2] = 'N' },
			nil, func(s *engine.Send) []string { return []string{string(s.Sections[0].Data[:7])} },
			[]string{`{"Name"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, err := newHost(c)
			must(t, err)
			ask(t, h, llm.Text{Text: "hello"})
			must(t, h.feed(tt.set))
			prepared(t, h)
			was, size := tt.sent(h.sent[0]), h.m.Components()
			tt.change()
			prepared(t, h)
			if got := tt.sent(h.sent[1]); got[0] != was[0] || h.m.Components() != size {
				t.Errorf("before it is set again: sent %.80q, %+v", got, h.m.Components())
			}
			lines := len(h.lines)
			must(t, h.feed(tt.set))
			if got := len(h.lines) - lines; got != 1 {
				t.Errorf("%d records, want 1", got)
			}
			prepared(t, h)
			for i, got := range tt.sent(h.sent[2]) {
				if got != tt.want[i] {
					t.Errorf("sent %.80q, want %.80q", got, tt.want[i])
				}
			}
			if tt.size != nil && tt.size(h.m.Components()) < len(long)/10 {
				t.Errorf("%d tokens are counted of %d bytes", tt.size(h.m.Components()), len(long))
			}
		})
	}
}

// TestOwnMessages is law 2 for hosts that use a slice of parts again: the Transcript is
// never rewritten.
func TestOwnMessages(t *testing.T) {
	p, err := policy.Preset("balanced")
	must(t, err)
	c, err := configured(p, budget.Target{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 100_000, OutputReserve: 1000}})
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	parts := []llm.Part{llm.Text{Text: "one"}}
	content := []llm.Part{llm.Text{Text: "two"}}
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: parts}}))
	parts[0] = llm.ToolCall{CallID: "c1", Name: "read", Args: "{}"}
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: parts}}))
	parts[0] = llm.ToolResult{CallID: "c1", Content: content}
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: parts}}))
	parts[0], content[0] = nil, llm.Text{Text: filler(20_000, "changed")}
	prepared(t, h)
	sent := h.sent[0].Messages()
	if sent[0].Text() != "one" || len(sent[1].Calls()) != 1 || sent[2].Results()[0].Text() != "two" {
		t.Errorf("sent %.300v", sent)
	}
}
