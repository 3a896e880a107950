package openai

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// respelled returns a JSON text that says the same: with white space around everything and
// the first letter of every name escaped.
func respelled(text string) string {
	const space = " \t "
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '"' {
			if strings.ContainsRune("{}[],:", rune(text[i])) {
				b.WriteString(space + text[i:i+1] + space)
			} else {
				b.WriteByte(text[i])
			}
			i++
			continue
		}
		end := i + 1
		for ; text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		lit := text[i : end+1]
		if i = end + 1; i < len(text) && text[i] == ':' && len(lit) > 2 {
			lit = fmt.Sprintf(`"\u%04x%s`, lit[1], lit[2:])
		}
		b.WriteString(lit)
	}
	return b.String()
}

// saysOf returns what events say, without the bytes that they came in; hosted calls, whose
// arguments are JSON as it was spelled, without those.
func saysOf(events []llm.Event) []llm.Event {
	out := withoutRaw(events)
	hosted := map[int]bool{}
	for i, e := range out {
		switch p := e.Part.(type) {
		case llm.Text:
			e.Part = llm.Text{Text: p.Text}
		case llm.Thinking:
			p.Raw = llm.Raw{}
			e.Part = p
		case llm.ToolCall:
			p.Raw = llm.Raw{}
			if hosted[e.Index] = p.Hosted; p.Hosted {
				p.Args = ""
			}
			e.Part = p
		case llm.Opaque:
			e.Part = llm.Opaque{Kind: p.Kind}
		}
		if hosted[e.Index] {
			e.Text = ""
		}
		out[i] = e
	}
	return out
}

// How the provider spells its payloads is no part of what they say.
func TestLawStreamDoesNotDependOnSpelling(t *testing.T) {
	for _, s := range ownStreams() {
		t.Run(s.name, func(t *testing.T) {
			lines := strings.Split(string(s.bytes), "\n")
			for i, line := range lines {
				if payload, ok := strings.CutPrefix(line, "data: {"); ok {
					lines[i] = "data: " + respelled("{"+payload)
				}
			}
			want := saysOf(codectest.Events(t, s.codec, s.bytes))
			got := saysOf(codectest.Events(t, s.codec, []byte(strings.Join(lines, "\n"))))
			for i := range want {
				if i >= len(got) || !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("event %d: want %+v, got %+v", i, want[i], got[min(i, len(got)-1)])
				}
			}
		})
	}
}

// Members stand in any order, and only the choice with index 0 is told.
func TestChatMembersInAnyOrder(t *testing.T) {
	stream := `data: {"choices":[{"delta":{"content":"no"},"index":1},{"finish_reason":null,"delta":{"content":"yes","":null},"index":0}],"model":"m","":1,"id":"c1"}` +
		"\n\n" + finished("stop")
	events := codectest.Events(t, Chat{}, []byte(stream))
	if e := events[0]; e.Kind != llm.EventStart || e.ID != "c1" || e.Model != "m" {
		t.Errorf("want a start with id and model, got %+v", e)
	}
	var text string
	for _, e := range events {
		if e.Kind == llm.EventDelta {
			text += e.Text
		}
	}
	if text != "yes" {
		t.Errorf("want the text of choice 0, got %q", text)
	}
}

func TestChatChoiceErrors(t *testing.T) {
	tests := []struct{ name, choices, want string }{
		{"choices", `5`, "choices, want an array, got number 5"},
		{"choice", `[{"index":0},7]`, "choices[1], want an object, got number 7"},
		{"delta", `[{"index":0,"delta":"x"}]`, "choices[0].delta, want an object, got string"},
		{"content", `[{"index":0,"delta":{"content":5}}]`, "choices[0].delta.content, want a string or an array, got number 5"},
		{"call", `[{"index":0,"delta":{"tool_calls":[{"index":0},"x"]}}]`, "choices[0].delta.tool_calls[1], want an object, got string"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := codectest.Feed(Chat{}, []byte(`data: {"choices":`+test.choices+"}\n\n"))
			if err == nil || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
}
