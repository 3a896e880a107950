package deferral

import (
	"encoding/json"
	"errors"
)

// schemaTexts calls yield for what a schema says of parameters, and of what is in them: names,
// descriptions and the values that they may have, in no order. What is no schema says nothing.
func schemaTexts(schema string, yield func(text string)) {
	var s shape
	var other *json.UnmarshalTypeError // a part that is of another shape is passed over
	if err := json.Unmarshal([]byte(schema), &s); err == nil || errors.As(err, &other) {
		s.texts(yield, 8)
	}
}

// A shape is a schema as far as words stand in it.
type shape struct {
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Properties  map[string]*shape `json:"properties"`
	Items       *shape            `json:"items"`
}

// texts calls yield for the texts in a shape, down to a depth.
func (s *shape) texts(yield func(text string), depth int) {
	if s == nil || depth == 0 {
		return
	}
	yield(s.Description)
	for _, v := range s.Enum {
		if text, ok := v.(string); ok {
			yield(text)
		}
	}
	for name, inner := range s.Properties {
		yield(name)
		inner.texts(yield, depth-1)
	}
	s.Items.texts(yield, depth-1)
}
