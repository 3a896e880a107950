package openai

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeError reads an error body of either format, also in the shapes that servers of
// the same dialect give it; see [wire.DecodeError].
func DecodeError(status int, body []byte) *wire.Error { return wire.DecodeError(status, body) }

// EncodeError returns the status and body that the provider would answer e with: the body
// that e came with, else one of the same shape in the words that clients look for.
func EncodeError(e *wire.Error) (status int, body []byte) {
	kind, code, status := shapeOf(e.Class)
	if e.Status >= 400 {
		status = e.Status
	}
	if len(e.Body) > 0 {
		return status, e.Body
	}
	param, codeValue := []byte("null"), []byte("null")
	if e.Param != "" {
		param = raw.Quote(e.Param)
	}
	if code != "" {
		codeValue = raw.Quote(code)
	}
	message := cmp.Or(e.Message, e.Class.String())
	if e.Class == wire.TooLong {
		message = tooLongText(e)
	}
	o := new(raw.Object).Text("message", message).Text("type", kind).Raw("param", param).Raw("code", codeValue)
	return status, new(raw.Object).Raw("error", o.Bytes()).Bytes()
}

// shapeOf returns the type, the code and the status that OpenAI has for a class.
func shapeOf(c wire.Class) (kind, code string, status int) {
	const invalid = "invalid_request_error"
	switch c {
	case wire.TooLong:
		return invalid, "context_length_exceeded", 400
	case wire.TooLarge:
		return invalid, "request_too_large", 413
	case wire.RateLimited:
		return "rate_limit_error", "rate_limit_exceeded", 429
	case wire.Overloaded:
		return "server_error", "server_is_overloaded", 503
	case wire.Auth:
		return invalid, "invalid_api_key", 401
	case wire.Billing:
		return "insufficient_quota", "insufficient_quota", 429
	case wire.NotFound:
		return invalid, "model_not_found", 404
	case wire.BadThinking:
		return invalid, "invalid_encrypted_content", 400
	case wire.Timeout:
		return "server_error", "timeout", 504
	case wire.BadRequest:
		return invalid, "", 400
	}
	return "server_error", "server_error", 500
}

// tooLongText returns the message of e in the words that clients know: they match on them.
func tooLongText(e *wire.Error) string {
	if strings.Contains(e.Message, "maximum context length is") {
		return e.Message
	}
	if e.Window > 0 && e.Used > 0 {
		return "This model's maximum context length is " + strconv.Itoa(e.Window) + " tokens. However, your messages resulted in " +
			strconv.Itoa(e.Used) + " tokens. Please reduce the length of the messages."
	}
	return "Your input exceeds the context window of this model. Please adjust your input and try again."
}
