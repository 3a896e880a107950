package splice

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A whole is a reply that is no stream: all of it comes at the end.
type whole struct {
	dialect Dialect
	hidden  func(tool string) bool
	bodies  [][]byte // of the Rounds that have ended
	body    []byte   // of this one
	merged  []byte   // of those that have ended; nil: the only one, as it came
	passes  bool     // it is too big to be kept
	err     error
}

// Write implements [wire.Splice].
func (w *whole) Write(chunk []byte) ([]byte, error) {
	if w.passes {
		return chunk, nil
	}
	w.body = append(w.body, chunk...)
	if len(w.body) <= sse.MaxHeld {
		return nil, nil
	}
	body := w.body
	w.body, w.err = nil, fmt.Errorf("wire: splice: body, want at most %d bytes, got %d and more", sse.MaxHeld, len(body))
	if w.passes = len(w.bodies) == 0; w.passes {
		return body, nil
	}
	return nil, w.err
}

// EndRound implements [wire.Splice].
func (w *whole) EndRound() (llm.Response, error) {
	r, err := llm.Response{}, w.err
	if err == nil {
		r, err = w.dialect.Codec.DecodeResponse(w.body)
	}
	if err != nil && len(w.bodies) == 0 {
		err = passed(err)
	}
	if err != nil {
		return r, err
	}
	w.bodies = append(w.bodies, w.body)
	merged, err := w.dialect.Merge(w.bodies)
	if err == nil && (len(w.bodies) > 1 || w.hides(r.Message)) {
		w.merged = merged
	}
	return r, err
}

// hides reports whether m has calls of hidden tools.
func (w *whole) hides(m llm.Message) bool {
	for _, c := range m.Calls() {
		if w.hidden(c.Name) {
			return true
		}
	}
	return false
}

// Next implements [wire.Splice].
func (w *whole) Next() { w.body = nil }

// Finish implements [wire.Splice].
func (w *whole) Finish() []byte {
	if w.merged == nil {
		return w.body
	}
	return bytes.Clone(w.merged)
}

// Fail implements [wire.Splice].
func (w *whole) Fail(e *wire.Error) []byte {
	_, body := w.dialect.Codec.EncodeError(e)
	return body
}
