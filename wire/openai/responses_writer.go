package openai

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A responsesEncoder writes a stream of response events: every event that the format has
// for a text, thinking (as a summary) and a call, with ascending sequence numbers, and at
// the end the whole response. An item of this format is written as it came; hosted calls
// and opaque parts of others are left out. The clock is not asked: created_at is 0.
type responsesEncoder struct {
	order
	head     responseHead
	items    [][]byte // of the output
	sequence int
	buf      []byte
}

// Append implements [wire.Encoder].
func (w *responsesEncoder) Append(dst []byte, e llm.Event) ([]byte, error) {
	p, err := w.next(e)
	if err != nil {
		return dst, fmt.Errorf("openai: encode responses stream: %w", err)
	}
	switch e.Kind {
	case llm.EventStart:
		w.head = responseHead{id: e.ID, model: e.Model, status: "in_progress"}
		b := w.head.object(nil, []byte("null"))
		return w.whole(w.whole(dst, "response.created", b), "response.in_progress", b), nil
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

// event begins an event in w.buf; send ends it.
func (w *responsesEncoder) event(name string) *responsesEncoder {
	w.buf = append(raw.AppendQuote(append(w.buf[:0], `{"type":`...), name), `,"sequence_number":`...)
	w.buf = fmt.Append(w.buf, w.sequence)
	w.sequence++
	return w
}

func (w *responsesEncoder) text(name, value string) *responsesEncoder {
	w.buf = append(append(append(w.buf, `,"`...), name...), `":`...)
	w.buf = raw.AppendQuote(w.buf, value)
	return w
}

func (w *responsesEncoder) raw(name string, value []byte) *responsesEncoder {
	w.buf = append(append(append(append(w.buf, `,"`...), name...), `":`...), value...)
	return w
}

func (w *responsesEncoder) number(name string, n int) *responsesEncoder {
	w.buf = append(append(append(w.buf, `,"`...), name...), `":`...)
	w.buf = fmt.Append(w.buf, n)
	return w
}

func (w *responsesEncoder) send(dst []byte, name string) []byte {
	w.buf = append(w.buf, '}')
	return sse.Append(dst, name, raw.OneLine(w.buf))
}

// whole appends an event that holds the response.
func (w *responsesEncoder) whole(dst []byte, name string, response []byte) []byte {
	return w.event(name).raw("response", response).send(dst, name)
}

// item appends an event that holds an item.
func (w *responsesEncoder) item(dst []byte, name string, p *written, item []byte) []byte {
	return w.event(name).number("output_index", p.nth).raw("item", item).send(dst, name)
}

// inItem begins an event about a piece of an item.
func (w *responsesEncoder) inItem(name string, p *written) *responsesEncoder {
	w.event(name).text("item_id", p.id).number("output_index", p.nth)
	switch p.part.(type) {
	case llm.Text:
		w.number("content_index", 0)
	case llm.Thinking:
		w.number("summary_index", 0)
	}
	return w
}

// startPart appends the beginning of a part; one that has no form here gets the number -1.
func (w *responsesEncoder) startPart(dst []byte, p *written, part llm.Part) []byte {
	const added = "response.output_item.added"
	if media, ok := part.(llm.Media); ok {
		p.part = llm.Text{Raw: media.Raw}
		part = p.part
	}
	own := ownItem(part)
	id := partID(w.head.id, len(w.items))
	var item []byte
	switch x := part.(type) {
	case llm.Text:
		item = newMessage(id, "in_progress", []byte("[]"))
	case llm.Thinking:
		item = newReasoning(llm.Thinking{}, id)
	case llm.ToolCall:
		if !x.Hosted {
			item = newCallItem(llm.ToolCall{CallID: x.CallID, Name: x.Name, Custom: x.Custom}, id, "in_progress")
		}
	}
	if own != nil {
		item = own
	}
	if item == nil {
		p.nth = -1
		return dst
	}
	p.nth, p.id = len(w.items), raw.Unquote(raw.Value(item, "id"))
	p.args = !streamsArgs(item)
	w.items = append(w.items, nil)
	dst = w.item(dst, added, p, item)
	switch p.part.(type) {
	case llm.Text:
		return w.inItem("response.content_part.added", p).raw("part", outputText("")).send(dst, "response.content_part.added")
	case llm.Thinking:
		p.other = true // the summary has not begun
	}
	return dst
}

// streamsArgs reports whether the format has deltas for the arguments of a call item.
func streamsArgs(item []byte) bool {
	kind := raw.Value(item, "type")
	return raw.Named(kind, "function_call") || raw.Named(kind, "custom_tool_call")
}

// more appends more of an open part.
func (w *responsesEncoder) more(dst []byte, p *written, kind llm.DeltaKind, text string) []byte {
	if text == "" || p.nth < 0 {
		return dst
	}
	name := ""
	switch part := p.part.(type) {
	case llm.Text:
		if kind == llm.DeltaText {
			name = "response.output_text.delta"
			dst = w.inItem(name, p).text("delta", text).raw("logprobs", []byte("[]")).send(dst, name)
		}
	case llm.Thinking:
		if kind == llm.DeltaText {
			dst = w.beginSummary(dst, p)
			name = "response.reasoning_summary_text.delta"
			dst = w.inItem(name, p).text("delta", text).send(dst, name)
		}
	case llm.ToolCall:
		if kind == llm.DeltaArgs && !p.args {
			name = "response.function_call_arguments.delta"
			if part.Custom {
				name = "response.custom_tool_call_input.delta"
			}
			dst = w.inItem(name, p).text("delta", text).send(dst, name)
		}
	}
	if name != "" {
		p.said = append(p.said, text...)
	}
	return dst
}

func (w *responsesEncoder) beginSummary(dst []byte, p *written) []byte {
	if !p.other {
		return dst
	}
	p.other = false
	const name = "response.reasoning_summary_part.added"
	return w.inItem(name, p).raw("part", summaryText("")).send(dst, name)
}

// endPart appends what the deltas of a part have not told, and its end.
func (w *responsesEncoder) endPart(dst []byte, p *written, part llm.Part) []byte {
	if p.nth < 0 {
		if ownItem(part) == nil {
			return dst
		}
		p.part = part
		if dst = w.startPart(dst, p, part); p.nth < 0 { // only its end tells what it is
			return dst
		}
	}
	item := newItem(part, partID(w.head.id, p.nth))
	if item == nil {
		item = ownItem(p.part) // as it began: nothing else is known of it
	}
	if item == nil {
		item = newMessage(partID(w.head.id, p.nth), "completed", []byte("[]"))
	}
	switch x := part.(type) {
	case llm.Text:
		dst = w.rest(dst, p, llm.DeltaText, x.Text)
		dst = w.textDone(dst, p)
	case llm.Media:
		dst = w.rest(dst, p, llm.DeltaText, raw.Unquote(raw.Value(writer{dialect: DialectResponses, noMedia: true}.media(x), "text")))
		dst = w.textDone(dst, p)
	case llm.Thinking:
		dst = w.rest(dst, p, llm.DeltaText, x.Text)
		dst = w.summaryDone(dst, p)
	case llm.ToolCall:
		dst = w.rest(dst, p, llm.DeltaArgs, argsOrEmpty(x))
		dst = w.argsDone(dst, p)
	}
	if id := raw.Quote(p.id); p.id != "" && !bytes.Equal(raw.Value(item, "id"), id) {
		item = raw.Set(item, "id", id) // one id from the beginning to the end
	}
	w.items[p.nth] = item
	return w.item(dst, "response.output_item.done", p, item)
}

// rest appends the whole text of a part of which no delta came.
func (w *responsesEncoder) rest(dst []byte, p *written, kind llm.DeltaKind, whole string) []byte {
	if len(p.said) > 0 {
		return dst
	}
	return w.more(dst, p, kind, whole)
}

func (w *responsesEncoder) textDone(dst []byte, p *written) []byte {
	name := "response.output_text.done"
	dst = w.inItem(name, p).text("text", string(p.said)).raw("logprobs", []byte("[]")).send(dst, name)
	name = "response.content_part.done"
	return w.inItem(name, p).raw("part", outputText(string(p.said))).send(dst, name)
}

func (w *responsesEncoder) summaryDone(dst []byte, p *written) []byte {
	if p.other {
		return dst // there is none
	}
	name := "response.reasoning_summary_text.done"
	dst = w.inItem(name, p).text("text", string(p.said)).send(dst, name)
	name = "response.reasoning_summary_part.done"
	return w.inItem(name, p).raw("part", summaryText(string(p.said))).send(dst, name)
}

func (w *responsesEncoder) argsDone(dst []byte, p *written) []byte {
	c, ok := p.part.(llm.ToolCall)
	if !ok || p.args {
		return dst
	}
	if c.Custom {
		const name = "response.custom_tool_call_input.done"
		return w.inItem(name, p).text("input", string(p.said)).send(dst, name)
	}
	const name = "response.function_call_arguments.done"
	return w.inItem(name, p).text("name", c.Name).text("arguments", string(p.said)).send(dst, name)
}

// end appends the end, with the whole response.
func (w *responsesEncoder) end(dst []byte, e llm.Event) []byte {
	w.head.status, w.head.incomplete = responsesStatus(e.Stop, e.Reason)
	name := "response." + w.head.status
	return w.whole(dst, name, w.head.object(w.items, writeResponsesUsage(e.Usage)))
}
