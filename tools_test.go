package plimsoll_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// names returns those of tools, ours in brackets.
func names(tools []llm.Tool) []string {
	var out []string
	for _, t := range tools {
		if t.Builtin {
			t.Name = "[" + t.Name + "]"
		}
		out = append(out, t.Name)
	}
	return out
}

// TestOffered: the policy's own tools stand behind the host's from the first request on, or
// never; a host's tool of such a name keeps it, and ours a prefix from then on.
func TestOffered(t *testing.T) {
	set := func(t *testing.T, s *plimsoll.Session, names ...string) {
		t.Helper()
		var tools []llm.Tool
		for _, n := range names {
			tools = append(tools, llm.Tool{Name: n})
		}
		if err := s.SetTools(t.Context(), tools); err != nil {
			t.Fatal(err)
		}
	}
	offered := func(t *testing.T, s *plimsoll.Session, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, names(prepare(t, s).Request().Tools)); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	}
	const ours, prefixed = "[read_result]", "[plimsoll_read_result]"
	options := func(t *testing.T) plimsoll.Options {
		p := preset(t, "layered")
		p.Tools = []string{policy.ToolReadResult}
		return plimsoll.Options{ID: "a", Store: &store.Memory{}, Policy: p}
	}
	t.Run("to a host that has none", func(t *testing.T) {
		s := open(t, options(t))
		add(t, s, human("Go."))
		offered(t, s, ours)
	})
	t.Run("behind those of the host, also after a restart", func(t *testing.T) {
		o := options(t)
		s := open(t, o)
		set(t, s, "read")
		add(t, s, human("Go."))
		offered(t, s, "read", ours)
		s = open(t, o)
		offered(t, s, "read", ours)
		set(t, s, "read", "write")
		offered(t, s, "read", "write", ours)
	})
	t.Run("R001-7 the host's tool wins", func(t *testing.T) {
		o := options(t)
		s := open(t, o)
		set(t, s, policy.ToolReadResult)
		add(t, s, human("Go."))
		offered(t, s, policy.ToolReadResult, prefixed)
		s = open(t, o)
		set(t, s) // nothing is in its way any more
		offered(t, s, prefixed)
	})
	t.Run("not once a conversation has begun without", func(t *testing.T) {
		o := options(t)
		o.WithoutTools = true
		s := open(t, o)
		set(t, s, "read")
		add(t, s, human("Go."))
		offered(t, s, "read")
		add(t, s, reply("Done."), human("And on."))
		o.WithoutTools = false
		s = open(t, o)
		offered(t, s, "read")
		set(t, s, "read", "write")
		offered(t, s, "read", "write")
	})
	t.Run("those it began with, under another policy", func(t *testing.T) {
		o := options(t)
		s := open(t, o)
		add(t, s, human("Go."))
		prepare(t, s)
		o.Policy = preset(t, "cache-compact")
		s = open(t, o)
		set(t, s, "read")
		offered(t, s, "read", ours)
	})
}

// TestBuiltin: what the model calls of ours is answered from the store and shown as it is,
// what it calls of the host's is the host's.
func TestBuiltin(t *testing.T) {
	for _, c := range []struct{ policy, id, tool, args, want string }{
		{"layered", "R002-7", "read_result", `{"ref_id":"REF","offset":20000,"limit":40}`, "of the mast"},
		{"cache-compact", "R001-7", "tool_output_cache", `{"ref_id":"REF","offset":1999,"limit":2}`, " 2000  the height of the mast is 31 m"},
		{"cache-compact", "R001-8", "tool_output_cache_grep", `{"ref_id":"REF","pattern":"31 m"}`, " 2000  the height of the mast is 31 m"},
		{"balanced", "R001-7", "tool_output_cache", `{"ref_id":"REF","offset":1999,"limit":2}`, " 2000  the height of the mast is 31 m"},
		{"balanced", "law2", "search_context", `{"query":"height of the mast"}`, "the height of the mast is 31 m"},
		{"guard", "R000-21", "tool_output", `{"handle":"REF","extract":"the height of the mast in m"}`, "the height of the mast is 31 m"},
	} {
		t.Run(c.id+"_"+c.policy+"_"+c.tool, func(t *testing.T) {
			s := open(t, plimsoll.Options{Policy: preset(t, c.policy), Targets: []budget.Target{windowOf("gpt-4o", 60_000)}})
			add(t, s, human("How high is the mast?"))
			prepare(t, s)
			add(t, s, calls("read", 1))
			lines := slices.Repeat([]string{"nothing is known of the mast yet, look on"}, 4000)
			lines[1999] = "the height of the mast is 31 m"
			p := result(t, s, "c1", strings.Join(lines, "\n"))
			if shown := outputs(s)[0]; p.Shown == plimsoll.ShownWhole || strings.Contains(shown, "31 m") {
				t.Fatalf("placed %+v, want it shown in part, without the line", p)
			}
			prepare(t, s)
			args := strings.ReplaceAll(c.args, "REF", string(p.Ref))
			add(t, s, llm.AssistantText("", llm.ToolCall{CallID: "b1", Name: c.tool, Args: args}, llm.ToolCall{CallID: "b2", Name: "read", Args: "{}"}))
			for id, want := range map[string]bool{"b1": true, "b2": false} {
				name := map[bool]string{true: c.tool, false: "read"}[want]
				if served, err := s.Builtin(t.Context(), llm.ToolCall{CallID: id, Name: name, Args: args}); err != nil || served != want {
					t.Fatalf("%s: served %t, %v; want %t", name, served, err, want)
				}
			}
			if got := outputs(s)[1]; !strings.Contains(got, c.want) {
				t.Errorf("the model reads %.300q, want %q in it", got, c.want)
			}
		})
	}
}

