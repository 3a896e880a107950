package gemini

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// decodeTools reads the value of "tools" at c: an array or the one element.
func decodeTools(c *raw.Cursor) ([]llm.Tool, error) {
	switch next := c.Next(); {
	case raw.IsNone(next):
		return nil, nil
	case !raw.IsArray(next) && !raw.IsObject(next):
		return nil, c.Wrong("an array")
	}
	value := c.Value()
	var tools []llm.Tool
	for i, s := range elementsOf(value) {
		b := raw.Slice(value, s)
		if !raw.IsObject(b) {
			return nil, raw.In(raw.Wrong("an object", b), "["+strconv.Itoa(i)+"]")
		}
		tools = append(tools, toolsOf(b)...)
	}
	return tools, nil
}

// toolsOf returns the tools in one element: each declaration, and each other member.
func toolsOf(element []byte) []llm.Tool {
	var tools []llm.Tool
	for k, v := range raw.Members(element) {
		name, value := string(raw.Name(element[k.Start:k.End])), raw.Slice(element, v)
		if name != nameDeclarations.camel && name != nameDeclarations.snake {
			tools = append(tools, llm.Tool{Name: name, Raw: llm.Raw{Data: element[k.Start:v.End:v.End]}})
			continue
		}
		for _, s := range raw.Elements(value) {
			b := raw.Slice(value, s)
			v := raw.Values(b, "name", "description")
			tools = append(tools, llm.Tool{
				Name: raw.Unquote(v[0]), Description: raw.Unquote(v[1]), Schema: schemaOf(b), Raw: llm.Raw{Data: b},
			})
		}
	}
	return tools
}

// schemaOf returns the schema of a declaration as JSON schema: parameters may name its
// types in capitals.
func schemaOf(declaration []byte) string {
	if b := nameJSONSchema.value(declaration); b != nil {
		return string(b)
	}
	b := raw.Value(declaration, "parameters")
	if raw.IsNone(b) {
		return ""
	}
	var changes []raw.Change
	lowerTypes(raw.NewCursor(b), &changes)
	return string(raw.Apply(b, changes))
}

// lowerTypes gathers the type names in capitals in the schema at c.
func lowerTypes(c *raw.Cursor, changes *[]raw.Change) {
	c.Array(func(int) bool {
		lowerTypes(c, changes)
		return true
	})
	c.Object(func(name []byte) {
		if string(name) != "type" || !raw.IsString(c.Next()) {
			lowerTypes(c, changes)
			return
		}
		at := c.Skip(c.Pos())
		kind := raw.Unquote(c.Bytes(at))
		switch kind {
		case "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL":
			*changes = append(*changes, raw.Change{At: at, New: raw.Quote(strings.ToLower(kind))})
		}
	})
}

// putTools changes the tool list if the tools are others. Without tools it goes.
func putTools(b *raw.Body, r llm.Request) {
	old := raw.Slice(r.Frame.Raw, r.Frame.Tools)
	l := layoutOf(old)
	switch {
	case l.same(r.Tools):
	case len(r.Tools) == 0:
		b.Drop("tools")
	default:
		b.Put("tools", r.Frame.Tools, l.with(r.Tools, r.Dialect == Dialect))
	}
}

// A layout says which tool stands in which element of the tool list.
type layout struct {
	value    []byte
	elements []llm.Span
	known    []llm.Tool
	in       []int // of each known tool
}

func layoutOf(value []byte) layout {
	l := layout{value: value, elements: elementsOf(value)}
	for i, s := range l.elements {
		for _, t := range toolsOf(raw.Slice(value, s)) {
			l.known, l.in = append(l.known, t), append(l.in, i)
		}
	}
	return l
}

func (l layout) same(tools []llm.Tool) bool {
	if len(tools) != len(l.known) {
		return false
	}
	for i, t := range tools {
		if t.Data == nil || !bytes.Equal(t.Data, l.known[i].Data) {
			return false
		}
	}
	return true
}

