package openai

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeChatMessage reads one wire message of the Chat format. System and developer are
// [llm.RoleSystem] of origin Note, assistant is of origin Model, tool and function of origin ToolRun,
// user of the origin that [wire.Said] finds. The message shares the bytes of wire. The
// error says where wire is no message.
func DecodeChatMessage(wire []byte) (llm.Message, error) {
	obj, err := raw.CheckObject(wire)
	if err != nil {
		return llm.Message{}, fmt.Errorf("openai: decode chat message: %w", err)
	}
	m, _, err := new(chatReader).message(raw.NewCursor(obj))
	if err != nil {
		return llm.Message{}, fmt.Errorf("openai: decode chat message: %w", err)
	}
	return m, nil
}

// A chatReader reads wire messages, one after the other.
type chatReader struct {
	pieces                            // of the message at hand, also of members that do not count
	all    [len(chatNames)]chatMember // the first n: the last of each name, in order
	n      int
}

// chatNames are the members of a wire message that are looked at here.
var chatNames = [...]string{
	"role", "content", "tool_calls", "tool_call_id", "name",
	"reasoning_content", "reasoning", "reasoning_details", "refusal", "audio", legacyName,
}

// A chatMember is a member of a wire message.
type chatMember struct {
	name     string
	at       llm.Span // of the value
	from, to int      // its pieces
	err      error
}

// message reads the wire message at c and returns its place too.
func (r *chatReader) message(c *raw.Cursor) (llm.Message, llm.Span, error) {
	start := c.Pos()
	r.members(c)
	place := c.Since(start)
	m := llm.Message{Dialect: DialectChat, Envelope: llm.Envelope{Raw: c.Bytes(place)}}
	roleAt := r.member("role").at
	var err error
	switch role := word(c.Bytes(roleAt)); string(role) {
	case "system", "developer":
		m.Role, m.Origin = llm.RoleSystem, llm.Note
	case "user":
		m.Role = llm.RoleUser
	case "assistant":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
	case "tool":
		m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		err = r.result(c, "tool_call_id", start)
	case "function":
		m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		err = r.result(c, "name", start)
	default:
		what := "want system, developer, user, assistant, tool or function, got " + strconv.Quote(raw.Unquote(c.Bytes(roleAt)))
		err = &raw.Fault{Path: "role", Offset: max(roleAt.Start, start), What: what}
	}
	if err == nil {
		err = r.gather(&m, start)
	}
	if m.Role == llm.RoleUser {
		m = wire.Said(m)
	}
	return m, place, err
}

// gather gives m, which begins at start, the pieces of the members that count for its role.
func (r *chatReader) gather(m *llm.Message, start int) error {
	n := 0
	for _, x := range r.all[:r.n] {
		if x.name != "content" && m.Role != llm.RoleAssistant {
			continue
		}
		if x.err != nil {
			return raw.In(x.err, x.name)
		}
		for i := x.from; i < x.to; i++ {
			r.parts[n], r.spans[n] = r.parts[i], raw.Shift(r.spans[i], -start)
			n++
		}
	}
	m.Parts = append([]llm.Part(nil), r.parts[:n]...)
	m.Envelope.Spans = append([]llm.Span(nil), r.spans[:n]...)
	return nil
}

// members moves c through a wire message and takes its members.
func (r *chatReader) members(c *raw.Cursor) {
	r.parts, r.spans, r.n = r.parts[:0], r.spans[:0], 0
	c.Object(func(name []byte) {
		for _, known := range chatNames {
			if string(name) == known {
				r.take(c, known)
				return
			}
		}
	})
	r.toldOnce()
}

// take reads the member of that name, whose value c is at.
func (r *chatReader) take(c *raw.Cursor, name string) {
	start, begin := c.Pos(), c.NamePos()
	x := chatMember{name: name, from: len(r.parts)}
	switch name {
	case "role", "tool_call_id", "name":
	case "content":
		x.err = r.content(c)
	case "tool_calls":
		x.err = r.array(c, decodeCall)
	default:
		if value := c.Value(); !raw.IsNone(value) {
			whole := c.Since(begin)
			r.add(memberPart(name, value, c.Bytes(whole)), whole)
		}
	}
	x.to = len(r.parts)
	x.at = c.Past(start, x.err)
	if i := r.index(name); i >= 0 {
		copy(r.all[i:r.n], r.all[i+1:r.n])
		r.n--
	}
	r.all[r.n] = x
	r.n++
}

