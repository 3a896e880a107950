package anthropic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// DecodeError reads the body of an answer with the HTTP status, or of an error event in
// a stream (status 0), also in the shapes of those that serve the models of this API or
// speak its format: Bedrock, Vertex, gateways; see [wire.DecodeError].
func DecodeError(status int, body []byte) *wire.Error {
	e := wire.DecodeError(status, body)
	if e.Class == wire.Unclassified && status == 0 {
		e.Class = wire.ServerFault // a stream that breaks without a word
	}
	return e
}

// EncodeError returns the status and the body that the API would answer e with: the body
// of e where it has one. A prompt that is too long is told in the words that clients look
// for: they match on the text.
func EncodeError(e *wire.Error) (status int, body []byte) {
	status, kind := answerOf(e.Class)
	if e.Status > 0 {
		status = e.Status
	}
	if len(e.Body) > 0 {
		return status, e.Body
	}
	return status, errorBody(e, kind)
}

// AppendError is the method of [wire.Encoder].
func (*encoder) AppendError(dst []byte, e *wire.Error) []byte {
	_, kind := answerOf(e.Class)
	body := e.Body
	if obj, err := raw.CheckObject(body); err != nil || !raw.IsObject(raw.Value(obj, "error")) {
		body = errorBody(e, kind)
	}
	return sse.Append(dst, "error", raw.OneLine(body))
}

func errorBody(e *wire.Error, kind string) []byte {
	if slices.Contains(types, e.Type) {
		kind = e.Type
	}
	failure := new(raw.Object).Text("type", kind).Text("message", textOf(e))
	o := new(raw.Object).Text("type", "error").Raw("error", failure.Bytes())
	if e.RequestID != "" {
		o.Text("request_id", e.RequestID)
	}
	return o.Bytes()
}

// types are the error types of the API.
var types = []string{
	"invalid_request_error", "conflict_error", "authentication_error", "permission_error", "billing_error", "not_found_error", "rate_limit_error",
	"api_error", "timeout_error", "overloaded_error",
}

// textOf returns the message of e. That of a prompt which is too long is in the API's own
// words, for clients read the figures from them.
func textOf(e *wire.Error) string {
	if e.Class != wire.TooLong {
		return cmp.Or(e.Message, e.Class.String())
	}
	said := strings.ToLower(e.Message)
	if strings.Contains(said, "prompt is too long: ") && strings.Contains(said, " maximum") || strings.Contains(said, "exceed context limit: ") {
		return e.Message
	}
	if e.Used == 0 || e.Window == 0 {
		return "prompt is too long"
	}
	return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", e.Used, e.Window)
}

// answerOf returns the status and the error type of the API for a class.
func answerOf(c wire.Class) (int, string) {
	switch c {
	case wire.TooLong, wire.BadRequest, wire.BadThinking:
		return 400, "invalid_request_error"
	case wire.TooLarge:
		return 413, "request_too_large"
	case wire.RateLimited:
		return 429, "rate_limit_error"
	case wire.Overloaded:
		return 529, "overloaded_error"
	case wire.Auth:
		return 401, "authentication_error"
	case wire.Billing:
		return 402, "billing_error"
	case wire.NotFound:
		return 404, "not_found_error"
	case wire.Timeout:
		return 504, "timeout_error"
	}
	return 500, "api_error"
}
