package ollama

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// An encoder writes a stream of one JSON text a line.
type encoder struct {
	model          string
	started, ended bool
	calls          int
	open           []encoderPart
}

type encoderPart struct {
	index    int
	thinking bool
	told     bool // its text has been written
}

// Append implements [wire.Encoder]. Calls are written whole, at their end, in one line.
// What the format has no place for, opaque parts and signatures, is left out.
func (n *encoder) Append(dst []byte, e llm.Event) ([]byte, error) {
	if e.Kind == llm.EventOther {
		return dst, nil
	}
	if n.ended || n.started == (e.Kind == llm.EventStart) {
		return dst, fmt.Errorf("ollama: stream: want one start first and nothing after the end, got %v", e.Kind)
	}
	switch e.Kind {
	case llm.EventStart:
		n.started, n.model = true, e.Model
	case llm.EventPartStart:
		_, thinking := e.Part.(llm.Thinking)
		n.open = append(n.open, encoderPart{index: e.Index, thinking: thinking})
	case llm.EventDelta:
		p := n.find(e.Index)
		if p == nil {
			return dst, fmt.Errorf("ollama: stream: want a delta of an open part, got one of part %d", e.Index)
		}
		if e.Delta == llm.DeltaText && e.Text != "" {
			p.told = true
			return n.text(dst, e.Text, p.thinking), nil
		}
	case llm.EventPartEnd:
		p := n.find(e.Index)
		if p == nil {
			return dst, fmt.Errorf("ollama: stream: want the end of an open part, got that of part %d", e.Index)
		}
		dst = n.endPart(dst, *p, e.Part)
		*p = n.open[len(n.open)-1]
		n.open = n.open[:len(n.open)-1]
	case llm.EventEnd:
		n.ended = true
		o := n.head().Raw("message", []byte(`{"role":"assistant","content":""}`))
		return append(append(dst, finish(o, e.Stop, e.Reason, e.Usage).Bytes()...), '\n'), nil
	}
	return dst, nil
}

// AppendError implements [wire.Encoder].
func (n *encoder) AppendError(dst []byte, e *wire.Error) []byte {
	n.ended = true
	body := e.Body
	if obj, err := raw.CheckObject(body); err != nil || raw.IsNone(raw.Value(obj, "error")) {
		body = newError(e)
	}
	return append(append(dst, raw.OneLine(raw.Trim(body))...), '\n')
}

func (n *encoder) find(index int) *encoderPart {
	for i := range n.open {
		if n.open[i].index == index {
			return &n.open[i]
		}
	}
	return nil
}

// endPart writes what is left of a part: a text without deltas, an image, a whole call.
func (n *encoder) endPart(dst []byte, open encoderPart, p llm.Part) []byte {
	switch p := p.(type) {
	case llm.Text, llm.Stub:
		if text, _ := textOf(p); !open.told && text != "" {
			return n.text(dst, text, false)
		}
	case llm.Thinking:
		if !open.told && p.Text != "" && !p.Redacted {
			return n.text(dst, p.Text, true)
		}
	case llm.ToolCall:
		if p.Hosted {
			return dst
		}
		id := p.CallID
		if b := p.Bytes(); raw.Value(b, "function") != nil && !hasID(b) {
			id = "" // derived, never on the wire
		}
		n.calls++
		o := new(raw.Object).Text("role", "assistant").Text("content", "")
		return n.message(dst, o.Raw("tool_calls", raw.Array([][]byte{newCall(p, id, n.calls-1)})))
	case llm.Media:
		image, instead := mediaOf(p, raw.IsString(p.Data))
		if image == nil {
			return n.text(dst, instead, false)
		}
		o := new(raw.Object).Text("role", "assistant").Text("content", "")
		return n.message(dst, o.Raw("images", raw.Array([][]byte{image})))
	}
	return dst
}

func (n *encoder) head() *raw.Object {
	return new(raw.Object).Text("model", n.model).Text("created_at", epoch)
}

func (n *encoder) text(dst []byte, text string, thinking bool) []byte {
	o := new(raw.Object).Text("role", "assistant")
	if thinking {
		return n.message(dst, o.Text("content", "").Text("thinking", text))
	}
	return n.message(dst, o.Text("content", text))
}

// message writes a line that is not the last one.
func (n *encoder) message(dst []byte, message *raw.Object) []byte {
	return append(append(dst, raw.OneLine(n.head().Raw("message", message.Bytes()).Raw("done", []byte("false")).Bytes())...), '\n')
}
