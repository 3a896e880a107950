package sdktest

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A said is a reply that every dialect has a form for, but where it says otherwise.
type said struct {
	name  string
	parts []llm.Part
	stop  llm.Stop
	usage llm.Usage
}

// mixed has letters of one to four bytes, what JSON and HTML escape, and a joined emoji.
const mixed = "naïve \u2028 line\n\t\"quoted\" <b>&amp;</b> \\ 水 – 🚢 👩🏽‍🚀 \u0000\u001f end"

// arguments are the JSON that models write: not sorted, not compact, with numbers that a
// float would change.
const arguments = `{"path": "docs/水.md", "limit": 12345678901234567, "ratio": 0.10, "deep": {"b": [1, 2, {"z": null}], "a": "\u00e9"}}`

var counted = llm.Usage{Input: 120, CacheRead: 3000, CacheWrite5m: 40, Output: 75, Reasoning: 25}

// replies are the cases that all SDKs are held against.
func replies() []said {
	read := llm.ToolCall{CallID: "call_1", Name: "read_file", Args: arguments}
	list := llm.ToolCall{CallID: "call_2", Name: "list_files", Args: "{}"}
	grep := llm.ToolCall{CallID: "call_3", Name: "grep", Args: `{"pattern":"load line"}`}
	plain := llm.Usage{Input: 10, Output: 5}
	return []said{
		{"text", []llm.Part{llm.Text{Text: "The hold is full."}}, llm.StopEnd, plain},
		{"unicode", []llm.Part{llm.Text{Text: mixed}}, llm.StopEnd, plain},
		{"long text", []llm.Part{llm.Text{Text: strings.Repeat("The ship lies deeper. ", 4000)}}, llm.StopEnd, plain},
		{"no parts", nil, llm.StopEnd, llm.Usage{Input: 10, Output: 1}},
		{"usage", []llm.Part{llm.Text{Text: "Counted."}}, llm.StopEnd, counted},
		{"length", []llm.Part{llm.Text{Text: "and then"}}, llm.StopLength, plain},
		{"refusal", []llm.Part{llm.Text{Text: "No."}}, llm.StopRefusal, plain},
		{"call", []llm.Part{read}, llm.StopTool, plain},
		{"call after text", []llm.Part{llm.Text{Text: "I look."}, read}, llm.StopTool, plain},
		{"call without arguments", []llm.Part{list}, llm.StopTool, plain},
		{"parallel calls", []llm.Part{llm.Text{Text: "Three."}, read, list, grep}, llm.StopTool, plain},
	}
}

// thinking are replies with reasoning, for the dialects that have it. sign makes a
// signature as the provider has it.
func thinking(sign func(string) string) []said {
	think := llm.Thinking{Text: "Is it " + mixed + "?", Signature: sign("whole")}
	call := llm.ToolCall{CallID: "call_1", Name: "read_file", Args: arguments}
	usage := llm.Usage{Input: 30, CacheRead: 64, Output: 90, Reasoning: 80}
	return []said{
		{"thinking", []llm.Part{think, llm.Text{Text: "It is."}}, llm.StopEnd, usage},
		{"thinking before a call", []llm.Part{think, call}, llm.StopTool, usage},
		{"thinking between calls", []llm.Part{
			think, call,
			llm.Thinking{Text: "More.", Signature: sign("more")},
			llm.ToolCall{CallID: "call_2", Name: "list_files", Args: "{}"},
		}, llm.StopTool, usage},
	}
}

// response returns what a model of dialect d says.
func (s said) response(d llm.Dialect) llm.Response {
	return llm.Response{
		ID: "reply_0001", Model: "test-model-1", Stop: s.stop, Usage: s.usage, Dialect: d,
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: s.parts, Dialect: d},
	}
}
