package gemini

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
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
	nameJSONSchema   = name{"parametersJsonSchema", "parameters_json_schema"}
)

// in returns the spelling of n that obj has; the first one if it has neither.
func (n name) in(obj []byte) string {
	if raw.Value(obj, n.camel) == nil && raw.Value(obj, n.snake) != nil {
		return n.snake
	}
	return n.camel
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

// find returns the spelling of n in the body, the place of its value and the value.
func (n name) find(b *raw.Body) (string, llm.Span, []byte) {
	if at, v := b.Find(n.camel); at.Len() > 0 {
		return n.camel, at, v
	}
	if at, v := b.Find(n.snake); at.Len() > 0 {
		return n.snake, at, v
	}
	return n.camel, llm.Span{}, nil
}

// set returns obj with another value under the spelling that it has.
func (n name) set(obj, value []byte) []byte { return raw.Set(obj, n.in(obj), value) }

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
