package scriptmodel

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// deltaRunes is how many characters one delta of a stream has.
const deltaRunes = 24

// reply answers a request for the model.
func (x *exchange) reply() (answer, *wire.Error) {
	b, refused := x.pick()
	if refused != nil {
		return answer{}, refused
	}
	x.state.clock += b.Reply.Later
	a, refused := x.follow(b.Reply)
	if refused != nil {
		a = x.refuse(refused)
		x.call.Error = refused
	}
	a.delay, a.pause = b.Reply.Delay, b.Reply.Pause
	return a.spoil(x, b.Reply.Faults), nil
}

// follow returns the answer that a reply of the script is.
func (x *exchange) follow(p Reply) (answer, *wire.Error) {
	if p.Status > 0 {
		e := x.fault(p.Status, p.Say)
		e.RetryAfter = time.Duration(p.Retry) * time.Second
		return answer{}, e
	}
	r, refused := x.say(p)
	if refused != nil {
		return answer{}, refused
	}
	body, err := x.codec.EncodeResponse(r)
	if err != nil {
		return answer{}, x.fault(500, err.Error())
	}
	x.call.Reply = r
	x.store(r.ID, body)
	if !x.streams() {
		return jsonAnswer(x.report(x.management(body, []byte("{")), []byte("{"))), nil
	}
	stream, err := x.stream(r)
	if err != nil {
		return answer{}, x.fault(500, err.Error())
	}
	return stream, nil
}

// stream returns a reply event by event.
func (x *exchange) stream(r llm.Response) (answer, error) {
	enc := x.codec.NewEncoder()
	var out []byte
	for _, e := range events(r) {
		if e.Kind == llm.EventEnd && x.route.dialect == chat && !x.field("stream_options.include_usage").Bool() {
			e.Usage = llm.Usage{} // this dialect reports it only when asked
		}
		var err error
		if out, err = enc.Append(out, e); err != nil {
			return answer{}, fmt.Errorf("stream: %w", err)
		}
	}
	chunks := frames(x.route.dialect, out)
	if len(chunks) > 0 {
		chunks[0] = x.report(chunks[0], []byte(`"message":{`))
	}
	for i := range chunks {
		chunks[i] = x.management(chunks[i], []byte(`{"type":"message_delta"`))
	}
	switch {
	case x.route.dialect == native:
		return newAnswer("application/x-ndjson", chunks...), nil
	case x.route.array:
		return newAnswer("application/json", asArray(chunks)...), nil
	}
	return newAnswer("text/event-stream", chunks...), nil
}

// asArray turns server-sent events into the elements of one JSON array.
func asArray(chunks [][]byte) [][]byte {
	out := make([][]byte, len(chunks))
	for i, c := range chunks {
		sep := ",\n"
		if i == 0 {
			sep = "["
		}
		out[i] = append([]byte(sep), bytes.TrimSpace(bytes.TrimPrefix(c, []byte("data:")))...)
	}
	return append(out, []byte("]"))
}

// events returns the events of a reply, its texts in several deltas.
func events(r llm.Response) []llm.Event {
	var out []llm.Event
	for _, e := range wire.Events(r) {
		if e.Kind == llm.EventStart {
			e.Usage.Output, e.Usage.Reasoning = min(e.Usage.Output, 1), 0 // it has hardly begun
		}
		if e.Kind != llm.EventDelta || e.Delta == llm.DeltaSignature {
			out = append(out, e)
			continue
		}
		for rest := e.Text; rest != ""; {
			n := 0
			for i := 0; i < deltaRunes && n < len(rest); i++ {
				_, size := utf8.DecodeRuneInString(rest[n:])
				n += size
			}
			e.Text, rest = rest[:n], rest[n:]
			out = append(out, e)
		}
	}
	return out
}

// report puts the list of dropped thinking into an object of the Messages API that begins
// with after.
func (x *exchange) report(body, after []byte) []byte {
	if len(x.dropped) == 0 {
		return body
	}
	entries := make([][]byte, len(x.dropped))
	for i, d := range x.dropped {
		entries[i] = object("type", "thinking_dropped", "path", d.path, "reason", d.reason)
	}
	list := append(append([]byte(`"input_transformations":`), value(entries)...), ',')
	return bytes.Replace(body, after, append(bytes.Clone(after), list...), 1)
}

// failed returns the stream that ends with the failure of a response: what a streaming
// client of the Responses API gets for a prompt that is too long.
func (x *exchange) failed(e *wire.Error) answer {
	enc := x.codec.NewEncoder()
	out, err := enc.Append(nil, llm.Event{Kind: llm.EventStart, ID: "resp_failed", Model: x.r.Model})
	if err != nil {
		out = nil // the error can be the first event too
	}
	return newAnswer("text/event-stream", frames(x.route.dialect, enc.AppendError(out, e))...)
}

// failure returns the events that say, after as many events of the stream as were sent,
// that the provider failed; before them what the encoder held back.
func (x *exchange) failure(sent int) []byte {
	enc := x.codec.NewEncoder()
	var out []byte
	for _, e := range events(x.call.Reply) {
		if e.Kind == llm.EventEnd || len(frames(x.route.dialect, out)) >= sent {
			break
		}
		more, err := enc.Append(out, e)
		if err != nil {
			break
		}
		out = more
	}
	return enc.AppendError(nil, x.fault(529, ""))
}
