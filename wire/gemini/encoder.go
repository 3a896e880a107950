package gemini

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// An encoder writes a stream of server-sent events, each a whole reply with what is new.
// Of a text it holds back the newest delta: if the part is signed, the signature goes with
// that delta, because some clients drop a part that has a signature and no text.
type encoder struct {
	start llm.Event
	usage []byte // what is known of it, as every reply tells it
	state encoderState
	open  []encoderPart
	held  heldText
	spoke bool // a part has begun
}

// A heldText is a delta that has not been written; there is none if it is empty.
type heldText struct {
	index   int
	thought bool
	text    string
}

type encoderState uint8

const (
	notStarted encoderState = iota
	started                 // but nothing written
	writing
	ended
)

type encoderPart struct {
	index   int
	thought bool
	told    bool // it had a delta
}

// Append implements [wire.Encoder]. Calls are written whole, at their end, in one line; the
// start is written with the first part. Opaque parts of another dialect have no form here.
func (n *encoder) Append(dst []byte, e llm.Event) ([]byte, error) {
	if n.state == ended || n.state == notStarted && e.Kind != llm.EventStart && e.Kind != llm.EventOther {
		return dst, fmt.Errorf("gemini: stream: want a start first and nothing after the end, got %v", e.Kind)
	}
	switch e.Kind {
	case llm.EventStart:
		if n.state != notStarted {
			return dst, fmt.Errorf("gemini: stream: want one start, got another")
		}
		n.start, n.state = e, started
		if !e.Usage.IsZero() {
			n.usage = withUsage(nil, e.Usage)
		}
	case llm.EventPartStart:
		_, thought := e.Part.(llm.Thinking)
		n.spoke = true
		n.open = append(n.open, encoderPart{index: e.Index, thought: thought})
	case llm.EventDelta:
		p := n.find(e.Index)
		if p == nil {
			return dst, fmt.Errorf("gemini: stream: want a delta of an open part, got one of part %d", e.Index)
		}
		if e.Delta == llm.DeltaText && e.Text != "" {
			p.told = true
			dst = n.release(dst)
			n.held = heldText{e.Index, p.thought, e.Text}
		}
	case llm.EventPartEnd:
		p := n.find(e.Index)
		if p == nil {
			return dst, fmt.Errorf("gemini: stream: want the end of an open part, got that of part %d", e.Index)
		}
		dst = n.endPart(dst, *p, e.Part)
		n.forget(e.Index)
	case llm.EventEnd:
		dst = n.release(dst)
		n.state = ended
		return n.end(dst, e), nil
	}
	return dst, nil
}

// AppendError implements [wire.Encoder].
func (n *encoder) AppendError(dst []byte, e *wire.Error) []byte {
	dst = n.release(dst)
	n.state = ended
	return event(dst, errorPayload(e))
}

// release writes the delta that is held back.
func (n *encoder) release(dst []byte) []byte {
	h := n.held
	if h.text == "" {
		return dst
	}
	n.held = heldText{}
	return n.chunk(dst, n.text(h.thought, h.text))
}

func (n *encoder) find(index int) *encoderPart {
	for i := range n.open {
		if n.open[i].index == index {
			return &n.open[i]
		}
	}
	return nil
}

func (n *encoder) forget(index int) {
	kept := n.open[:0]
	for _, p := range n.open {
		if p.index != index {
			kept = append(kept, p)
		}
	}
	n.open = kept
}

func (n *encoder) text(thought bool, text string) []byte {
	o := new(raw.Object).Text("text", text)
	if thought {
		o.Raw("thought", []byte("true"))
	}
	return o.Bytes()
}

