package gemini

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// An encoder writes a stream of server-sent events, each a whole reply with what is new.
type encoder struct {
	start llm.Event
	state encoderState
	open  []encoderPart
	spoke bool // a part has begun
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
	told    bool // its text has been written
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
			return n.chunk(dst, n.text(p.thought, e.Text)), nil
		}
	case llm.EventPartEnd:
		p := n.find(e.Index)
		if p == nil {
			return dst, fmt.Errorf("gemini: stream: want the end of an open part, got that of part %d", e.Index)
		}
		dst = n.endPart(dst, *p, e.Part)
		n.forget(e.Index)
	case llm.EventEnd:
		n.state = ended
		return n.end(dst, e), nil
	}
	return dst, nil
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

// endPart writes what is left of a part: a text without deltas, a signature, a whole call.
// The signature that belongs to a text or a call is found in the bytes it came with.
func (n *encoder) endPart(dst []byte, open encoderPart, p llm.Part) []byte {
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

func (n *encoder) rest(dst []byte, open encoderPart, text string, signature []byte) []byte {
	if open.told {
		text = ""
	}
	if text == "" && signature == nil {
		return dst
	}
	return n.chunk(dst, signed(n.text(open.thought, text), signature))
}

func signed(part, signature []byte) []byte { return raw.Set(part, nameSignature.camel, signature) }

// chunk writes a reply with one part. The first one has the usage that the start knew.
func (n *encoder) chunk(dst, part []byte) []byte {
	content := new(raw.Object).Raw("parts", raw.Array([][]byte{part})).Text("role", "model").Bytes()
	candidate := new(raw.Object).Raw("content", content).Raw("index", []byte("0")).Bytes()
	var usage []byte
	if n.state == started && !n.start.Usage.IsZero() {
		usage = withUsage(nil, n.start.Usage)
	}
	n.state = writing
	return n.reply(dst, candidate, usage, "")
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
	begin := len(dst)
	dst = sse.Append(dst, "", o.Text("responseId", cmp.Or(n.start.ID, "response")).Bytes())
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
	if e.Stop == llm.StopRefusal && !n.spoke && isBlockReason(e.Reason) {
		return n.reply(dst, nil, withUsage(nil, e.Usage), e.Reason)
	}
	content := new(raw.Object).Raw("parts", raw.Array([][]byte{textPart("")})).Text("role", "model").Bytes()
	candidate := new(raw.Object).Raw("content", content).Text("finishReason", reasonOf(e.Stop, e.Reason))
	return n.reply(dst, candidate.Raw("index", []byte("0")).Bytes(), withUsage(nil, e.Usage), "")
}
