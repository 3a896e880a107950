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
// of them has, else by the model's name, else it is Chat, which most programs speak.
func withMessages(body, messages []byte) llm.Dialect {
	if d := byMember(body); d != "" {
		return d
	}
	for _, s := range raw.Elements(messages) {
		if d := byMessage(raw.Slice(messages, s)); d != "" {
			return d
		}
	}
	if strings.Contains(raw.Unquote(raw.Value(body, "model")), "claude") {
		return anthropic.Dialect
	}
	return openai.DialectChat
}

func byMember(body []byte) llm.Dialect {
	v := raw.Values(body, "system", "anthropic_version", "stop_sequences", "options", "keep_alive", "format", "max_completion_tokens",
		"stream_options", "response_format", "tools", "context_management", "think")
	switch {
	case v[0] != nil || v[1] != nil || v[2] != nil || v[10] != nil:
		return anthropic.Dialect
	case raw.IsObject(v[3]) || v[4] != nil || v[5] != nil || v[11] != nil:
		return ollama.Dialect
	case v[6] != nil || v[7] != nil || v[8] != nil:
		return openai.DialectChat
	}
	for _, s := range raw.Elements(v[9]) {
		if raw.Value(raw.Slice(v[9], s), "input_schema") != nil {
			return anthropic.Dialect
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
