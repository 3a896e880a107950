package proxytest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/store"
)

// marking returns the preset balanced with its marks in clients' requests, or without.
func marking(t *testing.T, marks bool) policy.Policy {
	p, err := policy.Preset("balanced")
	must(t, err)
	p.Prompt.Clients = marks
	return p
}

// plainRun runs 30 Steps of a client that marks nothing, by seed, and returns what its provider was
// asked. restarts begins a new gateway before each request, on the same store.
func plainRun(t *testing.T, seed uint64, window int, p policy.Policy, restarts bool) []scriptmodel.Call {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 3))
	model := scripted(t, "cache min 1024\nreply 29 times when tools\n  later 20s\n  text \"On with it.\"\n  call read {\"path\": \"a.txt\"}\nreply always\n  text \"Done.\"\n")
	kept := &store.Memory{}
	begin := func() string {
		return before(t, model, func(o *gateway.Options) {
			o.Policy, o.Store = p, kept
			o.Window = func(string, string) budget.Window { return budget.Window{Capacity: window, OutputReserve: 500} }
		}, nil).url
	}
	a := testagent.New(begin(), "anthropic", seed%2 == 0)
	a.Model = "claude-sonnet-5"
	a.System = []string{strings.Repeat("You read files, as a mate reads the log. ", 20+rnd.IntN(200))}
	a.Each = func(int) {
		a.Lines = 5 + rnd.IntN(200)
		if restarts {
			a.URL = begin()
		}
	}
	must(t, a.Run(t.Context()))
	return noFault(t, model)
}

// costOf returns what calls cost, in picodollars.
func costOf(t *testing.T, calls []scriptmodel.Call) (sum int64) {
	t.Helper()
	known, err := catalog.Load()
	must(t, err)
	m, _ := known.Lookup("claude-sonnet-5")
	for _, c := range calls {
		prices, ok := m.PricesAt(c.Reply.Usage.Prompt())
		cost, priced := prices.Cost(c.Reply.Usage)
		if !ok || !priced {
			t.Fatal("no price")
		}
		sum += cost
	}
	return sum
}

// TestMarksOfTheGateway: a client that sets no marks, behind a policy that sets them for it, pays
// less than without, whether its history is cut or not; the marks stand by the provider's rules, and
// a restart sends the same.
func TestMarksOfTheGateway(t *testing.T) {
	for _, window := range []int{1_000_000, 12_000} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("window %d seed %d", window, seed), func(t *testing.T) {
				without, with := plainRun(t, seed, window, marking(t, false), false), plainRun(t, seed, window, marking(t, true), false)
				if len(with) != 30 || len(without) != 30 {
					t.Fatalf("want 30 calls, got %d and %d", len(with), len(without))
				}
				if a, b := costOf(t, with), costOf(t, without); a*2 > b {
					t.Errorf("with marks %d, want at most half of %d", a, b)
				} else {
					t.Logf("with marks %d %% of %d picodollars", a*100/b, b)
				}
				for i, c := range with {
					if n := bytes.Count(c.Body, []byte(`"cache_control"`)); n < 2 || n > 4 {
						t.Errorf("call %d: %d marks", i+1, n)
					}
					if i > 0 && c.Reply.Usage.CacheRead == 0 && window > 12_000 {
						t.Errorf("call %d read nothing: %+v", i+1, c.Reply.Usage)
					}
					if got, want := withoutMarks(c.Body), withoutMarks(without[i].Body); window > 12_000 && !slices.Equal(got, want) {
						t.Errorf("call %d says something else than the client's:\n%.600s\n%.600s", i+1, got, want)
					}
				}
				if cut := bytes.Contains(with[29].Body, []byte("ref=")); cut != (window == 12_000) {
					t.Errorf("something was taken out: %v", cut)
				}
				if seed > 0 {
					return
				}
				for i, c := range plainRun(t, seed, window, marking(t, true), true) {
					if !bytes.Equal(c.Body, with[i].Body) {
						t.Fatalf("law 4: call %d after a restart:\n%.600s, want\n%.600s", i+1, c.Body, with[i].Body)
					}
				}
			})
		}
	}
}

// withoutMarks returns what a body says, text by text, whatever is a string there and what a block.
func withoutMarks(body []byte) (out []string) {
	var walk func(v gjson.Result)
	walk = func(v gjson.Result) {
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(k, v gjson.Result) bool {
				if k.String() != "cache_control" {
					walk(v)
				}
				return true
			})
			return
		}
		if s := v.String(); s != "text" || v.Type != gjson.String {
			out = append(out, s)
		}
	}
	walk(gjson.ParseBytes(body))
	return out
}

// TestMarksOfAClient: a client that sets marks keeps its own and gets no others.
func TestMarksOfAClient(t *testing.T) {
	model := scripted(t, fmt.Sprintf(longTask, ""))
	a := testagent.New(before(t, model, func(o *gateway.Options) { wide(o); o.Policy = marking(t, true) }, nil).url, "anthropic", false)
	a.Model, a.Change = "claude-sonnet-5", marked
	var sent [][]byte
	a.Change = func(b []byte) []byte {
		b = marked(b)
		sent = append(sent, b)
		return b
	}
	must(t, a.Run(t.Context()))
	for i, c := range noFault(t, model) {
		if bytes.Contains(sent[i], []byte("cache_control")) && !bytes.Equal(c.Body, sent[i]) {
			t.Errorf("call %d: want the client's own bytes, got %.300s", i+1, c.Body)
		}
	}
}
