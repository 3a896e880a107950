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
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// A thinker is a session in which each reply thinks, calls a tool and gets 100 lines.
type thinker struct {
	t *testing.T
	m *engine.Machine
	n int
}

func newThinker(t *testing.T, row catalog.Model) *thinker {
	t.Helper()
	p, err := policy.Preset("balanced")
	must(t, err)
	c, err := catalog.Load()
	must(t, err)
	m, err := engine.New(engine.Config{Policy: p, Catalog: c.With(row), Encodings: bpe.Load, Targets: []budget.Target{
		{Provider: "p", Model: row.ID, Window: budget.Window{Capacity: 40_000, OutputReserve: 500, Buffer: 100}},
	}})
	must(t, err)
	k := &thinker{t: t, m: m}
	k.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Read them."}}}})
	return k
}

// feed returns the request that an input led to, if one.
func (k *thinker) feed(in engine.Input) (send *engine.Send) {
	k.t.Helper()
	must(k.t, k.m.Feed(in))
	for k.m.HasReady() {
		r := k.m.Ready()
		k.m.Advance(engine.Outcome{})
		if r.Ask != nil {
			must(k.t, k.m.Feed(engine.Answer{Ask: r.Ask.ID, Text: "They read files, line after line, and found nothing so far that would be worth a word. " + strings.Repeat("Go on. ", 30)}))
		}
		if r.Send != nil {
			send = r.Send
		}
	}
	return send
}

func (k *thinker) round(thinks bool) {
	k.n++
	id := fmt.Sprintf("c%d", k.n)
	parts := []llm.Part{llm.ToolCall{CallID: id, Name: "read", Args: fmt.Sprintf(`{"page":%d}`, k.n)}}
	if thinks {
		parts = append([]llm.Part{llm.Thinking{Text: "And the next.", Signature: "s"}}, parts...)
	}
	k.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: parts}})
	k.feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(fmt.Sprintf("line of page %d\n", k.n), 100)}}},
	}}})
}

func thoughts(s *engine.Send) (ids []llm.MessageID) {
	for _, it := range s.Items {
		for _, p := range it.Message.Parts {
			if _, ok := p.(llm.Thinking); ok {
				ids = append(ids, it.Message.ID)
			}
		}
	}
	return ids
}

// TestWaysOut is law 6 by what a target can do: it is asked to drop broken thinking, or
// that is left out, or the target does not mind and nothing happens; a batch inside a tool
// loop waits where neither is possible.
func TestWaysOut(t *testing.T) {
	minds := catalog.Capabilities{PrefixThinking: true, Reasoning: true}
	asked := minds
	asked.DropBlock = true
	for _, c := range []struct {
		name   string
		can    catalog.Capabilities
		thinks func(n int) bool // whether Round n begins with thinking
		drops  bool
		strips bool
		edits  bool // before the backstop has to
	}{
		{"asked", asked, func(int) bool { return true }, true, false, true},
		{"does not mind", catalog.Capabilities{Reasoning: true}, func(int) bool { return true }, false, false, true},
		{"left out", minds, func(n int) bool { return n%2 == 0 }, false, true, true},
		{"waits", minds, func(int) bool { return true }, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newThinker(t, catalog.Model{ID: "model-of-mine", Capabilities: c.can})
			drops, strips, edited := false, false, 0
			for n := 1; n <= 150; n++ {
				s := k.feed(engine.Prepare{})
				if s == nil {
					t.Fatalf("step %d: nothing to send", n)
				}
				drops, strips = drops || s.DropBrokenThinking, strips || len(s.LeftOut.Thinking) > 0
				if s.Edited && edited == 0 {
					edited = n
				}
				if len(s.LeftOut.Thinking) > 0 {
					for _, id := range thoughts(s) {
						for _, span := range s.LeftOut.Thinking {
							if span.Contains(id) {
								t.Errorf("step %d: the thinking of message %d is left out and shown", n, id)
							}
						}
					}
				}
				k.round(c.thinks(n))
			}
			if drops != c.drops || strips != c.strips || edited == 0 {
				t.Errorf("drops %t, strips %t, first edit at step %d; want %t, %t, one", drops, strips, edited, c.drops, c.strips)
			}
			if backstop := k.m.Stats().Backstop > 0; backstop == c.edits {
				t.Errorf("the backstop had to act: %t, want %t", backstop, !c.edits)
			}
		})
	}
}

// TestToolsThatBreakNothing is law 6 for a tool list that is another one: only what the model
// reads of it counts. The policy's own search is no part of a request that leaves no tool out.
func TestToolsThatBreakNothing(t *testing.T) {
	search := llm.Tool{Name: policy.ToolSearch, Description: "Finds tools.", Schema: `{"type":"object"}`, Builtin: true}
	read := llm.Tool{Name: "read", Description: "Reads a page.", Schema: `{"type":"object"}`}
	for _, c := range []struct {
		name   string
		before []llm.Tool
		after  []llm.Tool
		breaks bool
	}{
		{"none, and a search that nothing is left out for", nil, []llm.Tool{search}, false},
		{"the same, and that search", []llm.Tool{read}, []llm.Tool{read, search}, false},
		{"that search no more", []llm.Tool{search, read}, []llm.Tool{read}, false},
		{"one more", []llm.Tool{search}, []llm.Tool{search, read}, true},
		{"the last one gone", []llm.Tool{read}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newThinker(t, catalog.Model{ID: "model-of-mine", Capabilities: catalog.Capabilities{PrefixThinking: true, Reasoning: true, DropBlock: true}})
			k.feed(engine.SetTools{Tools: c.before})
			k.feed(engine.Prepare{})
			k.round(true)
			must(t, k.m.Feed(engine.SetTools{Tools: c.after}))
			told := false
			for k.m.HasReady() {
				for _, e := range k.m.Ready().Events {
					told = told || e.Kind == engine.EventSections
				}
				k.m.Advance(engine.Outcome{})
			}
			s := k.feed(engine.Prepare{})
			if s.DropBrokenThinking != c.breaks || told != c.breaks {
				t.Errorf("drops %t, told of %t, want %t: %d tools are offered", s.DropBrokenThinking, told, c.breaks, len(s.Tools))
			}
		})
	}
}
