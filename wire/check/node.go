package check

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A node is one value of a body and its place. A node that is not in the body has no value; so has null, which all dialects take for absent.
type node struct {
	j    *judge
	at   string
	v    any
	mute bool // its parent is no object: that it is missing has been said, or is no fault
}

// get returns a member of an object.
func (n node) get(name string) node {
	m, ok := n.v.(map[string]any)
	return node{j: n.j, at: join(n.at, name), v: m[name], mute: !ok}
}

// either returns the first of several spellings of a member that is there, else the first.
func (n node) either(names ...string) node {
	for _, name := range names {
		if m := n.get(name); m.has() {
			return m
		}
	}
	return n.get(names[0])
}

// has reports whether a node is there and not null.
func (n node) has() bool { return n.v != nil }

// states reports whether an object has a member, though it be null.
func (n node) states(name string) bool {
	m, _ := n.v.(map[string]any)
	_, ok := m[name]
	return ok
}

// as returns n under another path: some dialects name the kind of a value in the paths of its members.
func (n node) as(at string) node { n.at = at; return n }

// must reports an absent node as a fault and returns n.
func (n node) must() node {
	if !n.has() && !n.mute {
		n.fault("required", "%s", n.j.voice.missing(n.at))
	}
	return n
}

// record reports a node that is not there or not an object and returns n.
func (n node) record() node {
	n.must().object()
	return n
}

// fault records a fault at n.
func (n node) fault(rule, format string, args ...any) { n.j.add(rule, n.at, format, args...) }

// wrong records that n is not what it should be.
func (n node) wrong(want string) { n.fault("type", "%s", n.j.voice.mistyped(n.at, want, kindOf(n.v))) }

// text returns a string. It is not ok if the node is absent, which is no fault, or something else, which is one.
func (n node) text() (string, bool) {
	s, ok := n.v.(string)
	if !ok && n.has() {
		n.wrong("string")
	}
	return s, ok
}

// say returns a string, and nothing for anything else without a fault: for members that another rule has judged, or that only tell values apart.
func (n node) say() string {
	s, _ := n.v.(string)
	return s
}

// yes returns a boolean.
func (n node) yes() bool {
	b, ok := n.v.(bool)
	if !ok && n.has() {
		n.wrong("boolean")
	}
	return b
}

// whole returns an integer.
func (n node) whole() (int64, bool) {
	if !n.has() {
		return 0, false
	}
	number, ok := n.v.(json.Number)
	if !ok {
		n.wrong("integer")
		return 0, false
	}
	i, err := strconv.ParseInt(strings.TrimSuffix(number.String(), ".0"), 10, 64)
	if err != nil {
		n.wrong("integer")
		return 0, false
	}
	return i, true
}

// within reports a number that is not between two others as a fault of the rule "value".
func (n node) within(low, high float64) {
	if !n.has() {
		return
	}
	number, ok := n.v.(json.Number)
	if !ok {
		n.wrong("number")
		return
	}
	if f, err := number.Float64(); err != nil || f < low || f > high {
		n.fault("value", "%s: want a number from %v to %v, got %s", n.at, low, high, number)
	}
}

// list returns the elements of a list.
func (n node) list() []node {
	l, ok := n.v.([]any)
	if !ok {
		if n.has() {
			n.wrong("list")
		}
		return nil
	}
	nodes := make([]node, len(l))
	for i, v := range l {
		nodes[i] = node{j: n.j, at: n.j.voice.index(n.at, i), v: v}
	}
	return nodes
}

// items returns the elements of a list that are objects; others are faults.
func (n node) items() []node {
	return slices.DeleteFunc(n.list(), func(e node) bool {
		if e.object() {
			return false
		}
		if !e.has() {
			e.wrong("object")
		}
		return true
	})
}

// elements returns the elements of a list without a fault for what is none.
func (n node) elements() []node {
	if !n.isList() {
		return nil
	}
	return n.list()
}

// isList and isText tell forms apart without a fault.
func (n node) isList() bool { _, ok := n.v.([]any); return ok }
func (n node) isText() bool { _, ok := n.v.(string); return ok }

// object reports whether n is an object; anything else that is there is a fault.
func (n node) object() bool {
	_, ok := n.v.(map[string]any)
	if !ok && n.has() {
		n.wrong("object")
	}
	return ok
}

// among returns a string that must be one of a closed set, if it is there.
func (n node) among(rule string, values ...string) string {
	s, ok := n.text()
	if ok && !slices.Contains(values, s) {
		n.fault(rule, "%s", n.j.voice.outside(n.at, s, values))
	}
	return s
}

// join appends a name to a path.
func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// kindOf names the JSON type of a value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case []any:
		return "list"
	}
	return "object"
}
