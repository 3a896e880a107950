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
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/store"
)

// clearing returns balanced with a rung that has the provider take old outputs out by itself.
func clearing(t *testing.T) policy.Policy {
	p, err := policy.Preset("balanced")
	must(t, err)
	p.Rules = append([]policy.Rule{{
		Name: "their-clearing", At: policy.AtPrepare, Do: policy.DoProvider,
		Args: policy.Args{Permille: 500, To: 900, Keep: policy.Tail{Unit: policy.TailRounds, N: 2}},
	}}, p.Rules...)
	must(t, policy.Validate(p))
	return p
}

// cleared runs 40 Steps through a proxy on a window that holds some ten, and returns what the provider
// was asked, and where outputs are stored.
func cleared(t *testing.T, stream, restarts bool, p policy.Policy, change func([]byte) []byte) ([]scriptmodel.Call, *store.Memory, front) {
	t.Helper()
	server := scripted(t, "window 12000\noutput 500\nreply 39 times when tools\n  text \"On with it.\"\n  call read {\"path\": \"a.txt\"}\nreply always\n  text \"Done.\"\n")
	kept := &store.Memory{}
	var f front
	begin := func() string {
		f = before(t, server, func(o *gateway.Options) {
			o.Policy, o.Store = p, kept
			o.Window = func(string, string) budget.Window { return budget.Window{Capacity: 12_000, OutputReserve: 500} }
		}, nil)
		return f.url
	}
	a := testagent.New(begin(), "anthropic", stream)
	a.Model, a.Lines, a.Change = "claude-sonnet-4-5", 150, change
	a.Each = func(int) {
		if restarts {
			a.URL = begin()
		}
	}
	must(t, a.Run(t.Context()))
	return noFault(t, server), kept, f
}

// TestClearingOfTheProvider: under a rung that asks for it the provider takes old outputs out of the
// prompt by itself: nothing of ours is edited, what it says of that is believed, what it takes out is
// stored before, and a restart asks the same.
func TestClearingOfTheProvider(t *testing.T) {
	for name, stream := range map[string]bool{"whole": false, "streamed": true} {
		t.Run(name, func(t *testing.T) {
			calls, kept, f := cleared(t, stream, false, clearing(t), nil)
			taken := 0
			for i, c := range calls {
				edit := gjson.GetBytes(c.Body, "context_management.edits.0")
				if edit.Get("type").String() != "clear_tool_uses_20250919" || edit.Get("trigger.value").Int() < 2000 || edit.Get("keep.value").Int() > 3 {
					t.Fatalf("call %d: want the provider asked, got %s", i+1, edit.Raw)
				}
				if bytes.Contains(c.Body, []byte("ref=")) && !bytes.Contains(c.Body, []byte("lines as shown")) {
					t.Errorf("call %d: want nothing edited, got %.300s", i+1, c.Body)
				}
				if c.Prompt > 11_500 {
					t.Errorf("call %d: a prompt of %d tokens", i+1, c.Prompt)
				}
				if bytes.Contains(c.Body, []byte(`"cache_control"`)) {
					t.Errorf("call %d: a mark of nobody", i+1)
				}
				if i > 0 && c.Prompt < calls[i-1].Prompt {
					taken++
				}
			}
			if taken == 0 || len(calls) != 40 {
				t.Errorf("%d calls, of which %d had less than the one before", len(calls), taken)
			}
			first := "line of file 1.0\n"
			if _, err := kept.Get(t.Context(), sessionOf(t, f), llm.RefOf([]byte(strings.Repeat(first, 150)))); err != nil {
				t.Errorf("the first output, which the provider has taken out: %v", err)
			}
		})
	}
	t.Run("law 4: after a restart", func(t *testing.T) {
		straight, _, _ := cleared(t, false, false, clearing(t), nil)
		again, _, _ := cleared(t, false, true, clearing(t), nil)
		for i := range straight {
			if !bytes.Equal(straight[i].Body, again[i].Body) {
				t.Fatalf("call %d:\n%.400s\nwant\n%.400s", i+1, again[i].Body, straight[i].Body)
			}
		}
	})
	t.Run("a client that asks by itself", func(t *testing.T) {
		own := []byte(`{"context_management":{"edits":[]},`)
		server := scripted(t, "reply always\n  text \"Done.\"\n")
		f := before(t, server, func(o *gateway.Options) { wide(o); o.Policy = clearing(t) }, nil)
		a := testagent.New(f.url, "anthropic", false)
		a.Model = "claude-sonnet-4-5"
		a.Header.Set("Anthropic-Beta", "context-management-2025-06-27")
		var sent []byte
		a.Change = func(b []byte) []byte { sent = bytes.Replace(b, []byte("{"), own, 1); return sent }
		must(t, a.Step(t.Context()))
		if body := server.Log()[0].Body; !bytes.Equal(body, sent) {
			t.Errorf("want its own bytes, got %s", body)
		}
	})
}

// sessionOf returns the session that a proxy's log names.
func sessionOf(t *testing.T, f front) string {
	t.Helper()
	line := f.log.Requests(t, 1)[0]
	name, _ := line["session"].(string)
	return name
}
