package scriptmodel

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// The dialects that the server speaks, by what they are called here.
const (
	messages  = anthropic.Dialect
	chat      = openai.DialectChat
	responses = openai.DialectResponses
	generate  = gemini.Dialect
	native    = ollama.Dialect
)

// A codec is all that the server needs of a dialect.
type codec = codecs.Full

// codecOf returns the codec of d; false if the server does not speak it.
func codecOf(d llm.Dialect) (codec, bool) { return codecs.For(d) }

// dialects returns the names of all dialects.
func dialects() []string {
	var names []string
	for _, c := range codecs.All() {
		names = append(names, string(c.Dialect()))
	}
	return names
}
