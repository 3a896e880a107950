package sessionfile

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// requestFormat returns which request body an object is, or "".
func requestFormat(body []byte) Format {
	data := gjson.ParseBytes(body)
	switch {
	case !data.Get("model").Exists() && !data.Get("anthropic_version").Exists():
		return "" // many programs write lists of messages
	case data.Get("messages").IsArray():
		if isAnthropic(data) {
			return FormatAnthropicRequest
		}
		return FormatChatRequest
	case data.Get("input").IsArray(), data.Get("input").Type == gjson.String:
		return FormatResponsesRequest
	}
	return ""
}

// isAnthropic tells the two formats with a list of messages apart: by what only
// one of them has, else by the model's name.
func isAnthropic(data gjson.Result) bool {
	for _, field := range []string{"system", "anthropic_version", "tools.0.input_schema", "stop_sequences", "thinking.type"} {
		if data.Get(field).Exists() {
			return true
		}
	}
	for _, field := range []string{"tools.0.function", "max_completion_tokens", "stream_options", "response_format"} {
		if data.Get(field).Exists() {
			return false
		}
	}
	verdict := 0
	data.Get("messages").ForEach(func(_, m gjson.Result) bool {
		verdict = messageKind(m)
		return verdict == 0
	})
	if verdict != 0 {
		return verdict > 0
	}
	return strings.HasPrefix(data.Get("model").String(), "claude")
}

// messageKind returns 1 for a message that only Anthropic's format has, -1 for
// one that only OpenAI's has, 0 for one that may be of either.
func messageKind(m gjson.Result) int {
	switch m.Get("role").String() {
	case "system", "developer", "tool", "function":
		return -1
	}
	if m.Get("tool_calls").Exists() {
		return -1
	}
	kind := 0
	m.Get("content").ForEach(func(_, block gjson.Result) bool {
		switch block.Get("type").String() {
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document":
			kind = 1
		case "image_url", "input_audio", "refusal", "file":
			kind = -1
		}
		return kind == 0
	})
	return kind
}

// readBody reads one request body.
func readBody(r *reading, body []byte) error {
	var request llm.Request
	var err error
	switch r.session.Format {
	case FormatAnthropicRequest:
		request, err = anthropic.DecodeRequest(body)
	case FormatChatRequest:
		request, err = openai.DecodeChat(body)
	default:
		request, err = openai.DecodeResponses(body)
	}
	if err != nil {
		return &FormatError{
			File: r.session.Path, Known: Formats(),
			Seen: fmt.Sprintf("what looks like %s but: %v", r.session.Format, err),
		}
	}
	r.session.Dialect = request.Dialect
	segment := Segment{Start: StartRoot, Sections: request.Sections, Tools: request.Tools, Model: request.Model, Final: true}
	entries := make([]Entry, len(request.Messages))
	for i, m := range request.Messages {
		if m.Origin == llm.Human {
			if m.Origin = originOf(m.Parts); m.Origin == llm.Note {
				m.Flags |= rulesIn(m.Parts)
			}
		}
		entries[i] = Entry{Message: m}
	}
	segment.Entries = r.pair(entries)
	r.session.Segments = []Segment{segment}
	return nil
}
