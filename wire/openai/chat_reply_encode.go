package openai

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// EncodeChatResponse returns the chat.completion of r. A reply that was decoded here and
// not changed gives the very bytes it came as; else only what differs is written anew. A
// reply of another dialect is written from its neutral fields: thinking as
// reasoning_content, with its signature in reasoning_details; hosted calls and what is
// opaque are left out. The error says that Raw is no chat.completion.
func EncodeChatResponse(r llm.Response) ([]byte, error) {
	if r.Dialect != DialectChat || len(r.Raw) == 0 {
		return freshChatReply(r), nil
	}
	old, err := readChatReply(r.Raw)
	if err != nil {
		return nil, fmt.Errorf("openai: encode chat response: %w", err)
	}
	body := r.Raw
	if !sameParts(old.Message.Parts, r.Message.Parts) {
		body = raw.Replace(body, old.message, old.withParts(r))
	}
	if r.Stop != old.Stop || r.Reason != old.Reason {
		body = withFinish(body, chatReason(r.Stop, r.Reason))
	}
	return withFields(body, old.Response, r, writeChatUsage), nil
}

// withFields returns body with the fields of r that old, which was read from it, has
// otherwise, and that both formats name alike.
func withFields(body []byte, old, r llm.Response, usage func(llm.Usage) []byte) []byte {
	lead := raw.Leading(body)
	top := raw.Trim(body)
	if r.ID != old.ID {
		top = raw.Set(top, "id", raw.Quote(r.ID))
	}
	if r.Model != old.Model {
		top = raw.Set(top, "model", raw.Quote(r.Model))
	}
	if r.Usage != old.Usage {
		top = raw.Set(top, "usage", usage(r.Usage))
	}
	if len(raw.Trim(body)) == len(top) && bytes.Equal(raw.Trim(body), top) {
		return body
	}
	tail := body[lead+len(raw.Trim(body)):]
	return slices.Concat(body[:lead], top, tail)
}

// withFinish returns body with another finish_reason for the choice that was read.
func withFinish(body []byte, reason string) []byte {
	lead := raw.Leading(body)
	choices := raw.Shift(raw.Spans(body[lead:], "choices")[0], lead)
	list := raw.Slice(body, choices)
	choice, start, _ := firstChoice(list)
	at := llm.Span{Start: choices.Start + start, End: choices.Start + start + len(choice)}
	return raw.Replace(body, at, raw.Set(choice, "finish_reason", raw.Quote(reason)))
}

// sameParts reports whether both lists have the same bytes.
func sameParts(a, b []llm.Part) bool {
	return slices.EqualFunc(a, b, func(x, y llm.Part) bool {
		return x.Bytes() != nil && bytes.Equal(x.Bytes(), y.Bytes())
	})
}

// withParts returns the message of r, which was read as old: the message as it came, with
// the edited parts written into it, or a new one where they have no place.
func (old chatReply) withParts(r llm.Response) []byte {
	message := raw.Slice(old.Raw, old.message)
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: DialectChat, Envelope: llm.Envelope{Raw: message}}
	if len(r.Message.Parts) == len(old.places) {
		order := make([]int, len(old.places))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(old.places[a].Start, old.places[b].Start) })
		for _, i := range order {
			p, place := r.Message.Parts[i], old.places[i]
			unchanged := bytes.Equal(p.Bytes(), old.Message.Parts[i].Bytes())
			if place.Len() == 0 && !unchanged {
				return old.rewritten(r)
			}
			if place.Len() == 0 {
				continue
			}
			if unchanged {
				p = llm.Opaque{Raw: llm.Raw{Data: raw.Slice(old.Raw, place)}}
			}
			m.Parts = append(m.Parts, based(p, raw.Slice(old.Raw, place)))
			m.Envelope.Spans = append(m.Envelope.Spans, raw.Shift(place, -old.message.Start))
		}
		if b, ok := chatPatch(m); ok && len(b) > 0 {
			return b
		}
	}
	return old.rewritten(r)
}

// based returns p as a replacement of the bytes at its place, which may differ from the
// bytes that the part it replaced had: those that a request wants.
func based(p llm.Part, place []byte) llm.Part {
	c, ok := p.(llm.ToolCall)
	if ok && c.Base != nil {
		c.Base = place
		return c
	}
	return p
}

