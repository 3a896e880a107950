package gateway_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// BenchmarkExchange is one exchange of a conversation that grows by a Round each time and
// needs no edit: Begin, and the reply's usage. The body has about that many bytes. One in
// fifty begins a conversation, with all there is.
func BenchmarkExchange(b *testing.B) {
	for _, kB := range []int{10, 100, 1000} {
		for _, kind := range []string{"memory", "sqlite"} {
			b.Run(fmt.Sprintf("%dkB/%s", kB, kind), func(b *testing.B) {
				var s store.Store = &store.Memory{}
				if kind == "sqlite" {
					f, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "b.db"), sqlite.Options{})
					if err != nil {
						b.Fatal(err)
					}
					defer f.Close()
					s = f
				}
				g, err := gateway.New(gateway.Options{Store: s, Window: func(string, string) budget.Window {
					return budget.Window{Capacity: 4_000_000, MaxBytes: 1 << 30}
				}})
				if err != nil {
					b.Fatal(err)
				}
				var calls []gateway.Call
				c := &talk{system: "You read files.", tools: []string{"read"}}
				c.says("Read them.")
				for size := 0; size < kB*1000; size += 5_000 {
					c.reads(250)
				}
				for range 50 {
					c.reads(5)
					body, err := c.encoded()
					if err != nil {
						b.Fatal(err)
					}
					calls = append(calls, gateway.Call{Provider: "anthropic", Dialect: dialect, Body: body})
				}
				reply := []byte(`{"id":"m","type":"message","role":"assistant","model":"scripted","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":30000,"output_tokens":5}}`)
				b.SetBytes(int64(len(calls[0].Body)))
				b.ResetTimer()
				for n := range b.N {
					call, id := calls[n%len(calls)], strconv.Itoa(n/len(calls)) // then another conversation
					call.Header = func(name string) string {
						if name == "X-Session-Id" {
							return id
						}
						return ""
					}
					x, err := g.Begin(b.Context(), call)
					if err != nil || x.Report().Passed != "" {
						b.Fatal(err, x.Report())
					}
					r := x.Relay(b.Context(), false)
					_, _ = r.Write(reply)
					r.End()
				}
			})
		}
	}
}
