package gemini

import (
	"github.com/plimsoll-dev/plimsoll/wire/internal/pair"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A name is a member's name in both spellings that the provider takes.
type name struct{ camel, snake string }

// The names that have two spellings.
var (
	nameSystem       = name{"systemInstruction", "system_instruction"}
	nameConfig       = name{"generationConfig", "generation_config"}
	nameToolConfig   = name{"toolConfig", "tool_config"}
	nameCalling      = name{"functionCallingConfig", "function_calling_config"}
	nameAllowed      = name{"allowedFunctionNames", "allowed_function_names"}
	nameMaxOutput    = name{"maxOutputTokens", "max_output_tokens"}
	nameTopP         = name{"topP", "top_p"}
	nameStop         = name{"stopSequences", "stop_sequences"}
	nameCall         = name{"functionCall", "function_call"}
	nameResult       = name{"functionResponse", "function_response"}
	nameSignature    = name{"thoughtSignature", "thought_signature"}
	nameDeclarations = name{"functionDeclarations", "function_declarations"}
	nameKept         = name{"cachedContent", "cached_content"}
	nameJSONSchema   = name{"parametersJsonSchema", "parameters_json_schema"}
)

// in returns the spelling of n that obj has a value under, or that is there with null; the
// one that its other names have if neither is.
func (n name) in(obj []byte, s style) string {
	v := raw.Values(obj, n.camel, n.snake)
	switch {
	case !raw.IsNone(v[0]):
		return n.camel
	case !raw.IsNone(v[1]):
		return n.snake
	case v[0] != nil:
		return n.camel
	case v[1] != nil:
		return n.snake
	}
	return n.as(s.of(obj))
}

// as returns n in a style.
func (n name) as(s style) string {
	if s == snakes {
		return n.snake
	}
	return n.camel
}

// A style is one of the two spellings, as a body prefers it.
type style uint8

const (
	anyStyle style = iota
	camels
	snakes
)

// of returns the style that the names of obj show; s itself if none shows one.
func (s style) of(obj []byte) style {
	for k := range raw.Members(obj) {
		if found := shown(raw.Name(raw.Slice(obj, k))); found != anyStyle {
			return found
		}
	}
	return s
}

// shown returns the style that a name shows: a name of one word shows none.
func shown(name []byte) style {
	for _, c := range name {
		switch {
		case c == '_':
			return snakes
		case c >= 'A' && c <= 'Z':
			return camels
		}
	}
	return anyStyle
}

// value returns the value that obj has under either spelling, nil for none or null.
func (n name) value(obj []byte) []byte {
	v := raw.Values(obj, n.camel, n.snake)
	for _, b := range v {
		if !raw.IsNone(b) {
			return b
		}
	}
	return nil
}

// A spelled is the value of a member of a body with the spelling that it stands under. Of
// two spellings the one with a value counts, and the first of them if both have one.
type spelled struct {
	name  string
	value []byte
}

// take takes a member of the body if it is n.
func (x *spelled) take(n name, member, value []byte) {
	switch string(member) {
	case n.camel:
		if x.name != n.snake || raw.IsNone(x.value) || !raw.IsNone(value) {
			*x = spelled{n.camel, value}
		}
	case n.snake:
		if x.name != n.camel || raw.IsNone(x.value) {
			*x = spelled{n.snake, value}
		}
	}
}

// set returns obj with another value under the spelling that it has.
func (n name) set(obj, value []byte) []byte { return raw.Set(obj, n.in(obj, anyStyle), value) }

// ids gives the calls of one message their ids. The zero ids is ready for use.
type ids struct {
	last  []byte // the last signature, a literal
	count int    // of calls without an id so far
}

// signed says that a part had a signature.
func (s *ids) signed(signature []byte) {
	if raw.IsString(signature) {
		s.last = signature
	}
}

// call returns the id of a call: its own, else a derived one.
func (s *ids) call(id, name, args []byte) string {
	if own := raw.Unquote(id); own != "" {
		return own
	}
	s.count++
	if s.last != nil {
		return pair.ID(pair.Signature(raw.Unquote(s.last)), raw.Unquote(name), s.count)
	}
	return pair.ID(pair.Arguments(args), raw.Unquote(name), s.count)
}
