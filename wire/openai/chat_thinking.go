package openai

import (
	"bytes"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// thinkingText is what the fragments of thinking said, as it was sent on.
type thinkingText struct {
	text, signature strings.Builder
	hidden          bool
}

// thinking reads the members of a delta that hold thinking. One chunk may tell the same
// text in reasoning or reasoning_content and in reasoning_details: it is sent on once.
func (d *chatDecoder) thinking(x delta) {
	var t llm.Thinking
	if raw.IsArray(x.details) {
		t = reasoningDetails(x.details)
	}
	told := d.thought("reasoning_content", x.thought, t.Text != "")
	d.thought("reasoning", x.reasoning, told)
	if t.Text == "" && t.Signature == "" {
		return
	}
	p := d.begin("reasoning", llm.Thinking{Redacted: t.Redacted})
	d.held.Grow(&p.size, len(x.details))
	d.addDetails(p, x.details)
	p.seen.hidden = p.seen.hidden || t.Redacted
	p.seen.text.WriteString(t.Text)
	d.delta(p.index, llm.DeltaText, t.Text)
	p.seen.signature.WriteString(t.Signature)
	d.delta(p.index, llm.DeltaSignature, t.Signature)
}

// thought reads a member that holds thinking as one text; told says that this chunk has
// told it already. It reports whether it is told now.
func (d *chatDecoder) thought(name string, lit []byte, told bool) bool {
	if !raw.IsString(lit) || len(lit) <= len(`""`) {
		return told
	}
	p := d.begin("reasoning", llm.Thinking{})
	d.held.Grow(&p.size, len(lit))
	text := p.member(name).add(lit)
	if !told {
		p.seen.text.WriteString(text)
		d.delta(p.index, llm.DeltaText, text)
	}
	return true
}

// member returns the member of that name, which begins empty.
func (p *chatPart) member(name string) *literal {
	for _, m := range p.members {
		if m.name == name {
			return &m.text
		}
	}
	m := &thinkingMember{name: name}
	p.members = append(p.members, m)
	return &m.text
}

// closeThinking ends an open thinking part. Its data is all members that hold it.
func (d *chatDecoder) closeThinking(p *chatPart) {
	var data [][]byte
	for _, m := range p.members {
		if text := m.text.rest(); text != "" && len(p.details) == 0 {
			p.seen.text.WriteString(text)
			d.delta(p.index, llm.DeltaText, text)
		}
		data = append(data, memberOfValue(m.name, m.text.bytes()))
	}
	if len(p.details) > 0 {
		elements := make([][]byte, len(p.details))
		for i, x := range p.details {
			elements[i] = x.bytes()
		}
		data = append(data, memberOfValue("reasoning_details", raw.Array(elements)))
	}
	t := llm.Thinking{Text: p.seen.text.String(), Signature: p.seen.signature.String()}
	t.Redacted = p.seen.hidden && t.Text == "" && t.Signature != ""
	if len(data) > 0 {
		t.Data = bytes.Join(data, []byte{','})
	}
	d.done(p.index, t)
}

// A detail is an element of reasoning_details that is put together.
type detail struct {
	kind, index   []byte
	first         []byte
	text, summary literal
	signature     []byte
}

// addDetails takes the details of one chunk. One with the type and the index of the one
// before it goes on with it, but for those that are encrypted.
func (d *chatDecoder) addDetails(p *chatPart, list []byte) {
	for _, s := range raw.Elements(list) {
		b := raw.Slice(list, s)
		v := raw.Values(b, "type", "index", "text", "summary", "signature")
		var x *detail
		if n := len(p.details); n > 0 {
			x = p.details[n-1]
		}
		if x == nil || raw.Named(v[0], hiddenDetail) || !bytes.Equal(x.kind, v[0]) || !bytes.Equal(x.index, v[1]) {
			own := bytes.Clone(b)
			at := raw.Spans(own, "type", "index")
			x = &detail{first: own, kind: raw.Slice(own, at[0]), index: raw.Slice(own, at[1])}
			p.details = append(p.details, x)
			if d.held.Grow(&p.size, sse.PerPiece); d.held.Check() != nil {
				return // whoever reads the payload says so
			}
		}
		if raw.IsString(v[2]) {
			x.text.add(v[2])
		}
		if raw.IsString(v[3]) {
			x.summary.add(v[3])
		}
		if raw.IsString(v[4]) && len(v[4]) > len(`""`) {
			x.signature = bytes.Clone(v[4])
		}
	}
}

// bytes returns the whole detail.
func (x *detail) bytes() []byte {
	b := x.first
	for _, m := range []struct {
		name string
		text *literal
	}{{"text", &x.text}, {"summary", &x.summary}} {
		if len(m.text.spelled) > 0 {
			m.text.rest()
			b = raw.Set(b, m.name, m.text.bytes())
		}
	}
	return raw.Set(b, "signature", x.signature)
}
