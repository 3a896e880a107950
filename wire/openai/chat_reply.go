package openai

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeChatResponse reads a chat.completion. Its message is that of the choice with
// index 0; further choices stay in Raw. Thinking comes first, all members that hold it
// as one part; empty text is no part; a call without arguments has "{}". The error is a
// [*wire.Error] if the body is one (some servers send it with status 200), else it says
// what is wrong and where.
func DecodeChatResponse(body []byte) (llm.Response, error) {
	reply, err := readChatReply(body)
	if err != nil {
		return llm.Response{}, fmt.Errorf("openai: decode chat response: %w", err)
	}
	return reply.Response, nil
}

// A chatReply is a reply with the places that it has in its body.
type chatReply struct {
	llm.Response
	message llm.Span
	places  []llm.Span // of each part; of zero length for thinking
}

func readChatReply(body []byte) (chatReply, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return chatReply{}, err
	}
	top := body[raw.Leading(body):]
	v := raw.Values(top, "id", "model", "choices", "usage")
	if !raw.IsArray(v[2]) {
		if wire.TellsError(top) {
			return chatReply{}, DecodeError(0, body)
		}
		return chatReply{}, raw.In(raw.Wrong("an array", v[2]), "choices")
	}
	choice, place, at := firstChoice(v[2])
	if !raw.IsObject(choice) {
		return chatReply{}, raw.In(raw.In(raw.Wrong("an object", choice), "[0]"), "choices")
	}
	inner := raw.Values(choice, "message", "finish_reason", "error")
	if !raw.IsNone(inner[2]) {
		return chatReply{}, DecodeError(0, choice)
	}
	if !raw.IsObject(inner[0]) {
		return chatReply{}, raw.In(raw.In(raw.Wrong("an object", inner[0]), at+".message"), "choices")
	}
	reply := chatReply{Response: llm.Response{ID: raw.Unquote(v[0]), Model: raw.Unquote(v[1]), Dialect: DialectChat, Raw: body}}
	reply.Usage, reply.Reason = chatUsage(v[3]), raw.Unquote(inner[1])
	place += raw.Leading(body) + raw.Spans(top, "choices")[0].Start
	reply.message = raw.Shift(raw.Spans(choice, "message")[0], place)
	if err := reply.readMessage(body); err != nil {
		return chatReply{}, raw.In(raw.In(err, at+".message"), "choices")
	}
	reply.Stop = refined(chatStop(reply.Reason), len(reply.Message.Calls()) > 0, hasRefusal(reply.Message.Parts))
	return reply, nil
}

// firstChoice returns the choice with index 0, or the first one, where it begins, and
// its step in a path.
func firstChoice(choices []byte) (choice []byte, place int, step string) {
	for i, s := range raw.Elements(choices) {
		b := raw.Slice(choices, s)
		n, ok := raw.Int(raw.Value(b, "index"))
		if i == 0 || ok && n == 0 {
			choice, place, step = b, s.Start, index(i)
		}
		if ok && n == 0 {
			break
		}
	}
	return choice, place, step
}

// readMessage reads the parts of the message.
func (r *chatReply) readMessage(body []byte) error {
	c := raw.NewCursor(body).At(r.message.Start)
	var thinking []llm.Thinking
	calls := 0
	var m chatReader
	m.members(c)
	for _, x := range m.all[:m.n] {
		if x.err != nil {
			return raw.In(x.err, x.name)
		}
		for i := x.from; i < x.to; i++ {
			p := m.parts[i]
			switch p := p.(type) {
			case llm.Thinking:
				thinking = append(thinking, p)
				continue
			case llm.Text:
				if p.Text == "" {
					continue
				}
			}
			if x.name == "tool_calls" {
				p = wholeCall(p, r.ID, calls)
				calls++
			}
			if x.name == legacyName {
				p = wholeLegacy(p)
			}
			r.Message.Parts = append(r.Message.Parts, replyPart(p))
			r.places = append(r.places, m.spans[i])
		}
	}
	r.Message.Role, r.Message.Origin, r.Message.Dialect = llm.RoleAssistant, llm.Model, DialectChat
	if len(thinking) > 0 {
		r.Message.Parts = slices.Insert(r.Message.Parts, 0, llm.Part(joinThinking(thinking)))
		r.places = slices.Insert(r.places, 0, llm.Span{})
	}
	return nil
}

// joinThinking returns the thinking of one message as one part.
func joinThinking(all []llm.Thinking) llm.Thinking {
	if len(all) == 1 {
		return all[0]
	}
	var t llm.Thinking
	var members [][]byte
	for _, x := range all {
		t.Text += x.Text
		t.Signature += x.Signature
		members = append(members, x.Data)
	}
	t.Redacted = t.Text == "" && t.Signature != "" && slices.ContainsFunc(all, func(x llm.Thinking) bool { return x.Redacted })
	t.Data = bytes.Join(members, []byte{','})
	return t
}

// wholeCall returns call n of a reply as it can be sent back: with arguments, and with an
// id even if the server gave none.
func wholeCall(p llm.Part, reply string, n int) llm.Part {
	b := p.Bytes()
	if raw.Unquote(raw.Value(b, "id")) == "" {
		b = raw.Set(b, "id", raw.Quote(derivedCall(reply, n)))
		p = decodeCall(raw.NewCursor(b))
	}
	c, ok := p.(llm.ToolCall)
	if !ok || c.Custom || c.Args != "" {
		return p
	}
	c.Args = "{}"
	c.Data = raw.Set(b, "function", raw.Set(raw.Value(b, "function"), "arguments", []byte(`"{}"`)))
	return c
}

// derivedCall returns an id for call n of a reply whose server gave it none.
func derivedCall(reply string, n int) string { return "call_" + reply + "_" + strconv.Itoa(n) }

// replyPart returns p as a request wants it: of sound only the id is sent back.
func replyPart(p llm.Part) llm.Part {
	o, ok := p.(llm.Opaque)
	if !ok || o.Kind != "audio" || !isMember(o) {
		return p
	}
	return audioPart(raw.Value(memberValue(o.Data), "id"))
}

func audioPart(id []byte) llm.Opaque {
	if id == nil {
		id = []byte(`""`)
	}
	value := new(raw.Object).Raw("id", id).Bytes()
	return llm.Opaque{Kind: "audio", Raw: llm.Raw{Data: memberOfValue("audio", value)}}
}

// memberOfValue returns a member, name and value.
func memberOfValue(name string, value []byte) []byte {
	return append(append(raw.Quote(name), ':'), value...)
}

// memberValue returns the value of the first of some members.
func memberValue(members []byte) []byte {
	whole := append(append([]byte{'{'}, members...), '}')
	for _, v := range raw.Members(whole) {
		return raw.Slice(whole, v)
	}
	return nil
}

// hasRefusal reports whether the model refused in so many words.
func hasRefusal(parts []llm.Part) bool {
	return slices.ContainsFunc(parts, func(p llm.Part) bool {
		o, ok := p.(llm.Opaque)
		return ok && o.Kind == "refusal" && isMember(o) && len(memberValue(o.Data)) > len(`""`)
	})
}
