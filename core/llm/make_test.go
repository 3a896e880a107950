package llm_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestMade: what the constructors return has the role and the origin that go together, and
// the parts in the order in which a model writes them.
func TestMade(t *testing.T) {
	call := llm.ToolCall{CallID: "c1", Name: "read", Args: `{"path":"a"}`}
	for _, test := range []struct {
		made llm.Message
		want string
	}{
		{llm.UserText("go"), "user human [go]"},
		{llm.NoteText("it is late"), "user note [it is late]"},
		{llm.AssistantText("done"), "assistant model [done]"},
		{llm.AssistantText(""), "assistant model []"},
		{llm.AssistantText("I look.", call), `assistant model [I look. c1:read({"path":"a"})]`},
		{llm.AssistantText("", call, call), `assistant model [c1:read({"path":"a"}) c1:read({"path":"a"})]`},
		{llm.ToolText("c1", "text"), "tool tool [c1=text false]"},
		{llm.ToolError("c1", "no such file"), "tool tool [c1=no such file true]"},
	} {
		var parts []string
		for _, p := range test.made.Parts {
			switch p := p.(type) {
			case llm.Text:
				parts = append(parts, p.Text)
			case llm.ToolCall:
				parts = append(parts, p.CallID+":"+p.Name+"("+p.Args+")")
			case llm.ToolResult:
				parts = append(parts, fmt.Sprintf("%s=%s %t", p.CallID, p.Text(), p.IsError))
			}
		}
		if got := fmt.Sprint(test.made.Role, " ", test.made.Origin, " ", parts); got != test.want {
			t.Errorf("want %s, got %s", test.want, got)
		}
	}
}