// rewritten returns a new message for the parts of r, with the members of the old one
// that no part holds.
func (old chatReply) rewritten(r llm.Response) []byte {
	r.Message.Dialect = DialectChat
	message := newWriter(DialectChat, r.Message).chatMessage(r.Message)
	if message == nil {
		message = []byte(`{"role":"assistant","content":null}`)
	}
	was := raw.Slice(old.Raw, old.message)
	for k, v := range raw.Members(was) {
		name := string(raw.Name(raw.Slice(was, k)))
		if !slices.Contains(partMembers, name) && name != "role" {
			message = raw.Set(message, name, raw.Slice(was, v))
		}
	}
	return message
}

// partMembers are the members of a message that parts are read from.
var partMembers = []string{
	"content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details", "refusal", "audio", "function_call",
}

// freshChatReply returns the body of a reply that came in another dialect, or as a stream.
func freshChatReply(r llm.Response) []byte {
	choice := new(raw.Object).Raw("index", []byte("0")).Raw("message", freshChatMessage(r))
	choice.Raw("logprobs", []byte("null")).Text("finish_reason", chatReason(r.Stop, r.Reason))
	o := new(raw.Object).Text("id", cmp.Or(r.ID, "chatcmpl-0")).Text("object", "chat.completion").Raw("created", []byte("0"))
	o.Text("model", r.Model).Raw("choices", raw.Array([][]byte{choice.Bytes()}))
	return o.Raw("usage", writeChatUsage(r.Usage)).Bytes()
}

func freshChatMessage(r llm.Response) []byte {
	w := newWriter(DialectChat, llm.Message{Role: llm.RoleAssistant, Dialect: r.Dialect})
	w.native, w.noMedia = r.Dialect == DialectChat, true
	var content []llm.Part
	var calls, members [][]byte
	refusal := []byte("null")
	for _, p := range r.Message.Parts {
		switch p := p.(type) {
		case llm.ToolCall:
			if w.native && isLegacy(p) {
				members = append(members, legacyMember(p))
			} else if b := w.chatCall(p); b != nil {
				calls = append(calls, b)
			}
		case llm.Thinking:
			members = append(members, w.thinkingMembers(p)...)
		case llm.Opaque:
			switch {
			case !w.native || !isMember(p):
			case p.Kind == "refusal":
				refusal = memberValue(p.Data)
			default:
				members = append(members, p.Data)
			}
		default:
			content = append(content, p)
		}
	}
	o := new(raw.Object).Text("role", "assistant")
	if value := w.replyContent(content); value != nil {
		o.Raw("content", value)
	} else {
		o.Raw("content", []byte("null"))
	}
	o.Raw("refusal", refusal)
	for _, member := range mergeMembers(members) {
		o.Member(member)
	}
	if len(calls) > 0 {
		o.Raw("tool_calls", raw.Array(calls))
	}
	return o.Bytes()
}

// replyContent returns the text of a reply as one literal, which is all that readers of
// this format expect there.
func (w writer) replyContent(parts []llm.Part) []byte {
	var all literal
	for i, p := range parts {
		b := w.element(p)
		switch {
		case w.native && raw.IsString(p.Bytes()):
			all.add(p.Bytes())
			continue
		case b == nil:
			continue
		case i > 0 && !all.empty() && !w.native:
			all.addText("\n")
		}
		all.add(raw.Value(b, "text"))
	}
	all.rest()
	if all.empty() {
		return nil
	}
	return all.bytes()
}

// thinkingMembers returns the members that tell of p in a reply.
func (w writer) thinkingMembers(p llm.Thinking) [][]byte {
	if w.native && raw.IsString(p.Data) {
		return [][]byte{p.Data}
	}
	var members [][]byte
	if p.Text != "" {
		members = append(members, memberOfValue("reasoning_content", raw.Quote(p.Text)))
	}
	if p.Signature != "" {
		members = append(members, memberOfValue("reasoning_details", raw.Array([][]byte{signatureDetail(p.Signature, p.Redacted)})))
	}
	return members
}

// signatureDetail returns the element of reasoning_details that holds a signature.
func signatureDetail(signature string, redacted bool) []byte {
	kind, field := "reasoning.text", "signature"
	if redacted {
		kind, field = hiddenDetail, "data"
	}
	return new(raw.Object).Text("type", kind).Text(field, signature).Raw("index", []byte("0")).Bytes()
}
