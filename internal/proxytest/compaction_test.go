package proxytest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/store"
)

// compactAsk is what a client asks for that has its provider's own summary stand for the conversation.
var compactAsk = map[llm.Dialect]struct{ model, ask string }{
	"anthropic":        {"claude-opus-4-6", `{"context_management":{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":50000}}]},`},
	"openai-responses": {"gpt-5.2", `{"context_management":[{"type":"compaction","compact_threshold":50000}],`},
}

// compacting runs 40 Steps of 3,100 tokens through a proxy, in a window that holds 20 of them, and
// returns what the client sent and what came to the provider.
func compacting(t *testing.T, d llm.Dialect, stream, restarts, asks bool, p policy.Policy) (sent, got [][]byte) {
	t.Helper()
	server := scripted(t, "window 200000\noutput 500\nreply 39 times when tools\n  text \"On with it.\"\n  call read {\"path\": \"a.txt\"}\nreply always\n  text \"Done.\"\n")
	kept := &store.Memory{}
	begin := func() string {
		return before(t, server, func(o *gateway.Options) {
			o.Policy, o.Store = p, kept
			o.Window = func(string, string) budget.Window { return budget.Window{Capacity: 64_000, OutputReserve: 500} }
		}, nil).url
	}
	c := compactAsk[d]
	a := testagent.New(begin(), d, stream)
	a.Model, a.Lines = c.model, 700
	a.Change = func(body []byte) []byte {
		if asks {
			body = bytes.Replace(body, []byte("{"), []byte(c.ask), 1)
		}
		sent = append(sent, body)
		return body
	}
	if asks && d == "anthropic" {
		a.Header.Set("Anthropic-Beta", "compact-2026-01-12")
	}
	a.Each = func(int) {
		if restarts {
			a.URL = begin()
		}
	}
	must(t, a.Run(t.Context()))
	for _, call := range noFault(t, server) {
		got = append(got, call.Body)
	}
	return sent, got
}

// TestCompactionOfAClient: a client that has its provider's own summary stand for the conversation is
// let alone. What the summary stands for counts no more, so that nothing is edited although all that
// is sent would be above the window; each request comes to the provider as it was sent.
func TestCompactionOfAClient(t *testing.T) {
	p, err := policy.Preset("balanced")
	must(t, err)
	for d := range compactAsk {
		for name, c := range map[string]struct{ stream, restarts bool }{"whole": {}, "streamed": {stream: true}, "law 4: after restarts": {restarts: true}} {
			t.Run(string(d)+" "+name, func(t *testing.T) {
				sent, got := compacting(t, d, c.stream, c.restarts, true, p)
				if len(sent) != 40 || len(got) != 40 {
					t.Fatalf("%d requests, of which %d came", len(sent), len(got))
				}
				for i := range sent {
					if !bytes.Equal(sent[i], got[i]) {
						t.Fatalf("request %d: %d bytes became %d: %.600s", i+1, len(sent[i]), len(got[i]), got[i])
					}
				}
				if n := strings.Count(string(got[39]), `"type":"compaction"`); n < 2+len(gjson.GetBytes(got[39], "context_management.0").Array()) {
					t.Errorf("want two summaries and more, got %d", n)
				}
			})
		}
	}
}

// TestCompactionIsNotAskedForAClient: a policy's rung does not ask for a summary on behalf of a client
// that has not: it would have to keep what comes back.
func TestCompactionIsNotAskedForAClient(t *testing.T) {
	p, err := policy.Preset("balanced")
	must(t, err)
	p.Rules = append([]policy.Rule{{
		Name: "theirs", At: policy.AtPrepare, Do: policy.DoProvider, Args: policy.Args{What: policy.ProviderCompact, Tokens: 50_000},
	}}, p.Rules...)
	must(t, policy.Validate(p))
	for d := range compactAsk {
		t.Run(string(d), func(t *testing.T) {
			_, got := compacting(t, d, false, false, false, p)
			edited := 0
			for i, body := range got {
				if gjson.GetBytes(body, "context_management").Exists() {
					t.Fatalf("request %d: %.300s", i+1, body)
				}
				if bytes.Contains(body, []byte("ref=")) {
					edited++
				}
			}
			if edited == 0 {
				t.Error("want the other rules to act")
			}
		})
	}
}
