package verify

import (
	"fmt"
	"slices"
	"strings"
)

// Roles that the checks tell apart.
const (
	roleAssistant = "assistant"
	roleTool      = "tool"
	roleSystem    = "system"
)

// beside are the members of a message that are not content: how it is addressed,
// and what replies carry.
var beside = map[string]bool{
	"role": true, "content": true, "type": true, "id": true, "name": true, "status": true, "phase": true,
	"model": true, "stop_reason": true, "stop_sequence": true, "stop_details": true, "usage": true,
	"tool_calls": true, "tool_call_id": true, "container": true,
}

// blockMessage reads a message whose content is a string or a list of blocks.
func blockMessage(raw []byte) Message {
	ms := members(raw)
	m := Message{Role: text(ms, "role"), Raw: raw}
	m.Parts = append(m.Parts, apart(contentParts(get(ms, "content")))...)
	m.Parts = append(m.Parts, extraParts(ms)...)
	return m
}

// contentParts reads a content: a string or a list of blocks.
func contentParts(v []byte) []Part {
	if first(v) == '"' {
		return visible(Part{Kind: Text, Text: unquote(v), Raw: v, Value: v})
	}
	var parts []Part
	for _, b := range elements(v) {
		parts = append(parts, visible(blockPart(b))...)
	}
	return parts
}

// visible returns p, or nothing if p is a text of white space.
func visible(p Part) []Part {
	if p.Kind == Text && strings.TrimSpace(p.Text) == "" {
		return nil
	}
	return []Part{p}
}

// blockPart reads one block or content element of any dialect.
func blockPart(b []byte) Part {
	ms := members(b)
	kind := text(ms, "type")
	p := Part{Kind: Opaque, Name: kind, Raw: b}
	switch {
	case isTextType(kind) && first(get(ms, "text")) == '"':
		p.Kind, p.Value = Text, get(ms, "text")
		p.Text = unquote(p.Value)
	case kind == "thinking":
		p.Kind, p.Value = Thinking, get(ms, "thinking")
		p.Text = unquote(p.Value)
	case kind == "redacted_thinking":
		p.Kind = Thinking
	case kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use":
		p.Kind, p.CallID, p.Name, p.Hosted = Call, text(ms, "id"), text(ms, "name"), kind != "tool_use"
		p.Value = get(ms, "input")
		p.Text = argsText(p.Value)
	case strings.HasSuffix(kind, "tool_result") && get(ms, "tool_use_id") != nil:
		p.Kind, p.CallID, p.Hosted = Result, text(ms, "tool_use_id"), kind != "tool_result"
		p.Value = get(ms, "content")
		p.Text = textOf(p.Value)
	case isMediaType(kind):
		p.Kind = Media
	}
	return p
}

func isTextType(kind string) bool {
	return kind == "text" || kind == "input_text" || kind == "output_text"
}

func isMediaType(kind string) bool {
	switch kind {
	case "image", "document", "image_url", "input_audio", "input_image", "input_file", "file", "container_upload":
		return true
	}
	return false
}

// argsText returns the arguments of a call: what a string says, else the JSON itself.
func argsText(v []byte) string {
	if first(v) == '"' {
		return unquote(v)
	}
	return string(v)
}

