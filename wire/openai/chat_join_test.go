package openai

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// TestChatReplyInSeveralMessages is law 3 for a reply that a host adds piece by piece: the
// results follow the message with all of its calls.
func TestChatReplyInSeveralMessages(t *testing.T) {
	said := func(p ...llm.Part) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: p}
	}
	call := func(id string) llm.Part { return llm.ToolCall{CallID: id, Name: "read", Args: "{}"} }
	result := func(id string) llm.Message {
		return llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: "out " + id}}}}}
	}
	human := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "go"}}}
	a, b := `{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}`, `{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}`
	out := `{"role":"tool","tool_call_id":"a","content":"out a"},{"role":"tool","tool_call_id":"b","content":"out b"}`
	for _, tt := range []struct {
		name string
		msgs []llm.Message
		want string
	}{
		{"two calls", []llm.Message{human, said(call("a")), said(call("b")), result("a"), result("b")}, `{"role":"assistant","tool_calls":[` + a + `,` + b + `]},` + out},
		{"a text behind the calls", []llm.Message{human, said(call("a"), call("b")), said(llm.Text{Text: "I wait"}), result("a"), result("b")}, `{"role":"assistant","content":"I wait","tool_calls":[` + a + `,` + b + `]},` + out},
		{"three", []llm.Message{human, said(call("a")), said(llm.Text{Text: "and"}), said(call("b")), human, result("a"), result("b")}, `{"role":"assistant","content":"and","tool_calls":[` + a + `,` + b + `]},` + out + `,{"role":"user","content":"go"}`},
		{"without calls they stay apart", []llm.Message{human, said(llm.Text{Text: "one"}), said(llm.Text{Text: "two"})}, `{"role":"assistant","content":"one"},{"role":"assistant","content":"two"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, err := EncodeChat(llm.Request{Model: "m", Messages: tt.msgs})
			if err != nil {
				t.Fatal(err)
			}
			if want := `[{"role":"user","content":"go"},` + tt.want + `]`; !strings.Contains(string(body), want) {
				t.Errorf("got  %s\nwant %s", body, want)
			}
			if faults := check.Request(DialectChat, body); len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
}

// What came in the format stays as it came, be it wrong; with a message that was added the
// reply is written anew, the calls with the bytes that they came with.
func TestChatReplyInSeveralMessagesThatCame(t *testing.T) {
	body := `{"messages":[{"role":"assistant","tool_calls":[{"id": "a","type":"function","function":{"name":"read","arguments":"{}"}}]}, {"role":"assistant","content":"x"}]}`
	r, err := DecodeChat([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := EncodeChat(r); err != nil || string(got) != body {
		t.Errorf("got %s, %v", got, err)
	}
	r.Messages = append(r.Messages[:1], llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "y"}}})
	want := `{"messages":[{"role":"assistant","content":"y","tool_calls":[{"id": "a","type":"function","function":{"name":"read","arguments":"{}"}}]}]}`
	if got, err := EncodeChat(r); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// A message with nothing left, which is not sent, is no part of the reply beside it: that stays
// as it came.
func TestChatReplyBesideAnEmptyMessage(t *testing.T) {
	calls := `{"role":"assistant","tool_calls":[{"id": "a","type":"function","function":{"name":"read","arguments":"{}"}}],"content":"I look"}`
	r, err := DecodeChat([]byte(`{"messages":[` + calls + `, {"role":"assistant","content":"","refusal":"no"},{"role":"tool","tool_call_id":"a","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Messages[1] = r.Messages[1].WithParts(r.Messages[1].Parts[:1])
	want := `{"messages":[` + calls + `,{"role":"tool","tool_call_id":"a","content":"x"}]}`
	if got, err := EncodeChat(r); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	more := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "and wait"}}}
	r.Messages = []llm.Message{r.Messages[0], r.Messages[1], more, r.Messages[2]}
	got, err := EncodeChat(r)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := DecodeChat(got); err != nil || len(again.Messages) != 2 || again.Messages[0].Text() != "I look\nand wait" {
		t.Errorf("want one reply and its result, got %s, %v", got, err)
	}
}
