package verify

import (
	"slices"
	"strings"
)

// chatMessage reads a message of the Chat dialect: content, then calls, then
// members that only some providers have.
func chatMessage(raw []byte) Message {
	ms := members(raw)
	m := Message{Role: text(ms, "role"), Raw: raw}
	content := get(ms, "content")
	if m.Role == roleTool {
		m.Parts = []Part{{
			Kind: Result, CallID: text(ms, "tool_call_id"), Text: textOf(content), Raw: raw, Value: content,
		}}
		return m
	}
	m.Parts = append(m.Parts, contentParts(content)...)
	for _, b := range elements(get(ms, "tool_calls")) {
		m.Parts = append(m.Parts, chatCall(b))
	}
	m.Parts = append(m.Parts, extraParts(ms)...)
	return m
}

// chatCall reads one element of tool_calls: a function, or a custom tool.
func chatCall(b []byte) Part {
	ms := members(b)
	p := Part{Kind: Call, CallID: text(ms, "id"), Raw: b}
	fn, args := members(get(ms, "function")), "arguments"
	if fn == nil {
		fn, args = members(get(ms, "custom")), "input"
	}
	p.Name, p.Value = text(fn, "name"), get(fn, args)
	p.Text = argsText(p.Value)
	return p
}

// itemMessage reads an item of the Responses dialect as a message of its own. What
// the model wrote is one part with the bytes of the whole item.
func itemMessage(raw []byte) Message {
	ms := members(raw)
	kind := text(ms, "type")
	role := text(ms, "role")
	switch {
	case role == roleAssistant:
		return Message{role, raw, visible(assistantText(raw, ms))}
	case role != "":
		m := Message{Role: role, Raw: raw}
		m.Parts = append(m.Parts, contentParts(get(ms, "content"))...)
		m.Parts = append(m.Parts, extraParts(ms)...)
		return m
	}
	p := itemPart(raw, ms, kind)
	switch {
	case p.Kind == Result:
		return Message{roleTool, raw, []Part{p}}
	case strings.HasPrefix(kind, "compaction"): // stands for what was before it
		return Message{kind, raw, []Part{p}}
	}
	return Message{roleAssistant, raw, []Part{p}}
}

// assistantText reads a message item of the assistant. An item without any text is opaque.
func assistantText(raw []byte, ms []member) Part {
	content := get(ms, "content")
	p := Part{Kind: Text, Text: textOf(content), Raw: raw}
	if first(content) == '"' {
		p.Value = content
	}
	if p.Text == "" && !none(content) {
		p.Kind, p.Name = Opaque, "message"
	}
	return p
}

// itemPart reads an item that is no message. Calls and results are told by their
// type and call_id, as kinds of tools are added often.
func itemPart(raw []byte, ms []member, kind string) Part {
	p := Part{Kind: Opaque, Name: kind, Raw: raw}
	id := text(ms, "call_id")
	switch {
	case kind == "reasoning":
		p.Kind = Thinking
		p.Text = strings.Trim(textOfSummary(get(ms, "summary"))+"\n"+textOfSummary(get(ms, "content")), "\n")
	case strings.HasSuffix(kind, "_output") && id != "":
		p.Kind, p.CallID, p.Value = Result, id, get(ms, "output")
		p.Text = textOf(p.Value)
	case strings.HasSuffix(kind, "_call") && id != "":
		p.Kind, p.CallID, p.Name, p.Value = Call, id, text(ms, "name"), callArgs(ms)
		p.Text = argsText(p.Value)
	case strings.HasSuffix(kind, "_call"):
		p.Kind, p.CallID, p.Hosted = Call, text(ms, "id"), true
	}
	return p
}

// callArgs returns what a call gives to its tool.
func callArgs(ms []member) []byte {
	for _, name := range []string{"arguments", "input", "action", "operation"} {
		if v := get(ms, name); v != nil {
			return v
		}
	}
	return nil
}

func textOfSummary(v []byte) string {
	var texts []string
	for _, b := range elements(v) {
		texts = append(texts, text(members(b), "text"))
	}
	return strings.Join(texts, "\n")
}

// chatOrphans checks a list whose results are messages of the role tool: they must
// follow the message with their calls without anything between.
func chatOrphans(list []*message, _ bool) []string {
	var c pairing
	for i, m := range list {
		if m.Role == roleTool {
			for _, p := range m.pieces {
				c.answer(i, p.CallID)
			}
			continue
		}
		if m.Role != roleAssistant {
			c.other = true
			continue
		}
		c.close()
		for _, p := range m.pieces {
			if p.Kind == Call {
				c.call(i, p.CallID)
			}
		}
	}
	c.end()
	return c.found
}

// itemOrphans checks a list of items: a result stands somewhere after its call, and
// every call has a result, unless it is of the last reply and nothing but results
// follows. stored says that earlier items are with the provider.
func itemOrphans(list []*message, stored bool) []string {
	var c pairing
	last := lastReply(list)
	for i, m := range list {
		for _, p := range m.pieces {
			switch {
			case p.Kind == Call && !p.Hosted:
				c.call(i, p.CallID)
			case p.Kind == Result && !(stored && !c.all[p.CallID]):
				c.answer(i, p.CallID)
			}
		}
	}
	c.open = slices.DeleteFunc(c.open, func(w waiting) bool { return w.at >= last })
	c.close()
	return c.found
}

// lastReply returns where the last reply begins, len(list) if something else than
// results follows it.
func lastReply(list []*message) int {
	i := len(list)
	for i > 0 && list[i-1].Role == roleTool {
		i--
	}
	if i == 0 || list[i-1].Role != roleAssistant {
		return len(list)
	}
	for i > 0 && list[i-1].Role == roleAssistant {
		i--
	}
	return i
}
