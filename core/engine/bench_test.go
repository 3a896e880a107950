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
	"github.com/plimsoll-dev/plimsoll/core/prompt"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// BenchmarkPrepare measures one Step without an edit due, on histories of three
// sizes: Append of a short message, or Prepare after it. Both must not grow with
// the history.
func BenchmarkPrepare(b *testing.B) {
	for _, tokens := range []int{10_000, 100_000, 1_000_000} {
		for _, name := range []string{"balanced", "cache-compact", "layered", "turn-budget", "guard"} {
			b.Run(fmt.Sprintf("%s/%dk", name, tokens/1000), func(b *testing.B) { benchPrepare(b, name, tokens) })
		}
	}
}

func benchPrepare(b *testing.B, name string, tokens int) {
	m := benchMachine(b, name, tokens)
	say := func() {
		benchFeed(b, m, engine.Append{Message: llm.AssistantText("done")})
		benchFeed(b, m, engine.Append{Message: llm.UserText("and then")})
	}
	for range 2 * m.Policy().Economy.Horizon { // old outputs are shortened first, where that pays
		say()
		benchFeed(b, m, engine.Prepare{})
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		say()
		b.StartTimer()
		if err := m.Feed(engine.Prepare{}); err != nil {
			b.Fatal(err)
		}
		r := m.Ready()
		m.Advance(engine.Outcome{})
		if r.Send == nil || len(r.Edits) > 0 {
			b.Fatalf("want a Send and no edit, got %v and %d", r.Send, len(r.Edits))
		}
	}
}

// BenchmarkRequest measures what a request of 1,000 messages costs beyond writing its bytes,
// with one new message: its intake, its sections, the Prepare, its cache marks. At most 50 µs. The
// conversation is begun anew after some requests, so that it stays at its length however often it runs.
func BenchmarkRequest(b *testing.B) {
	for _, c := range []struct {
		model string
		marks int
	}{{"claude-opus-4-5", 4}, {"gpt-5", 0}} {
		b.Run(c.model, func(b *testing.B) {
			var m *engine.Machine
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%benchAgain == 0 {
					b.StopTimer()
					m = benchThousand(b, c.model)
					b.StartTimer()
				}
				if n, marks := benchRequest(b, m); n < 1_000 || n > 1_000+benchAgain+1 || marks != c.marks {
					b.Fatalf("%d messages, %d marks", n, marks)
				}
			}
		})
	}
}

// benchAgain is after how many requests BenchmarkRequest begins anew.
const benchAgain = 50

// benchThousand returns a machine with 1,000 messages, whose first request has left.
func benchThousand(b *testing.B, model string) *engine.Machine {
	m := benchOf(b, "balanced", model, 10_000, false)
	for len(m.Messages()) < 999 {
		benchFeed(b, m, engine.Append{Message: llm.UserText("And then?")})
		benchFeed(b, m, engine.Append{Message: llm.AssistantText("Done.")})
	}
	benchRequest(b, m)
	return m
}

// benchSections are the system prompt of a program.
var benchSections = []prompt.Section{prompt.Base.Section(strings.Repeat("You look after ships. ", 100)), prompt.Rules.Section(strings.Repeat("Write short words. ", 500))}

// benchRequest makes the next request, with one new message, and returns how many messages and
// marks it has.
func benchRequest(b *testing.B, m *engine.Machine) (messages, marks int) {
	benchFeed(b, m, engine.Append{Message: llm.UserText("And then?")})
	benchFeed(b, m, engine.SetPrompt{Sections: benchSections})
	if err := m.Feed(engine.Prepare{}); err != nil {
		b.Fatal(err)
	}
	r := m.Ready()
	m.Advance(engine.Outcome{})
	return len(r.Send.Request().Messages), len(r.Send.Marks)
}

// BenchmarkAppend measures the intake of a tool output of about 500 tokens.
func BenchmarkAppend(b *testing.B) {
	for _, tokens := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("balanced/%dk", tokens/1000), func(b *testing.B) {
			m := benchMachine(b, "balanced", tokens)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				call, result := benchRound(1_000_000 + i)
				b.StopTimer()
				benchFeed(b, m, engine.Append{Message: call})
				b.StartTimer()
				benchFeed(b, m, engine.Append{Message: result})
			}
		})
	}
}

// BenchmarkBatch measures a Prepare that has to take out one batch, down to 40 % of
// the limit.
func BenchmarkBatch(b *testing.B) {
	for _, tokens := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("balanced/%dk", tokens/1000), func(b *testing.B) {
			small := budget.Target{Model: "claude-opus-4-5", Window: budget.Window{Capacity: tokens + 8192 + 1000, OutputReserve: 1000}}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				m := benchMachine(b, "balanced", tokens)
				b.StartTimer()
				if err := m.Feed(engine.Prepare{Targets: []budget.Target{small}}); err != nil {
					b.Fatal(err)
				}
				r := m.Ready()
				m.Advance(engine.Outcome{})
				if r.Send == nil || len(r.Edits) == 0 || r.Send.Count.Bound > tokens/2 {
					b.Fatalf("want a batch, got %d edits and %v", len(r.Edits), r.Send)
				}
			}
		})
	}
}

// benchMachine returns a machine with a history of that size in a window that is
// never full.
func benchMachine(b *testing.B, name string, tokens int) *engine.Machine {
	return benchModelled(b, name, tokens, false)
}

// benchModelled is benchMachine, with a model that writes summaries or without one.
func benchModelled(b *testing.B, name string, tokens int, modelled bool) *engine.Machine {
	return benchOf(b, name, "claude-opus-4-5", tokens, modelled)
}

// benchOf is benchModelled for a target of that model.
func benchOf(b *testing.B, name, model string, tokens int, modelled bool) *engine.Machine {
	p, err := policy.Preset(name)
	if err != nil {
		b.Fatal(err)
	}
	cat, err := catalog.Load()
	if err != nil {
		b.Fatal(err)
	}
	for i := range p.Rules { // the budget for outputs must not be reached either
		p.Rules[i].When.Max = 0
	}
	m, err := engine.New(engine.Config{
		Policy: p, Catalog: cat, Encodings: bpe.Load, Modelled: modelled,
		Targets: []budget.Target{{Model: model, Window: budget.Window{Capacity: 50_000_000, MaxBytes: engine.NoLimit}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	benchFeed(b, m, engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "go on"}}}})
	for i := 0; m.Count().Point < tokens; i++ {
		call, result := benchRound(i)
		benchFeed(b, m, engine.Append{Message: call})
		benchFeed(b, m, engine.Append{Message: result})
	}
	return m
}

// benchRound returns a call and its output of about 500 tokens, like no other.
func benchRound(i int) (call, result llm.Message) {
	var out strings.Builder
	for line := range 40 {
		fmt.Fprintf(&out, "file%d.go:%d:\tif err := step%d(ctx, %d); err != nil {\n", i, line*7, i*40+line, line)
	}
	id := fmt.Sprint("call", i)
	return llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "grep", Args: `{"pattern":"step"}`}}},
		llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: out.String()}}}}}
}

func benchFeed(b *testing.B, m *engine.Machine, in engine.Input) {
	if err := m.Feed(in); err != nil {
		b.Fatal(err)
	}
	for m.HasReady() {
		m.Ready()
		m.Advance(engine.Outcome{})
	}
}
