package openai

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeError reads an error body of either format, also in the shapes that servers of
// the same dialect give it: {"error": {...}} with a code that is a text, a number or
// null, {"error": "text"}, {"object": "error", ...} and {"type": "error", ...}, a list of
// one of these, {"detail"}, {"message"}; inside OpenRouter's error lies that of the
// provider behind it. status is 0 for an error inside a stream. What no shape fits is
// classified by its status.
func DecodeError(status int, body []byte) *wire.Error {
	e := &wire.Error{Status: status, Body: body}
	if b, err := raw.CheckObject(firstOf(body)); err == nil {
		readFault(e, b)
	}
	classify(e)
	return e
}

// firstOf returns the first element of a list, which is how Google wraps its errors, or
// body itself.
func firstOf(body []byte) []byte {
	if b := raw.Trim(body); raw.IsArray(b) && raw.Check(b) == nil {
		for _, s := range raw.Elements(b) {
			return raw.Slice(b, s)
		}
	}
	return body
}

// readFault reads the object that an error is, or that it lies in.
func readFault(e *wire.Error, b []byte) {
	v := raw.Values(b, "error", "detail", "message", "request_id", "errors", "error_message")
	e.RequestID = raw.Unquote(v[3])
	switch {
	case raw.IsObject(v[0]):
		readFields(e, v[0])
		readInner(e, v[0])
	case raw.IsString(v[0]):
		readFields(e, b)
		e.Message = raw.Unquote(v[0])
	case !raw.IsNone(v[1]):
		readFields(e, b)
		e.Message = detailText(v[1])
	default:
		readFields(e, b)
	}
}

// readFields reads the members that an error has.
func readFields(e *wire.Error, b []byte) {
	v := raw.Values(b, "type", "code", "param", "message", "n_prompt_tokens", "n_ctx", "statusCode")
	e.Type, e.Code, e.Param = raw.Unquote(v[0]), plain(v[1]), raw.Unquote(v[2])
	e.Message = raw.Unquote(v[3])
	if e.Code == "" {
		e.Code = plain(v[6])
	}
	// llama.cpp states both sizes beside its text.
	e.Used, e.Window = count(v[4]), count(v[5])
}

// plain returns the text of a code, which is a string or a number.
func plain(b []byte) string {
	switch {
	case raw.IsNone(b):
		return ""
	case raw.IsString(b):
		return raw.Unquote(b)
	}
	return string(b)
}

// readInner takes what lies deeper in an error: OpenRouter has the answer of the provider
// behind it in metadata.raw, Azure the real code in innererror.
func readInner(e *wire.Error, b []byte) {
	v := raw.Values(b, "metadata", "innererror", "details")
	if code := raw.Unquote(raw.Value(v[1], "code")); code != "" && e.Type == "" {
		e.Type = code
	}
	inner := raw.Value(v[0], "raw")
	text := plain(inner)
	if text == "" {
		return
	}
	var deep wire.Error
	if obj, err := raw.CheckObject([]byte(text)); err == nil {
		readFault(&deep, obj)
	}
	if deep.Message == "" {
		deep.Message = text
	}
	if e.Type == "" {
		e.Type = deep.Type
	}
	if deep.Code != "" && raw.Number([]byte(e.Code)) != "" && raw.Number([]byte(deep.Code)) == "" {
		e.Code = deep.Code
	}
	if !strings.Contains(e.Message, deep.Message) {
		e.Message = strings.TrimSpace(e.Message + ": " + deep.Message)
	}
}

// detailText returns the text of a FastAPI detail: a text, or a list of faults with msg.
func detailText(b []byte) string {
	if raw.IsString(b) {
		return raw.Unquote(b)
	}
	var texts []string
	for _, s := range raw.Elements(b) {
		if text := raw.Unquote(raw.Value(raw.Slice(b, s), "msg")); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		if text := raw.Unquote(raw.Value(b, "message")); text != "" {
			return text
		}
		return string(b)
	}
	return strings.Join(texts, "; ")
}

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