// endPart writes what is left of a part: a text, a signature, a whole call. The signature
// that belongs to a text or a call is found in the bytes it came with.
func (n *encoder) endPart(dst []byte, open encoderPart, p llm.Part) []byte {
	if n.held.index != open.index || !isText(p) {
		dst = n.release(dst)
	}
	signature := nameSignature.value(p.Bytes())
	switch p := p.(type) {
	case llm.Text:
		return n.rest(dst, open, p.Text, signature)
	case llm.Stub:
		return n.rest(dst, open, p.Text, nil)
	case llm.Thinking:
		if signature == nil && isBase64(p.Signature) {
			signature = raw.Quote(p.Signature)
		}
		if p.Redacted {
			signature = nil
		}
		return n.rest(dst, open, p.Text, signature)
	case llm.ToolCall:
		if p.Hosted {
			return dst
		}
		id := p.CallID
		if own := nameCall.value(p.Bytes()); own != nil && !callHasID(p.Bytes()) {
			id = "" // derived, never on the wire
		}
		return n.chunk(dst, signed(callPart(p, id), signature))
	case llm.Media:
		if membersOf(raw.NewCursor(p.Data)).media != nil {
			return n.chunk(dst, p.Data)
		}
		return n.chunk(dst, mediaPart(p))
	case llm.Opaque:
		if p.Kind != "" && raw.IsObject(raw.Value(p.Data, p.Kind)) {
			return n.chunk(dst, p.Data)
		}
	}
	return dst
}

func isText(p llm.Part) bool {
	switch p.(type) {
	case llm.Text, llm.Stub, llm.Thinking:
		return true
	}
	return false
}

// rest writes what is left of a text: the delta that was held back, or all of it if it had
// none. A signature stands alone only where there is no text for it.
func (n *encoder) rest(dst []byte, open encoderPart, text string, signature []byte) []byte {
	if open.told {
		text = n.held.text
		n.held = heldText{}
	}
	if text == "" && signature == nil {
		return dst
	}
	return n.chunk(dst, signed(n.text(open.thought, text), signature))
}

func signed(part, signature []byte) []byte { return raw.Set(part, nameSignature.camel, signature) }

// chunk writes a reply with one part.
func (n *encoder) chunk(dst, part []byte) []byte {
	content := new(raw.Object).Raw("parts", raw.Array([][]byte{part})).Text("role", "model").Bytes()
	candidate := new(raw.Object).Raw("content", content).Raw("index", []byte("0")).Bytes()
	n.state = writing
	return n.reply(dst, candidate, n.usage, "")
}

// reply writes a reply with a candidate or the reason why the prompt was blocked.
func (n *encoder) reply(dst, candidate, usage []byte, blocked string) []byte {
	o := new(raw.Object)
	if candidate != nil {
		o.Raw("candidates", raw.Array([][]byte{candidate}))
	} else {
		o.Raw("promptFeedback", new(raw.Object).Text("blockReason", blocked).Bytes())
	}
	o.Raw("usageMetadata", usage).Text("modelVersion", n.start.Model)
	return event(dst, o.Text("responseId", cmp.Or(n.start.ID, "response")).Bytes())
}

// event writes one payload, on one line.
func event(dst, payload []byte) []byte {
	begin := len(dst)
	dst = sse.Append(dst, "", payload)
	for i := begin; i < len(dst)-len("\n\n"); i++ {
		if dst[i] == '\n' || dst[i] == '\r' {
			dst[i] = ' ' // between the values of arguments; in texts they are escaped
		}
	}
	return dst
}

// end writes the last reply. Its empty text is there because clients look for one.
func (n *encoder) end(dst []byte, e llm.Event) []byte {
	if n.state == started && n.start.Usage != e.Usage {
		dst = n.chunk(dst, textPart("")) // the start knew another usage than the end
	}
	if !e.Usage.IsZero() || n.usage == nil {
		n.usage = withUsage(nil, e.Usage)
	}
	if e.Stop == llm.StopRefusal && !n.spoke && isBlockReason(e.Reason) {
		return n.reply(dst, nil, n.usage, e.Reason)
	}
	content := new(raw.Object).Raw("parts", raw.Array([][]byte{textPart("")})).Text("role", "model").Bytes()
	candidate := new(raw.Object).Raw("content", content).Text("finishReason", reasonOf(e.Stop, e.Reason))
	return n.reply(dst, candidate.Raw("index", []byte("0")).Bytes(), n.usage, "")
}
