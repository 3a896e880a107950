package openai

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A chatDecoder reads a stream of chat.completion.chunk objects. The format does not say
// when a part ends: one that is no call ends where another begins, a call ends where
// something else begins and its arguments are whole JSON, and what is left ends with the
// finish_reason. Text that goes on after a call is one more part.
type chatDecoder struct {
	stream
	id, model string
	usage     llm.Usage
	stop      llm.Stop
	reason    string
	finished  bool // there was a finish_reason
	called    bool
	refused   bool
	current   *chatPart // the open part that is no call
	calls     []*chatCall
	callCount int
	now       []chatChoice // of the chunk at hand
	lastKey   int          // the highest index that a call had
	lastID    string       // of the call that began last
}

func newChatDecoder() *chatDecoder {
	d := &chatDecoder{}
	d.take = d.read
	return d
}

// Feed implements [wire.Decoder].
func (d *chatDecoder) Feed(chunk []byte) ([]llm.Event, error) { return d.feed(chunk) }

// Close implements [wire.Decoder]. A stream is whole with a finish_reason; [DONE] without
// one ends what has been said, and nobody says why.
func (d *chatDecoder) Close() ([]llm.Event, error) {
	return d.close(func() error {
		if !d.finished {
			return errCutChat()
		}
		d.end()
		return nil
	})
}

func errCutChat() error { return fmt.Errorf("openai: chat stream: %w", wire.ErrCut) }

// read reads one payload.
func (d *chatDecoder) read(name, data []byte) error {
	if isDone(data) {
		switch {
		case d.ended:
		case !d.finished && d.parts == 0:
			return errCutChat()
		default:
			d.end()
		}
		return nil
	}
	w, err := d.object(data)
	if err == nil && w != nil {
		err = d.chunk(name, w)
	}
	if err != nil {
		return problem("chat", err)
	}
	return nil
}

// A chatChoice is an element of choices, by the members that are looked at here.
type chatChoice struct {
	other         bool // not the one with index 0
	finish, fault []byte
	delta         delta
	whole         []byte
	err           error
}

// A chatChunk is a payload, by the members that are looked at here.
type chatChunk struct{ object, choices, fault, whole []byte }

// chunk reads one chat.completion.chunk. Its members come in any order, so that they are
// all read before anything is told.
func (d *chatDecoder) chunk(name []byte, w *raw.Walk) error {
	x := d.readChunk(w)
	if err := w.Err(); err != nil {
		return err
	}
	// vLLM once had errors of the form {"object": "error", "message"}.
	if x.fault != nil || string(name) == "error" || x.choices == nil && string(word(x.object)) == "error" {
		return DecodeError(0, bytes.Clone(x.whole))
	}
	if raw.IsNone(x.choices) || d.ended {
		return nil
	}
	if !raw.IsArray(x.choices) {
		return raw.In(raw.Wrong("an array", x.choices), "choices")
	}
	for i, choice := range d.now {
		if err := d.choice(choice); err != nil {
			return raw.In(raw.In(err, index(i)), "choices")
		}
	}
	return nil
}

func (d *chatDecoder) readChunk(w *raw.Walk) (x chatChunk) {
	start := w.At()
	w.Enter()
	for member := w.Member(); member != nil; member = w.Member() {
		at := w.At()
		switch string(member) {
		case "choices":
			d.readChoices(w)
			x.choices = w.Bytes(at)
			continue
		}
		value := w.Value()
		switch string(member) {
		case "id":
			if d.id == "" {
				d.id = raw.Unquote(value)
			}
		case "model":
			if d.model == "" {
				d.model = raw.Unquote(value)
			}
		case "usage":
			if raw.IsObject(value) {
				d.usage = chatUsage(value)
			}
		case "object":
			x.object = value
		case "error":
			if !raw.IsNone(value) {
				x.fault = value
			}
		case "base_resp": // MiniMax's
			if raw.IsNonZero(raw.Value(value, "status_code")) {
				x.fault = value
			}
		}
	}
	x.whole = w.Bytes(start)
	return x
}

// readChoices reads the value that is next into d.now.
func (d *chatDecoder) readChoices(w *raw.Walk) {
	d.now = d.now[:0]
	if !raw.IsArray(w.Next()) {
		w.Value()
		return
	}
	w.Enter()
	for w.Item() {
		var x chatChoice
		if raw.IsObject(w.Next()) {
			x.read(w)
		} else {
			x.err = raw.Wrong("an object", w.Value())
		}
		d.now = append(d.now, x)
	}
}

// read reads the choice that is next.
func (x *chatChoice) read(w *raw.Walk) {
	start := w.At()
	w.Enter()
	for name := w.Member(); name != nil; name = w.Member() {
		if string(name) == "delta" && raw.IsObject(w.Next()) {
			x.delta, x.err = delta{}, nil
			x.delta.read(w)
			continue
		}
		value := w.Value()
		switch string(name) {
		case "index":
			n, _ := raw.Int(value)
			x.other = n != 0
		case "delta":
			x.delta, x.err = delta{}, nil
			if !raw.IsNone(value) {
				x.err = raw.In(raw.Wrong("an object", value), "delta")
			}
		case "finish_reason":
			x.finish = value
		case "error":
			if !raw.IsNone(value) {
				x.fault = value
			}
		case "base_resp": // MiniMax's
			if raw.IsNonZero(raw.Value(value, "status_code")) {
				x.fault = value
			}
		}
	}
	x.whole = w.Bytes(start)
}

// choice tells what a choice says, if it is the one with index 0.
func (d *chatDecoder) choice(x chatChoice) error {
	switch {
	case x.other:
		return nil
	case x.fault != nil:
		return DecodeError(0, bytes.Clone(x.whole))
	}
	if x.whole != nil {
		d.start(d.id, d.model, d.usage)
	}
	if x.err != nil {
		return x.err
	}
	if err := d.readDelta(x.delta); err != nil {
		return raw.In(err, "delta")
	}
	return d.finish(x.finish)
}

// finish reads a finish_reason: all parts that are open end with it.
func (d *chatDecoder) finish(value []byte) error {
	reason := raw.Unquote(value)
	if reason == "" {
		return nil
	}
	if reason == "error" { // OpenRouter, where the provider behind it broke off
		return &wire.Error{Class: wire.ServerFault, Type: reason, Message: "the provider broke off the reply", Body: bytes.Clone(value)}
	}
	d.finished, d.reason, d.stop = true, reason, chatStop(reason)
	d.closeAll()
	return nil
}

// closeAll ends every part that is open.
func (d *chatDecoder) closeAll() {
	d.closePart()
	for _, c := range d.calls {
		d.closeCall(c)
	}
	d.calls = d.calls[:0]
}

// end sends the end of the reply.
func (d *chatDecoder) end() {
	d.closeAll()
	d.ended = true
	stop := d.stop
	if d.finished {
		stop = refined(stop, d.called, d.refused)
	}
	d.emit(llm.Event{Kind: llm.EventEnd, Stop: stop, Reason: d.reason, Usage: d.usage})
}
