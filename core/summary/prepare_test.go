package summary_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

func assistant(parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: parts}
}

func results(ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
	for _, id := range ids {
		m.Parts = append(m.Parts, llm.ToolResult{CallID: id})
	}
	return m
}

func call(id string) llm.ToolCall { return llm.ToolCall{CallID: id, Name: "tool", Args: "{}"} }

func TestPrepare(t *testing.T) {
	text, thought := llm.Text{Text: "let me see"}, llm.Thinking{Text: "hm", Signature: "s"}
	human := said(0, llm.Human, "hello")
	for _, tt := range []struct {
		name     string
		in, want []llm.Message
	}{
		{
			"R001-16_trailing_calls_with_text_keep_the_text",
			[]llm.Message{human, assistant(thought, text, call("a"), call("b"))},
			[]llm.Message{human, assistant(text)},
		},
		{
			"R001-16_trailing_calls_without_text_are_dropped",
			[]llm.Message{human, assistant(thought, call("a"))},
			[]llm.Message{human},
		},
		{
			"R001-16_blank_text_is_no_text",
			[]llm.Message{human, assistant(llm.Text{Text: " \n"}, call("a"))},
			[]llm.Message{human},
		},
		{
			"R001-16_fewer_results_than_calls",
			[]llm.Message{human, assistant(thought, call("a"), call("b"), call("c")), results("b")},
			[]llm.Message{human, assistant(thought, call("b")), results("b")},
		},
		{
			"R001-16_unanswered_calls_in_the_middle",
			[]llm.Message{human, assistant(text, call("a")), human, assistant(text)},
			[]llm.Message{human, assistant(text), human, assistant(text)},
		},
		{
			"R001-16_results_without_a_call",
			[]llm.Message{results("x"), human, assistant(call("a")), results("a", "y"), results("a")},
			[]llm.Message{human, assistant(call("a")), results("a")},
		},
		{
			"R001-16_hosted_calls_need_no_result",
			[]llm.Message{human, assistant(text, llm.ToolCall{CallID: "h", Name: "web", Hosted: true})},
			[]llm.Message{human, assistant(text, llm.ToolCall{CallID: "h", Name: "web", Hosted: true})},
		},
		{
			"R001-16_complete_Rounds_stay",
			[]llm.Message{human, assistant(thought, text, call("a")), results("a"), assistant(text)},
			[]llm.Message{human, assistant(thought, text, call("a")), results("a"), assistant(text)},
		},
		{"R001-16_nothing_left", []llm.Message{assistant(call("a"))}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, summary.Prepare(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrepareLeavesNoOrphan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawConversation(t)
		out := summary.Prepare(in)
		// Every result must find an unanswered call before it, and every call a result.
		open := map[string]int{}
		for i, m := range out {
			for _, p := range m.Parts {
				switch p := p.(type) {
				case llm.ToolCall:
					open[p.CallID]++
				case llm.ToolResult:
					if open[p.CallID]--; open[p.CallID] < 0 {
						t.Fatalf("message %d: result %q without a call", i, p.CallID)
					}
				}
			}
		}
		for id, n := range open {
			if n != 0 {
				t.Fatalf("%d calls %q without a result", n, id)
			}
		}
		if again := summary.Prepare(out); !cmp.Equal(out, again) {
			t.Fatalf("preparing twice changes more: %s", cmp.Diff(out, again))
		}
		if got, want := texts(out), texts(in); !cmp.Equal(got, want) {
			t.Fatalf("words were lost: %s", cmp.Diff(want, got))
		}
	})
}

// texts returns everything that was said in words.
func texts(messages []llm.Message) []string {
	var all []string
	for _, m := range messages {
		for _, p := range m.Parts {
			if text, ok := p.(llm.Text); ok && strings.TrimSpace(text.Text) != "" {
				all = append(all, text.Text)
			}
		}
	}
	return all
}
