package engine_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// TestSummaryWithoutRoom is law 1 where a conversation goes on with a model whose window is smaller
// than the summary that stands: its line takes its place, among the messages or in the system
// prompt, and an undo brings it back.
func TestSummaryWithoutRoom(t *testing.T) {
	for _, name := range []string{"balanced", "turn-budget", "layered", "cache-compact"} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Preset(name)
			must(t, err)
			c, err := catalog.Load()
			must(t, err)
			target := func(capacity int) []budget.Target {
				return []budget.Target{{Provider: "p", Model: "model-of-mine", Window: budget.Window{Capacity: capacity, OutputReserve: 300, Buffer: budget.None}}}
			}
			m, err := engine.New(engine.Config{Policy: p, Catalog: c.With(catalog.Model{ID: "model-of-mine"}), Encodings: bpe.Load, Targets: target(60_000)})
			must(t, err)
			k := &thinker{t: t, m: m}
			const words = "They looked at the holds one after the other and wrote down what was in each of them. "
			feed := func(in engine.Input) (send *engine.Send, refused error) {
				must(t, m.Feed(in))
				for m.HasReady() {
					r := m.Ready()
					m.Advance(engine.Outcome{})
					if r.Ask != nil {
						must(t, m.Feed(engine.Answer{Ask: r.Ask.ID, Text: strings.Repeat(words, 400)}))
					}
					if r.Send != nil {
						send = r.Send
					}
					if r.Refused != nil {
						refused = r.Refused
					}
				}
				return send, refused
			}
			shown := func(s *engine.Send) bool {
				var all strings.Builder
				for _, sec := range s.Sections {
					all.WriteString(sec.Text)
				}
				for _, it := range s.Items {
					all.WriteString(it.Message.Text())
				}
				return strings.Contains(all.String(), words+words)
			}

			for range 30 {
				k.feed(engine.Append{Message: llm.UserText("And on. " + strings.Repeat("Look at the next hold, too. ", 100))})
				k.feed(engine.Prepare{})
				k.feed(engine.Append{Message: llm.AssistantText("Done. " + strings.Repeat("It is full of grain. ", 50))})
			}
			k.feed(engine.Append{Message: llm.UserText("And now?")})
			_, _ = feed(engine.Compact{})
			if s, err := feed(engine.Prepare{}); err != nil || !shown(s) {
				t.Fatalf("no summary stands: %v", err)
			}
			s, err := feed(engine.Prepare{Targets: target(4_000)})
			if err != nil || shown(s) {
				t.Fatalf("want the line of the summary alone, got %v", err)
			}
			var last edit.ID
			for _, e := range m.Journal() {
				if e.Op == edit.Archive {
					last = max(last, e.ID)
				}
			}
			must(t, m.Feed(engine.Undo{Edits: []edit.ID{last}}))
			if s, err := feed(engine.Prepare{Targets: target(60_000)}); err != nil || !shown(s) {
				t.Errorf("want the summary back, got %v", err)
			}
		})
	}
}
