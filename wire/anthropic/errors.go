package anthropic

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/overflow"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// DecodeError reads the body of an answer with the HTTP status, or of an error event in
// a stream (status 0). It knows the envelope of this API and of those that serve its
// models or speak its format: Bedrock, Vertex, gateways. It never fails: a body that is
// none of these is classified by its status. The error keeps body.
func DecodeError(status int, body []byte) *wire.Error {
	e := &wire.Error{Status: status, Body: body}
	readEnvelope(e, body)
	e.Class = classOf(e)
	return e
}

// readEnvelope takes the provider's own words from body.
func readEnvelope(e *wire.Error, body []byte) {
	if raw.Check(body) != nil {
		e.Message = plain(body)
		return
	}
	obj := raw.Trim(body)
	if list := raw.Elements(obj); raw.IsArray(obj) && len(list) > 0 {
		obj = raw.Slice(obj, list[0]) // Vertex, when a stream was asked for
	}
	v := raw.Values(obj, "error", "request_id", "message", "Message", "__type", "detail")
	e.RequestID = raw.Unquote(v[1])
	switch {
	case raw.IsObject(v[0]):
		readFailure(e, v[0])
	case raw.IsString(v[0]):
		e.Message = raw.Unquote(v[0])
	default:
		e.Type = lastPart(raw.Unquote(v[4])) // Bedrock, whose body is flat
		for _, m := range [][]byte{v[2], v[3], v[5]} {
			if e.Message == "" {
				e.Message = raw.Unquote(m)
			}
		}
	}
	if raw.IsString(obj) {
		e.Message = raw.Unquote(obj)
	}
}

// readFailure reads the value of "error".
func readFailure(e *wire.Error, failure []byte) {
	v := raw.Values(failure, "type", "message", "code", "param", "status", "request_id", "n_prompt_tokens", "n_ctx")
	e.Type, e.Message, e.Param = raw.Unquote(v[0]), raw.Unquote(v[1]), raw.Unquote(v[3])
	if e.Code = raw.Unquote(v[2]); e.Code == "" && raw.KindOf(v[2]) == "number" {
		e.Code = string(v[2])
	}
	if status := raw.Unquote(v[4]); status != "" && e.Type == "" {
		e.Type = status // Vertex: INVALID_ARGUMENT and the like
	}
	if e.RequestID == "" {
		e.RequestID = raw.Unquote(v[5])
	}
	count(v[6], &e.Used) // llama.cpp states both beside its text
	count(v[7], &e.Window)
}

// lastPart returns what follows the last # of a Bedrock type.
func lastPart(s string) string { return s[strings.LastIndexByte(s, '#')+1:] }

// plain returns the text of a body that is not JSON: the title of a page, else a line.
func plain(body []byte) string {
	const most = 1000
	text := string(body[:min(len(body), most)])
	if _, rest, ok := strings.Cut(text, "<title>"); ok {
		title, _, _ := strings.Cut(rest, "</title>")
		return strings.TrimSpace(title)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.ToValidUTF8(line, "\ufffd")
}

// classOf returns the class of e: what its text says, then its type, then its status.
// Texts count only where the type leaves them room: nothing that a server's fault or a
// limit on the rate says about tokens means a long prompt.
func classOf(e *wire.Error) wire.Class {
	class, known := classOfType(e.Type)
	if !known {
		class, known = classOfType(e.Code)
	}
	if !known || e.Status == 413 && class == wire.BadRequest {
		class = wire.ClassOfStatus(e.Status)
	}
	switch class {
	case wire.BadRequest, wire.Unclassified, wire.TooLarge, wire.TooLong, wire.ServerFault, wire.Auth:
		if said, ok := classOfText(e); ok && (class != wire.ServerFault || said == wire.TooLong) {
			return said
		}
		words := overflow.Error{Type: e.Type, Code: e.Code, Message: e.Message}
		if class != wire.Auth && words.Read(&e.Used, &e.Window) {
			return wire.TooLong
		}
	}
	if class == wire.Unclassified && e.Status == 0 {
		return wire.ServerFault // a stream that breaks without a known reason
	}
	return class
}

// classOfType returns the class of an error type: those of the API, of Bedrock and of
// Vertex.
func classOfType(kind string) (wire.Class, bool) {
	switch kind {
	case "invalid_request_error", "conflict_error", "ValidationException", "INVALID_ARGUMENT", "FAILED_PRECONDITION":
		return wire.BadRequest, true
	case "authentication_error", "permission_error", "AccessDeniedException", "UnrecognizedClientException",
		"ExpiredTokenException", "InvalidSignatureException", "UNAUTHENTICATED", "PERMISSION_DENIED":
		return wire.Auth, true
	case "billing_error":
		return wire.Billing, true
	case "not_found_error", "ResourceNotFoundException", "NOT_FOUND":
		return wire.NotFound, true
	case "request_too_large":
		return wire.TooLarge, true
	case "rate_limit_error", "ThrottlingException", "ServiceQuotaExceededException", "RESOURCE_EXHAUSTED":
		return wire.RateLimited, true
	case "api_error", "InternalServerException", "ModelErrorException", "ModelStreamErrorException", "INTERNAL":
		return wire.ServerFault, true
	case "timeout_error", "ModelTimeoutException", "DEADLINE_EXCEEDED":
		return wire.Timeout, true
	case "overloaded_error", "ServiceUnavailableException", "ModelNotReadyException", "UNAVAILABLE":
		return wire.Overloaded, true
	}
	return wire.Unclassified, false
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
	if _, known := classOfType(e.Type); known && strings.HasSuffix(e.Type, "_error") {
		kind = e.Type
	}
	failure := new(raw.Object).Text("type", kind).Text("message", textOf(e))
	o := new(raw.Object).Text("type", "error").Raw("error", failure.Bytes())
	if e.RequestID != "" {
		o.Text("request_id", e.RequestID)
	}
	return o.Bytes()
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
