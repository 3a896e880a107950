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
	m, err := decodeChatMessage(obj)
	if err != nil {
		return llm.Message{}, fmt.Errorf("openai: decode chat message: %w", err)
	}
	return m, nil
}

// chatMember is one member of a wire message that is looked at here.
type chatMember struct {
	name   string
	member llm.Span // name and value
	value  llm.Span
}

// chatMembers returns the members of obj that are looked at here, the last of each
// name, in order.
func chatMembers(obj []byte) []chatMember {
	names := [...]string{
		"role", "content", "tool_calls", "tool_call_id", "reasoning_content", "reasoning", "reasoning_details",
		"refusal", "audio", "function_call",
	}
	all := make([]chatMember, 0, len(names))
	for k, v := range raw.Members(obj) {
		for _, name := range names {
			if !raw.Named(obj[k.Start:k.End], name) {
				continue
			}
			all = slices.DeleteFunc(all, func(old chatMember) bool { return old.name == name })
			all = append(all, chatMember{name: name, member: llm.Span{Start: k.Start, End: v.End}, value: v})
		}
	}
	return all
}

// decodeChatMessage reads one wire message whose text was checked.
func decodeChatMessage(obj []byte) (llm.Message, error) {
	members := chatMembers(obj)
	m := llm.Message{Dialect: DialectChat, Envelope: llm.Envelope{Raw: obj}}
	roleAt := valueOf(members, "role")
	role := raw.Unquote(raw.Slice(obj, roleAt))
	switch role {
	case "system", "developer":
		m.Role, m.Origin = llm.RoleSystem, llm.Note
	case "user":
		m.Role, m.Origin = llm.RoleUser, llm.Human
	case "assistant":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
	case "tool":
		return decodeToolMessage(obj, members)
	default:
		what := "want system, developer, user, assistant or tool, got " + strconv.Quote(role)
		return llm.Message{}, &raw.Fault{Path: "role", Offset: roleAt.Start, What: what}
	}
	detailed := valueOf(members, "reasoning_details").Len() > 0
	for _, x := range members {
		parts, spans, err := chatParts(obj, x, m.Role == llm.RoleAssistant)
		if err != nil {
			return llm.Message{}, raw.In(err, x.name, x.value.Start)
		}
		if t, ok := onlyThinking(parts); ok && detailed && x.name != "reasoning_details" {
			parts[0] = llm.Thinking{Raw: t.Raw} // the same words once more
		}
		m.Parts = append(m.Parts, parts...)
		m.Envelope.Spans = append(m.Envelope.Spans, spans...)
	}
	return m, nil
}

func onlyThinking(parts []llm.Part) (llm.Thinking, bool) {
	if len(parts) != 1 {
		return llm.Thinking{}, false
	}
	t, ok := parts[0].(llm.Thinking)
	return t, ok
}

func valueOf(members []chatMember, name string) llm.Span {
	for _, x := range members {
		if x.name == name {
			return x.value
		}
	}
	return llm.Span{}
}

// decodeToolMessage reads a message of the role tool.
func decodeToolMessage(obj []byte, members []chatMember) (llm.Message, error) {
	idAt, at := valueOf(members, "tool_call_id"), valueOf(members, "content")
	id, content := raw.Slice(obj, idAt), raw.Slice(obj, at)
	if !raw.IsString(id) {
		return llm.Message{}, raw.In(raw.Wrong("a string", id), "tool_call_id", idAt.Start)
	}
	if len(content) == 0 {
		return llm.Message{}, raw.In(raw.Wrong("a string or an array", nil), "content", 0)
	}
	parts, _, err := decodeContent(content, 0)
	if err != nil {
		return llm.Message{}, raw.In(err, "content", at.Start)
	}
	result := llm.ToolResult{CallID: raw.Unquote(id), Content: parts, Raw: llm.Raw{Data: content}}
	return llm.Message{
		Role: llm.RoleTool, Origin: llm.ToolRun, Dialect: DialectChat, Parts: []llm.Part{result},
		Envelope: llm.Envelope{Raw: obj, Spans: []llm.Span{at}},
	}, nil
}

// chatParts returns the parts that the member x of the wire message obj holds.
func chatParts(obj []byte, x chatMember, assistant bool) ([]llm.Part, []llm.Span, error) {
	value := raw.Slice(obj, x.value)
	if x.name == "content" {
		return decodeContent(value, x.value.Start)
	}
	if !assistant || raw.IsNone(value) {
		return nil, nil, nil
	}
	member := llm.Raw{Data: raw.Slice(obj, x.member)}
	var p llm.Part
	switch x.name {
	case "tool_calls":
		return decodeCalls(value, x.value.Start)
	case "reasoning_content", "reasoning":
		p = llm.Thinking{Text: raw.Unquote(value), Raw: member}
	case "reasoning_details":
		text, signature := reasoningDetails(value)
		p = llm.Thinking{Text: text, Signature: signature, Raw: member}
	case "refusal", "audio", "function_call":
		p = llm.Opaque{Kind: x.name, Raw: member}
	default:
		return nil, nil, nil
	}
	return []llm.Part{p}, []llm.Span{x.member}, nil
}

// decodeCalls reads the value of tool_calls. What is no array of objects is carried, not judged.
func decodeCalls(value []byte, shift int) ([]llm.Part, []llm.Span, error) {
	spans := raw.Elements(value)
	parts := make([]llm.Part, len(spans))
	for i, s := range spans {
		b := raw.Slice(value, s)
		if !raw.IsObject(b) {
			return nil, nil, raw.In(raw.Wrong("an object", b), index(i), s.Start)
		}
		parts[i] = decodeCall(b)
		spans[i] = raw.Shift(s, shift)
	}
	return parts, spans, nil
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
func reasoningDetails(value []byte) (text, signature string) {
	var texts, proofs strings.Builder
	for _, s := range raw.Elements(value) {
		v := raw.Values(value[s.Start:s.End], "text", "summary", "signature", "data")
		texts.WriteString(cmp.Or(raw.Unquote(v[0]), raw.Unquote(v[1])))
		proofs.WriteString(cmp.Or(raw.Unquote(v[2]), raw.Unquote(v[3])))
	}
	return texts.String(), proofs.String()
}
