package openai

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A responsesDecoder reads a stream of response events. Parts are told apart by their
// output_index: there are servers that give an item another id in each event. What
// output_item.done holds is the part; where the deltas have told less, one more delta
// tells the rest.
type responsesDecoder struct {
	stream
	items   []*openItem
	seen    []bool // by output_index: the item has begun
	calls   waits
	refused bool
}

// An openItem is an item that is not whole yet.
type openItem struct {
	output  int // output_index
	index   int // of the part
	part    llm.Part
	said    literal // the deltas so far
	source  string  // the kind of delta that tells its text
	summary int     // the summary_index that said is in
	size    sse.Size
}

func newResponsesDecoder() *responsesDecoder {
	d := &responsesDecoder{}
	d.take = d.read
	return d
}

// Feed implements [wire.Decoder].
func (d *responsesDecoder) Feed(chunk []byte) ([]llm.Event, error) { return d.feed(chunk) }

// Close implements [wire.Decoder]. A stream is whole with response.completed or
// response.incomplete.
func (d *responsesDecoder) Close() ([]llm.Event, error) {
	return d.close(func() error { return fmt.Errorf("openai: responses stream: %w", wire.ErrCut) })
}

// An occasion is a payload, by the members that are looked at here.
type occasion struct {
	kind                                   []byte // without quotes
	output, item, response, delta, summary []byte
	annotation, fault                      []byte
}

// occasionOf reads the payload that is next.
func occasionOf(w *raw.Walk) occasion {
	var o occasion
	w.Enter()
	for name := w.Member(); name != nil; name = w.Member() {
		value := w.Value()
		switch string(name) {
		case "type":
			o.kind = word(value)
		case "output_index":
			o.output = value
		case "item":
			o.item = value
		case "response":
			o.response = value
		case "delta":
			o.delta = value
		case "summary_index":
			o.summary = value
		case "annotation":
			o.annotation = value
		case "error":
			o.fault = value
		}
	}
	return o
}

// read reads one payload.
func (d *responsesDecoder) read(name, data []byte) error {
	if isDone(data) {
		return nil
	}
	w, err := d.object(data)
	if err != nil {
		return problem("responses", err)
	}
	if w == nil {
		return nil
	}
	start := w.At()
	o := occasionOf(w)
	b := w.Bytes(start)
	if err := w.Err(); err != nil {
		return problem("responses", err)
	}
	if o.kind == nil {
		o.kind = name
	}
	if err := d.event(o, b); err != nil {
		return problem("responses", fmt.Errorf("%s: %w", o.kind, err))
	}
	return nil
}

// event reads one event. Those that only repeat what others tell are passed over, and
// so are those that are not known here.
func (d *responsesDecoder) event(o occasion, b []byte) error {
	switch string(o.kind) {
	case "error":
		return DecodeError(0, bytes.Clone(b))
	case "response.failed":
		return failed(o.response, b)
	case "":
		if !raw.IsNone(o.fault) {
			return DecodeError(0, bytes.Clone(b))
		}
	}
	if d.ended {
		return nil
	}
	switch string(o.kind) {
	case "response.created", "response.in_progress", "response.queued":
		return d.created(o.response)
	case "response.output_item.added":
		_, err := d.added(o)
		return err
	case "response.output_item.done":
		return d.itemDone(o)
	case "response.output_text.delta", "response.refusal.delta":
		d.text(o, llm.Text{}, llm.DeltaText)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.text(o, llm.Thinking{}, llm.DeltaText)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		d.text(o, nil, llm.DeltaArgs)
	case "response.output_text.annotation.added":
		if p := d.find(o.output); p != nil && o.annotation != nil {
			d.delta(p.index, llm.DeltaOther, string(o.annotation))
		}
	case "response.completed", "response.incomplete", "response.cancelled", "response.done":
		return d.completed(o.response)
	}
	return nil
}

