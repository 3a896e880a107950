package anthropic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// An encoder writes one stream. What it leaves out and gives another form is listed in
// the package comment.
type encoder struct {
	begun, ended bool
	usage        llm.Usage        // as message_start stated it
	next         int              // index of the next block on the wire
	open         map[int]*writing // parts that have begun and not ended, by index
	at           *writing         // the part that is on the wire now
	wait         []*writing       // parts that began meanwhile, in order
}

// A writing is a part on its way to the wire.
type writing struct {
	index     int // of the part
	block     int // on the wire, once it has begun there
	begun     llm.Part
	start     []byte // the block as it begins; nil if only its end tells it
	held      []llm.Event
	ended     llm.Part // nil while it has not
	wrote     bool     // some text or arguments
	signature strings.Builder
	left      bool // left out: there is no form for it
}

// Append is the method of [wire.Encoder]. The error says that e has no place in a stream
// at this point.
func (w *encoder) Append(dst []byte, e llm.Event) ([]byte, error) {
	out, err := w.append(dst, e)
	if err != nil {
		return dst, fmt.Errorf("anthropic: encode stream: %w", err)
	}
	return out, nil
}

func (w *encoder) append(dst []byte, e llm.Event) ([]byte, error) {
	if e.Kind == llm.EventOther {
		if w.ended {
			return dst, nil
		}
		return sse.Append(dst, "ping", []byte(`{"type":"ping"}`)), nil
	}
	switch {
	case w.ended:
		return dst, fmt.Errorf("want nothing after the end, got %v", e.Kind)
	case w.begun == (e.Kind == llm.EventStart):
		return dst, fmt.Errorf("want one start, and first, got %v", e.Kind)
	}
	switch e.Kind {
	case llm.EventStart:
		return w.start(dst, e), nil
	case llm.EventPartStart:
		return w.partStart(dst, e)
	case llm.EventDelta, llm.EventPartEnd:
		p := w.open[e.Index]
		if p == nil {
			return dst, fmt.Errorf("want the index of an open part, got %d", e.Index)
		}
		if e.Kind == llm.EventDelta {
			return w.delta(dst, p, e), nil
		}
		return w.partEnd(dst, p, e.Part), nil
	case llm.EventEnd:
		return w.end(dst, e)
	}
	return dst, fmt.Errorf("want a known kind of event, got %v", e.Kind)
}

// start writes message_start, with all usage fields that clients insist on (litellm-24176).
func (w *encoder) start(dst []byte, e llm.Event) []byte {
	w.begun, w.usage, w.open = true, e.Usage, map[int]*writing{}
	id := e.ID
	if id == "" {
		id = derivedID(append([]byte(e.Model), usageObject(e.Usage, llm.Usage{})...))
	}
	null := []byte("null")
	m := new(raw.Object).Text("id", id).Text("type", "message").Text("role", "assistant").Text("model", e.Model)
	m.Raw("content", []byte("[]")).Raw("stop_reason", null).Raw("stop_sequence", null).Raw("usage", usageObject(e.Usage, llm.Usage{}))
	return sse.Append(dst, "message_start", new(raw.Object).Text("type", "message_start").Raw("message", m.Bytes()).Bytes())
}

func (w *encoder) partStart(dst []byte, e llm.Event) ([]byte, error) {
	if w.open[e.Index] != nil {
		return dst, fmt.Errorf("want another index than that of an open part, got %d", e.Index)
	}
	p := &writing{index: e.Index, begun: e.Part, left: formless(e.Part)}
	w.open[e.Index] = p
	switch {
	case p.left:
	case w.at == nil:
		return w.begin(dst, p), nil
	default:
		w.wait = append(w.wait, p)
	}
	return dst, nil
}

// begin puts p on the wire: its start, if that is known yet.
func (w *encoder) begin(dst []byte, p *writing) []byte {
	w.at = p
	if p.start = startBlock(p.begun); p.start == nil {
		return dst
	}
	return w.blockStart(dst, p)
}

func (w *encoder) blockStart(dst []byte, p *writing) []byte {
	p.block, w.next = w.next, w.next+1
	dst = append(dst, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(p.block), 10)
	dst = append(dst, `,"content_block":`...)
	return append(append(dst, p.start...), "}\n\n"...)
}

func (w *encoder) delta(dst []byte, p *writing, e llm.Event) []byte {
	switch {
	case p.left:
		return dst
	case p != w.at:
		e.Raw = nil // not ours to keep
		p.held = append(p.held, e)
		return dst
	}
	return writeDelta(dst, p, e.Delta, e.Text)
}

func (w *encoder) partEnd(dst []byte, p *writing, part llm.Part) []byte {
	delete(w.open, p.index)
	p.ended = part
	if p.left || p != w.at {
		return dst
	}
	dst = w.finish(dst, p)
	for w.at = nil; w.at == nil && len(w.wait) > 0; {
		next := w.wait[0]
		w.wait = slices.Delete(w.wait, 0, 1)
		dst = w.begin(dst, next)
		for _, e := range next.held {
			dst = writeDelta(dst, next, e.Delta, e.Text)
		}
		if next.held = nil; next.ended != nil {
			dst = w.finish(dst, next)
			w.at = nil
		}
	}
	return dst
}

