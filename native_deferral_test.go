package plimsoll_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// nativeTarget is a target whose provider defers tools itself.
func nativeTarget() budget.Target {
	return budget.Target{Provider: "anthropic", Model: "claude-opus-4-5", Window: budget.Window{Capacity: 20_000}}
}

// natively returns options of a session whose provider defers tools itself.
func natively(t *testing.T) plimsoll.Options {
	o := deferring(t, "balanced")
	o.Targets = []budget.Target{nativeTarget()}
	return o
}

// encoded returns a request in a dialect, which keeps the rules of that.
func encoded(t *testing.T, s *engine.Send, d llm.Dialect) []byte {
	t.Helper()
	r := s.Request()
	r.MaxOutput = 1000
	body, err := codecs.Body(r, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range (check.Options{Model: r.Model}).Request(d, body.JSON) {
		t.Errorf("%s: %v", d, f)
	}
	return body.JSON
}

// deferredNames returns the tools of a body, those that wait and the others.
func deferredNames(body []byte) (at, later []string) {
	for _, tool := range gjson.GetBytes(body, "tools").Array() {
		name := tool.Get("name").String()
		if tool.Get("defer_loading").Bool() {
			later = append(later, name)
			continue
		}
		at = append(at, name)
	}
	return at, later
}

// Where the provider defers tools all are declared, so that what stands before the messages never
// changes; what the search finds is named in its answer.
func TestNativeDeferral(t *testing.T) {
	o := natively(t)
	s := began(t, o, manyTools())
	first := prepare(t, s)
	body := encoded(t, first, "anthropic")
	at, later := deferredNames(body)
	t.Run("R002-16_all are declared", func(t *testing.T) {
		if len(at)+len(later) != 35+3 || !slices.Contains(at, policy.ToolSearch) || !slices.Contains(later, "port__dock_25") || slices.Contains(later, "read") {
			t.Errorf("at once %q, later %q", at, later)
		}
	})
	t.Run("R002-15_what waits takes no room", func(t *testing.T) {
		if u := s.Usage(); u.Parts.Tools > u.Limit/10 || u.Parts.Tools < u.Limit/20 {
			t.Errorf("want tools of nearly a tenth of %d, got %d", u.Limit, u.Parts.Tools)
		}
		if notes := toolNotes(first); len(notes) != 1 || notes[0] != fmt.Sprintf("[%d tools are left out to save room. tool_search finds them by what they do.]", len(later)) {
			t.Errorf("want a note on %d tools, got %q", len(later), notes)
		}
	})
	t.Run("R002-16_what is found is named, and the prefix stays", func(t *testing.T) {
		before := s.Usage().Count.Point
		searching(t, s, "c1", "dock at quay 25")
		second := prepare(t, s)
		now := encoded(t, second, "anthropic")
		for _, path := range []string{"tools", "messages.0"} {
			if was, is := gjson.GetBytes(body, path).Raw, gjson.GetBytes(now, path).Raw; !bytes.Equal(withoutMarks(was), withoutMarks(is)) {
				t.Errorf("%s: want it as it was, %.300s, got %.300s", path, was, is)
			}
		}
		found := gjson.GetBytes(now, `messages.@reverse.0.content.0.content.0`)
		if found.Get("type").String() != "tool_reference" || found.Get("tool_name").String() != "port__dock_25" {
			t.Errorf("want what was found named, got %.500s", found.Raw)
		}
		if grown := s.Usage().Count.Point - before; grown < 150 { // the definition takes room where it stands now
			t.Errorf("want a definition counted, got %d tokens", grown)
		}
	})
	t.Run("law4_after a restart", func(t *testing.T) {
		if diff := cmp.Diff(prepare(t, s).Request(), prepare(t, open(t, o)).Request()); diff != "" {
			t.Errorf("- before, + after\n%s", diff)
		}
	})
}

func withoutMarks(raw string) []byte {
	return bytes.ReplaceAll([]byte(raw), []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// A dialect that cannot defer tools has them as if the list grew: a request can go anywhere.
func TestNativeDeferralElsewhere(t *testing.T) {
	for _, d := range []llm.Dialect{"openai-chat", "openai-responses", "gemini", "ollama"} {
		t.Run("R002-16_"+string(d), func(t *testing.T) {
			s := began(t, natively(t), manyTools())
			names := func() []string {
				codec, _ := codecs.For(d)
				r, err := codec.DecodeRequest(encoded(t, prepare(t, s), d))
				if err != nil {
					t.Fatal(err)
				}
				var out []string
				for _, tool := range r.Tools {
					out = append(out, tool.Name)
				}
				return out
			}
			before := names()
			if slices.Contains(before, "port__dock_25") || !slices.Contains(before, policy.ToolSearch) {
				t.Errorf("want some left out, got %q", before)
			}
			searching(t, s, "c1", "dock at quay 25")
			now := names()
			if !slices.Equal(now[:len(before)], before) || now[len(before)] != "port__dock_25" {
				t.Errorf("want %q and behind it what was found, got %q", before, now)
			}
		})
	}
}

// searchedElsewhere returns options of a session whose provider searches by itself.
func searchedElsewhere(t *testing.T) plimsoll.Options {
	o := natively(t)
	o.WithoutTools = true
	return o
}

// foundElsewhere is a reply in which the provider's own search has found a tool, which is called.
func foundElsewhere(t *testing.T) llm.Message {
	t.Helper()
	body := []byte(`{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[
		{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query":"dock at 25"}},
		{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result", "tool_references":[{"type":"tool_reference","tool_name":"port__dock_25"}]}},
		{"type":"tool_use","id":"toolu_1","name":"port__dock_25","input":{}}],"usage":{"input_tokens":9,"output_tokens":9}}`)
	codec, _ := codecs.For("anthropic")
	r, err := codec.DecodeResponse(body)
	if err != nil {
		t.Fatal(err)
	}
	return r.Message
}

// A host that answers no search of the policy's leaves that to the provider, where each target has
// one.
func TestNativeDeferralOfTheProvider(t *testing.T) {
	t.Run("R002-16_its search is declared, and what it finds is counted", func(t *testing.T) {
		o := searchedElsewhere(t)
		s := began(t, o, manyTools())
		first := prepare(t, s)
		at, later := deferredNames(encoded(t, first, "anthropic"))
		if at[0] != "tool_search_tool_bm25" || !slices.Contains(later, "port__dock_25") {
			t.Errorf("at once %q, later %q", at, later)
		}
		if notes := toolNotes(first); len(notes) != 1 {
			t.Errorf("want a note, got %q", notes)
		}
		tools, m := s.Usage().Parts.Tools, foundElsewhere(t)
		add(t, s, m, gaveBack("toolu_1"))
		if grown := s.Usage().Parts.Tools - tools; grown < 100 || grown > 300 {
			t.Errorf("want the definition that was found counted, got %d tokens", grown)
		}
		second := prepare(t, s)
		body := encoded(t, second, "anthropic")
		for _, p := range m.Parts {
			if !bytes.Contains(body, p.Bytes()) {
				t.Errorf("want the block as it came, %s, got %.2000s", p.Bytes(), body)
			}
		}
		if diff := cmp.Diff(second.Request(), prepare(t, open(t, o)).Request()); diff != "" {
			t.Errorf("law 4: - before, + after a restart\n%s", diff)
		}
		if err := s.Finish(t.Context(), engine.ReasonMaxTurns); err != nil {
			t.Fatal(err)
		}
		at, later = deferredNames(encoded(t, prepare(t, s), "anthropic")) // which keeps the rules
		if len(at) != 1 || !slices.Equal(later, []string{"port__dock_25"}) {
			t.Errorf("in a final Step: at once %q, later %q", at, later)
		}
	})
	for name, change := range map[string]func(o *plimsoll.Options){
		"a target that has no search": func(o *plimsoll.Options) {
			o.Targets = append(o.Targets, budget.Target{Provider: "a", Model: "gpt-4o"})
		},
		"a provider that nobody states": func(o *plimsoll.Options) { o.Targets[0].Provider = "" },
		"a policy that appends":         func(o *plimsoll.Options) { o.Policy.Deferral.Means = policy.MeansAppend },
	} {
		t.Run("R002-26_"+name, func(t *testing.T) {
			o := searchedElsewhere(t)
			change(&o)
			s := began(t, o, manyTools())
			if _, later := deferredNames(encoded(t, prepare(t, s), "anthropic")); later != nil {
				t.Errorf("want all at once, got %q later", later)
			}
		})
	}
	t.Run("R002-26_a target without one comes later", func(t *testing.T) {
		o := searchedElsewhere(t)
		o.Targets[0].Window.Capacity = 60_000
		s := began(t, o, append(manyTools(), manyMore()...))
		prepare(t, s)
		other := budget.Target{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 60_000}}
		if _, later := deferredNames(encoded(t, prepare(t, s, nativeTarget(), other), "anthropic")); later != nil {
			t.Errorf("want all at once from then on, got %q later", later)
		}
	})
}

// What a batch takes out may have loaded tools, and a person may take the batch back: each time
// the tools that are before the model are counted, and declared in a final Step.
func TestNativeDeferralTakenBack(t *testing.T) {
	o := searchedElsewhere(t)
	o.Targets[0].Window.Capacity = 40_000
	s := began(t, o, append(manyTools(), manyMore()...))
	prepare(t, s)
	without := toolsCounted(s)
	add(t, s, foundElsewhere(t), gaveBack("toolu_1"))
	loaded := toolsCounted(s)
	for n := range 12 {
		call, result := round(n)
		add(t, s, call, result, reply("Read."), human("Go on."))
		prepare(t, s)
	}
	same := func(when string, want [3]int) {
		t.Helper()
		prepare(t, s, o.Targets...)
		if got := toolsCounted(s); got != want {
			t.Errorf("%s: want tools, schema and share %d, got %d", when, want, got)
		}
		if got := toolsCounted(open(t, o)); got != want {
			t.Errorf("%s, after a restart: want tools, schema and share %d, got %d", when, want, got)
		}
	}
	if _, err := s.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	same("taken out", without)
	for _, e := range slices.Backward(s.Edits()) {
		if e.Op == edit.Insert {
			continue
		}
		if err := s.Undo(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
	}
	o.Targets[0].Window.Capacity = 400_000 // so that nothing takes it out again
	same("taken back", loaded)
	if err := s.Finish(t.Context(), engine.ReasonMaxTurns); err != nil {
		t.Fatal(err)
	}
	if _, later := deferredNames(encoded(t, prepare(t, s), "anthropic")); !slices.Equal(later, []string{"port__dock_25"}) {
		t.Errorf("in a final Step: later %q", later)
	}
}

// toolsCounted returns what the tools before the model take: by the count, by the guard, and by
// where they come from.
func toolsCounted(s *plimsoll.Session) [3]int {
	u, shares := s.Usage(), 0
	for _, share := range u.Tools {
		shares += share.Tokens
	}
	return [3]int{u.Parts.Tools, u.Guard.Schema, shares}
}

// manyMore returns tools beside those of manyTools.
func manyMore() []llm.Tool {
	tools := manyTools()[5:]
	for i := range tools {
		tools[i].Name = "more_" + tools[i].Name
	}
	return tools
}

// A host that has its provider defer tools by its own means is left alone.
func TestNativeDeferralOfTheHost(t *testing.T) {
	tools := manyTools()
	tools[4].Deferred = true
	s := began(t, natively(t), tools)
	if _, later := deferredNames(encoded(t, prepare(t, s), "anthropic")); !slices.Equal(later, []string{"rig_2"}) {
		t.Errorf("want the host's own deferred, got %q", later)
	}
}

// A reference whose tool is gone is told in words.
func TestNativeDeferralOfAToolThatIsGone(t *testing.T) {
	s := began(t, natively(t), manyTools())
	prepare(t, s)
	searching(t, s, "c1", "port__dock_25")
	prepare(t, s)
	gone := slices.DeleteFunc(manyTools(), func(tool llm.Tool) bool { return tool.Name == "port__dock_25" })
	if err := s.SetTools(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	body := encoded(t, prepare(t, s), "anthropic")
	if bytes.Contains(body, []byte("tool_reference")) {
		t.Errorf("want no reference, got %.2000s", body)
	}
}

// What the provider's own search has found names no tool that is gone, be it one of its server's or
// all, and has its bytes again when the tool comes back.
func TestNativeDeferralOfAServerThatIsGone(t *testing.T) {
	for name, gone := range map[string]func(llm.Tool) bool{
		"one tool":   func(tool llm.Tool) bool { return tool.Name == "port__dock_25" },
		"its server": func(tool llm.Tool) bool { return tool.Kind == llm.ToolOfServer },
	} {
		t.Run("R002-26_"+name, func(t *testing.T) {
			s, reply := began(t, searchedElsewhere(t), manyTools()), foundElsewhere(t)
			prepare(t, s)
			add(t, s, reply, gaveBack("toolu_1"))
			found := reply.Parts[1].Bytes()
			for _, tools := range [][]llm.Tool{slices.DeleteFunc(manyTools(), gone), manyTools()} {
				if err := s.SetTools(t.Context(), tools); err != nil {
					t.Fatal(err)
				}
				body := encoded(t, prepare(t, s), "anthropic") // which keeps the rules
				whole := len(tools) == len(manyTools())
				if bytes.Contains(body, found) != whole || !bytes.Contains(body, []byte("srvtoolu_1")) {
					t.Errorf("with %d tools: %.2000s", len(tools), body)
				}
			}
		})
	}
}

// The cache mark behind the tools stands on the last one that does not wait, wherever a client has
// those that do: on one that waits it would be refused.
func TestMarkBehindToolsOfWhichSomeWait(t *testing.T) {
	codec, _ := codecs.For("anthropic")
	r, err := codec.DecodeRequest([]byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Go."}],"tools":[
		{"name":"dock","input_schema":{"type":"object"},"defer_loading":true},{"name":"moor","input_schema":{"type":"object"},"defer_loading":true},
		{"name":"read","input_schema":{"type":"object"}},{"name":"bash","input_schema":{"type":"object"}},{"name":"sail","input_schema":{"type":"object"},"defer_loading":true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	made := slices.Clone(r.Tools)
	for i := range made {
		made[i].Raw = llm.Raw{}
	}
	for name, tools := range map[string][]llm.Tool{"R002-26_of a client": r.Tools, "R002-26_made here": made} {
		t.Run(name, func(t *testing.T) {
			o := searchedElsewhere(t)
			s := began(t, o, tools)
			body := encoded(t, prepare(t, s), "anthropic") // which keeps the rules
			if at := gjson.GetBytes(body, "tools.#(cache_control).name").String(); at != "bash" {
				t.Errorf("want the mark on bash, got %q in %s", at, body)
			}
		})
	}
}
