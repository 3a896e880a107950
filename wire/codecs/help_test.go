package codecs

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// codecOf returns the codec of a dialect.
func codecOf(t testing.TB, d llm.Dialect) Full {
	t.Helper()
	c, ok := For(d)
	if !ok {
		t.Fatalf("no codec of %s", d)
	}
	return c
}

func decoded(t testing.TB, d llm.Dialect, body string) llm.Request {
	t.Helper()
	r, err := codecOf(t, d).DecodeRequest([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v\n%s", d, err, body)
	}
	return r
}

func encoded(t testing.TB, d llm.Dialect, r llm.Request) string {
	t.Helper()
	body, err := codecOf(t, d).EncodeRequest(r)
	if err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	return string(body)
}

// fit returns a request of any dialect as another one has it, and what that costs.
func fit(t testing.TB, r llm.Request, d llm.Dialect) (string, []convert.Loss) {
	t.Helper()
	f := convert.Request(r, codectest.Known(t, d), convert.Options{})
	return encoded(t, d, f.Request), f.Losses
}

// strict is a model of each dialect that is strict about what it is sent.
var strict = map[llm.Dialect]string{"gemini": "gemini-3-pro-preview"}

// accepted checks that a provider would take a request.
func accepted(t testing.TB, d llm.Dialect, body string) {
	t.Helper()
	for _, f := range (check.Options{Model: strict[d]}).Request(d, []byte(body)) {
		t.Errorf("%s would refuse it: %s at %s: %s\n%s", d, f.Rule, f.Path, f.Message, body)
	}
}

// refusedFor reports whether a provider would refuse a request by a rule.
func refusedFor(d llm.Dialect, body, rule string) bool {
	for _, f := range check.Request(d, []byte(body)) {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

// each runs a test for every dialect.
func each(t *testing.T, f func(t *testing.T, c Full, d llm.Dialect)) {
	for _, c := range All() {
		t.Run(string(c.Dialect()), func(t *testing.T) { f(t, c, c.Dialect()) })
	}
}

// others runs a test for every dialect but one.
func others(t *testing.T, from llm.Dialect, f func(t *testing.T, to llm.Dialect)) {
	each(t, func(t *testing.T, _ Full, to llm.Dialect) {
		if to != from {
			f(t, to)
		}
	})
}

// contains checks that text has parts, in their order.
func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		at := strings.Index(rest, p)
		if at < 0 {
			t.Errorf("want %q, in its place, in %s", p, text)
			return
		}
		rest = rest[at+len(p):]
	}
}

func without(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("want no %q in %s", p, text)
		}
	}
}

// lost reports whether one of the losses says so.
func lost(losses []convert.Loss, what string) bool {
	for _, l := range losses {
		if strings.Contains(l.String(), what) {
			return true
		}
	}
	return false
}

// shortened returns r with the text of its last tool result replaced, as an edit does it.
func shortened(t testing.TB, r llm.Request, text string) llm.Request {
	t.Helper()
	r.Messages = append([]llm.Message(nil), r.Messages...)
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		for k := len(m.Parts) - 1; k >= 0; k-- {
			if p, ok := m.Parts[k].(llm.ToolResult); ok {
				parts := append([]llm.Part(nil), m.Parts...)
				parts[k] = p.WithContent(llm.Text{Text: text})
				r.Messages[i] = m.WithParts(parts)
				return r
			}
		}
	}
	t.Fatal("no tool result")
	return r
}

// rounds are the same two tool rounds in each dialect, spelled as no writer of JSON would
// do it again: white space, escapes, numbers, the order of members. OLD stands in the
// newest result.
var rounds = map[llm.Dialect]string{
	"anthropic": "{ \"messages\":[ {\"content\":\"l\\u006fok\\/at\",\"role\":\"user\"},\n{\"role\":\"assistant\",\"content\":[{\"signature\":\"c2ln\",\"thinking\":\"h\\u006d\",\"type\":\"thinking\"},{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"f\",\"input\":{\"b\":1.50,\"a\" : [1,2]}}]},\n" +
		"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\",\"content\":\"\\u0061aa\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"s\\u006f\",\"signature\":\"c2lo\"},{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"f\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_2\",\"content\":\"OLD\"}]}],\"model\":\"claude-sonnet-4-5\", \"max_tokens\":100, \"temperature\":1.00,\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}]}",
	"openai-chat": "{ \"messages\":[ {\"content\":\"l\\u006fok\\/at\",\"role\":\"user\"},\n{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"type\":\"function\",\"id\":\"call_1\",\"function\":{\"arguments\":\"{\\\"b\\\":1.50, \\\"a\\\":[1,2]}\",\"name\":\"f\"}}]},\n" +
		"{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"\\u0061aa\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"call_2\",\"content\":\"OLD\"}],\"model\":\"gpt-5\", \"temperature\":1.00,\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}",
	"openai-responses": "{ \"input\":[ {\"content\":\"l\\u006fok\\/at\",\"role\":\"user\"},\n{\"encrypted_content\":\"ZW5j\",\"summary\":[],\"id\":\"rs_1\",\"type\":\"reasoning\"},{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"f\",\"arguments\":\"{\\\"b\\\":1.50, \\\"a\\\":[1,2]}\"},\n" +
		"{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"\\u0061aa\"},{\"type\":\"reasoning\",\"id\":\"rs_2\",\"summary\":[],\"encrypted_content\":\"ZW5k\"},{\"type\":\"function_call\",\"call_id\":\"call_2\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"call_2\",\"output\":\"OLD\"}],\"model\":\"gpt-5\", \"store\":false,\"include\":[\"reasoning.encrypted_content\"],\"temperature\":1.00,\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]}",
	"gemini": "{ \"contents\":[ {\"parts\":[{\"text\":\"l\\u006fok\\/at\"}],\"role\":\"user\"},\n{\"role\":\"model\",\"parts\":[{\"thoughtSignature\":\"c2ln\",\"functionCall\":{\"args\":{\"b\":1.50,\"a\" : [1,2]},\"name\":\"f\"}}]},\n" +
		"{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":\"\\u0061aa\"}}}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}},\"thoughtSignature\":\"c2lo\"}]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":\"OLD\"}}}]}],\"generationConfig\":{\"temperature\":1.00},\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\"}]}]}",
	"ollama": "{ \"messages\":[ {\"content\":\"l\\u006fok\\/at\",\"role\":\"user\"},\n{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"h\\u006d\",\"tool_calls\":[{\"function\":{\"arguments\":{\"b\":1.50,\"a\" : [1,2]},\"name\":\"f\"}}]},\n" +
		"{\"role\":\"tool\",\"tool_name\":\"f\",\"content\":\"\\u0061aa\"},{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]},{\"role\":\"tool\",\"tool_name\":\"f\",\"content\":\"OLD\"}],\"model\":\"m\", \"options\":{\"temperature\":1.00},\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}",
}