// failed returns the error of a response that failed.
func failed(response, payload []byte) error {
	body := bytes.Clone(payload)
	if raw.IsObject(response) && !raw.IsNone(raw.Value(response, "error")) {
		e := DecodeError(0, response)
		e.Body = body
		return e
	}
	return &wire.Error{Class: wire.ServerFault, Type: "response.failed", Message: "the response failed, the provider does not say why", Body: body}
}

func (d *responsesDecoder) created(response []byte) error {
	if !raw.IsObject(response) {
		return raw.In(raw.Wrong("an object", response), "response")
	}
	if !d.begun {
		v := raw.Values(response, "id", "model")
		d.start(raw.Unquote(v[0]), raw.Unquote(v[1]), llm.Usage{})
	}
	return nil
}

// find returns the open item with that output_index; without one, the last open item.
func (d *responsesDecoder) find(output []byte) *openItem {
	n, ok := raw.Int(output)
	for i := len(d.items) - 1; i >= 0; i-- {
		if !ok || d.items[i].output == n {
			return d.items[i]
		}
	}
	return nil
}

// place returns the output_index of an item that begins.
func (d *responsesDecoder) place(output []byte) int {
	n, ok := raw.Int(output)
	if !ok || n < 0 || n > maxItems {
		n = len(d.seen)
	}
	for n >= len(d.seen) {
		d.seen = append(d.seen, false)
	}
	d.seen[n] = true
	return n
}

// maxItems bounds the output_index that is believed.
const maxItems = 1 << 16

// added begins a part with the item as it is known so far.
func (d *responsesDecoder) added(o occasion) (*openItem, error) {
	item := bytes.Clone(o.item)
	p, err := replyItem(item)
	if err != nil {
		return nil, raw.In(err, "item")
	}
	return d.beginItem(o.output, startOf(p)), nil
}

// beginItem begins a part.
func (d *responsesDecoder) beginItem(output []byte, p llm.Part) *openItem {
	d.start("", "", llm.Usage{})
	x := &openItem{output: d.place(output), part: p}
	x.index = d.open(p)
	d.held.Begin(&x.size, len(p.Bytes()))
	d.items = append(d.items, x)
	return x
}

// startOf returns p as it is known when it begins, with the bytes of the item so far.
func startOf(p llm.Part) llm.Part {
	switch p := p.(type) {
	case llm.Text:
		return llm.Text{Raw: p.Raw}
	case llm.Thinking:
		return llm.Thinking{Raw: p.Raw}
	case llm.ToolCall:
		p.Args = ""
		return p
	case llm.ToolResult:
		p.Content = nil
		return p
	}
	return p
}

// text reads a delta. missing is the part that it begins where no item was added; nil if
// it cannot begin one.
func (d *responsesDecoder) text(o occasion, missing llm.Part, kind llm.DeltaKind) {
	if !raw.IsString(o.delta) || len(o.delta) <= len(`""`) {
		return
	}
	x := d.find(o.output)
	if x == nil {
		if n, ok := raw.Int(o.output); missing == nil || ok && n >= 0 && n < len(d.seen) && d.seen[n] {
			return
		}
		x = d.beginItem(o.output, missing)
	}
	if !takes(x.part, missing, kind) {
		return
	}
	source := o.kind
	if _, thinks := x.part.(llm.Thinking); thinks {
		if x.source == "" {
			x.source = string(source)
		}
		if x.source != string(source) {
			return // the text is the summary or the content, not both
		}
	}
	text := ""
	if n, _ := raw.Int(o.summary); n != x.summary {
		if x.summary = n; !x.said.empty() {
			text = x.said.addText("\n")
		}
	}
	d.held.Grow(&x.size, len(o.delta))
	d.delta(x.index, kind, text+x.said.add(o.delta))
}

// takes reports whether part p has deltas of that kind.
func takes(p, missing llm.Part, kind llm.DeltaKind) bool {
	switch p.(type) {
	case llm.Text:
		_, ok := missing.(llm.Text)
		return ok
	case llm.Thinking:
		_, ok := missing.(llm.Thinking)
		return ok
	case llm.ToolCall:
		return kind == llm.DeltaArgs
	}
	return false
}

