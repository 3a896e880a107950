package gemini

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeError reads the body of an answer with an error status, or an error inside a
// stream, for which status is 0: {"error": {"code", "message", "status", "details"}}, also
// as the element of an array; see [wire.DecodeError]. Type is the status, Code the reason of
// its ErrorInfo, Param the first field that was violated.
func DecodeError(status int, body []byte) *wire.Error {
	e := wire.DecodeError(status, body)
	if _, err := strconv.Atoi(e.Code); err == nil {
		e.Code = "" // the HTTP status again
	}
	return e
}

// statuses are those of google.rpc.Code that an error can have.
var statuses = []string{
	"RESOURCE_EXHAUSTED", "UNAVAILABLE", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "INVALID_ARGUMENT", "FAILED_PRECONDITION",
	"OUT_OF_RANGE", "UNIMPLEMENTED", "DEADLINE_EXCEEDED", "INTERNAL", "UNKNOWN", "ABORTED", "DATA_LOSS",
}

// EncodeError returns the status and the body that the provider would answer e with: its
// own body where it has one.
func EncodeError(e *wire.Error) (int, []byte) {
	status, body := newError(e)
	if len(e.Body) > 0 {
		return status, bytes.Clone(e.Body)
	}
	return status, body
}

// errorPayload returns e as a payload of a stream: as it came where it is one of this format.
func errorPayload(e *wire.Error) []byte {
	if obj, err := raw.CheckObject(e.Body); err == nil && raw.IsObject(raw.Value(obj, "error")) {
		return obj
	}
	_, body := newError(e)
	return body
}

// newError returns the status and a body that is written from the fields of e.
func newError(e *wire.Error) (int, []byte) {
	status, word := answer(e.Class)
	if e.Status > 0 {
		status = e.Status
	}
	if slices.Contains(statuses, e.Type) {
		word = e.Type
	}
	message := e.Message
	if e.Class == wire.TooLong && e.Used > 0 && e.Window > 0 {
		message = "The input token count (" + strconv.Itoa(e.Used) + ") exceeds the maximum number of tokens allowed (" + strconv.Itoa(e.Window) + ")."
	}
	inner := new(raw.Object).Raw("code", strconv.AppendInt(nil, int64(status), 10)).Text("message", message).Text("status", word)
	var details [][]byte
	if e.Code != "" {
		details = append(details, detail("ErrorInfo", "reason", e.Code))
	}
	if e.RetryAfter > 0 {
		seconds := strconv.FormatFloat(e.RetryAfter.Seconds(), 'f', -1, 64)
		details = append(details, detail("RetryInfo", "retryDelay", seconds+"s"))
	}
	if len(details) > 0 {
		inner.Raw("details", raw.Array(details))
	}
	return status, new(raw.Object).Raw("error", inner.Bytes()).Bytes()
}

func detail(kind, name, value string) []byte {
	return new(raw.Object).Text("@type", "type.googleapis.com/google.rpc."+kind).Text(name, value).Bytes()
}

// answer returns the status that the provider answers errors of a class with.
func answer(c wire.Class) (int, string) {
	switch c {
	case wire.TooLong, wire.TooLarge, wire.BadRequest, wire.BadThinking:
		return 400, "INVALID_ARGUMENT"
	case wire.RateLimited, wire.Billing:
		return 429, "RESOURCE_EXHAUSTED"
	case wire.Overloaded:
		return 503, "UNAVAILABLE"
	case wire.Auth:
		return 401, "UNAUTHENTICATED"
	case wire.NotFound:
		return 404, "NOT_FOUND"
	case wire.Timeout:
		return 504, "DEADLINE_EXCEEDED"
	}
	return 500, "INTERNAL"
}
