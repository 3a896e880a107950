package anthropic

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeResponse reads the body of a reply that was not streamed. The response shares
// the bytes of body, which nobody may write to from here on. The error says what is
// wrong and where; a body that is an error of the provider is a [wire.Error].
func DecodeResponse(body []byte) (llm.Response, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return llm.Response{}, fmt.Errorf("anthropic: decode response: %w", err)
	}
	r, at, err := decodeReply(body)
	if raw.Named(raw.Slice(body, at.kind), "error") {
		return llm.Response{}, DecodeError(0, body)
	}
	if err != nil {
		return llm.Response{}, fmt.Errorf("anthropic: decode response: %w", err)
	}
	return r, nil
}

// places says where the members of a reply lie that are read here; of zero length for
// what is not there.
type places struct {
	kind, id, model, content, reason, usage, management llm.Span
	each                                                []llm.Span // the blocks of content
}

// decodeReply reads body, a checked object, which may be a reply.
func decodeReply(body []byte) (llm.Response, places, error) {
	r := llm.Response{Dialect: Dialect, Raw: body}
	r.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: Dialect}
	var at places
	contentErr := error(&raw.Fault{What: "want an array, got nothing"})
	c := raw.NewCursor(body)
	c.Object(func(name []byte) {
		start := c.Pos()
		switch string(name) {
		case "type":
			at.kind = c.Skip(start)
		case "id":
			at.id = c.Skip(start)
		case "model":
			at.model = c.Skip(start)
		case "stop_reason":
			at.reason = c.Skip(start)
		case "usage":
			at.usage = c.Skip(start)
		case "context_management":
			at.management = c.Skip(start)
		case "content":
			r.Message.Parts, at.each, contentErr = nil, nil, nil
			if !raw.IsNone(c.Next()) { // some gateways say null for nothing
				r.Message.Parts, at.each, contentErr = decodeContent(c)
			}
			at.content = c.Past(start, contentErr)
		}
	})
	r.ID, r.Model = raw.Unquote(raw.Slice(body, at.id)), raw.Unquote(raw.Slice(body, at.model))
	r.Reason = raw.Unquote(raw.Slice(body, at.reason))
	r.Stop = stopOf(r.Reason)
	var t tally
	t.add(raw.Slice(body, at.usage))
	t.clear(raw.Slice(body, at.management))
	r.Usage, r.Extra = t.usage(), t.extra()
	return r, at, raw.In(contentErr, "content")
}

// stopOf returns what a stop_reason says.
func stopOf(reason string) llm.Stop {
	for stop, word := range stopWords() {
		if word == reason && word != "" {
			return llm.Stop(stop)
		}
	}
	return llm.StopUnknown
}

// stopWords returns the stop_reason of each llm.Stop.
func stopWords() [9]string {
	return [...]string{
		llm.StopUnknown: "", llm.StopEnd: "end_turn", llm.StopTool: "tool_use", llm.StopLength: "max_tokens",
		llm.StopWindow: "model_context_window_exceeded", llm.StopSequence: "stop_sequence", llm.StopPause: "pause_turn",
		llm.StopRefusal: "refusal", llm.StopCompaction: "compaction",
	}
}

// reasonOf returns the value of stop_reason for a stop and the reason that its provider
// gave: the word of this dialect, the provider's own where the stop is none known here,
// null without either.
func reasonOf(stop llm.Stop, reason string) []byte {
	words := stopWords()
	if int(stop) < len(words) && words[stop] != "" {
		return raw.Quote(words[stop])
	}
	if reason != "" {
		return raw.Quote(reason)
	}
	return []byte("null")
}

// DecodeCount reads the answer of the count_tokens endpoint: the number of tokens that
// the request has.
func DecodeCount(body []byte) (int, error) {
	obj, err := raw.CheckObject(body)
	if err != nil {
		return 0, fmt.Errorf("anthropic: decode count: %w", err)
	}
	n := -1
	value := raw.Value(obj, "input_tokens")
	if count(value, &n); n < 0 {
		return 0, fmt.Errorf("anthropic: decode count: input_tokens, want a count, got %s", raw.KindOf(value))
	}
	return n, nil
}

// EncodeCount returns the answer of the count_tokens endpoint.
func EncodeCount(tokens int) []byte {
	return new(raw.Object).Raw("input_tokens", raw.Digits(tokens)).Bytes()
}
