package token_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

func TestComponentOf(t *testing.T) {
	tests := []struct {
		name string
		m    llm.Message
		want token.Component
	}{
		{"R003-1 history is what people, models and tools said", llm.Message{Origin: llm.Human}, token.History},
		{"tool results are history", llm.Message{Origin: llm.ToolRun}, token.History},
		{"a client's own reply is history", llm.Message{Origin: llm.Model, Flags: llm.FlagSynthetic}, token.History},
		{"a note", llm.Message{Origin: llm.Note}, token.Notes},
		{"rules are notes", llm.Message{Origin: llm.Note, Flags: llm.FlagRules}, token.Notes},
		{"R002-1 R003-1 a summary is kept apart", llm.Message{Origin: llm.Note, Flags: llm.FlagSummary}, token.Summary},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := token.ComponentOf(tt.m); got != tt.want {
				t.Errorf("ComponentOf = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestComponentOfSection(t *testing.T) {
	want := map[llm.SectionKind]token.Component{
		llm.SectionSystem: token.System, llm.SectionSkills: token.Skills, llm.SectionSummary: token.Summary,
		llm.SectionNotes: token.Notes, llm.SectionTools: token.Tools,
	}
	for kind, component := range want {
		if got := token.ComponentOfSection(llm.Section{Kind: kind}); got != component {
			t.Errorf("ComponentOfSection(%d) = %v, want %v", kind, got, component)
		}
	}
}

func TestNames(t *testing.T) {
	kinds := [...]string{"exact", "calibrated", "estimated", "kind?"}
	for i, want := range kinds {
		if got := token.Kind(i).String(); got != want {
			t.Errorf("Kind(%d) = %q, want %q", i, got, want)
		}
	}
	components := [...]string{"system", "skills", "tools", "summary", "history", "notes", "component?"}
	for i, want := range components {
		if got := token.Component(i).String(); got != want {
			t.Errorf("Component(%d) = %q, want %q", i, got, want)
		}
	}
}

func TestSizeOfCountsWhatIsThere(t *testing.T) {
	c := counter(t, "bytes/4")
	round := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
		llm.Text{Text: "look"},
		llm.ToolCall{CallID: "a", Name: "read", Args: "{}"},
		llm.ToolCall{CallID: "b", Name: "read", Args: "{}"},
	}}
	if s := token.SizeOf(c, round); s.Messages != 1 || s.Plain != 1 || s.Calls != 2 || s.Rounds != 1 || s.Results != 0 {
		t.Errorf("assistant message with two calls: %+v", s)
	}
	hosted := llm.Message{Parts: []llm.Part{llm.ToolCall{Name: "search", Hosted: true}}}
	if s := token.SizeOf(c, hosted); s.Rounds != 0 || s.Calls != 1 {
		t.Errorf("a hosted call has no result and opens no Round: %+v", s)
	}
	results := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "a", Content: []llm.Part{llm.Text{Text: "body"}, llm.Media{Type: "image/png", Width: 100, Height: 75}}},
		llm.ToolResult{CallID: "b"},
	}}
	s := token.SizeOf(c, results)
	if s.Messages != 1 || s.Plain != 0 || s.Results != 2 || s.Media != 1 || s.Tokens != 1 || s.MediaTokens == 0 {
		t.Errorf("message with two results and an image: %+v", s)
	}
	if c.Message(results) != s.All() {
		t.Errorf("Message = %d, want text and media, %d", c.Message(results), s.All())
	}
}

func TestSizeBytes(t *testing.T) {
	c := counter(t, "bytes/4")
	raw := llm.Text{Text: "x", Raw: llm.Raw{Data: []byte(`{"type":"text","text":"x","unknown":1}`)}}
	if got := token.SizeOfPart(c, raw).Bytes; got != len(raw.Data) {
		t.Errorf("part with raw bytes: %d bytes, want %d", got, len(raw.Data))
	}
	m := llm.Message{Parts: []llm.Part{raw}, Envelope: llm.Envelope{Raw: make([]byte, 777)}}
	if got := token.SizeOf(c, m).Bytes; got != 777 {
		t.Errorf("message with an envelope: %d bytes, want 777", got)
	}
	// An estimate must not be below what a codec really writes.
	for written, part := range map[string]llm.Part{
		`{"type":"text","text":"a\n\"b\"\u0001"},`:                                                  llm.Text{Text: "a\n\"b\"\x01"},
		`{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"x"}},`:                    llm.ToolCall{CallID: "toolu_1", Name: "read", Args: `{"path":"x"}`},
		`{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"body"}]},`: llm.ToolResult{CallID: "toolu_1", Content: []llm.Part{llm.Text{Text: "body"}}},
	} {
		if got := token.SizeOfPart(c, part).Bytes; got < len(written) || got > len(written)+120 {
			t.Errorf("%s: estimate %d bytes, want %d to %d", written, got, len(written), len(written)+120)
		}
	}
}