// TestSearchIsSaidOnce: what many contents say alike, such as archives one of which stands in
// the next, is found once, in the one that fits best, so that there is room for what else fits.
func TestSearchIsSaidOnce(t *testing.T) {
	var st store.Memory
	alike := strings.Repeat("say of each ship how high her mast is\n", 10)
	var blobs []edit.Blob
	for i := range 8 {
		text := alike + strings.Repeat(fmt.Sprintf("archive %d\n", i), 40)
		blobs = append(blobs, edit.Blob{Ref: llm.RefOf([]byte(text)), Data: []byte(text)})
	}
	text := strings.Repeat("nothing new\n", 100) + "the mast is 31 m high\n" + strings.Repeat("nothing new\n", 100)
	blobs = append(blobs, edit.Blob{Ref: llm.RefOf([]byte(text)), Data: []byte(text)})
	must(t, st.Put(t.Context(), "s", blobs))
	hits, err := plimsoll.Contents(&st, "s").Search(t.Context(), "how high mast", 3)
	must(t, err)
	if len(hits) != 2 || !strings.HasPrefix(hits[0].Text, alike[:100]) || !strings.Contains(hits[1].Text, "the mast is 31 m high") {
		t.Errorf("want what is said alike once, and the mast, got %+v", hits)
	}
}

// TestSearchFindsNoCopies: what the model has read with our tools is not found when it has left
// the view again, by itself or with all around it, but for where it came from.
func TestSearchFindsNoCopies(t *testing.T) {
	for _, name := range []string{"balanced", "lean", "quality"} {
		t.Run("law2_"+name, func(t *testing.T) { searchFindsNoCopies(t, name) })
	}
}

func searchFindsNoCopies(t *testing.T, name string) {
	s := pageRead(t, name, new(store.Memory))
	for i := range 40 {
		add(t, s, llm.AssistantText("", llm.ToolCall{CallID: fmt.Sprint("d", i), Name: "read", Args: "{}"}))
		result(t, s, fmt.Sprint("d", i), strings.ReplaceAll(numbered(6000), "line", fmt.Sprint("deck ", i, " plank")))
		prepare(t, s)
	}
	if slices.ContainsFunc(outputs(s), func(o string) bool { return strings.Contains(o, "31 m") }) {
		t.Fatal("want the page to have left the view")
	}
	find := llm.ToolCall{CallID: "find", Name: policy.ToolSearchContext, Args: `{"query":"height of the mast is 31"}`}
	add(t, s, llm.AssistantText("", find))
	if served, err := s.Builtin(t.Context(), find); err != nil || !served {
		t.Fatal(served, err)
	}
	got := outputs(s)[len(outputs(s))-1]
	if !strings.Contains(got, "\n 2000  the height of the mast is 31 m") || strings.Count(got, "31 m") != 1 {
		t.Errorf("want the line once, where it came from, got %s", got)
	}
}

// pageRead is a session in which the model has read a page of a large output.
func pageRead(t *testing.T, name string, st store.Store) *plimsoll.Session {
	t.Helper()
	sum := &summariser{text: "<summary>" + strings.Repeat("It is about a ship. ", 100) + "</summary>"}
	s := open(t, plimsoll.Options{ID: "ship", Policy: preset(t, name), Store: st, Targets: []budget.Target{windowOf("gpt-4o", 60_000)}, Summariser: sum})
	add(t, s, human("How high is the mast?"))
	prepare(t, s)
	add(t, s, calls("read", 1))
	lines := slices.Repeat([]string{"nothing is known of the mast yet, look on"}, 4000)
	lines[1999] = "the height of the mast is 31 m"
	ref := result(t, s, "c1", strings.Join(lines, "\n")).Ref
	prepare(t, s)
	page := llm.ToolCall{CallID: "own", Name: policy.ToolOutputCache, Args: fmt.Sprintf(`{"ref_id":%q,"offset":1900,"limit":200}`, ref)}
	add(t, s, llm.AssistantText("", page))
	if served, err := s.Builtin(t.Context(), page); err != nil || !served {
		t.Fatal(served, err)
	}
	return s
}