// finish writes what is left of p, which has ended, and its stop.
func (w *encoder) finish(dst []byte, p *writing) []byte {
	if p.start == nil {
		if p.start = wholeBlock(p.ended); p.start == nil {
			return dst
		}
		dst = w.blockStart(dst, p)
	} else {
		dst = writeRest(dst, p)
	}
	dst = append(dst, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":"...)
	return append(strconv.AppendInt(dst, int64(p.block), 10), "}\n\n"...)
}

// end writes message_delta, whose usage is that of the whole reply (cline-4346,
// lobehub-18612), and message_stop.
func (w *encoder) end(dst []byte, e llm.Event) ([]byte, error) {
	if n := len(w.open); n > 0 {
		return dst, fmt.Errorf("want all parts ended before the end, got %d open", n)
	}
	w.ended = true
	delta := new(raw.Object).Raw("stop_reason", reasonOf(e.Stop, e.Reason)).Raw("stop_sequence", []byte("null"))
	usage := figures(e.Usage, e.Extra)
	if split := w.usage.CacheWrite1h; split == e.Usage.CacheWrite1h {
		// The API states the split in message_start alone.
		usage = slices.DeleteFunc(usage, func(f figure) bool { return f.name == "cache_creation" })
	}
	m := new(raw.Object).Text("type", "message_delta").Raw("delta", delta.Bytes()).Raw("usage", object(usage))
	dst = sse.Append(dst, "message_delta", m.Bytes())
	return sse.Append(dst, "message_stop", []byte(`{"type":"message_stop"}`)), nil
}

// writeDelta writes one delta of p, which is on the wire.
func writeDelta(dst []byte, p *writing, kind llm.DeltaKind, text string) []byte {
	if text == "" || p.start == nil {
		return dst
	}
	switch kind {
	case llm.DeltaSignature:
		p.signature.WriteString(text) // in one delta, right before the stop
		return dst
	case llm.DeltaOther:
		if !isDelta([]byte(text)) {
			return dst
		}
		return closeDelta(append(openDelta(dst, p), raw.OneLine([]byte(text))...))
	case llm.DeltaArgs:
		return writeArgs(dst, p, text)
	}
	name := "text"
	if _, ok := p.begun.(llm.Thinking); ok {
		name = "thinking"
	}
	p.wrote = true
	return textDelta(dst, p, name, text)
}

// writeArgs writes a piece of a call's arguments. Free text becomes the member "input"
// of an object, as in a request.
func writeArgs(dst []byte, p *writing, text string) []byte {
	if c, ok := p.begun.(llm.ToolCall); ok && c.Custom {
		piece := raw.Quote(text)
		if text = string(piece[1 : len(piece)-1]); !p.wrote {
			text = `{"input":"` + text
		}
	}
	p.wrote = true
	return textDelta(dst, p, "input_json", text)
}

// writeRest writes what no delta told: text and arguments where there was none, the end
// of free text, the signature.
func writeRest(dst []byte, p *writing) []byte {
	switch end := p.ended.(type) {
	case llm.Media:
		if m, ok := p.begun.(llm.Media); ok && !imageBlock(m) {
			dst = writeDelta(dst, p, llm.DeltaText, media.Placeholder(end))
		}
	case llm.Stub:
		dst = writeDelta(dst, p, llm.DeltaText, end.Text)
	case llm.Text:
		if !p.wrote {
			dst = writeDelta(dst, p, llm.DeltaText, end.Text)
		}
	case llm.ToolCall:
		if !p.wrote {
			dst = writeArgs(dst, p, atLeast(end))
		}
		if c, ok := p.begun.(llm.ToolCall); ok && c.Custom {
			dst = textDelta(dst, p, "input_json", `"}`)
		}
	case llm.Thinking:
		if !p.wrote && !end.Redacted {
			dst = writeDelta(dst, p, llm.DeltaText, end.Text)
		}
		signature := p.signature.String()
		if signature == "" {
			signature = end.Signature
		}
		if signature != "" && !end.Redacted {
			dst = textDelta(dst, p, "signature", signature)
		}
	}
	return dst
}

// atLeast returns the arguments of c, {} for a tool that takes none (bifrost-3443).
func atLeast(c llm.ToolCall) string {
	if c.Args == "" && !c.Custom {
		return "{}"
	}
	return c.Args
}

func openDelta(dst []byte, p *writing) []byte {
	dst = append(dst, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	return append(strconv.AppendInt(dst, int64(p.block), 10), `,"delta":`...)
}

func closeDelta(dst []byte) []byte { return append(dst, "}\n\n"...) }

// textDelta writes a delta of the type name_delta.
func textDelta(dst []byte, p *writing, name, text string) []byte {
	member := name
	if name == "input_json" {
		member = "partial_json"
	}
	dst = append(append(append(openDelta(dst, p), `{"type":"`...), name...), `_delta","`...)
	dst = append(append(dst, member...), `":`...)
	return closeDelta(append(raw.AppendQuote(dst, text), '}'))
}
