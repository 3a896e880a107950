package check

import (
	"slices"
	"strings"
)

// order judges where system messages stand (Anthropic, "Mid-conversation system messages").
func (c *conversation) order() {
	for i, t := range c.turns {
		if t.role != "system" {
			continue
		}
		at := c.voice.index("messages", t.first)
		if c.model.noMidSystem() {
			c.add("system-model", at, "%s: role 'system' is not supported on this model", at)
		}
		if i == 0 || !c.turns[i-1].admitsSystem() {
			c.add("system-place", at, "%s: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result.", at)
		}
		if i+1 < len(c.turns) && c.turns[i+1].role != "assistant" {
			c.add("system-place", at, "%s: role 'system' must be the last message or precede an 'assistant' message.", at)
		}
	}
}

// compactions judges where summaries of the API's own stand. One that is signed is the first block of the conversation, and the only one; the
// older form has all before it left out (Anthropic, "Compaction"; error codes of the official clients).
func (c *conversation) compactions() {
	first, signed, some := true, false, 0
	for _, t := range c.turns {
		for _, b := range t.blocks {
			if b.kind == "compaction" && b.fields.get("content").isText() {
				some++
				if b.fields.get("signature").isText() {
					signed = true
					if !first {
						b.fault("compaction-place", "%s: the `compaction` block must be the first block of the conversation", b.at)
					}
				}
			}
			first = false
		}
	}
	if signed && some > 1 {
		c.add("compaction-place", "messages", "messages: more than one `compaction` block with content. Send only the block the conversation returned last")
	}
}

// admitsSystem reports whether a system message may follow a turn.
func (t turn) admitsSystem() bool {
	if t.role == "user" {
		return true
	}
	return t.role == "assistant" && len(t.blocks) > 0 && t.blocks[len(t.blocks)-1].isHostedResult()
}

// pairs judges that every call is answered in the very next turn, by results that stand first in it, one each, and that no other result is
// there.
func (c *conversation) pairs() {
	seen := map[string]bool{}
	for i, t := range c.turns {
		var next turn
		if i+1 < len(c.turns) && t.role == "assistant" {
			next = c.turns[i+1]
		}
		c.answered(t, next, seen)
		if t.role != "user" {
			continue
		}
		var before turn
		if i > 0 {
			before = c.turns[i-1]
		}
		c.expected(t, before)
	}
}

// answered judges the calls of a turn against the turn after it.
func (c *conversation) answered(t, next turn, seen map[string]bool) {
	for _, b := range t.blocks {
		id := b.get("id").say()
		if b.kind != "tool_use" || id == "" {
			continue
		}
		if seen[id] {
			b.fault("call-id-unique", "%s: `tool_use` ids must be unique", b.at)
			continue
		}
		seen[id] = true
		rule := "call-unanswered"
		if k := next.result(id); k >= 0 {
			if k < next.leading() {
				continue
			}
			rule = "result-first"
		}
		at := c.voice.index("messages", b.msg)
		c.add(rule, at, "%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", at, id)
	}
}

