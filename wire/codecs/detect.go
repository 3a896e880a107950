package codecs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// Kind says what a body is.
type Kind uint8

// The kinds of bodies.
const (
	KindRequest Kind = iota + 1
	KindResponse
	KindStream
)

// String returns the name of k in lower case.
func (k Kind) String() string {
	return [...]string{"unknown", "request", "response", "stream"}[min(k, KindStream)]
}

// Detect tells by its content what text is: a request, a whole response or a stream, and
// of which dialect. Some small requests fit two dialects; see the package's tests for
// which it takes. The error says that text is of none that is known here.
func Detect(text []byte) (llm.Dialect, Kind, error) {
	body := raw.Trim(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if len(body) == 0 {
		return "", 0, fmt.Errorf("codecs: detect: want a request, a response or a stream, got nothing")
	}
	if d, k := detect(body); d != "" {
		return d, k, nil
	}
	return "", 0, fmt.Errorf("codecs: detect: want a request, a response or a stream of %s, got something else", strings.Join(names(), ", "))
}

func names() []string {
	var out []string
	for _, c := range All() {
		out = append(out, string(c.Dialect()))
	}
	return out
}

func detect(body []byte) (llm.Dialect, Kind) {
	switch {
	case raw.IsArray(body):
		if first := raw.Elements(body); len(first) > 0 && isGemini(raw.Slice(body, first[0])) {
			return gemini.Dialect, KindStream
		}
	case !raw.IsObject(body):
		return payload(firstData(body)), KindStream
	case raw.Check(body) != nil:
		if line, _, more := bytes.Cut(body, []byte("\n")); more && raw.Check(line) == nil && raw.Value(line, "done") != nil {
			return ollama.Dialect, KindStream
		}
	default:
		return object(body)
	}
	return "", 0
}

// firstData returns the first payload of a stream of server-sent events.
func firstData(stream []byte) []byte {
	for line := range bytes.Lines(stream) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			return raw.Trim(data)
		}
	}
	return nil
}

// payload tells the dialect of a stream by its first payload.
func payload(data []byte) llm.Dialect {
	if raw.Check(data) != nil || !raw.IsObject(data) {
		return ""
	}
	v := raw.Values(data, "type", "choices", "candidates")
	kind := raw.Unquote(v[0])
	switch {
	case strings.HasPrefix(kind, "response."):
		return openai.DialectResponses
	case kind == "message_start" || kind == "ping":
		return anthropic.Dialect
	case raw.IsArray(v[1]):
		return openai.DialectChat
	case isGemini(data):
		return gemini.Dialect
	}
	return ""
}

func isGemini(data []byte) bool {
	v := raw.Values(data, "candidates", "usageMetadata", "promptFeedback")
	return v[0] != nil || v[1] != nil || v[2] != nil
}

// object tells what one JSON object is.
func object(body []byte) (llm.Dialect, Kind) {
	v := raw.Values(body, "contents", "request", "messages", "input", "choices", "output", "object", "type", "done", "message")
	switch {
	case raw.IsArray(v[0]) || raw.IsObject(v[1]):
		return gemini.Dialect, KindRequest
	case raw.IsArray(v[2]):
		return withMessages(body, v[2]), KindRequest
	case (raw.IsString(v[3]) || raw.IsArray(v[3])) && !raw.Named(v[6], "response"):
		return openai.DialectResponses, KindRequest
	case raw.IsArray(v[4]):
		return openai.DialectChat, KindResponse
	case raw.IsArray(v[5]):
		return openai.DialectResponses, KindResponse
	case isGemini(body):
		return gemini.Dialect, KindResponse
	case raw.Named(v[7], "message"):
		return anthropic.Dialect, KindResponse
	case v[8] != nil && raw.IsObject(v[9]):
		return ollama.Dialect, KindResponse
	}
	return "", 0
}

// withMessages tells the three dialects with a list of messages apart: by what only one
// of them has, else by the model's name, else it is Chat, which most programs speak. A
// gateway's Chat names models of every maker: one of Anthropic's tells its own dialect only
// where the output limit stands that this demands, and no path before the name.
func withMessages(body, messages []byte) llm.Dialect {
	if d := byMember(body); d != "" {
		return d
	}
	system := false // it leads the messages, where Anthropic never has it
	for i, s := range raw.Elements(messages) {
		m := raw.Slice(messages, s)
		if d := byMessage(m); d != "" {
			return d
		}
		system = system || i == 0 && raw.Named(raw.Value(m, "role"), "system")
	}
	v := raw.Values(body, "model", "max_tokens")
	model := raw.Unquote(v[0])
	if strings.Contains(model, "claude") && !strings.Contains(model, "/") && v[1] != nil && !system {
		return anthropic.Dialect
	}
	return openai.DialectChat
}

// chatMembers are members of Chat bodies that no other body with messages has.
var chatMembers = []string{
	"max_completion_tokens", "stream_options", "response_format", "n", "seed", "stop", "logprobs", "top_logprobs", "logit_bias", "presence_penalty",
	"frequency_penalty", "user", "parallel_tool_calls", "reasoning_effort", "functions", "function_call",
}

func byMember(body []byte) llm.Dialect {
	v := raw.Values(body, "system", "anthropic_version", "stop_sequences", "context_management", "options", "keep_alive", "format", "think",
		"tools", "tool_choice")
	switch {
	case v[0] != nil || v[1] != nil || v[2] != nil || v[3] != nil:
		return anthropic.Dialect
	case raw.IsObject(v[4]) || v[5] != nil || v[6] != nil || v[7] != nil:
		return ollama.Dialect
	case raw.IsString(v[9]):
		return openai.DialectChat
	}
	for _, s := range raw.Elements(v[8]) {
		switch tool := raw.Slice(v[8], s); {
		case raw.Value(tool, "input_schema") != nil:
			return anthropic.Dialect
		case raw.IsObject(raw.Value(tool, "function")) && raw.Value(body, "max_tokens") != nil:
			return openai.DialectChat // Ollama, which has the same tools, has its limit in the options
		}
	}
	for _, value := range raw.Values(body, chatMembers...) {
		if value != nil {
			return openai.DialectChat
		}
	}
	return ""
}

func byMessage(m []byte) llm.Dialect {
	v := raw.Values(m, "role", "tool_calls", "content", "images", "tool_name", "tool_call_id")
	if calls := raw.Elements(v[1]); len(calls) > 0 {
		call := raw.Value(raw.Slice(v[1], calls[0]), "function")
		if raw.IsObject(raw.Value(call, "arguments")) {
			return ollama.Dialect
		}
		return openai.DialectChat
	}
	switch {
	case raw.IsArray(v[3]) || v[4] != nil:
		return ollama.Dialect
	case v[1] != nil || v[5] != nil || raw.Named(v[0], "developer"):
		return openai.DialectChat
	}
	for _, s := range raw.Elements(v[2]) {
		switch raw.Unquote(raw.Value(raw.Slice(v[2], s), "type")) {
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document":
			return anthropic.Dialect
		case "image_url", "input_audio", "refusal", "file":
			return openai.DialectChat
		}
	}
	return ""
}