// itemDone ends a part with the item as it is.
func (d *responsesDecoder) itemDone(o occasion) error {
	p, err := replyItem(bytes.Clone(o.item))
	if err != nil {
		return raw.In(err, "item")
	}
	x := d.find(o.output)
	if n, ok := raw.Int(o.output); x == nil && ok && n >= 0 && n < len(d.seen) && d.seen[n] {
		return nil // told twice
	}
	if x == nil {
		x = d.beginItem(o.output, startOf(p))
	}
	d.closeItem(x, p)
	return nil
}

// closeItem ends x, which is p, and tells before that what the deltas have not told.
func (d *responsesDecoder) closeItem(x *openItem, p llm.Part) {
	for i := range d.items {
		if d.items[i] == x {
			d.items = append(d.items[:i], d.items[i+1:]...)
			break
		}
	}
	d.held.End(&x.size)
	kind, whole := llm.DeltaText, ""
	switch p := p.(type) {
	case llm.Text:
		whole = p.Text
	case llm.Thinking:
		whole = p.Text
	case llm.ToolCall:
		kind, whole = llm.DeltaArgs, p.Args
	}
	held := len(x.said.held) > 0
	said := x.said.rest()
	if all := x.said.text(); strings.HasPrefix(whole, all) {
		d.delta(x.index, kind, said+whole[len(all):])
	} else if held {
		d.delta(x.index, kind, said)
	}
	if t, ok := p.(llm.Thinking); ok {
		d.delta(x.index, llm.DeltaSignature, t.Signature)
	}
	d.calls.add(p)
	d.refused = d.refused || refuses(p)
	d.done(x.index, p)
}

// completed ends the reply: with the items that no event has told, and the usage.
func (d *responsesDecoder) completed(response []byte) error {
	if err := d.created(response); err != nil {
		return err
	}
	output := raw.Value(response, "output")
	for i, s := range raw.Elements(output) {
		if err := d.told(i, raw.Slice(output, s)); err != nil {
			return raw.In(raw.In(raw.In(err, index(i)), "output"), "response")
		}
	}
	for len(d.items) > 0 {
		d.closeItem(d.items[0], d.items[0].unfinished())
	}
	stop, reason := ending(response, d.calls, d.refused)
	d.ended = true
	d.emit(llm.Event{Kind: llm.EventEnd, Stop: stop, Reason: reason, Usage: responsesUsage(raw.Value(response, "usage"))})
	return nil
}

// told takes item i of the whole response: news if no event has told it or ended it.
func (d *responsesDecoder) told(i int, item []byte) error {
	var x *openItem
	for _, o := range d.items {
		if o.output == i {
			x = o
		}
	}
	if x == nil && i < len(d.seen) && d.seen[i] {
		return nil
	}
	p, err := replyItem(bytes.Clone(item))
	if err != nil {
		return err
	}
	if x == nil {
		x = d.beginItem([]byte(fmt.Sprint(i)), startOf(p))
	}
	d.closeItem(x, p)
	return nil
}

// unfinished returns the part of an item that nothing but its deltas has told.
func (x *openItem) unfinished() llm.Part {
	text := x.said.text()
	var b []byte
	switch p := x.part.(type) {
	case llm.Text:
		b = new(raw.Object).Text("type", "message").Text("role", "assistant").Raw("content", raw.Array([][]byte{outputText(text)})).Bytes()
	case llm.Thinking:
		b = new(raw.Object).Text("type", "reasoning").Raw("summary", raw.Array([][]byte{summaryText(text)})).Bytes()
	case llm.ToolCall:
		if _, args := argsMember(p.Data); args != nil && !raw.IsString(args) {
			return p // what it is made with is no text
		}
		p.Args, p.Raw = text, llm.Raw{}
		b = writer{dialect: DialectResponses}.callItem(p).bytes
	default:
		return p
	}
	p, err := replyItem(b)
	if err != nil {
		return x.part
	}
	return p
}
