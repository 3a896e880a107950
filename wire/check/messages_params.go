package check

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// anyNumber stands for no upper limit.
const anyNumber = 1 << 40

// parameters judges the members beside messages, system and tools.
func (c *conversation) parameters(count bool) {
	c.maxTokens(count)
	if !count {
		c.settings()
	}
	c.root.get("stream").yes()
	c.root.get("metadata").object()
	c.root.get("temperature").within(0, 1)
	c.root.get("top_p").within(0, 1)
	c.root.get("top_k").within(0, anyNumber)
	for _, s := range c.root.get("stop_sequences").list() {
		if text, ok := s.text(); ok && strings.TrimSpace(text) == "" {
			s.fault("stop", "stop_sequences: each stop sequence must contain non-whitespace")
		}
	}
	c.budget(count)
	c.edits()
}

// compactMin is the fewest tokens that a compaction may be triggered at (Anthropic, "Compaction").
const compactMin = 50_000

// edits judges what the API is to take out of the conversation itself (Anthropic, "Context editing", "Compaction").
func (c *conversation) edits() {
	management := c.root.get("context_management")
	if !management.has() || !management.object() {
		return
	}
	for i, e := range management.get("edits").items() {
		kind, _ := e.get("type").must().text()
		switch kind {
		case "clear_thinking_20251015":
			if i > 0 {
				e.fault("edit-order", "%s: `clear_thinking_20251015` must be the first of the edits", e.at)
			}
		case "compact_20260112":
			trigger := e.get("trigger")
			at := trigger.get("value")
			if n, ok := at.whole(); ok && trigger.get("type").say() == "input_tokens" && n < compactMin {
				at.fault("edit-trigger", "%s: Input should be greater than or equal to %d", at.at, compactMin)
			}
		}
	}
}

// maxTokens judges the limit of the output. 0 asks for nothing but a filled cache, which excludes what only bears on output (Anthropic,
// "Prompt caching", pre-warming).
func (c *conversation) maxTokens(count bool) {
	n := c.root.get("max_tokens")
	if count {
		n.whole()
		return
	}
	limit, ok := n.must().whole()
	switch {
	case !ok:
	case limit < 0:
		n.fault("max-tokens", "max_tokens: must be greater than or equal to 1")
	case limit == 0 && (c.root.get("stream").v == true || c.thinking == "enabled" || c.thinking == "adaptive" || c.forced()):
		n.fault("max-tokens", "max_tokens: 0 is not allowed with `stream`, `thinking` or a forced `tool_choice`")
	}
}

// budget judges the thinking parameter.
func (c *conversation) budget(count bool) {
	t := c.root.get("thinking")
	t.object()
	t.get("type").must().among("value", "enabled", "disabled", "adaptive")
	if binding := t.as("thinking." + c.thinking).get("block_binding"); binding.has() && binding.object() {
		binding.get("prefix_mismatch_behavior").among("value", "error", "drop_block")
	}
	if c.thinking != "enabled" {
		return
	}
	at := t.as("thinking.enabled").get("budget_tokens")
	budget, ok := at.must().whole()
	if !ok {
		return
	}
	if budget < thinkingMin {
		at.fault("budget", "%s: Input should be greater than or equal to %d", at.at, thinkingMin)
	}
	// Between calls of tools a model may think beyond one reply's limit, if a header says so.
	limit, ok := c.root.get("max_tokens").whole()
	if ok && !count && len(c.tools) == 0 && budget >= limit {
		at.fault("budget", "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size")
	}
	if v := c.root.get("temperature"); v.has() && !isOne(v) {
		v.fault("thinking-sampling", "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#important-considerations-when-using-extended-thinking")
	}
	if v := c.root.get("top_k"); v.has() {
		v.fault("thinking-sampling", "`top_k` must be unset when thinking is enabled.")
	}
}

// system judges the system prompt: a text, or a list of text blocks.
func (c *conversation) system() {
	s := c.root.get("system")
	if !s.has() || s.isText() {
		return
	}
	for _, b := range s.items() {
		b.get("type").must().among("system-block", "text")
		if text, ok := b.get("text").must().text(); ok && text == "" {
			b.fault("text-empty", "system: text content blocks must be non-empty")
		}
	}
}

// definitions judges the tools. What has no type, or the type custom, is a client's own tool; others are the provider's.
func (c *conversation) definitions() {
	seen := map[string]bool{}
	for _, t := range c.tools {
		kind, _ := t.get("type").text()
		if kind == "" || kind == "custom" {
			c.custom(t.as(t.at + ".custom"))
		}
		name, ok := t.get("name").text()
		if ok && seen[name] {
			t.fault("tool-name-unique", "tools: Tool names must be unique.")
		}
		seen[name] = true
	}
}

// custom judges a client's own tool.
func (c *conversation) custom(t node) {
	name := t.get("name").must()
	if s, ok := name.text(); ok && !namePattern.MatchString(s) {
		name.fault("tool-name", "%s: String should match pattern '%s'", name.at, namePattern)
	}
	t.get("description").text()
	schema := t.get("input_schema").record()
	if kind := schema.get("type").must(); kind.has() && kind.say() != "object" {
		kind.fault("tool-schema", "%s: Input should be 'object'", kind.at)
	}
	if atRoot(schema, c.refused) != "" {
		schema.fault("tool-schema", "%s: input_schema does not support oneOf, allOf, or anyOf at the top level", schema.at)
	}
	props := schema.get("properties")
	fields, _ := props.v.(map[string]any)
	if rule := c.refused.Argument; slices.ContainsFunc(slices.Collect(maps.Keys(fields)), func(name string) bool { return !rule.Allows(name) }) {
		props.fault("argument", "%s: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", props.at)
	}
}

// forced reports whether the model has to call a tool.
func (c *conversation) forced() bool {
	kind := c.root.get("tool_choice").get("type").say()
	return kind == "any" || kind == "tool"
}

// choice judges tool_choice.
func (c *conversation) choice() {
	choice := c.root.get("tool_choice")
	if !choice.has() || !choice.object() {
		return
	}
	kind := choice.get("type").must().among("tool-choice", "auto", "any", "tool", "none")
	if kind != "none" && len(c.tools) == 0 && !c.root.get("mcp_servers").has() {
		choice.fault("tool-choice", "tool_choice may only be specified while providing tools.")
	}
	if kind == "tool" {
		name, ok := choice.as("tool_choice.tool").get("name").must().text()
		if ok && !c.offers(name) {
			choice.fault("tool-choice", "Tool '%s' not found in provided tools", name)
		}
	}
	switch {
	case !c.forced():
	case c.thinking == "enabled":
		choice.fault("forced-thinking", "Thinking may not be enabled when tool_choice forces tool use.")
	case c.thinking != "disabled" && c.model.noForcedTool():
		choice.fault("forced-thinking", "tool_choice forces tool use is not compatible with this model.")
	}
}

// offers reports whether a tool may be offered: its name is in the list, or the list is not all.
func (c *conversation) offers(name string) bool {
	for _, t := range c.tools {
		if t.get("name").say() == name || t.get("type").say() == "mcp_toolset" {
			return true
		}
	}
	return c.root.get("mcp_servers").has() || len(c.tools) == 0
}

// isOne reports whether a node is the number 1, however it is spelled; what is no number another rule has judged.
func isOne(n node) bool {
	number, ok := n.v.(json.Number)
	if !ok {
		return true
	}
	f, err := number.Float64()
	return err == nil && f == 1
}
