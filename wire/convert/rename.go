package convert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A renamer gives a schema other names of arguments wherever it has them: of itself, of what
// else it says of the same object, and of what it refers to for that. A definition that is
// referred to for something else, too, stays as it is: the same object has a copy of its own.
type renamer struct {
	doc    []byte            // the schema as it was
	stands map[string]string // for the names of arguments
	copies map[string]string // the names of copies, by what was referred to; root is the schema itself
}

// root is the reference to a whole schema.
const root = "#"

// rename returns a schema with other names of arguments.
func rename(doc []byte, stands map[string]string) []byte {
	r := renamer{doc: doc, stands: stands, copies: map[string]string{}}
	pointers := r.affected()
	for _, to := range pointers {
		r.copies[to] = r.unused(to[strings.LastIndexByte(to, '/')+1:] + "_named")
	}
	out := r.same(doc, 0)
	defs := raw.Value(out, "$defs")
	if !raw.IsObject(defs) {
		defs = []byte("{}")
	}
	for _, to := range pointers {
		defs = raw.Set(defs, r.copies[to], r.same(r.referred(to), 0))
	}
	if name, ok := r.copies[root]; ok {
		defs = raw.Set(defs, name, r.below(raw.Delete(raw.Delete(doc, "$defs"), "definitions")))
	}
	if len(r.copies) == 0 {
		return out
	}
	return raw.Set(out, "$defs", defs)
}

// affected returns what the schema refers to for the same object and has names in it that
// change, itself or in what it refers to, in the order in which it is met.
func (r *renamer) affected() []string {
	var met []string
	hit, kids := map[string]bool{}, map[string][]string{}
	for queue := r.references(r.doc, 0); len(queue) > 0; queue = queue[1:] {
		to := queue[0]
		def := r.referred(to)
		if _, known := kids[to]; known || def == nil {
			continue
		}
		met, kids[to] = append(met, to), r.references(def, 0)
		hit[to] = string(r.same(def, 0)) != string(def)
		queue = append(queue, kids[to]...)
	}
	for again := true; again; {
		again = false
		for _, to := range met {
			if !hit[to] && slices.ContainsFunc(kids[to], func(k string) bool { return hit[k] }) {
				hit[to], again = true, true
			}
		}
	}
	return slices.DeleteFunc(met, func(to string) bool { return !hit[to] })
}

// references returns what obj refers to for the object that it describes.
func (r *renamer) references(obj []byte, depth int) []string {
	if !raw.IsObject(obj) || depth > maxDepth {
		return nil
	}
	var refs []string
	for name, at := range raw.Members(obj) {
		value := raw.Slice(obj, at)
		switch string(raw.Name(obj[name.Start:name.End])) {
		case "$ref":
			refs = append(refs, raw.Unquote(value))
		case "not", "if", "then", "else":
			refs = append(refs, r.references(value, depth+1)...)
		case "allOf", "anyOf", "oneOf":
			for _, s := range raw.Elements(value) {
				refs = append(refs, r.references(raw.Slice(value, s), depth+1)...)
			}
		case "dependentSchemas", "dependencies":
			for _, s := range raw.Members(value) {
				refs = append(refs, r.references(raw.Slice(value, s), depth+1)...)
			}
		}
	}
	return refs
}

// referred returns the definition that a reference means; nil if it is none of the schema.
func (r *renamer) referred(to string) []byte {
	return raw.Referred(r.doc, new(raw.Object).Text("$ref", to).Bytes())
}

// unused returns name, or one like it that no definition has.
func (r *renamer) unused(name string) string {
	defs := raw.Value(r.doc, "$defs")
	taken := func(s string) bool {
		for _, other := range r.copies {
			if other == s {
				return true
			}
		}
		return raw.Value(defs, s) != nil
	}
	fit := name
	for n := 2; taken(fit); n++ {
		fit = name + strconv.Itoa(n)
	}
	return fit
}

