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
	lastKey   int    // the highest index that a call had
	lastID    string // of the call that began last
}

func newChatDecoder() *chatDecoder {
	d := &chatDecoder{}
	d.take = d.read
	return d
}

// Feed implements [wire.Decoder].
func (d *chatDecoder) Feed(chunk []byte) ([]llm.Event, error) { return d.feed(chunk) }

// Close implements [wire.Decoder]. A stream is whole with a finish_reason or [DONE]: some
// servers send only one of them.
func (d *chatDecoder) Close() ([]llm.Event, error) {
	return d.close(func() error {
		if !d.finished {
			return fmt.Errorf("openai: chat stream: %w", wire.ErrCut)
		}
		d.end()
		return nil
	})
}

// read reads one payload.
func (d *chatDecoder) read(name, data []byte) error {
	if string(raw.Trim(data)) == "[DONE]" {
		if !d.ended {
			d.start(d.id, d.model, d.usage)
			d.end()
		}
		return nil
	}
	chunk, err := d.object(data)
	if err == nil && chunk != nil {
		err = d.chunk(name, chunk)
	}
	if err != nil {
		return problem("chat", err)
	}
	return nil
}

// chunk reads one chat.completion.chunk.
func (d *chatDecoder) chunk(name, chunk []byte) error {
	var choices []byte
	for k, v := range raw.Members(chunk) {
		value := raw.Slice(chunk, v)
		switch string(raw.Name(chunk[k.Start:k.End])) {
		case "id":
			if d.id == "" {
				d.id = raw.Unquote(value)
			}
		case "model":
			if d.model == "" {
				d.model = raw.Unquote(value)
			}
		case "choices":
			choices = value
		case "usage":
			if raw.IsObject(value) {
				d.usage = chatUsage(value)
			}
		case "error":
			if !raw.IsNone(value) {
				return DecodeError(0, bytes.Clone(chunk))
			}
		}
	}
	if string(name) == "error" || choices == nil && isFault(chunk) {
		return DecodeError(0, bytes.Clone(chunk))
	}
	if raw.IsNone(choices) || d.ended {
		return nil
	}
	if !raw.IsArray(choices) {
		return raw.In(raw.Wrong("an array", choices), "choices")
	}
	return d.choices(choices)
}

// isFault reports whether a payload without choices is an error in the form that vLLM
// had: {"object": "error", "message"}.
func isFault(chunk []byte) bool {
	return raw.Named(raw.Value(chunk, "object"), "error")
}

// choices reads the choice with index 0; others are passed over.
func (d *chatDecoder) choices(list []byte) error {
	c := raw.NewCursor(list)
	at := 1 + raw.Leading(list[1:])
	for i := 0; at < len(list) && list[at] != ']'; i++ {
		place := c.Skip(at)
		value := c.Bytes(place)
		var err error
		if raw.IsObject(value) {
			err = d.choice(value)
		} else {
			err = raw.Wrong("an object", value)
		}
		if err != nil {
			return raw.In(raw.In(err, index(i)), "choices")
		}
		at = place.End + raw.Leading(list[place.End:])
		if at < len(list) && list[at] == ',' {
			at += 1 + raw.Leading(list[at+1:])
		}
	}
	return nil
}

// choice reads one element of choices.
func (d *chatDecoder) choice(choice []byte) error {
	var delta, finish []byte
	for k, v := range raw.Members(choice) {
		value := raw.Slice(choice, v)
		switch string(raw.Name(choice[k.Start:k.End])) {
		case "index":
			if n, ok := raw.Int(value); ok && n != 0 {
				return nil
			}
		case "delta":
			delta = value
		case "finish_reason":
			finish = value
		case "error":
			if !raw.IsNone(value) {
				return DecodeError(0, bytes.Clone(choice))
			}
		}
	}
	d.start(d.id, d.model, d.usage)
	if !raw.IsNone(delta) && !raw.IsObject(delta) {
		return raw.In(raw.Wrong("an object", delta), "delta")
	}
	if err := d.readDelta(delta); err != nil {
		return raw.In(err, "delta")
	}
	return d.finish(finish)
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
	if !d.finished {
		d.stop = llm.StopEnd
	}
	stop := refined(d.stop, d.called, d.refused)
	d.emit(llm.Event{Kind: llm.EventEnd, Stop: stop, Reason: d.reason, Usage: d.usage})
}
