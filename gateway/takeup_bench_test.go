package gateway_test

import (
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// BenchmarkTakeUp is the first request of a conversation of 10,000 Rounds after a restart, from
// the snapshots that were taken of it and from its records.
func BenchmarkTakeUp(b *testing.B) {
	f, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "b.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	c := &talk{system: "You read files.", tools: []string{"read"}}
	c.says("Read them.")
	g := beginLong(b, f)
	for range 20 {
		for range 500 {
			c.reads(20)
		}
		beginsLong(b, g, encoded(b, c))
	}
	body := encoded(b, c)
	if err := g.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	for name, s := range map[string]store.Store{"snapshot": f, "records": struct{ store.Store }{f}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				beginsLong(b, beginLong(b, s), body)
			}
		})
	}
}

func beginLong(b *testing.B, s store.Store) *gateway.Gateway {
	b.Helper()
	g, err := gateway.New(gateway.Options{Store: s, Window: func(string, string) budget.Window {
		return budget.Window{Capacity: 400_000, OutputReserve: 8000, MaxBytes: 1 << 30}
	}})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

func encoded(b *testing.B, c *talk) []byte {
	b.Helper()
	body, err := c.encoded()
	if err != nil {
		b.Fatal(err)
	}
	return body
}

func beginsLong(b *testing.B, g *gateway.Gateway, body []byte) {
	b.Helper()
	x, err := g.Begin(b.Context(), gateway.Call{Provider: "anthropic", Dialect: dialect, Body: body})
	if err != nil || x.Report().Passed != "" {
		b.Fatal(err, x.Report())
	}
	r := x.Relay(b.Context(), false)
	_, _ = r.Write([]byte(`{"id":"m","type":"message","role":"assistant","model":"scripted","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":30000,"output_tokens":5}}`))
	r.End()
}