// same returns obj, which describes the object itself, with other names of arguments.
func (r *renamer) same(obj []byte, depth int) []byte {
	if !raw.IsObject(obj) || depth > maxDepth {
		return obj
	}
	inner := func(v []byte) []byte { return r.same(v, depth+1) }
	var changes []raw.Change
	for name, at := range raw.Members(obj) {
		value := raw.Slice(obj, at)
		switch string(raw.Name(obj[name.Start:name.End])) {
		case "$ref":
			value = r.reference(value, false)
		case "properties":
			value = renamedKeys(value, r.stands, r.below)
		case "required", "propertyOrdering":
			value = renamedTexts(value, r.stands)
		case "dependentRequired", "dependentSchemas", "dependencies":
			value = renamedKeys(value, r.stands, func(v []byte) []byte { return renamedTexts(inner(v), r.stands) })
		case "not", "if", "then", "else":
			value = inner(value)
		case "allOf", "anyOf", "oneOf":
			value = changedElements(value, inner)
		default:
			value = r.below(value)
		}
		changes = append(changes, raw.Change{At: at, New: value})
	}
	return raw.Apply(obj, changes)
}

// below returns a value of a schema that describes something else than the object itself:
// only what it refers to may have got another name.
func (r *renamer) below(v []byte) []byte {
	if !raw.IsObject(v) {
		return changedElements(v, r.below)
	}
	var changes []raw.Change
	for name, at := range raw.Members(v) {
		value := raw.Slice(v, at)
		switch string(raw.Name(v[name.Start:name.End])) {
		case "$ref":
			value = r.reference(value, true)
		case "const", "enum", "default", "examples":
			continue // data
		default:
			value = r.below(value)
		}
		changes = append(changes, raw.Change{At: at, New: value})
	}
	return raw.Apply(v, changes)
}

// reference returns a reference that means what it did: one to the object itself, or from
// below it.
func (r *renamer) reference(value []byte, below bool) []byte {
	to := raw.Unquote(value)
	switch name, copied := r.copies[to]; {
	case below && to == root:
		if !copied {
			name = r.unused("root")
			r.copies[root] = name
		}
		return raw.Quote("#/$defs/" + escapedStep(name))
	case !below && copied:
		return raw.Quote("#/$defs/" + escapedStep(name))
	}
	rest, ok := strings.CutPrefix(to, "#/properties/")
	step, more, deeper := strings.Cut(rest, "/")
	fit, named := r.stands[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	if !ok || !named {
		return value
	}
	if deeper {
		more = "/" + more
	}
	return raw.Quote("#/properties/" + escapedStep(fit) + more)
}

// escapedStep returns a name as a step of a JSON pointer (RFC 6901).
func escapedStep(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// renamedKeys returns obj with other names of its members; change, if any, is for their values.
func renamedKeys(obj []byte, stands map[string]string, change func([]byte) []byte) []byte {
	if !raw.IsObject(obj) {
		return obj
	}
	var changes []raw.Change
	for name, at := range raw.Members(obj) {
		if fit, ok := stands[string(raw.Name(obj[name.Start:name.End]))]; ok {
			changes = append(changes, raw.Change{At: name, New: raw.Quote(fit)})
		}
		if change != nil {
			changes = append(changes, raw.Change{At: at, New: change(raw.Slice(obj, at))})
		}
	}
	return raw.Apply(obj, changes)
}

// renamedTexts returns a list of names with those that stand for them; another value as it is.
func renamedTexts(list []byte, stands map[string]string) []byte {
	return changedElements(list, func(v []byte) []byte {
		if fit, ok := stands[raw.Unquote(v)]; ok && raw.IsString(v) {
			return raw.Quote(fit)
		}
		return v
	})
}

// changedElements returns a list with its elements changed; another value as it is.
func changedElements(list []byte, change func([]byte) []byte) []byte {
	if !raw.IsArray(list) {
		return list
	}
	var changes []raw.Change
	for _, at := range raw.Elements(list) {
		changes = append(changes, raw.Change{At: at, New: change(raw.Slice(list, at))})
	}
	return raw.Apply(list, changes)
}
