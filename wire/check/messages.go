package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// Names and ids, by the patterns that Anthropic's own 400s state.
var (
	callPattern   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	hostedPattern = regexp.MustCompile(`^srvtoolu_[a-zA-Z0-9_]+$`)
	namePattern   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// thinkingMin is the smallest budget for thinking, in tokens (Anthropic, "Extended thinking").
const thinkingMin = 1024

// A conversation is a Messages request, taken apart.
type conversation struct {
	*judge
	root     node
	model    claude
	refused  catalog.Refused
	thinking string // thinking.type; empty if not stated
	tools    []node
	turns    []turn
}

// A turn is a run of messages of one role: the API joins neighbours.
type turn struct {
	role   string
	first  int // index of its first message
	last   int
	blocks []block
}

// A block is one content block. A message whose content is a string has one text block.
type block struct {
	node          // with the place that the provider names it by
	fields node   // the same value under the path of its members
	kind   string // its type
	msg    int    // index of the message
}

// messagesRequest judges a request of the Messages API.
func messagesRequest(j *judge, n node, model string, count bool) {
	if name, ok := n.get("model").text(); ok {
		model = name
	} else if model == "" && !n.get("anthropic_version").has() { // Bedrock and Vertex name the model in the URL
		n.get("model").must()
	}
	c := &conversation{judge: j, root: n, model: parseClaude(model), refused: refusedOf(anthropic, model), thinking: n.get("thinking").get("type").say()}
	c.tools = n.get("tools").items()
	c.messages()
	c.parameters(count)
	c.system()
	c.definitions()
	c.deferrals()
	c.choice()
	c.compactions()
	c.order()
	c.pairs()
	c.hosted()
	c.thoughts()
	c.ending()
	c.marks()
}

// messages reads the list of messages and judges each block.
func (c *conversation) messages() {
	list := c.root.get("messages").must()
	if list.isList() && len(list.list()) == 0 {
		list.fault("messages-empty", "messages: at least one message is required")
	}
	all := list.list()
	for i, m := range all {
		m.record()
		role := m.get("role").must().among("role", "user", "assistant", "system")
		blocks := c.content(i, m, role, i == len(all)-1)
		if last := len(c.turns) - 1; last >= 0 && c.turns[last].role == role {
			c.turns[last].last = i
			c.turns[last].blocks = append(c.turns[last].blocks, blocks...)
			continue
		}
		c.turns = append(c.turns, turn{role: role, first: i, last: i, blocks: blocks})
	}
	if len(c.turns) > 0 && c.turns[0].role == "assistant" && !c.turns[0].has("compaction") {
		c.add("first-role", "messages.0", "messages: first message must use the \"user\" role")
	}
}

// content reads the content of one message.
func (c *conversation) content(i int, m node, role string, last bool) []block {
	content := m.get("content").must()
	if s, ok := content.v.(string); ok {
		if strings.TrimSpace(s) == "" && (role != "assistant" || !last) {
			m.fault("content-empty", "%s: all messages must have non-empty content except for the optional final assistant message", m.at)
		}
		return []block{{node: content, fields: content, kind: "text", msg: i}}
	}
	list := content.list()
	if content.isList() && len(list) == 0 && (role != "assistant" || !last) {
		m.fault("content-empty", "%s: all messages must have non-empty content except for the optional final assistant message", m.at)
	}
	var blocks []block
	for _, n := range content.items() {
		kind, _ := n.get("type").must().text()
		b := block{node: n, fields: n.as(n.at + "." + kind), kind: kind, msg: i}
		b.place(role)
		b.shape()
		blocks = append(blocks, b)
	}
	return blocks
}

// has reports whether a turn has a block of a kind.
func (t turn) has(kinds ...string) bool {
	return slices.ContainsFunc(t.blocks, func(b block) bool { return slices.Contains(kinds, b.kind) })
}

// isHosted reports whether a block belongs to a tool that the provider runs.
func (b block) isHosted() bool {
	return b.kind == "server_tool_use" || b.kind == "mcp_tool_use" || b.isHostedResult()
}

func (b block) isHostedResult() bool { return strings.HasSuffix(b.kind, "_tool_result") }

// isThinking reports whether a block is thinking of either kind.
func (b block) isThinking() bool { return b.kind == "thinking" || b.kind == "redacted_thinking" }

// body is the text of a text block.
func (b block) body() string {
	if b.isText() {
		return b.say()
	}
	return b.get("text").say()
}

// place judges whether a block may stand in a message of a role.
func (b block) place(role string) {
	switch b.kind {
	case "tool_use", "server_tool_use", "mcp_tool_use", "thinking", "redacted_thinking", "compaction":
		if role == "user" {
			b.fault("block-role", "%s: `%s` blocks can only be in `assistant` messages", b.at, b.kind)
		}
	case "tool_result":
		if role == "assistant" {
			b.fault("block-role", "%s: `tool_result` blocks can only be in `user` messages", b.at)
		}
	}
}

// shape judges the members of a block. Kinds that are not known are left alone: the list is open.
func (b block) shape() {
	f := b.fields
	switch b.kind {
	case "text":
		if s, ok := f.get("text").must().text(); ok {
			nonBlank(b.node, s)
		}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		b.call()
	case "tool_result":
		f.get("tool_use_id").must().text()
		f.get("is_error").yes()
		b.result()
	case "thinking":
		f.get("thinking").must().text()
		if s, ok := f.get("signature").must().text(); ok && s == "" {
			b.fault("thinking-signature", "%s: Invalid `signature` in `thinking` block", b.at)
		}
	case "redacted_thinking":
		f.get("data").must().text()
	case "compaction": // null where there was no summary, which says nothing
		if s, ok := f.get("content").text(); ok && s == "" {
			b.fault("compaction-empty", "%s: compaction content must be non-empty", b.at)
		}
	case "image", "document":
		b.source()
	default:
		if b.isHostedResult() {
			f.get("tool_use_id").must().text()
			f.get("content").must()
		}
	}
}

// nonBlank judges the text of a text block.
func nonBlank(at node, s string) {
	switch {
	case s == "":
		at.fault("text-empty", "messages: text content blocks must be non-empty")
	case strings.TrimSpace(s) == "":
		at.fault("text-empty", "messages: text content blocks must contain non-whitespace text")
	}
}

// call judges the members of a call.
func (b block) call() {
	pattern := callPattern
	if b.kind == "server_tool_use" {
		pattern = hostedPattern
	}
	id := b.fields.get("id").must()
	if s, ok := id.text(); ok && !pattern.MatchString(s) {
		id.fault("call-id", "%s: String should match pattern '%s'", id.at, pattern)
	}
	name := b.fields.get("name").must()
	if s, ok := name.text(); ok && b.kind == "tool_use" && !namePattern.MatchString(s) {
		name.fault("tool-name", "%s: String should match pattern '%s'", name.at, namePattern)
	}
	b.fields.get("input").record()
}

// result judges what a tool returned: a text, or blocks.
func (b block) result() {
	content := b.fields.get("content")
	if !content.has() || content.isText() {
		return
	}
	for _, n := range content.items() {
		kind, _ := n.get("type").must().text()
		inner := block{node: n, fields: n.as(n.at + "." + kind), kind: kind, msg: b.msg}
		switch kind {
		case "text":
			inner.fields.get("text").must().text()
		case "image", "document":
			inner.source()
		}
	}
}

// source judges where the bytes of an image or a document come from (Anthropic, "Vision", "PDF support", "Files API").
func (b block) source() {
	source := b.fields.get("source").record()
	kind, _ := source.get("type").must().text()
	s := source.as(source.at + "." + kind)
	switch kind {
	case "base64":
		types := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
		if b.kind == "document" {
			types = []string{"application/pdf"}
		}
		s.get("media_type").must().among("media-source", types...)
		s.get("data").must().inBase64(false)
		if seen := imageType(s.get("data").say()); seen != "" && slices.Contains(types, s.get("media_type").say()) && seen != s.get("media_type").say() {
			s.get("data").fault("media-source", "%s: The image was specified using the %s media type, but the image appears to be a %s image", s.get("data").at, s.get("media_type").say(), seen)
		}
	case "url":
		s.get("url").must().text()
	case "file":
		s.get("file_id").must().text()
	case "text":
		s.get("media_type").must().among("media-source", "text/plain")
		s.get("data").must().text()
	case "content":
		if content := s.get("content").must(); !content.isText() {
			content.list()
		}
	}
}
