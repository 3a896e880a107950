package check

import "strings"

// deferrals judges the tools that wait until the model finds them, and what names them (Anthropic, "Tool search tool"): the search itself and
// at least one tool do not wait, what waits has no cache mark, and what is named is declared.
func (c *conversation) deferrals() {
	names, waiting := map[string]bool{}, 0
	for _, t := range c.tools {
		name := t.get("name").say()
		names[name] = true
		if t.get("defer_loading").v != true {
			continue
		}
		waiting++
		if strings.HasPrefix(t.get("type").say(), "tool_search_tool_") {
			t.fault("defer-search", "%s.defer_loading: a tool search tool cannot be deferred", t.at)
		}
		if t.get("cache_control").has() {
			t.fault("defer-cache", "Tool '%s' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.", name)
		}
	}
	if waiting > 0 && waiting == len(c.tools) {
		c.add("defer-all", "tools", "All tools have defer_loading set. At least one tool must be non-deferred.")
	}
	if c.root.get("mcp_servers").has() { // their tools are declared nowhere
		return
	}
	for _, t := range c.turns {
		for _, b := range t.blocks {
			for _, r := range b.references() {
				if name := r.get("tool_name"); name.isText() && !names[name.say()] {
					r.fault("defer-reference", "Tool reference '%s' has no corresponding tool definition", name.say())
				}
			}
		}
	}
}

// references returns the blocks in b that stand for the definitions of tools.
func (b block) references() []node {
	var out []node
	list := b.get("content")
	switch b.kind {
	case "tool_search_tool_result":
		list = list.get("tool_references")
	case "tool_result":
	default:
		return nil
	}
	for _, n := range list.elements() {
		if n.get("type").say() == "tool_reference" {
			out = append(out, n)
		}
	}
	return out
}
