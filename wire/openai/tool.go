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
	err = c.Objects(func(_ int, b []byte) {
		_, at := toolBody(b)
		v := raw.Values(b[at.Start:at.End], "name", "description", "parameters", "format")
		tools = append(tools, llm.Tool{
			Name:        cmp.Or(raw.Unquote(v[0]), raw.Unquote(raw.Value(b, "type"))),
			Description: raw.Unquote(v[1]),
			Schema:      cmp.Or(string(v[2]), string(v[3])),
			Raw:         llm.Raw{Data: b},
		})
	})
	return tools, err
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
		case d == DialectChat:
			inner := toolObject(new(raw.Object), t).Bytes()
			o := new(raw.Object).Text("type", "function").Raw("function", inner)
			elements[i] = raw.Element{Bytes: o.Bytes(), At: -1}
		default:
			// This format is strict where nothing is said, and then refuses most schemas.
			o := toolObject(new(raw.Object).Text("type", "function"), t).Raw("strict", []byte("false"))
			elements[i] = raw.Element{Bytes: o.Bytes(), At: -1}
		}
	}
	return elements
}

// editedTool returns the definition that t replaced with description and schema of t.
func editedTool(t llm.Tool) []byte {
	name, at := toolBody(t.Base)
	inner := raw.Set(raw.Slice(t.Base, at), "description", raw.Quote(t.Description))
	if t.Schema != "" {
		inner = raw.Set(inner, "parameters", []byte(t.Schema))
	}
	if name == "" {
		return inner
	}
	return raw.Replace(t.Base, at, inner)
}

func toolObject(o *raw.Object, t llm.Tool) *raw.Object {
	o.Text("name", t.Name)
	if t.Description != "" {
		o.Text("description", t.Description)
	}
	return o.Raw("parameters", []byte(cmp.Or(t.Schema, `{"type":"object","properties":{}}`)))
}
