package plimsoll_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// benchSession has about that many tokens of history and room for as much again.
func benchSession(b *testing.B, name string, st store.Store, tokens int) *plimsoll.Session {
	b.Helper()
	p, err := policy.Preset(name)
	if err != nil {
		b.Fatal(err)
	}
	target := budget.Target{Provider: "p", Model: "mystery", Window: budget.Window{Capacity: 4_000_000, OutputReserve: 2_000}}
	s, err := plimsoll.Open(b.Context(), plimsoll.Options{Policy: p, Store: st, Targets: []budget.Target{target}})
	if err != nil {
		b.Fatal(err)
	}
	benchAdd(b, s, human("Read all files."))
	for n := range max(tokens/500, 1) {
		benchRead(b, s, n)
	}
	return s
}

// benchRead is a Round of about 500 tokens, like no other.
func benchRead(b *testing.B, s *plimsoll.Session, n int) {
	b.Helper()
	id := fmt.Sprintf("h%d", n)
	call := llm.ToolCall{CallID: id, Name: "read", Args: fmt.Sprintf(`{"n":%d}`, n)}
	out := llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: benchLines(n, 2_000)}}}
	benchAdd(
		b, s, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{call}},
		llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{out}},
	)
}

// benchLines is a text of n bytes that differs from others.
func benchLines(seed, n int) string {
	var out strings.Builder
	for line := 0; out.Len() < n; line++ {
		fmt.Fprintf(&out, "file %d, line %d: nothing to see %x\n", seed, line, seed*7919+line*104729)
	}
	return out.String()[:n]
}

func benchAdd(b *testing.B, s *plimsoll.Session, messages ...llm.Message) {
	b.Helper()
	for _, m := range messages {
		if err := s.Append(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
}

// benchStores opens the stores that a host may have. Without a store nothing is kept.
func benchStores(b *testing.B, f func(b *testing.B, st store.Store)) {
	b.Run("memory", func(b *testing.B) { f(b, &store.Memory{}) })
	b.Run("sqlite", func(b *testing.B) {
		st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "plimsoll.db"), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		f(b, st)
		if err := st.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkToolBudget measures what a tools' orchestrator asks for each call.
func BenchmarkToolBudget(b *testing.B) {
	s := benchSession(b, "guard", &store.Memory{}, 100_000)
	budget := s.Budget()
	b.Run("Preview", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !budget.Preview(2_000) {
				b.Fatal("want room")
			}
		}
	})
	b.Run("Reserve+Release", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			held, err := budget.Reserve(b.Context(), 2_000)
			if err != nil {
				b.Fatal(err)
			}
			budget.Release(held)
		}
	})
	b.Run("CanExecute", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !budget.CanExecute("read") {
				b.Fatal("want tools to run")
			}
		}
	})
}

// BenchmarkStep measures a Step of a session as its host sees it, 100,000 tokens into
// the conversation: Append of a short message, which is durable afterwards, and Prepare.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"guard", "balanced"} {
		b.Run(name, func(b *testing.B) {
			benchStores(b, func(b *testing.B, st store.Store) {
				s := benchSession(b, name, st, 100_000)
				b.ReportAllocs()
				for b.Loop() {
					benchAdd(b, s, human("And then?"))
					if _, err := s.Prepare(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkRequest measures what a request of 1,000 messages with one new one costs from the Append
// of that to the bytes that leave, beyond what a codec needs to write the same request without marks:
// at most 50 µs. Of both the first tenth is told, in which other programs have no part. The
// conversation is begun anew after some requests.
func BenchmarkRequest(b *testing.B) {
	for _, c := range []struct {
		model   string
		dialect llm.Dialect
		marked  bool
	}{{"claude-opus-4-5", "anthropic", true}, {"gpt-5", "openai-chat", false}} {
		b.Run(c.model, func(b *testing.B) {
			codec, _ := codecs.For(c.dialect)
			var s *plimsoll.Session
			var whole, writing []time.Duration
			for n := 0; b.Loop(); n++ {
				if n%50 == 0 {
					b.StopTimer()
					s = benchThousand(b, c.model)
					b.StartTimer()
				}
				start := time.Now()
				benchAdd(b, s, human("And then?"))
				send, err := s.Prepare(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				r := send.Request()
				body, err := codec.EncodeRequest(r)
				whole = append(whole, time.Since(start))
				if err != nil || len(r.Messages) < 1_000 || len(r.Marks) > 0 != c.marked {
					b.Fatalf("%d messages, marks %v, %v", len(r.Messages), r.Marks, err)
				}
				r.Marks, start = nil, time.Now()
				plain, err := codec.EncodeRequest(r)
				if writing = append(writing, time.Since(start)); err != nil || len(plain) > len(body) {
					b.Fatalf("%d bytes of %d, %v", len(plain), len(body), err)
				}
			}
			slices.Sort(whole)
			slices.Sort(writing)
			b.ReportMetric(0, "ns/op") // of both
			b.ReportMetric(float64(writing[len(writing)/10]), "writing-ns/op")
			b.ReportMetric(float64(whole[len(whole)/10]-writing[len(writing)/10]), "beyond-ns/op")
		})
	}
}

// benchThousand is a session of 1,000 messages with a system prompt, whose first request has left.
func benchThousand(b *testing.B, model string) *plimsoll.Session {
	b.Helper()
	s, err := plimsoll.Open(b.Context(), plimsoll.Options{
		Store: &store.Memory{}, Targets: []budget.Target{{Model: model, Window: budget.Window{Capacity: 4_000_000, OutputReserve: 2_000}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.SetSections(b.Context(), []llm.Section{llm.SystemText(benchLines(1, 10_000))}); err != nil {
		b.Fatal(err)
	}
	for range 500 {
		benchAdd(b, s, human("And then?"), reply("Done."))
	}
	if _, err := s.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkToolResult measures the intake of an output of 50 kB, of which guard stores
// the whole and shows a handle; balanced looks for repeated lines first. Beside the mean it
// reports the median, which a flush that takes long now and then says little about.
func BenchmarkToolResult(b *testing.B) {
	for _, name := range []string{"guard", "balanced"} {
		b.Run(name, func(b *testing.B) {
			benchStores(b, func(b *testing.B, st store.Store) {
				s := benchSession(b, name, st, 1_000)
				b.SetBytes(50_000)
				b.ReportAllocs()
				n := 0
				var took []time.Duration
				for b.Loop() {
					b.StopTimer()
					n++
					id := fmt.Sprintf("b%d", n)
					benchAdd(b, s, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read", Args: "{}"}}})
					text := benchLines(n, 50_000)
					b.StartTimer()
					start := time.Now()
					if _, err := s.ToolResult(b.Context(), plimsoll.Result{CallID: id, Body: strings.NewReader(text)}); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2])/float64(time.Millisecond), "p50-ms/op")
			})
		})
	}
}
