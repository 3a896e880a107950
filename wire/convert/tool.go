package convert

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// freeText is the schema that a tool of free text gets where all arguments are JSON: the
// codecs put such a text into the member "input".
const freeText = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`

// tools returns the tools that the format can have: those that the client runs and that
// are described in full. r is of another format.
func (c *converter) tools(r llm.Request) []llm.Tool {
	out := make([]llm.Tool, 0, len(r.Tools))
	for i, t := range r.Tools {
		if t, ok := c.tool(t); ok {
			out = append(out, t)
		}
		c.move(llm.OnTool, i, llm.OnTool, len(out)-1)
	}
	return out
}

// tool returns a tool as the format can have it; false if it cannot.
func (c *converter) tool(t llm.Tool) (llm.Tool, bool) {
	switch kindOf(t) {
	case hosted:
		c.lose(catalog.Drop, "tool", t.Name)
		return t, false
	case custom:
		if t.Custom = c.to.FreeText == catalog.Keep; !t.Custom {
			c.lose(catalog.Note, "free-text tool", t.Name)
			t.Schema = freeText
		}
	}
	c.definition(t)
	t.Schema = c.schema(t.Name, t.Schema)
	t.Name, t.Raw = c.name(t.Name), llm.Raw{}
	return t, true
}

type toolKind int

const (
	function toolKind = iota // takes JSON
	custom                   // takes free text
	hosted                   // run by the provider, or known to it by its name alone
)

// kindOf tells the kind of a tool from the bytes that it came as.
func kindOf(t llm.Tool) toolKind {
	data := t.Data
	if data == nil {
		data = t.Base
	}
	kind := raw.Unquote(raw.Value(data, "type"))
	switch {
	case t.Custom || kind == "custom" && raw.Value(data, "input_schema") == nil:
		return custom
	case kind == "" && t.Schema == "" && t.Description == "" && len(data) > 0 && raw.Value(data, "name") == nil:
		return hosted // a member that switches a tool of the provider on
	case kind == "" || kind == "function" || kind == "custom":
		return function
	}
	return hosted
}

// definition notes what a definition says beside what the neutral tool has.
func (c *converter) definition(t llm.Tool) {
	c.members(t.Data, t.Name+".", toolMembers)
	for _, inner := range []string{"function", "custom"} {
		if v := raw.Value(t.Data, inner); raw.IsObject(v) {
			c.members(v, t.Name+".", toolMembers)
		}
	}
}
