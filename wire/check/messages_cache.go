package check

// maxMarks is how many cache marks a request may have (Anthropic, "Prompt caching").
const maxMarks = 4

// A mark is one cache_control.
type mark struct {
	node
	long bool // lives for an hour
}

// marks judges the cache marks: their form, their number, where they may not stand, and that long-lived ones come first. The API reads them in
// the order tools, system, messages.
func (c *conversation) marks() {
	var all []mark
	for _, t := range c.tools {
		all = c.mark(all, t)
	}
	for _, b := range c.root.get("system").elements() {
		all = c.mark(all, b)
	}
	for _, t := range c.turns {
		for _, b := range t.blocks {
			all = c.blockMarks(all, b)
		}
	}
	if c.automatic(all) {
		all = c.mark(all, c.root)
	}
	if len(all) > maxMarks {
		c.add("cache-count", all[maxMarks].at, "A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarks, len(all))
	}
	short := false
	for _, m := range all {
		if m.long && short {
			m.fault("cache-order", "%s.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.", m.at)
		}
		short = short || !m.long
	}
}

// mark adds the mark of a node, if it has one.
func (c *conversation) mark(all []mark, n node) []mark {
	m := n.get("cache_control")
	if !m.has() || !m.object() {
		return all
	}
	m.get("type").must().among("cache-form", "ephemeral")
	return append(all, mark{node: m, long: m.get("ttl").among("cache-form", "5m", "1h") == "1h"})
}

// blockMarks adds the marks of a block and of what is in a result.
func (c *conversation) blockMarks(all []mark, b block) []mark {
	if b.get("cache_control").has() {
		switch {
		case b.isThinking():
			b.fault("cache-place", "%s.cache_control: Extra inputs are not permitted", b.fields.at)
		case b.kind == "text" && b.body() == "":
			b.fault("cache-place", "%s: cache_control cannot be set for empty text blocks", b.at)
		}
	}
	if b.kind == "tool_result" {
		for _, n := range b.get("content").elements() {
			all = c.mark(all, n)
		}
	}
	return c.mark(all, b.fields)
}

// automatic reports whether the mark of the request itself counts: it moves to the last block, and where that has the same mark already it
// does nothing.
func (c *conversation) automatic(all []mark) bool {
	top := c.root.get("cache_control")
	if !top.has() || len(c.turns) == 0 || len(all) == 0 {
		return top.has()
	}
	blocks := c.turns[len(c.turns)-1].blocks
	if len(blocks) == 0 {
		return true
	}
	last := blocks[len(blocks)-1].get("cache_control")
	if !last.has() {
		return true
	}
	if (top.get("ttl").say() == "1h") != (last.get("ttl").say() == "1h") {
		top.fault("cache-order", "cache_control: the last block has a cache_control with a different ttl")
	}
	return false
}
