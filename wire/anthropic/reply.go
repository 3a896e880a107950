package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// EncodeResponse returns the body of r. A response that was decoded here and not changed
// gives the very bytes (the same slice) that it came as; else only what differs is
// written anew. A response of another dialect is written from its neutral fields:
// thinking, hosted calls and opaque parts are its provider's and left out, a line of text
// stands for media. A response without an id gets one that follows from what it says. The
// error says that r.Raw is no reply.
func EncodeResponse(r llm.Response) ([]byte, error) {
	if r.Dialect != Dialect || len(r.Raw) == 0 {
		return freshReply(r), nil
	}
	if _, err := raw.CheckObject(r.Raw); err != nil {
		return nil, fmt.Errorf("anthropic: encode response: %w", err)
	}
	old, at, err := decodeReply(r.Raw)
	if err != nil {
		return nil, fmt.Errorf("anthropic: encode response: %w", err)
	}
	p := patcher{body: r.Raw}
	if r.ID != old.ID {
		p.put("id", at.id, raw.Quote(r.ID))
	}
	if r.Model != old.Model {
		p.put("model", at.model, raw.Quote(r.Model))
	}
	if r.Stop != old.Stop || r.Reason != old.Reason {
		p.put("stop_reason", at.reason, reasonOf(r.Stop, r.Reason))
	}
	if r.Usage != old.Usage || r.Extra != old.Extra {
		p.put("usage", at.usage, changedUsage(raw.Slice(r.Raw, at.usage), r))
	}
	p.putContent(r.Message, at)
	return p.bytes(), nil
}

// A patcher collects the changes to a reply.
type patcher struct {
	body    []byte
	changes []raw.Change
	added   []figure
}

func (p *patcher) put(name string, at llm.Span, value []byte) {
	if at.Len() > 0 {
		p.changes = append(p.changes, raw.Change{At: at, New: value})
		return
	}
	p.added = append(p.added, figure{name, value})
}

// putContent changes the content if the parts are others. Those that stay keep their bytes.
func (p *patcher) putContent(m llm.Message, at places) {
	each := make([]llm.Span, len(at.each))
	for i, s := range at.each {
		each[i] = raw.Shift(s, -at.content.Start)
	}
	list := raw.NewList(raw.Slice(p.body, at.content), each)
	native := m.Dialect == Dialect || m.Dialect == ""
	alone := len(m.Parts) == 1 // a string, which some gateways send for the content, has no place in a list
	var elements []raw.Element
	for _, part := range m.Parts {
		data := part.Bytes()
		if native && (raw.IsObject(data) || alone && data != nil) {
			if i := list.Find(data); i >= 0 {
				elements = append(elements, raw.Element{Bytes: data, At: i})
				continue
			}
		}
		if b := replyBlock(part, native); b != nil {
			elements = append(elements, raw.Element{Bytes: b, At: list.Find(raw.Base(part))})
		}
	}
	if list.Same(elements) {
		return
	}
	p.put("content", at.content, list.With(elements))
}

func (p *patcher) bytes() []byte {
	out := raw.Apply(p.body, p.changes)
	if len(p.added) == 0 {
		return out
	}
	out = raw.Trim(out)
	for _, m := range p.added {
		out = raw.Set(out, m.name, m.value)
	}
	return out
}

// changedUsage returns old, the usage of a reply, with the figures of r.
func changedUsage(old []byte, r llm.Response) []byte {
	if !raw.IsObject(old) {
		return usageObject(r.Usage, r.Extra)
	}
	old = raw.Delete(old, "iterations")
	for _, f := range figures(r.Usage, r.Extra) {
		old = raw.Set(old, f.name, f.value)
	}
	if r.Usage.Reasoning == 0 {
		old = raw.Delete(old, "output_tokens_details")
	}
	return old
}

// freshReply returns the body of a response that has no bytes of this dialect.
func freshReply(r llm.Response) []byte {
	native := r.Message.Dialect == Dialect || r.Message.Dialect == ""
	var content [][]byte
	for _, p := range r.Message.Parts {
		if b := replyBlock(p, native); b != nil {
			content = append(content, b)
		}
	}
	id := r.ID
	if id == "" {
		digest := llm.DigestOf(r.Message)
		id = derivedID(digest[:])
	}
	o := new(raw.Object).Text("id", id).Text("type", "message").Text("role", "assistant").Text("model", r.Model)
	o.Raw("content", raw.Array(content)).Raw("stop_reason", reasonOf(r.Stop, r.Reason)).Raw("stop_sequence", []byte("null"))
	return o.Raw("usage", usageObject(r.Usage, r.Extra)).Bytes()
}

// derivedID returns a message id that follows from seed.
func derivedID(seed []byte) string {
	const size = 12
	sum := sha256.Sum256(seed)
	return "msg_" + hex.EncodeToString(sum[:size])
}

// replyBlock returns p as a block of a reply, which has no media and no results.
func replyBlock(p llm.Part, native bool) []byte {
	if native && raw.IsObject(p.Bytes()) {
		return whole(p)
	}
	switch p := p.(type) {
	case llm.Media:
		return textBlock(media.Placeholder(p), llm.Raw{}, false)
	case llm.ToolResult:
		return nil
	}
	return blockOf(p, native)
}