// index returns the place of the member of that name in all, -1 if it is not there.
func (r *chatReader) index(name string) int {
	return slices.IndexFunc(r.all[:r.n], func(x chatMember) bool { return x.name == name })
}

// member returns the member of that name, the zero member if it is not there.
func (r *chatReader) member(name string) chatMember {
	if i := r.index(name); i >= 0 {
		return r.all[i]
	}
	return chatMember{}
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
	case legacyName:
		return legacyPart(value, member)
	}
	return llm.Opaque{Kind: name, Raw: here}
}

// toldOnce takes the text from reasoning that reasoning_details tells once more.
func (r *chatReader) toldOnce() {
	details := r.member("reasoning_details")
	if details.from == details.to || r.parts[details.from].(llm.Thinking).Text == "" {
		return
	}
	for _, name := range []string{"reasoning", "reasoning_content"} {
		if x := r.member(name); x.from < x.to {
			r.parts[x.from] = llm.Thinking{Raw: llm.Raw{Data: r.parts[x.from].Bytes()}}
		}
	}
}

// result makes the content of a message of the role tool or function one result of the call
// that the member named says.
func (r *chatReader) result(c *raw.Cursor, named string, start int) error {
	id, content := r.member(named), r.member("content")
	if lit := c.Bytes(id.at); !raw.IsString(lit) {
		return &raw.Fault{Path: named, Offset: max(id.at.Start, start), What: "want a string, got " + raw.KindOf(lit)}
	}
	if content.at.Len() == 0 {
		return &raw.Fault{Path: "content", Offset: start, What: "want a string or an array, got nothing"}
	}
	if content.err != nil {
		return raw.In(content.err, "content")
	}
	parts := append([]llm.Part(nil), r.parts[content.from:content.to]...)
	content.from = len(r.parts)
	r.add(llm.ToolResult{CallID: raw.Unquote(c.Bytes(id.at)), Content: parts, Raw: llm.Raw{Data: c.Bytes(content.at)}}, content.at)
	content.to = len(r.parts)
	r.all[0], r.n = content, 1
	return nil
}

// decodeCall reads {"id", "type": "function", "function": {"name", "arguments"}} at c, or
// the same with custom and input. Some providers leave the type out.
func decodeCall(c *raw.Cursor) llm.Part {
	var id, kind []byte
	var function, custom invocation
	start := c.Pos()
	c.Object(func(name []byte) {
		switch string(name) {
		case "id":
			id = c.Value()
		case "type":
			kind = c.Value()
		case "function":
			function = readInvocation(c)
		case "custom":
			custom = readInvocation(c)
		}
	})
	call := llm.ToolCall{Raw: llm.Raw{Data: c.Bytes(c.Since(start))}}
	inner, args := function, function.arguments
	if !function.there {
		inner, args, call.Custom = custom, custom.input, custom.there
	}
	if !raw.IsString(id) || !raw.IsString(inner.name) {
		return llm.Opaque{Kind: raw.Unquote(kind), Raw: call.Raw}
	}
	call.CallID, call.Name, call.Args = raw.Unquote(id), raw.Unquote(inner.name), argsText(args)
	return call
}

// An invocation is the object in a call that says what is called with what.
type invocation struct {
	there                  bool
	name, arguments, input []byte
}

// readInvocation reads the object at c, if there is one.
func readInvocation(c *raw.Cursor) (x invocation) {
	x.there = raw.IsObject(c.Next())
	c.Object(func(name []byte) {
		switch string(name) {
		case "name":
			x.name = c.Value()
		case "arguments":
			x.arguments = c.Value()
		case "input":
			x.input = c.Value()
		}
	})
	return x
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
