package ollama

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/overflow"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// maxMessage is how much of a body that is not JSON is taken as the message, in bytes.
const maxMessage = 1000

// DecodeError reads the body of an answer with an error status, or an error line of a
// stream, for which status is 0: {"error": text}, {"error": text, "status": n}, or the
// object of the model runner behind the server, {"error": {"code", "message", "type",
// "n_prompt_tokens", "n_ctx"}}. A body that is none of that is classified by status.
func DecodeError(status int, body []byte) *wire.Error {
	e := &wire.Error{Status: status, Class: wire.ClassOfStatus(status), Body: body}
	obj := raw.Trim(body)
	if raw.Check(obj) != nil {
		e.Message = string(obj[:min(len(obj), maxMessage)])
		classify(e)
		return e
	}
	v := raw.Values(obj, "error", "status")
	code, _ := raw.Int(v[1])
	if raw.IsString(v[0]) {
		e.Message = raw.Unquote(v[0])
	} else {
		w := raw.Values(v[0], "code", "message", "type", "n_prompt_tokens", "n_ctx")
		if n, ok := raw.Int(w[0]); ok && code == 0 {
			code = n
		}
		e.Code, e.Message, e.Type = raw.Unquote(w[0]), raw.Unquote(w[1]), raw.Unquote(w[2])
		used, _ := raw.Int(w[3])
		window, _ := raw.Int(w[4])
		e.Used, e.Window = max(used, 0), max(window, 0)
	}
	if status == 0 {
		e.Class = wire.ClassOfStatus(code)
	}
	classify(e)
	return e
}

// classify sets the class by the words of the server (Ollama v0.17 server, runner;
// llama.cpp's server behind newer ones), which tell more than the status.
func classify(e *wire.Error) {
	text := strings.ToLower(e.Message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	words := overflow.Error{Type: e.Type, Code: e.Code, Message: e.Message}
	switch {
	case e.Type == "exceed_context_size_error",
		has("exceeds the context length", "exceeds maximum context length", "exceeds the available context size", "exceeds context", "exceed context window", "prompt is too long"):
		words.Read(&e.Used, &e.Window)
		e.Class = wire.TooLong
		return
	case leavesRoom(e.Class) && words.Read(&e.Used, &e.Window): // those of other providers
		e.Class = wire.TooLong
		return
	case has("must be of type", "invalid format:", "invalid json schema"): // it answers 500
		e.Class = wire.BadRequest
	case has("server busy", "maximum pending requests", "overloaded"):
		e.Class = wire.Overloaded
	case has("not found"):
		e.Class = wire.NotFound
	case has("unauthorized"):
		e.Class = wire.Auth
	case has("usage limit", "rate limit", "too many requests"):
		e.Class = wire.RateLimited
	case has("timed out", "deadline exceeded"):
		e.Class = wire.Timeout
	case e.Class == wire.Unclassified && has("does not support", "invalid"):
		e.Class = wire.BadRequest
	case e.Class == wire.Unclassified && e.Message != "":
		e.Class = wire.ServerFault // a line in a stream that had begun well
	}
	e.Used, e.Window = 0, 0
}

// leavesRoom reports whether a class that the status tells leaves the words room to say that
// a prompt is too long.
func leavesRoom(c wire.Class) bool {
	return c == wire.BadRequest || c == wire.Unclassified || c == wire.TooLarge || c == wire.ServerFault
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