// textOf returns the texts of a content, joined by newlines.
func textOf(v []byte) string {
	if first(v) == '"' {
		return unquote(v)
	}
	var texts []string
	for _, p := range contentParts(v) {
		if p.Kind == Text {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// oneText returns the text of a content that is one text and nothing else.
func oneText(v []byte) (string, bool) {
	if first(v) == '"' {
		return unquote(v), true
	}
	all := elements(v)
	if len(all) != 1 {
		return "", false
	}
	p := blockPart(all[0])
	return p.Text, p.Kind == Text
}

// extraParts returns the members of a message that are content of their own.
func extraParts(ms []member) []Part {
	var parts []Part
	for _, m := range ms {
		if beside[m.name] || m.name == "cache_control" || none(m.value) {
			continue
		}
		p := Part{Kind: Opaque, Name: m.name, Raw: m.raw}
		if strings.HasPrefix(m.name, "reasoning") {
			p.Kind, p.Value, p.Text = Thinking, m.value, unquote(m.value)
		}
		parts = append(parts, p)
	}
	return parts
}

// systemParts reads a system prompt: a content, or an object with parts.
func systemParts(v []byte) []Part {
	if first(v) == '{' {
		return geminiMessage(v).Parts
	}
	return contentParts(v)
}

// toolParts reads a list of tool definitions.
func toolParts(v []byte) []Part {
	var parts []Part
	for _, b := range elements(v) {
		ms := members(b)
		if declared := either(ms, []string{"functionDeclarations", "function_declarations"}); declared != nil {
			parts = append(parts, toolParts(declared)...)
			continue
		}
		p := Part{Kind: Tool, Name: text(ms, "name"), Raw: b}
		if p.Name == "" {
			p.Name = text(members(get(ms, "function")), "name")
		}
		parts = append(parts, p)
	}
	return parts
}

// stringMessage is the message that a body stands for whose list is a string.
func stringMessage(v []byte) Message {
	return Message{Role: "user", Raw: v, Parts: contentParts(v)}
}

// blockOrphans checks a list whose results are blocks of the user: they must be the
// first blocks after the message with their calls. Neighbours of one role are one
// message to the provider.
func blockOrphans(list []*message, _ bool) []string {
	var c pairing
	for i, m := range list {
		if m.Role == roleAssistant {
			if i > 0 && list[i-1].Role != roleAssistant {
				c.close()
			}
			c.blockCalls(i, m)
			continue
		}
		for _, p := range m.pieces {
			switch {
			case p.Kind == Result:
				c.answer(i, p.CallID)
			case !p.Within:
				c.other = true
			}
		}
	}
	c.end()
	return c.found
}

func (c *pairing) blockCalls(i int, m *message) {
	for _, p := range m.pieces {
		switch {
		case p.Kind == Call && p.Hosted:
			c.hosted(p.CallID)
		case p.Kind == Call:
			c.call(i, p.CallID)
		case p.Kind == Result && p.Hosted:
			if !c.ran[p.CallID] {
				c.findf("message %d: result of hosted call %s, want the call before it", i, p.CallID)
			}
		case p.Kind == Result:
			c.findf("message %d: result of call %s in a message of the assistant", i, p.CallID)
		}
	}
}

// pairing keeps the calls that wait for results.
type pairing struct {
	found []string
	open  []waiting
	done  map[string]bool // answered by the results of this round
	all   map[string]bool // every call so far
	ran   map[string]bool // hosted calls
	other bool            // something else than results followed the calls
}

type waiting struct {
	at int // message
	id string
}

func (c *pairing) findf(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *pairing) hosted(id string) {
	if c.ran == nil {
		c.ran = map[string]bool{}
	}
	c.ran[id] = true
}

// call adds a call. Some programs use an id again once its call is answered, so only
// one that still waits makes a second call of its id ambiguous.
func (c *pairing) call(at int, id string) {
	if c.all == nil {
		c.all, c.done = map[string]bool{}, map[string]bool{}
	}
	if slices.ContainsFunc(c.open, func(w waiting) bool { return w.id == id }) {
		c.findf("message %d: call %s, want an id that is not in use", at, id)
	}
	c.all[id] = true
	delete(c.done, id)
	c.open = append(c.open, waiting{at, id})
}

// answer takes the newest open call of this id as answered.
func (c *pairing) answer(at int, id string) {
	for i := len(c.open) - 1; i >= 0; i-- {
		if c.open[i].id == id {
			c.open = append(c.open[:i], c.open[i+1:]...)
			c.done[id] = true
			if c.other {
				c.findf("message %d: result of call %s after other content, want it directly after the call", at, id)
			}
			return
		}
	}
	switch {
	case c.done[id]:
		c.findf("message %d: second result of call %s", at, id)
	case c.all[id]:
		c.findf("message %d: result of call %s, want it directly after the message of the call", at, id)
	default:
		c.findf("message %d: result of call %s, want a call before it", at, id)
	}
}

// close ends a round: what is open now stays without a result.
func (c *pairing) close() {
	for _, w := range c.open {
		c.findf("message %d: call %s, want a result, got none", w.at, w.id)
	}
	c.open, c.other = nil, false
	clear(c.done)
}

// end ends the list. Calls of the last message of the assistant may be open as long
// as nothing but results follows.
func (c *pairing) end() {
	if c.other {
		c.close()
	}
}
