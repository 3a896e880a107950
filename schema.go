package plimsoll

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A SchemaError says that the schema of a tool's arguments is none that a provider can take.
type SchemaError struct {
	Tool string // its name
	At   string // the place in the schema, such as properties.path.type; empty: the whole
	Want string
	Got  string
}

// Error returns e in one line.
func (e *SchemaError) Error() string {
	at := ""
	if e.At != "" {
		at = " at " + e.At
	}
	return fmt.Sprintf("tool %q: schema%s, want %s, got %s", e.Tool, at, e.Want, e.Got)
}

// checkSchemas returns a *[SchemaError] for the first tool whose schema is no JSON schema of
// an object. A tool without one is right, and so is the format of a tool of free text.
func checkSchemas(tools []llm.Tool) error {
	for _, t := range tools {
		if t.Schema == "" || t.Custom {
			continue
		}
		if fault := checkSchema(t.Schema); fault != nil {
			fault.Tool = t.Name
			return fault
		}
	}
	return nil
}

func checkSchema(text string) *SchemaError {
	const shown = 40 // bytes of a text that is no JSON
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		start := text
		if len(start) > shown {
			start = start[:shown] + "..."
		}
		return &SchemaError{Want: "JSON", Got: fmt.Sprintf("%q (%v)", start, err)}
	}
	root, ok := v.(map[string]any)
	if !ok {
		return wrongSchema("", "an object", v)
	}
	if kind, stated := root["type"]; stated && !slices.Contains(typesOf(kind), "object") {
		return wrongSchema("type", `"object": arguments have names`, kind)
	}
	if ref, stated := root["$ref"]; stated && !refersToObject(root, ref) {
		return wrongSchema("$ref", "the place of an object in the schema, such as #/$defs/arguments", ref)
	}
	return checkPart("", root)
}

// refersToObject reports whether a reference leads to the schema of an object within root:
// codecs put that in its place, since providers want an object at the root.
func refersToObject(root map[string]any, ref any) bool {
	const most = 8 // references that lead from one to the next, as the codecs follow them
	for range most {
		place, _ := ref.(string)
		path, within := strings.CutPrefix(place, "#/")
		to := root
		for step := range strings.SplitSeq(path, "/") {
			to, _ = to[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)].(map[string]any)
		}
		if kind, stated := to["type"]; !within || to == nil || stated && !slices.Contains(typesOf(kind), "object") {
			return false
		}
		if ref = to["$ref"]; ref == nil {
			return true
		}
	}
	return false
}

// What lies below the members of a schema (JSON Schema 2020-12, and definitions of earlier
// drafts): one schema, a list of them, or schemas by name.
var (
	oneSchema   = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems"}
	listSchemas = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	mapSchemas  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	schemaTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}
)

// checkPart judges a schema at a place. Members that it does not know are left alone.
func checkPart(at string, schema map[string]any) *SchemaError {
	for _, name := range slices.Sorted(maps.Keys(schema)) {
		place, value := joined(at, name), schema[name]
		var fault *SchemaError
		switch {
		case name == "type":
			fault = checkType(place, value)
		case name == "required":
			fault = checkNames(place, value)
		case name == "items" && isList(value), slices.Contains(listSchemas, name):
			fault = checkList(place, value)
		case slices.Contains(oneSchema, name):
			fault = checkSub(place, value)
		case slices.Contains(mapSchemas, name):
			fault = checkMap(place, value)
		}
		if fault != nil {
			return fault
		}
	}
	return nil
}

// checkSub judges a value that has to be a schema: an object, or true or false.
func checkSub(at string, value any) *SchemaError {
	switch value := value.(type) {
	case map[string]any:
		return checkPart(at, value)
	case bool:
		return nil
	}
	return wrongSchema(at, "a schema", value)
}

func checkList(at string, value any) *SchemaError {
	list, ok := value.([]any)
	if !ok {
		return wrongSchema(at, "a list of schemas", value)
	}
	for i, v := range list {
		if fault := checkSub(joined(at, strconv.Itoa(i)), v); fault != nil {
			return fault
		}
	}
	return nil
}

func checkMap(at string, value any) *SchemaError {
	all, ok := value.(map[string]any)
	if !ok {
		return wrongSchema(at, "schemas by name", value)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if fault := checkSub(joined(at, name), all[name]); fault != nil {
			return fault
		}
	}
	return nil
}

func checkType(at string, value any) *SchemaError {
	types := typesOf(value)
	if len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return !slices.Contains(schemaTypes, t) }) {
		return wrongSchema(at, "one or several of "+strings.Join(schemaTypes, ", "), value)
	}
	return nil
}

// typesOf returns the types that a member type names, in lower case: one dialect has them in
// capitals. Of a value that is no name it has an empty one.
func typesOf(value any) []string {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	out := make([]string, len(list))
	for i, v := range list {
		name, _ := v.(string)
		out[i] = strings.ToLower(name)
	}
	return out
}

func checkNames(at string, value any) *SchemaError {
	list, ok := value.([]any)
	if !ok || slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok }) {
		return wrongSchema(at, "a list of names", value)
	}
	return nil
}

func isList(v any) bool { _, ok := v.([]any); return ok }

func joined(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// wrongSchema is the fault of a value at a place.
func wrongSchema(at, want string, got any) *SchemaError {
	const shown = 60 // bytes
	text, err := json.Marshal(got)
	if err != nil {
		text = []byte(fmt.Sprint(got))
	}
	if len(text) > shown {
		text = append(text[:shown:shown], "..."...)
	}
	return &SchemaError{At: at, Want: want, Got: string(text)}
}
