package convert

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// schema returns the schema of a tool's arguments as the provider takes it: without what it
// refuses at the root, and with names of arguments that it allows.
func (c *converter) schema(tool, schema string) string {
	obj, err := raw.CheckObject([]byte(schema))
	if err != nil {
		return schema
	}
	if len(c.refused.SchemaRoot) > 0 {
		obj = c.object(tool, obj)
	}
	return string(c.arguments(tool, c.root(tool, obj)))
}

// object returns obj with an object at its root, which it need not say.
func (c *converter) object(tool string, obj []byte) []byte {
	if ref := raw.Value(obj, "$ref"); ref != nil && slices.Contains(c.refused.SchemaRoot, "$ref") {
		c.note(Loss{Fate: catalog.Note, What: "schema", Name: tool, How: "sent without $ref at its root, which the provider refuses"})
		obj = raw.Inlined(obj)
	}
	if kind := raw.Value(obj, "type"); kind != nil && raw.Unquote(kind) != "object" {
		c.note(Loss{Fate: catalog.Note, What: "schema", Name: tool, How: "sent as an object at its root: the provider takes no " + string(raw.OneLine(kind)) + " there"})
		obj = raw.Set(obj, "type", []byte(`"object"`))
	}
	return obj
}

// root returns obj without the members that may not stand at the root of a schema. The
// arguments that alternatives name become those of the one list that is left: what any of
// them may have is allowed, what all of them demand is demanded.
func (c *converter) root(tool string, obj []byte) []byte {
	out := obj
	var all arguments
	for _, word := range c.refused.SchemaRoot {
		if raw.Value(obj, word) == nil {
			continue
		}
		if all.props == nil {
			all = argumentsOf(obj, obj, 0)
		}
		c.note(Loss{Fate: catalog.Note, What: "schema", Name: tool, How: "sent without " + word + " at its root, which the provider refuses"})
		out = raw.Delete(out, word)
	}
	if all.props == nil {
		return obj
	}
	out = raw.Set(out, "properties", all.object())
	if len(all.required) > 0 {
		out = raw.Set(out, "required", raw.QuoteAll(all.required))
	}
	return out
}

// maxDepth is how deep alternatives may lie in alternatives.
const maxDepth = 8

// arguments are those that a schema allows and demands.
type arguments struct {
	names    []string
	props    map[string][]byte // a schema for each of names
	required []string
}

// argumentsOf reads obj, a part of the schema doc.
func argumentsOf(doc, obj []byte, depth int) arguments {
	out := arguments{props: map[string][]byte{}}
	obj = referred(doc, obj)
	props := raw.Value(obj, "properties")
	for name, value := range raw.Members(props) {
		out.put(string(raw.Name(props[name.Start:name.End])), raw.Slice(props, value))
	}
	out.required = raw.Texts(raw.Value(obj, "required"))
	if depth == maxDepth {
		return out
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		var demanded []string
		list := raw.Value(obj, word)
		for i, s := range raw.Elements(list) {
			branch := argumentsOf(doc, raw.Slice(list, s), depth+1)
			for _, name := range branch.names {
				out.put(name, branch.props[name])
			}
			switch {
			case word == "allOf":
				demanded = append(demanded, branch.required...)
			case i == 0:
				demanded = branch.required
			default:
				demanded = slices.DeleteFunc(slices.Clone(demanded), func(n string) bool { return !slices.Contains(branch.required, n) })
			}
		}
		for _, name := range demanded {
			if !slices.Contains(out.required, name) {
				out.required = append(out.required, name)
			}
		}
	}
	return out
}

// referred returns the schema that obj refers to in doc, or obj itself.
func referred(doc, obj []byte) []byte {
	if to := raw.Referred(doc, obj); to != nil {
		return to
	}
	return obj
}

// put adds an argument; one that is there with another schema may be of either.
func (a *arguments) put(name string, schema []byte) {
	known, ok := a.props[name]
	switch {
	case !ok:
		a.names = append(a.names, name)
		a.props[name] = schema
	case string(known) != string(schema):
		a.props[name] = new(raw.Object).Raw("anyOf", raw.Array([][]byte{known, schema})).Bytes()
	}
}

// object returns the member properties.
func (a *arguments) object() []byte {
	o := new(raw.Object)
	for _, name := range a.names {
		o.Raw(name, a.props[name])
	}
	return o.Bytes()
}

// arguments returns obj with names of arguments that the provider allows.
func (c *converter) arguments(tool string, obj []byte) []byte {
	rule := c.refused.Argument
	props := raw.Value(obj, "properties")
	if rule == (catalog.NameRule{}) || !raw.IsObject(props) {
		return obj
	}
	stands := map[string]string{} // for a name that is not allowed
	for at := range raw.Members(props) {
		name := string(raw.Name(props[at.Start:at.End]))
		if fit := alias(c.aliases.Args, name, rule); fit != name {
			c.note(Loss{Fate: catalog.Note, What: "argument", Name: tool + "." + name, How: "sent as " + fit})
			stands[name] = fit
		}
	}
	if len(stands) == 0 {
		return obj
	}
	c.args[tool] = stands
	return rename(obj, stands)
}