// TestSearchFindsNoCopiesInArchives: nor in what has left together, and by a program that has not
// opened the session and cannot know whose the outputs are.
func TestSearchFindsNoCopiesInArchives(t *testing.T) {
	st := new(store.Memory)
	s := pageRead(t, "balanced", st)
	for i := range 4 { // the newest Rounds stay
		add(t, s, llm.AssistantText("", llm.ToolCall{CallID: fmt.Sprint("e", i), Name: "read", Args: "{}"}))
		result(t, s, fmt.Sprint("e", i), "nothing")
	}
	if _, err := s.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if left := outputs(s); slices.ContainsFunc(left, func(o string) bool { return strings.Contains(o, "31 m") }) {
		t.Fatalf("want the page to have left, got %d outputs", len(left))
	}
	hits, err := plimsoll.Contents(st, "ship").Search(t.Context(), "height of the mast is 31", 9)
	must(t, err)
	if n := slices.IndexFunc(hits, func(h builtin.Hit) bool { return h.Said && strings.Contains(h.Text, " 2000  the height") }); n >= 0 {
		t.Errorf("want no page, got %+v", hits[n])
	}
	if len(hits) == 0 || !strings.Contains(hits[0].Text, "31 m") {
		t.Errorf("want where it came from, got %+v", hits)
	}
}

// TestDenied is R000-28 in the library: a tool that is not allowed is not offered, the policy's
// own neither, and a call of it gets a stated result.
func TestDenied(t *testing.T) { t.Run("R000-28", denied) }

func denied(t *testing.T) {
	s := open(t, plimsoll.Options{Policy: preset(t, "balanced"), Allow: func(tool string) bool { return tool != "shell" && tool != policy.ToolSearchContext }})
	if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read"}, {Name: "shell"}}); err != nil {
		t.Fatal(err)
	}
	add(t, s, human("Clean up."))
	if diff := cmp.Diff([]string{"read", "[tool_output_cache]"}, names(prepare(t, s).Tools)); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	add(t, s, calls("shell", 1))
	if served, err := s.Builtin(t.Context(), llm.ToolCall{CallID: "c1", Name: "shell", Args: "{}"}); !served || err != nil {
		t.Fatalf("served %t, %v", served, err)
	}
	if got := outputs(s)[0]; got != `The tool "shell" is not allowed here. Nothing was done.` {
		t.Errorf("the model reads %q", got)
	}
}

// TestToolsAreOthers: where a tool of the same name is another one now, of the provider or in that it takes
// free text now, an event says what that costs; none does where the same list is set again.
func TestToolsAreOthers(t *testing.T) {
	theirs := func(raw string) []llm.Tool { return []llm.Tool{{Name: "search", Raw: llm.Raw{Data: []byte(raw)}}} }
	own := func(custom bool) []llm.Tool {
		return []llm.Tool{{Name: "patch", Description: "Patches.", Custom: custom}}
	}
	for _, c := range []struct {
		name     string
		was, now []llm.Tool
		want     bool
	}{
		{"a provider's own", theirs(`{"type":"search_1","name":"search"}`), theirs(`{"type":"search_2","name":"search"}`), true},
		{"one that takes free text now", own(false), own(true), true},
		{"the same", theirs(`{"type":"search_1","name":"search"}`), theirs(`{"type":"search_1","name":"search"}`), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, plimsoll.Options{ID: "a", Store: new(store.Memory), Policy: preset(t, "balanced")})
			set := func(tools []llm.Tool) {
				t.Helper()
				if err := s.SetTools(t.Context(), tools); err != nil {
					t.Fatal(err)
				}
			}
			events := s.Events(t.Context())
			set(c.was)
			add(t, s, human("Go."))
			prepare(t, s)
			add(t, s, reply("Yes."), human("And on."))
			set(c.now)
			prepare(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			said := 0
			for e := range events {
				if strings.Contains(e.Text, "the tools changed") {
					said++
				}
			}
			if (said == 1) != c.want || said > 1 {
				t.Errorf("want an event: %v, got %d", c.want, said)
			}
		})
	}
}
