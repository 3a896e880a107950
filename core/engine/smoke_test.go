package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

func TestSmoke(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range policy.Presets() {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Preset(name)
			if err != nil {
				t.Fatal(err)
			}
			m, err := engine.New(engine.Config{
				Policy: p, Catalog: cat, Encodings: bpe.Load,
				Targets: []budget.Target{{Provider: "x", Model: "claude-opus-4-5", Window: budget.Window{Capacity: 40000, OutputReserve: 4000}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			drain := func() *engine.Send {
				var send *engine.Send
				for m.HasReady() {
					r := m.Ready()
					m.Advance(engine.Outcome{})
					if r.Ask != nil {
						text := summary.Write(r.Ask.Messages, summary.Options{MaxTokens: 500})
						if err := m.Feed(engine.Answer{Ask: r.Ask.ID, Text: text}); err != nil {
							t.Fatal(err)
						}
					}
					for _, e := range r.Events {
						t.Log(e)
					}
					for _, e := range r.Edits {
						t.Log(e.ID, e.Op, e.Kind, e.Span, e.Rule, e.Before, e.After, e.Why)
					}
					if r.Refused != nil {
						t.Log("REFUSED", r.Refused)
					}
					if r.Send != nil {
						send = r.Send
					}
				}
				return send
			}
			feed := func(in engine.Input) {
				t.Helper()
				if err := m.Feed(in); err != nil {
					t.Fatal(err)
				}
			}
			feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "please fix the bug in main.go"}}}})
			for i := range 40 {
				feed(engine.Prepare{})
				s := drain()
				if s != nil {
					t.Log(i, s.Count, s.Limit, len(s.Items), s.Final)
					if s.Count.Bound > s.Limit && p.Backstop {
						t.Error("over")
					}
				}
				if i%10 == 9 {
					feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "done"}}}})
					feed(engine.TurnEnd{})
					feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "now the next"}}}})
					continue
				}
				id := fmt.Sprint("c", i)
				feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "Read", Args: `{"path":"x.go"}`}}}})
				feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(fmt.Sprintf("line %d of the output that is not too short\n", i), 100+i*5)}}}}}})
			}
			t.Log(m.Stats())
		})
	}
}
