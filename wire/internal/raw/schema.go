package raw

import (
	"slices"
	"strings"
)

// ObjectSchema returns a JSON schema of a tool's arguments that says that they are an
// object: some providers take that for granted, others refuse a schema without it. A
// schema that refers to another one at its root becomes that one, with its own members.
func ObjectSchema(schema string) []byte {
	b := Trim([]byte(schema))
	if !IsObject(b) {
		return []byte(`{"type":"object","properties":{}}`)
	}
	b = Inlined(b)
	if kind := Value(b, "type"); !IsString(kind) || Unquote(kind) != "object" {
		return Set(b, "type", []byte(`"object"`))
	}
	return b
}

// maxRefs is how many references may lead from one to the next.
const maxRefs = 8

// Inlined returns a schema without $ref at its root: what that refers to stands there.
func Inlined(schema []byte) []byte {
	doc := schema
	for range maxRefs {
		if Value(schema, "$ref") == nil {
			return schema
		}
		to := Referred(doc, schema)
		schema = joined(Delete(schema, "$ref"), to)
	}
	return Delete(schema, "$ref")
}

// Referred returns the object in doc that the $ref of schema means (RFC 6901), or nil.
func Referred(doc, schema []byte) []byte {
	path, ok := strings.CutPrefix(Unquote(Value(schema, "$ref")), "#/")
	if !ok {
		return nil
	}
	to := doc
	for step := range strings.SplitSeq(path, "/") {
		if !IsObject(to) {
			return nil
		}
		to = Value(to, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	if !IsObject(to) {
		return nil
	}
	return to
}

// joined returns a schema with the members of another one that it has not. Of both are
// the arguments and the definitions, and what is demanded.
func joined(schema, with []byte) []byte {
	for name, value := range Members(with) {
		field, theirs := string(Name(with[name.Start:name.End])), Slice(with, value)
		own := Value(schema, field)
		switch {
		case own == nil:
			schema = Set(schema, field, theirs)
		case field == "required" && IsArray(own):
			names := Texts(own)
			also := slices.DeleteFunc(Texts(theirs), func(n string) bool { return slices.Contains(names, n) })
			schema = Set(schema, field, QuoteAll(append(names, also...)))
		case (field == "properties" || field == "$defs" || field == "definitions") && IsObject(own):
			schema = Set(schema, field, joinedMembers(own, theirs))
		}
	}
	return schema
}

// joinedMembers returns obj with the members of another object that it has not.
func joinedMembers(obj, with []byte) []byte {
	for name, value := range Members(with) {
		if field := string(Name(with[name.Start:name.End])); Value(obj, field) == nil {
			obj = Set(obj, field, Slice(with, value))
		}
	}
	return obj
}
