package openai

import (
	"cmp"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

var (
	_ wire.Encoder = (*chatEncoder)(nil)
	_ wire.Encoder = (*responsesEncoder)(nil)
)

// AppendError implements [wire.Encoder]: a payload {"error": {...}}, and no [DONE].
func (w *chatEncoder) AppendError(dst []byte, e *wire.Error) []byte {
	w.begun, w.ended = true, true
	body := e.Body
	if obj, err := raw.CheckObject(body); err != nil || raw.IsNone(raw.Value(obj, "error")) {
		_, body = EncodeError(bare(e))
	}
	return sse.Append(dst, "", raw.OneLine(raw.Trim(body)))
}

// bare returns e without the body that it came with.
func bare(e *wire.Error) *wire.Error {
	b := *e
	b.Body = nil
	return &b
}

// AppendError implements [wire.Encoder]: an event error, which the official SDKs
// look for, and response.failed, which Codex looks for.
// A stream that has not begun gets its response.created first.
func (w *responsesEncoder) AppendError(dst []byte, e *wire.Error) []byte {
	begun := w.begun
	w.begun, w.ended = true, true
	if obj, err := raw.CheckObject(e.Body); err == nil {
		if kind := raw.Unquote(raw.Value(obj, "type")); kind == "error" || kind == "response.failed" {
			return sse.Append(dst, kind, raw.OneLine(obj))
		}
	}
	if !begun {
		w.head.status = "in_progress"
		dst = w.whole(dst, "response.created", w.head.object(nil, []byte("null")))
	}
	_, body := EncodeError(bare(e))
	v := raw.Values(raw.Value(body, "error"), "message", "code", "param")
	message, code, param := v[0], v[1], v[2]
	if e.Code != "" || raw.IsNone(code) {
		code = raw.Quote(cmp.Or(e.Code, e.Type, "server_error"))
	}
	dst = w.event("error").raw("code", code).raw("message", message).raw("param", param).send(dst, "error")
	w.head.status = "failed"
	var items [][]byte
	for _, item := range w.items {
		if item != nil { // else it has not ended
			items = append(items, item)
		}
	}
	fault := new(raw.Object).Raw("code", code).Raw("message", message).Bytes()
	return w.whole(dst, "response.failed", raw.Set(w.head.object(items, []byte("null")), "error", fault))
}
