package ollama

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeError reads the body of an answer with an error status, or an error line of a
// stream, for which status is 0: {"error": text}, {"error": text, "status": n}, or the
// object of the model runner behind the server, {"error": {"code", "message", "type",
// "n_prompt_tokens", "n_ctx"}}; see [wire.DecodeError].
func DecodeError(status int, body []byte) *wire.Error {
	e := wire.DecodeError(status, body)
	if _, err := strconv.Atoi(e.Code); err == nil {
		e.Code = "" // the HTTP status again
	}
	return e
}

// EncodeError returns the status and the body that the server would answer e with: its own
// body where it has one.
func EncodeError(e *wire.Error) (int, []byte) {
	status := e.Status
	if status == 0 {
		status = statusOf(e.Class)
	}
	if len(e.Body) > 0 {
		return status, bytes.Clone(e.Body)
	}
	return status, newError(e)
}

// newError returns a body that is written from the fields of e.
func newError(e *wire.Error) []byte {
	message := cmp.Or(e.Message, e.Class.String()) // an empty one is none to the official client
	switch {
	case e.Class == wire.TooLong && e.Used > 0 && e.Window > 0:
		message = "request (" + strconv.Itoa(e.Used) + " tokens) exceeds the available context size (" + strconv.Itoa(e.Window) + " tokens), try increasing it"
	case e.Class == wire.TooLong:
		message = "the input length exceeds the context length"
	}
	return new(raw.Object).Text("error", message).Bytes()
}

// statusOf returns the status that the server answers errors of a class with.
func statusOf(c wire.Class) int {
	switch c {
	case wire.TooLong, wire.BadRequest, wire.BadThinking:
		return 400
	case wire.TooLarge:
		return 413
	case wire.RateLimited:
		return 429
	case wire.Overloaded:
		return 503
	case wire.Auth:
		return 401
	case wire.Billing:
		return 402
	case wire.NotFound:
		return 404
	case wire.Timeout:
		return 504
	}
	return 500
}
