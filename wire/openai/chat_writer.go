package openai

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A chatEncoder writes a stream of chat.completion.chunk objects: the role first, then the
// parts, the finish_reason, the usage in a chunk without choices, and [DONE]. Thinking is
// written as reasoning_content and its signature as reasoning_details. Hosted calls,
// opaque parts (but a refusal of this format) and pictures have no form here. The clock
// is not asked: created is 0.
type chatEncoder struct {
	order
	head []byte // of a chunk, up to its delta
	buf  []byte
	call int  // calls that have begun
	said bool // the last part that said something was text
	some bool // a part has been written
}

// Append implements [wire.Encoder].
func (w *chatEncoder) Append(dst []byte, e llm.Event) ([]byte, error) {
	p, err := w.next(e)
	if err != nil {
		return dst, fmt.Errorf("openai: encode chat stream: %w", err)
	}
	switch e.Kind {
	case llm.EventStart:
		w.begin(e)
		return w.delta(dst, `{"role":"assistant","content":""}`), nil
	case llm.EventPartStart:
		return w.startPart(dst, p, e.Part), nil
	case llm.EventDelta:
		return w.more(dst, p, e.Delta, e.Text), nil
	case llm.EventPartEnd:
		return w.endPart(dst, p, e.Part), nil
	case llm.EventEnd:
		return w.end(dst, e), nil
	}
	return append(dst, ping...), nil
}

// ping is a comment that keeps a connection alive; readers of event streams skip it.
const ping = ": ping\n\n"

func (w *chatEncoder) begin(e llm.Event) {
	o := new(raw.Object).Text("id", cmp.Or(e.ID, "chatcmpl-0")).Text("object", "chat.completion.chunk").Raw("created", []byte("0"))
	o.Text("model", e.Model)
	b := o.Bytes()
	w.head = append(b[:len(b)-1:len(b)-1], `,"choices":[{"index":0,"delta":`...)
}

// delta appends a chunk.
func (w *chatEncoder) delta(dst []byte, delta string) []byte {
	w.buf = append(append(append(w.buf[:0], w.head...), delta...), `,"logprobs":null,"finish_reason":null}]}`...)
	return sse.Append(dst, "", raw.OneLine(w.buf))
}

// text appends a chunk whose delta has one member, a text, with what goes around it.
func (w *chatEncoder) text(dst []byte, before, text, after string) []byte {
	w.buf = append(append(w.buf[:0], w.head...), before...)
	w.buf = append(append(raw.AppendQuote(w.buf, text), after...), `,"logprobs":null,"finish_reason":null}]}`...)
	return sse.Append(dst, "", w.buf)
}

func (w *chatEncoder) startPart(dst []byte, p *written, part llm.Part) []byte {
	c, ok := part.(llm.ToolCall)
	if !ok || c.Hosted {
		return dst
	}
	w.said, w.some = false, true
	if isLegacy(c) {
		return w.delta(dst, `{"function_call":`+string(new(raw.Object).Text("name", c.Name).Text("arguments", "").Bytes())+`}`)
	}
	p.nth = w.call
	w.call++
	kind, field := "function", "arguments"
	if c.Custom {
		kind, field = "custom", "input"
	}
	inner := new(raw.Object).Text("name", c.Name).Text(field, "").Bytes()
	o := number(new(raw.Object), "index", p.nth).Text("id", c.CallID).Text("type", kind).Raw(kind, inner)
	return w.delta(dst, `{"tool_calls":[`+string(o.Bytes())+`]}`)
}

// more appends more of an open part.
func (w *chatEncoder) more(dst []byte, p *written, kind llm.DeltaKind, text string) []byte {
	if text == "" {
		return dst
	}
	p.told(kind)
	w.some = true
	switch part := p.part.(type) {
	case llm.Text:
		if kind == llm.DeltaText {
			return w.content(dst, p, text)
		}
	case llm.Thinking:
		w.said = false
		return w.thinking(dst, kind, part.Redacted, text)
	case llm.ToolCall:
		if part.Hosted || kind != llm.DeltaArgs {
			return dst
		}
		if isLegacy(part) {
			return w.text(dst, `{"function_call":{"arguments":`, text, `}}`)
		}
		index := fmt.Sprintf(`{"tool_calls":[{"index":%d,`, p.nth)
		if part.Custom {
			return w.text(dst, index+`"custom":{"input":`, text, `}}]}`)
		}
		return w.text(dst, index+`"function":{"arguments":`, text, `}}]}`)
	case llm.Opaque:
		w.said = false
		if part.Kind == "refusal" && kind == llm.DeltaOther && raw.Check([]byte(text)) == nil && raw.IsString([]byte(text)) {
			return w.delta(dst, `{"refusal":`+text+`}`)
		}
	}
	return dst
}

// content appends more of the visible text. The format has one text where other formats
// have several in a row: each begins on a line of its own.
func (w *chatEncoder) content(dst []byte, p *written, text string) []byte {
	if !p.other && w.said {
		text = "\n" + text
	}
	p.other, w.said = true, true
	return w.text(dst, `{"content":`, text, `}`)
}

func (w *chatEncoder) thinking(dst []byte, kind llm.DeltaKind, redacted bool, text string) []byte {
	switch kind {
	case llm.DeltaText:
		return w.text(dst, `{"reasoning_content":`, text, `}`)
	case llm.DeltaSignature:
		return w.delta(dst, `{"reasoning_details":[`+string(signatureDetail(text, redacted))+`]}`)
	}
	return dst
}

// endPart appends what the deltas of a part have not told.
func (w *chatEncoder) endPart(dst []byte, p *written, part llm.Part) []byte {
	switch part := part.(type) {
	case llm.Text:
		if !p.text {
			return w.more(dst, p, llm.DeltaText, part.Text)
		}
	case llm.Thinking:
		if !p.text {
			dst = w.more(dst, p, llm.DeltaText, part.Text)
		}
		if !p.signature && part.Signature != "" {
			dst = w.thinking(dst, llm.DeltaSignature, part.Redacted, part.Signature)
		}
	case llm.ToolCall:
		if !p.args {
			return w.more(dst, p, llm.DeltaArgs, argsOrEmpty(part))
		}
	case llm.Opaque:
		if !p.other && part.Kind == "refusal" && isMember(part) {
			return w.more(dst, p, llm.DeltaOther, string(memberValue(part.Data)))
		}
	case llm.Media:
		element := writer{dialect: DialectChat, noMedia: true}.media(part)
		return w.content(dst, p, raw.Unquote(raw.Value(element, "text")))
	}
	return dst
}

// end appends the finish_reason, the usage and the end mark. Where nobody said why the reply
// ended this says nothing either: a made up "stop" would make a whole reply of what may be
// half of one.
func (w *chatEncoder) end(dst []byte, e llm.Event) []byte {
	if e.Stop != llm.StopUnknown || e.Reason != "" || !w.some {
		w.buf = append(append(w.buf[:0], w.head...), `{},"logprobs":null,"finish_reason":`...)
		w.buf = append(raw.AppendQuote(w.buf, chatReason(e.Stop, e.Reason)), `}]}`...)
		dst = sse.Append(dst, "", w.buf)
	}
	if !e.Usage.IsZero() {
		head := w.head[:len(w.head)-len(`{"index":0,"delta":`)]
		w.buf = append(append(append(w.buf[:0], head...), `],"usage":`...), writeChatUsage(e.Usage)...)
		dst = sse.Append(dst, "", append(w.buf, '}'))
	}
	return sse.Append(dst, "", []byte("[DONE]"))
}
