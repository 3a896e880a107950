package ground

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func TestSpans(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"a path, its line left out", `{"file_path":"/repo/src/a.go:12","description":"read /repo/b.go"}`, "path /repo/src/a.go"},
		{"a command", `{"command":"grep -rn 'newIndex' core/ | head -20"}`, "ident newIndex"},
		{"what an edit replaces is lines", `{"old_string":"\tif err != nil {\n\t}\n","new_string":"return wrapError(err)"}`, "line if err != nil {, ident wrapError"},
		{
			"a patch", `{"input":"*** Begin Patch\n*** Update File: a/b.ts\n@@ class Store {\n keep this line\n-and take this out\n+addThis(one)\n*** End Patch"}`,
			"path a/b.ts, line class Store {, line keep this line, line and take this out, ident addThis",
		},
		{"numbers, but for round ones and short ones", `{"offset":1234,"limit":2000,"n":123,"width":"120px"}`, "number 1234"},
		{"a commit", `{"command":"git show 3f2a91c0"}`, "hash 3f2a91c0"},
		{"an address", `{"url":"https://example.com/a?b=c"}`, "url https://example.com/a"},
		{"a quoted string, no apostrophe", `{"command":"echo \"two words\" don't won't"}`, "quoted two words"},
		{"each once", `{"a":"fooBar","b":"fooBar"}`, "ident fooBar"},
		{"what everyone writes", `{"a":"toString useState","command":"x 2>/dev/null"}`, ""},
		{"no JSON", `cat src/main.rs`, "path src/main.rs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range Spans(llm.ToolCall{Args: tt.args}) {
				got = append(got, fmt.Sprintf("%s %s", s.Kind, s.Text))
			}
			if g := strings.Join(got, ", "); g != tt.want {
				t.Errorf("want %q, got %q", tt.want, g)
			}
		})
	}
}

// TestIndex: a call refers to the newest part before its Step that says the span, not to
// what stands beside it.
func TestIndex(t *testing.T) {
	call := func(args string) llm.Part { return llm.ToolCall{CallID: "c", Name: "bash", Args: args} }
	result := func(text string) llm.Part {
		return llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Text{Text: text}}}
	}
	var x Index
	for i, m := range []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "mend parseAll"}}},
		{Role: llm.RoleAssistant, Parts: []llm.Part{call(`{"command":"grep -rn parseAll"}`)}},
		{Role: llm.RoleTool, Parts: []llm.Part{result("lib/a.go:7: func parseAll() {"), result("nothing")}},
		{Role: llm.RoleAssistant, Parts: []llm.Part{llm.Text{Text: "lib/a.go has parseAll"}, call(`{"path":"lib/a.go"}`), call(`{"path":"lib/a.go"}`)}},
	} {
		m.ID = llm.MessageID(i + 1)
		x.Add(m)
	}
	for at, want := range map[Place]int{{1, 0}: 1, {2, 0}: 1, {3, 0}: 2, {3, 1}: 1, {4, 0}: 2, {9, 9}: 0} {
		if got := x.Used(at); got != want {
			t.Errorf("%v: want used in Step %d, got %d", at, want, got)
		}
	}
	s := Names("parseAll")[0]
	last, _ := x.Last(s)
	sources := x.Sources(s, last)
	if len(sources) != 3 || sources[0] != (Place{1, 0}) || last != (Place{3, 0}) || x.Step() != 2 {
		t.Errorf("want it said in 1, 2 and 3 before Step 2, got %v, last %v, Step %d", sources, last, x.Step())
	}
	if _, ok := x.Last(Names("parseAllOf")[0]); ok {
		t.Error("want a longer word found nowhere, got it")
	}
}