func TestSizeOfSectionAndTools(t *testing.T) {
	c := counter(t, "bytes/4")
	if got := token.SizeOfSection(c, llm.Section{Text: "12345"}).Tokens; got != 2 {
		t.Errorf("section of 5 bytes = %d tokens, want 2", got)
	}
	if got := token.SizeOfSection(c, llm.Section{Kind: llm.SectionTools, Tokens: 12_345}).Tokens; got != 12_345 {
		t.Errorf("a section of known size = %d tokens, want 12345", got)
	}
	tools := []llm.Tool{{Name: "read", Description: "reads", Schema: `{"type":"object"}`}}
	s := token.SizeOfTools(c, tools)
	if s.Tokens != c.Tools(tools) || s.Bytes < len(tools[0].Schema)+len("readreads") || s.Messages != 0 {
		t.Errorf("SizeOfTools = %+v", s)
	}
	hosted := []llm.Tool{{Name: "search", Raw: llm.Raw{Data: []byte(`{"type":"search_20250305","name":"search"}`)}}}
	if got, least := c.Tools(hosted), len(hosted[0].Data)/4; got < least {
		t.Errorf("a tool known by its bytes = %d tokens, want %d or more", got, least)
	}
}

func TestSizeAddSub(t *testing.T) {
	number := rapid.IntRange(-1<<40, 1<<40)
	size := rapid.Custom(func(t *rapid.T) token.Size {
		n := func(name string) int { return number.Draw(t, name) }
		return token.Size{
			Tokens: n("tokens"), MediaTokens: n("media tokens"), Known: n("known"), Messages: n("messages"), Plain: n("plain"), Calls: n("calls"),
			Rounds: n("rounds"), Results: n("results"), Media: n("media"), Bytes: n("bytes"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := size.Draw(t, "a"), size.Draw(t, "b")
		if got := a.Add(b).Sub(b); got != a {
			t.Fatalf("a + b - b = %+v, want %+v", got, a)
		}
		if a.Add(b) != b.Add(a) {
			t.Fatalf("a + b differs from b + a")
		}
	})
}

// foreign is a counter from outside the package, such as one built from a file.
type foreign struct{}

func (foreign) ID() string                  { return "hf:x" }
func (foreign) Kind() token.Kind            { return token.Exact }
func (foreign) Text(s string) int           { return len(s) }
func (f foreign) Message(m llm.Message) int { return token.SizeOf(f, m).All() }
func (foreign) Tools([]llm.Tool) int        { return 0 }

func TestSizeOfForeignCounter(t *testing.T) {
	m := llm.Message{Parts: []llm.Part{
		llm.Text{Text: "abc"},
		llm.Thinking{Text: "de"},
		llm.ToolCall{Name: "f", Args: "gh"},
		llm.ToolResult{Content: []llm.Part{llm.Stub{Text: "ijkl"}, llm.Media{Type: "image/png", Size: 50_000}}},
		llm.Opaque{Kind: "x", Raw: llm.Raw{Data: []byte("m")}},
	}}
	s := token.SizeOf(foreign{}, m)
	if s.Tokens != 13 {
		t.Errorf("text of every part: %d tokens, want 13", s.Tokens)
	}
	if s.Media != 1 || s.MediaTokens == 0 || s.MediaTokens >= 50_000 {
		t.Errorf("media are not counted as text: %+v", s)
	}
	larger := token.Max(foreign{}, counter(t, "chars/4"))
	if larger.ID() != "max(hf:x,chars/4)" || larger.Text("abcd") != 4 || larger.Kind() != token.Estimated {
		t.Errorf("Max with a foreign counter: %s, %d, %v", larger.ID(), larger.Text("abcd"), larger.Kind())
	}
	if got := token.SizeOf(larger, m); got.Tokens != 13 {
		t.Errorf("size by the larger of both: %+v", got)
	}
}