// with returns the list with other tools. A tool that stays, or replaces one, stays in its
// element; a new one joins the declarations before it.
func (l layout) with(tools []llm.Tool, native bool) []byte {
	groups := make([][]llm.Tool, len(l.elements))
	var added [][]byte // new elements
	home := l.firstDeclarations()
	next := 0
	var fresh []llm.Tool
	for _, t := range tools {
		if i := l.find(next, t, native); i >= 0 {
			next = i + 1
			groups[l.in[i]] = append(groups[l.in[i]], t)
			if !isMember(l.known[i]) {
				home = l.in[i]
			}
			continue
		}
		switch {
		case native && isMember(t):
			added = append(added, new(raw.Object).Member(t.Data).Bytes())
		case home >= 0:
			groups[home] = append(groups[home], t)
		default:
			fresh = append(fresh, t)
		}
	}
	if len(fresh) > 0 {
		added = append(added, declarations(fresh, native))
	}
	list := raw.NewList(l.value, l.elements)
	var elements []raw.Element
	for i, s := range l.elements {
		if b := rewritten(raw.Slice(l.value, s), groups[i], native); b != nil {
			elements = append(elements, raw.Element{Bytes: b, At: i})
		}
	}
	for _, b := range added {
		elements = append(elements, raw.Element{Bytes: b, At: -1})
	}
	return list.With(elements)
}

// find returns the known tool, not before next, that t is or replaces; -1 if there is none.
func (l layout) find(next int, t llm.Tool, native bool) int {
	b := t.Data
	if b == nil {
		b = t.Base
	}
	if !native || b == nil {
		return -1
	}
	for i := next; i < len(l.known); i++ {
		if bytes.Equal(l.known[i].Data, b) {
			return i
		}
	}
	return -1
}

func (l layout) firstDeclarations() int {
	for i, t := range l.known {
		if !isMember(t) {
			return l.in[i]
		}
	}
	return -1
}

// isMember reports whether t is a member of an element, not a declaration.
func isMember(t llm.Tool) bool { return raw.IsString(t.Data) }

// rewritten returns an element of the list with only these tools in it; nil for none.
func rewritten(element []byte, tools []llm.Tool, native bool) []byte {
	var kept, declared []llm.Tool
	for _, t := range tools {
		if isMember(t) {
			kept = append(kept, t)
		} else {
			declared = append(declared, t)
		}
	}
	out := element
	for _, t := range toolsOf(element) {
		if isMember(t) && !holds(kept, t) {
			out = raw.Delete(out, t.Name)
		}
	}
	name := nameDeclarations.in(element, anyStyle)
	old := raw.Value(element, name)
	if len(declared) == 0 {
		out = raw.Delete(out, name)
		if len(kept) == 0 {
			return nil
		}
		return out
	}
	list := raw.NewList(old, nil)
	elements := make([]raw.Element, len(declared))
	for i, t := range declared {
		elements[i] = raw.Element{Bytes: declaration(t, native), At: -1}
		if native && t.Data != nil {
			elements[i].At = list.Find(t.Data)
		} else if native {
			elements[i].At = list.Find(t.Base)
		}
	}
	return raw.Set(out, name, list.With(elements))
}

func holds(tools []llm.Tool, t llm.Tool) bool {
	for _, x := range tools {
		if bytes.Equal(x.Data, t.Data) {
			return true
		}
	}
	return false
}

// freshTools returns a tool list for a body that has none: the declarations in one
// element, each tool of the provider in one of its own. nil without tools.
func freshTools(tools []llm.Tool, native bool) []byte {
	if len(tools) == 0 {
		return nil
	}
	return layout{}.with(tools, native)
}

func declarations(tools []llm.Tool, native bool) []byte {
	values := make([][]byte, len(tools))
	for i, t := range tools {
		values[i] = declaration(t, native)
	}
	return new(raw.Object).Raw(nameDeclarations.camel, raw.Array(values)).Bytes()
}

// declaration returns t as a function declaration.
func declaration(t llm.Tool, native bool) []byte {
	switch {
	case native && raw.IsObject(t.Data):
		return t.Data
	case native && raw.IsObject(t.Base):
		out := t.Base
		if t.Description != raw.Unquote(raw.Value(out, "description")) {
			out = raw.Set(out, "description", raw.Quote(t.Description))
		}
		if t.Schema != schemaOf(t.Base) {
			out = withSchema(out, t.Schema)
		}
		return out
	}
	o := new(raw.Object).Text("name", t.Name)
	if t.Description != "" {
		o.Text("description", t.Description)
	}
	return o.Raw(nameJSONSchema.camel, []byte(t.Schema)).Bytes()
}

// withSchema returns a declaration with another schema, none if it is empty.
func withSchema(declaration []byte, schema string) []byte {
	out := declaration
	name := nameJSONSchema.in(out, anyStyle)
	if raw.Value(out, name) == nil && !raw.IsNone(raw.Value(out, "parameters")) {
		name = "parameters"
	}
	if schema == "" {
		return raw.Delete(out, name)
	}
	return raw.Set(out, name, []byte(schema))
}
