package openai

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeChatMessage reads one wire message of the Chat format. System and developer are
// [llm.RoleSystem] of origin Note, assistant is of origin Model, tool of origin ToolRun,
// user of origin Human: who really wrote it only the reader of a session can know. The
// message shares the bytes of wire. The error says where wire is no message.
func DecodeChatMessage(wire []byte) (llm.Message, error) {
	obj, err := raw.CheckObject(wire)
	if err != nil {
		return llm.Message{}, fmt.Errorf("openai: decode chat message: %w", err)
	}
	m, _, err := decodeChatMessage(raw.NewCursor(obj))
	if err != nil {
		return llm.Message{}, fmt.Errorf("openai: decode chat message: %w", err)
	}
	return m, nil
}

// A chatMember is a member of a wire message that is looked at here, and the parts in it.
type chatMember struct {
	name  string
	at    llm.Span // of the value
	parts []llm.Part
	spans []llm.Span
	err   error
}

// decodeChatMessage reads the wire message at c and returns its place too.
func decodeChatMessage(c *raw.Cursor) (llm.Message, llm.Span, error) {
	start := c.Pos()
	members := chatMembers(c)
	place := c.Since(start)
	m := llm.Message{Dialect: DialectChat, Envelope: llm.Envelope{Raw: c.Bytes(place)}}
	roleAt := memberOf(members, "role").at
	role := raw.Unquote(c.Bytes(roleAt))
	var err error
	switch role {
	case "system", "developer":
		m.Role, m.Origin = llm.RoleSystem, llm.Note
	case "user":
		m.Role, m.Origin = llm.RoleUser, llm.Human
	case "assistant":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
	case "tool":
		m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		members, err = toolResult(c, start, members)
	default:
		what := "want system, developer, user, assistant or tool, got " + strconv.Quote(role)
		err = &raw.Fault{Path: "role", Offset: max(roleAt.Start, start), What: what}
	}
	for _, x := range members {
		if x.name != "content" && m.Role != llm.RoleAssistant || err != nil {
			continue
		}
		err = raw.In(x.err, x.name)
		m.Parts = append(m.Parts, x.parts...)
		for _, s := range x.spans {
			m.Envelope.Spans = append(m.Envelope.Spans, raw.Shift(s, -start))
		}
	}
	return m, place, err
}

// chatMembers moves c through a wire message and returns the members that are looked at
// here, the last of each name, in order.
func chatMembers(c *raw.Cursor) []chatMember {
	var all []chatMember
	c.Object(func(name []byte) {
		start, begin := c.Pos(), c.NamePos()
		x := chatMember{name: string(name)}
		switch x.name {
		case "role", "tool_call_id":
		case "content":
			x.parts, x.spans, x.err = decodeContent(c)
		case "tool_calls":
			x.parts, x.spans, x.err = decodeArray(c, decodeCall)
		case "reasoning_content", "reasoning", "reasoning_details", "refusal", "audio", "function_call":
			if value := c.Value(); !raw.IsNone(value) {
				whole := c.Since(begin)
				x.parts, x.spans = []llm.Part{memberPart(x.name, value, c.Bytes(whole))}, []llm.Span{whole}
			}
		default:
			return
		}
		x.at = c.Past(start, x.err)
		all = slices.DeleteFunc(all, func(old chatMember) bool { return old.name == x.name })
		all = append(all, x)
	})
	return toldOnce(all)
}

// memberPart returns the part that a member of only some providers is. Its data is the
// whole member, so that it can stand in a message that is written anew.
func memberPart(name string, value, member []byte) llm.Part {
	here := llm.Raw{Data: member}
	switch name {
	case "reasoning_content", "reasoning":
		return llm.Thinking{Text: raw.Unquote(value), Raw: here}
	case "reasoning_details":
		t := reasoningDetails(value)
		t.Raw = here
		return t
	}
	return llm.Opaque{Kind: name, Raw: here}
}

// toldOnce takes the text from reasoning that reasoning_details tells once more.
func toldOnce(members []chatMember) []chatMember {
	details := memberOf(members, "reasoning_details").parts
	if len(details) == 0 || details[0].(llm.Thinking).Text == "" {
		return members
	}
	for _, x := range members {
		if (x.name == "reasoning" || x.name == "reasoning_content") && len(x.parts) > 0 {
			x.parts[0] = llm.Thinking{Raw: llm.Raw{Data: x.parts[0].Bytes()}}
		}
	}
	return members
}

func memberOf(members []chatMember, name string) chatMember {
	for _, x := range members {
		if x.name == name {
			return x
		}
	}
	return chatMember{}
}

// toolResult returns the content of a message of the role tool as one result.
func toolResult(c *raw.Cursor, start int, members []chatMember) ([]chatMember, error) {
	id, content := memberOf(members, "tool_call_id"), memberOf(members, "content")
	if lit := c.Bytes(id.at); !raw.IsString(lit) {
		return nil, &raw.Fault{Path: "tool_call_id", Offset: max(id.at.Start, start), What: "want a string, got " + raw.KindOf(lit)}
	}
	if content.at.Len() == 0 {
		return nil, &raw.Fault{Path: "content", Offset: start, What: "want a string or an array, got nothing"}
	}
	if content.err != nil {
		return nil, raw.In(content.err, "content")
	}
	r := llm.ToolResult{CallID: raw.Unquote(c.Bytes(id.at)), Content: content.parts, Raw: llm.Raw{Data: c.Bytes(content.at)}}
	content.parts, content.spans = []llm.Part{r}, []llm.Span{content.at}
	return []chatMember{content}, nil
}

// decodeCall reads {"id", "type": "function", "function": {"name", "arguments"}}, or the
// same with custom and input. Some providers leave the type out.
func decodeCall(b []byte) llm.Part {
	v := raw.Values(b, "id", "type", "function", "custom")
	kind := raw.Unquote(v[1])
	call := llm.ToolCall{CallID: raw.Unquote(v[0]), Raw: llm.Raw{Data: b}}
	var inner [][]byte
	switch {
	case raw.IsObject(v[2]):
		inner = raw.Values(v[2], "name", "arguments")
	case raw.IsObject(v[3]):
		inner = raw.Values(v[3], "name", "input")
		call.Custom = true
	}
	if !raw.IsString(v[0]) || inner == nil || !raw.IsString(inner[0]) {
		return llm.Opaque{Kind: kind, Raw: call.Raw}
	}
	call.Name, call.Args = raw.Unquote(inner[0]), argsText(inner[1])
	return call
}

// argsText returns arguments: the text of a string, else the JSON itself.
func argsText(value []byte) string {
	if raw.IsString(value) {
		return raw.Unquote(value)
	}
	return string(value)
}

// reasoningDetails returns the texts and the proofs in a reasoning_details array.
func reasoningDetails(value []byte) llm.Thinking {
	var texts, proofs strings.Builder
	hidden := false
	for _, s := range raw.Elements(value) {
		v := raw.Values(value[s.Start:s.End], "text", "summary", "signature", "data", "type")
		texts.WriteString(cmp.Or(raw.Unquote(v[0]), raw.Unquote(v[1])))
		proofs.WriteString(cmp.Or(raw.Unquote(v[2]), raw.Unquote(v[3])))
		hidden = hidden || raw.IsString(v[4]) && raw.Named(v[4], hiddenDetail)
	}
	t := llm.Thinking{Text: texts.String(), Signature: proofs.String()}
	t.Redacted = hidden && t.Text == "" && t.Signature != ""
	return t
}

// hiddenDetail is the type of an element of reasoning_details whose text nobody can read.
const hiddenDetail = "reasoning.encrypted"
