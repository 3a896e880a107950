package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/gateway"
)

// limits returns what a gateway allows a request that states options, of a model whose
// window is stated as w.
func limits(t *testing.T, w budget.Window, model, options string) int {
	t.Helper()
	g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window { return w }})
	must(t, err)
	return asks(t, g, model, options, 1).Limit
}

// asks makes the request of a conversation that has n messages.
func asks(t *testing.T, g *gateway.Gateway, model, options string, n int) gateway.Report {
	t.Helper()
	messages := []string{`{"role":"user","content":"1"}`}
	for i := 1; i < n; i++ {
		messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":"%d"},{"role":"user","content":"%d"}`, i, i))
	}
	body := fmt.Appendf(nil, `{"model":%q,"messages":[%s],"options":%s}`, model, strings.Join(messages, ","), options)
	x, err := g.Begin(t.Context(), gateway.Call{Provider: "ollama", Dialect: "ollama", Body: body})
	must(t, err)
	if r := x.Report(); r.Passed != "" || r.Edited {
		t.Fatalf("options %s: got %+v, want it unchanged, with a session", options, r)
	}
	return x.Report()
}

// TestAskedWindow: a request that says how large a window its server is to have is kept
// within that one, unless the model's is known to be smaller.
func TestAskedWindow(t *testing.T) {
	const mine = "nobodys-own:1b"
	known, err := catalog.Load()
	must(t, err)
	if _, ok := known.Lookup(mine); ok {
		t.Fatalf("model %s is known, want one that is not", mine)
	}
	unstated := budget.Window{}
	of := func(n int) int { return limits(t, budget.Window{Capacity: n}, mine, `{}`) }
	for _, test := range []struct {
		name           string
		stated         budget.Window
		model, options string
		want           int
	}{
		{"asked for", unstated, mine, `{"num_ctx":4096}`, of(4096)},
		{"not asked for", unstated, mine, `{"num_predict":8}`, of(budget.DefaultCapacity)},
		{"less than is stated", budget.Window{Capacity: 32_768}, mine, `{"num_ctx":4096}`, of(4096)},
		{"more than is stated", budget.Window{Capacity: 4096}, mine, `{"num_ctx":32768}`, of(4096)},
		{"more than the model has", unstated, "gpt-4", `{"num_ctx":32768}`, limits(t, unstated, "gpt-4", `{}`)},
		{"less than was reserved", budget.Window{Capacity: 32_768, Buffer: 4096, OutputReserve: 4096}, mine, `{"num_ctx":4096}`, 4096 - 4096/4},
		{"absurd", unstated, mine, `{"num_ctx":1e300}`, of(budget.DefaultCapacity)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := limits(t, test.stated, test.model, test.options); got != test.want {
				t.Errorf("limit of %d tokens, want %d", got, test.want)
			}
		})
	}
	t.Run("another one in the next request", func(t *testing.T) {
		g, err := gateway.New(gateway.Options{})
		must(t, err)
		first, next := asks(t, g, mine, `{"num_ctx":4096}`, 1), asks(t, g, mine, `{"num_ctx":8192}`, 2)
		if first.Session != next.Session || next.Match != gateway.MatchNext || first.Limit != of(4096) || next.Limit != of(8192) {
			t.Errorf("got %+v, then %+v; want one session, and a limit by each window", first, next)
		}
	})
}
