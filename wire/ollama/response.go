package ollama

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/pair"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// epoch is the time of a reply that does not know its own: readers want one.
const epoch = "1970-01-01T00:00:00Z"

// DecodeResponse reads a reply that was not streamed: thinking, text, images, calls, in
// this order. The response holds body itself, which nobody may write to from here on. The
// error says that body is not JSON or no reply; a body that is an error of the server is
// returned as a [wire.Error].
func DecodeResponse(body []byte) (llm.Response, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return llm.Response{}, fmt.Errorf("ollama: decode response: %w", err)
	}
	r, _, err := readReply(body)
	return r, err
}

// readReply returns the reply and its message as it stands in the body.
func readReply(body []byte) (r llm.Response, m llm.Message, err error) {
	obj := raw.Trim(body)
	v := raw.Values(obj, "message", "model", "done_reason", "prompt_eval_count", "eval_count", "error")
	if !raw.IsNone(v[5]) {
		return r, m, DecodeError(0, body)
	}
	if !raw.IsObject(v[0]) {
		return r, m, errors.New("ollama: decode response: want a message, got " + raw.KindOf(v[0]))
	}
	c := raw.NewCursor(v[0])
	var read messageReader
	read.read(c)
	m, _, err = decodeMessage(raw.NewCursor(v[0]), &pair.Calls{})
	if err != nil {
		return r, m, fmt.Errorf("ollama: decode response: %w", raw.In(err, "message"))
	}
	r = llm.Response{
		Model: raw.Unquote(v[1]), Reason: raw.Unquote(v[2]), Usage: usageOf(v[3], v[4]), Dialect: Dialect, Raw: body,
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: Dialect},
	}
	for _, x := range read.pieces() {
		r.Message.Parts = append(r.Message.Parts, x.part)
	}
	r.Stop = stopOf(r.Reason, len(r.Message.Calls()) > 0)
	return r, m, nil
}

func usageOf(prompt, output []byte) llm.Usage {
	in, _ := raw.Int(prompt)
	out, _ := raw.Int(output)
	return llm.Usage{Input: max(in, 0), Output: max(out, 0)}
}

// stopOf returns what a done_reason means. load and unload are replies to no messages.
func stopOf(reason string, calls bool) llm.Stop {
	switch {
	case reason == "stop" && calls:
		return llm.StopTool
	case reason == "stop":
		return llm.StopEnd
	case reason == "length":
		return llm.StopLength
	}
	return llm.StopUnknown
}

// reasonOf returns the done_reason that says stop: the given one, if it does.
func reasonOf(stop llm.Stop, reason string) string {
	switch stop {
	case llm.StopUnknown:
		if reason == "load" || reason == "unload" {
			return reason
		}
		return ""
	case llm.StopLength, llm.StopWindow:
		return "length"
	}
	return "stop"
}

// EncodeResponse returns the body of r. A response that was decoded here and not changed
// gives the very bytes (the same slice) that it was decoded from; else only what differs
// is written anew. A response without its body is written from the start, with all that
// readers of the format insist on. The error says that r.Raw is not the body of a reply.
func EncodeResponse(r llm.Response) ([]byte, error) {
	if r.Dialect != Dialect || len(r.Raw) == 0 {
		return freshReply(r), nil
	}
	if _, err := raw.CheckObject(r.Raw); err != nil {
		return nil, fmt.Errorf("ollama: encode response: %w", err)
	}
	old, m, err := readReply(r.Raw)
	if err != nil {
		return nil, fmt.Errorf("ollama: encode response: %w", err)
	}
	start := raw.Leading(r.Raw)
	known := raw.Trim(r.Raw)
	obj := known
	if b, changed := messageOf(r.Message, old.Message, m); changed {
		obj = raw.Set(obj, "message", raw.OneLine(b))
	}
	if r.Model != old.Model {
		obj = raw.Set(obj, "model", raw.Quote(r.Model))
	}
	if r.Stop != old.Stop || r.Reason != old.Reason {
		obj = raw.Set(obj, "done_reason", raw.Quote(reasonOf(r.Stop, r.Reason)))
	}
	if r.Usage.Prompt() != old.Usage.Prompt() {
		obj = raw.Set(obj, "prompt_eval_count", raw.Digits(r.Usage.Prompt()))
	}
	if r.Usage.Output != old.Usage.Output {
		obj = raw.Set(obj, "eval_count", raw.Digits(r.Usage.Output))
	}
	if &obj[0] == &known[0] && len(obj) == len(known) {
		return r.Raw, nil
	}
	return raw.Replace(r.Raw, llm.Span{Start: start, End: start + len(known)}, obj), nil
}

// messageOf returns the message with the parts of now, and whether they are others than
// those of before, which came as wire.
func messageOf(now, before, wire llm.Message) ([]byte, bool) {
	if len(now.Parts) == len(before.Parts) {
		place := map[int]int{} // of the parts of before among those of wire
		for i, p := range before.Parts {
			for k, w := range wire.Parts {
				if samePlace(p, w) {
					place[i] = k
				}
			}
		}
		parts := append([]llm.Part(nil), wire.Parts...)
		same := true
		for i, p := range now.Parts {
			same = same && now.Dialect == Dialect && samePlace(p, before.Parts[i])
			parts[place[i]] = p
		}
		if same {
			return nil, false
		}
		wire.Parts, wire.Dialect = parts, now.Dialect
		if b, ok := patch(wire); ok && now.Dialect == Dialect {
			return b, true
		}
	}
	b := message(now)
	if b == nil {
		b = []byte(`{"role":"assistant","content":""}`)
	}
	return b, true
}

// samePlace reports whether two parts are the same bytes of one body.
func samePlace(a, b llm.Part) bool {
	x, y := a.Bytes(), b.Bytes()
	return len(x) > 0 && len(x) == len(y) && &x[0] == &y[0]
}

func freshReply(r llm.Response) []byte {
	m := r.Message
	m.Role = llm.RoleAssistant
	if r.Dialect != "" {
		m.Dialect = r.Dialect
	}
	var b body
	for _, p := range m.Parts {
		if t, ok := p.(llm.Thinking); ok && b.thinking == nil && t.Text != "" && !t.Redacted {
			b.thinking = thinkingMember(t.Text)
			continue
		}
		b.add(p, isNative(m))
	}
	o := new(raw.Object).Text("role", "assistant").Raw("content", b.content())
	if b.thinking != nil {
		o.Member(b.thinking)
	}
	out := new(raw.Object).Text("model", r.Model).Text("created_at", epoch).Raw("message", b.lists(o).Bytes())
	return raw.OneLine(finish(out, r.Stop, r.Reason, r.Usage).Bytes())
}

// thinkingMember returns thinking as a member of a message.
func thinkingMember(text string) []byte {
	return raw.AppendQuote([]byte(`"thinking":`), text)
}

// finish adds what a last reply says.
func finish(o *raw.Object, stop llm.Stop, reason string, u llm.Usage) *raw.Object {
	o.Raw("done", []byte("true"))
	if word := reasonOf(stop, reason); word != "" {
		o.Text("done_reason", word)
	}
	for _, name := range []string{"total_duration", "load_duration"} {
		o.Raw(name, []byte("0"))
	}
	o.Raw("prompt_eval_count", raw.Digits(u.Prompt())).Raw("prompt_eval_duration", []byte("0"))
	return o.Raw("eval_count", raw.Digits(u.Output)).Raw("eval_duration", []byte("0"))
}