// expected judges the results of a turn against the turn before it.
func (c *conversation) expected(t, before turn) {
	seen := map[string]bool{}
	for _, b := range t.blocks {
		id := b.get("tool_use_id").say()
		if b.kind != "tool_result" || id == "" {
			continue
		}
		switch {
		case strings.HasPrefix(id, "srvtoolu_"):
			b.fault("result-hosted", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. The tool was run by the server and has its result in the `assistant` message.", b.at, id)
		case !slices.ContainsFunc(before.blocks, func(call block) bool { return call.kind == "tool_use" && call.get("id").say() == id }):
			b.fault("result-orphan", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.at, id)
		case seen[id]:
			b.fault("result-duplicate", "%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", b.at, id)
		}
		seen[id] = true
	}
}

// result returns the place of the first result for a call in a turn, or -1.
func (t turn) result(id string) int {
	return slices.IndexFunc(t.blocks, func(b block) bool { return b.kind == "tool_result" && b.get("tool_use_id").say() == id })
}

// leading returns how many results a turn begins with.
func (t turn) leading() int {
	n := slices.IndexFunc(t.blocks, func(b block) bool { return b.kind != "tool_result" })
	if n < 0 {
		return len(t.blocks)
	}
	return n
}

// hosted judges the calls that the provider runs. Their results follow in the assistant's turn; while a client's call is open beside them
// they may come in the assistant's next turn, as long as users send nothing but results (Anthropic, "Handling stop reasons"). The last turn
// may be a paused one.
func (c *conversation) hosted() {
	open := map[string]block{}
	var order []string
	known := map[string]bool{}
	for _, t := range c.turns {
		if t.role != "assistant" && (t.role != "user" || t.leading() < len(t.blocks)) {
			c.abandoned(open, order)
			open, order = map[string]block{}, nil
		}
		for _, b := range t.blocks {
			switch id := b.get("id").say(); {
			case b.kind == "compaction", b.kind == "fallback":
				open, order = map[string]block{}, nil // what stands before them is not the model's context any more
			case b.kind == "server_tool_use", b.kind == "mcp_tool_use":
				open[id], known[id] = b, true
				order = append(order, id)
			case b.isHostedResult() && t.role == "assistant":
				id := b.get("tool_use_id").say()
				if !known[id] {
					b.fault("hosted-orphan", "%s: unexpected `tool_use_id` found in `%s` blocks: %s. Each `%s` block must have a corresponding `server_tool_use` block before it.", b.at, b.kind, id, b.kind)
				}
				delete(open, id)
			}
		}
	}
}

// abandoned reports hosted calls that nothing can answer any more.
func (c *conversation) abandoned(open map[string]block, order []string) {
	for _, id := range order {
		b, ok := open[id]
		if !ok {
			continue
		}
		name, at := b.get("name").say(), c.voice.index("messages", b.msg)
		c.add("hosted-unanswered", b.at, "%s: `%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", at, name, id, name)
	}
}

// thoughts judges where thinking stands. The rules bind manual thinking; a model that decides for itself may begin a turn with anything.
func (c *conversation) thoughts() {
	if c.thinking == "enabled" {
		c.thinkingFirst()
		c.thinkingLoop()
	}
	if len(c.turns) == 0 {
		return
	}
	last := c.turns[len(c.turns)-1]
	if c.thinking == "disabled" && last.role == "assistant" {
		for _, b := range last.blocks {
			if b.isThinking() {
				b.fault("thinking-disabled", "%s: When thinking is disabled, an `assistant` message in the final position cannot contain `%s`. To use thinking blocks, enable `thinking` in your request.", b.at, b.kind)
				return
			}
		}
	}
}

// thinkingFirst judges that a message with thinking begins with it.
func (c *conversation) thinkingFirst() {
	for _, t := range c.turns {
		if t.role != "assistant" {
			continue
		}
		for i := t.first; i <= t.last; i++ {
			blocks := t.message(i)
			thinks := slices.ContainsFunc(blocks, block.isThinking)
			if thinks && !blocks[0].isThinking() {
				b := blocks[0]
				b.fault("thinking-first", "%s: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `%s`.", b.at, b.kind)
			}
		}
	}
}

// thinkingLoop judges the turn that the model is in: from what the user last said on, over all calls and results, it begins with thinking.
// The documentation says that the API turns thinking off instead of refusing ("Extended thinking", graceful degradation); clients report the
// 400 all the same. Either way the request does not get what it asks for, so it is a fault here.
func (c *conversation) thinkingLoop() {
	start := len(c.turns)
	for i, t := range slices.Backward(c.turns) {
		if t.role == "user" && !t.has("tool_result") {
			break
		}
		if t.role == "assistant" {
			start = i
		}
	}
	if start == len(c.turns) {
		return
	}
	t := c.turns[start]
	if blocks := t.message(t.first); len(blocks) > 0 && !blocks[0].isThinking() {
		b := blocks[0]
		b.fault("thinking-loop", "%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.", b.at, b.kind) //nolint:misspell // the provider's own spelling
	}
}

// message returns the blocks of one message of a turn, from the first that is the model's own on.
func (t turn) message(i int) []block {
	var blocks []block
	for _, b := range t.blocks {
		if b.msg == i && (len(blocks) > 0 || b.kind != "compaction" && b.kind != "fallback") {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// ending judges a conversation that ends with the assistant: text that the model is to go on with, unless the turn was paused.
func (c *conversation) ending() {
	if len(c.turns) == 0 {
		return
	}
	t := c.turns[len(c.turns)-1]
	if t.role != "assistant" || len(t.blocks) == 0 {
		return
	}
	at := c.voice.index("messages", t.last)
	last := t.blocks[len(t.blocks)-1]
	switch {
	case last.isThinking():
		c.add("thinking-last", at, "%s: The final block in an assistant message cannot be `%s`.", at, last.kind)
	case last.kind == "text" && strings.TrimRight(last.body(), " \t\r\n") != last.body():
		last.fault("prefill-space", "messages: final assistant content cannot end with trailing whitespace")
	}
	paused := slices.ContainsFunc(t.blocks, func(b block) bool { return b.isHosted() || b.kind == "compaction" || b.kind == "tool_use" })
	if c.model.noPrefill() && !paused {
		c.add("prefill", at, "This model does not support assistant message prefill. The conversation must end with a user message.")
	}
}
