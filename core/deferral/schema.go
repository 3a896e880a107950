package deferral

import (
	"encoding/json"
	"slices"
)

// parameters calls yield for the name of each parameter of a schema, and of what is in them,
// in the order of the alphabet. What is no schema has none.
func parameters(schema string, yield func(name string)) {
	var s shape
	if json.Unmarshal([]byte(schema), &s) == nil {
		s.names(yield, 8)
	}
}

// A shape is a schema as far as names stand in it.
type shape struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
}

// names calls yield for the names in a shape, down to a depth.
func (s *shape) names(yield func(name string), depth int) {
	if depth == 0 {
		return
	}
	inner := func(raw json.RawMessage) {
		var in shape
		if json.Unmarshal(raw, &in) == nil {
			in.names(yield, depth-1)
		}
	}
	var all []string
	for name := range s.Properties {
		all = append(all, name)
	}
	slices.Sort(all)
	for _, name := range all {
		yield(name)
		inner(s.Properties[name])
	}
	if s.Items != nil {
		inner(s.Items)
	}
}
