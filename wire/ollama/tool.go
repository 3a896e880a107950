package ollama

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// decodeTools reads the value of "tools" at c: {"type": "function", "function": {"name",
// "description", "parameters"}}.
func decodeTools(c *raw.Cursor) (tools []llm.Tool, err error) {
	if raw.IsNone(c.Next()) {
		return nil, nil
	}
	if !raw.IsArray(c.Next()) {
		return nil, c.Wrong("an array")
	}
	err = c.Objects(func(_ int, b []byte) {
		v := raw.Values(raw.Value(b, "function"), "name", "description", "parameters")
		tools = append(tools, llm.Tool{
			Name: raw.Unquote(v[0]), Description: raw.Unquote(v[1]), Schema: string(v[2]), Raw: llm.Raw{Data: b},
		})
	})
	return tools, err
}

// toolElements returns the tools of r as elements of the tool list.
func toolElements(r llm.Request, list *raw.List) []raw.Element {
	elements := make([]raw.Element, len(r.Tools))
	for i, t := range r.Tools {
		switch native := r.Dialect == Dialect; {
		case native && raw.IsObject(t.Data):
			elements[i] = raw.Element{Bytes: t.Data, At: list.Find(t.Data)}
		case native && raw.IsObject(t.Base):
			elements[i] = raw.Element{Bytes: editedTool(t), At: list.Find(t.Base)}
		default:
			inner := new(raw.Object).Text("name", t.Name)
			if t.Description != "" {
				inner.Text("description", t.Description)
			}
			inner.Raw("parameters", raw.ObjectSchema(t.Schema))
			elements[i] = raw.Element{Bytes: new(raw.Object).Text("type", "function").Raw("function", inner.Bytes()).Bytes(), At: -1}
		}
	}
	return elements
}

// editedTool returns the definition that t replaced with description and schema of t.
func editedTool(t llm.Tool) []byte {
	inner := raw.Value(t.Base, "function")
	if raw.Unquote(raw.Value(inner, "description")) != t.Description {
		inner = raw.Set(inner, "description", raw.Quote(t.Description))
	}
	if t.Schema != "" && t.Schema != string(raw.Value(inner, "parameters")) {
		inner = raw.Set(inner, "parameters", []byte(t.Schema))
	}
	return raw.Set(t.Base, "function", inner)
}
