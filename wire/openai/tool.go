package openai

import (
	"cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// decodeTools reads the value of "tools" of either format at c. A tool without a name,
// which the provider runs itself, is named by its type.
func decodeTools(c *raw.Cursor) (tools []llm.Tool, err error) {
	if raw.IsNone(c.Next()) {
		return nil, nil
	}
	if !raw.IsArray(c.Next()) {
		return nil, c.Wrong("an array")
	}
	c.Array(func(i int) bool {
		if !raw.IsObject(c.Next()) {
			err = raw.In(c.Wrong("an object"), index(i))
			return false
		}
		tools = append(tools, decodeTool(c))
		return true
	})
	return tools, err
}

// toolMembers are the values of the members of a definition.
type toolMembers struct{ kind, name, description, parameters, format []byte }

// decodeTool reads the definition at c, which in the Chat format has an object of its own
// beside its type.
func decodeTool(c *raw.Cursor) llm.Tool {
	start := c.Pos()
	var outer, function, custom toolMembers
	var isFunction, isCustom bool
	c.Object(func(name []byte) {
		switch string(name) {
		case "function":
			isFunction = raw.IsObject(c.Next())
			function = readTool(c)
		case "custom":
			isCustom = raw.IsObject(c.Next())
			custom = readTool(c)
		default:
			outer.take(c, name)
		}
	})
	inner := outer
	switch {
	case isFunction:
		inner = function
	case isCustom:
		inner = custom
	}
	kind := raw.Unquote(outer.kind)
	return llm.Tool{
		Name:        cmp.Or(raw.Unquote(inner.name), kind),
		Description: raw.Unquote(inner.description),
		Schema:      cmp.Or(string(inner.parameters), string(inner.format)),
		Custom:      kind == "custom",
		Raw:         llm.Raw{Data: c.Bytes(c.Since(start))},
	}
}

// readTool reads the object at c, if there is one.
func readTool(c *raw.Cursor) (m toolMembers) {
	c.Object(func(name []byte) { m.take(c, name) })
	return m
}

// take reads the member of that name, if it is one of them.
func (m *toolMembers) take(c *raw.Cursor, name []byte) {
	switch string(name) {
	case "type":
		m.kind = c.Value()
	case "name":
		m.name = c.Value()
	case "description":
		m.description = c.Value()
	case "parameters":
		m.parameters = c.Value()
	case "format":
		m.format = c.Value()
	}
}

// toolBody returns the place of the object in b that describes the tool: the member
// function or custom in the Chat format, all of b in the Responses format.
func toolBody(b []byte) (name string, at llm.Span) {
	for _, name := range []string{"function", "custom"} {
		if _, at := raw.Member(b, name); at.Len() > 0 && b[at.Start] == '{' {
			return name, at
		}
	}
	return "", llm.Span{End: len(b)}
}

// toolElements returns the tools of r as elements of the list of dialect d.
func toolElements(r llm.Request, list *raw.List, d llm.Dialect) []raw.Element {
	elements := make([]raw.Element, len(r.Tools))
	for i, t := range r.Tools {
		switch native := r.Dialect == d; {
		case native && raw.IsObject(t.Data):
			elements[i] = raw.Element{Bytes: t.Data, At: list.Find(t.Data)}
		case native && raw.IsObject(t.Base):
			elements[i] = raw.Element{Bytes: editedTool(t), At: list.Find(t.Base)}
		default:
			elements[i] = raw.Element{Bytes: newTool(t, d), At: -1}
		}
	}
	return elements
}

// newTool returns a definition in the format d. The two formats differ in whether it
// stands in an object of its own, and in how a grammar does.
func newTool(t llm.Tool, d llm.Dialect) []byte {
	o := new(raw.Object)
	kind := "function"
	if t.Custom {
		kind = "custom"
	}
	o.Text("type", kind)
	if d == DialectChat {
		return o.Raw(kind, toolObject(new(raw.Object), t, d).Bytes()).Bytes()
	}
	toolObject(o, t, d)
	if !t.Custom {
		o.Raw("strict", []byte("false")) // this format is strict where nothing is said, and then refuses most schemas
	}
	return o.Bytes()
}

// editedTool returns the definition that t replaced with description and schema of t.
func editedTool(t llm.Tool) []byte {
	name, at := toolBody(t.Base)
	inner := raw.Set(raw.Slice(t.Base, at), "description", raw.Quote(t.Description))
	member := "parameters"
	if t.Custom {
		member = "format"
	}
	inner = raw.Set(inner, member, []byte(t.Schema))
	if name == "" {
		return inner
	}
	return raw.Replace(t.Base, at, inner)
}

func toolObject(o *raw.Object, t llm.Tool, d llm.Dialect) *raw.Object {
	o.Text("name", t.Name)
	if t.Description != "" {
		o.Text("description", t.Description)
	}
	if t.Custom {
		return o.Raw("format", inputFormat(t.Schema, d))
	}
	return o.Raw("parameters", raw.ObjectSchema(t.Schema))
}

// inputFormat returns the format of a free text as d has it: Chat has a grammar in an
// object of its own, Responses beside its type.
func inputFormat(format string, d llm.Dialect) []byte {
	v := raw.Values([]byte(format), "type", "grammar", "syntax", "definition")
	switch {
	case !raw.Named(v[0], "grammar"):
	case d == DialectChat && v[1] == nil:
		inner := new(raw.Object).Raw("definition", v[3]).Raw("syntax", v[2]).Bytes()
		return new(raw.Object).Text("type", "grammar").Raw("grammar", inner).Bytes()
	case d == DialectResponses && v[1] != nil:
		inner := raw.Values(v[1], "definition", "syntax")
		return new(raw.Object).Text("type", "grammar").Raw("definition", inner[0]).Raw("syntax", inner[1]).Bytes()
	}
	return []byte(format)
}
