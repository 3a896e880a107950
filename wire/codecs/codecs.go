// Package codecs finds the codecs by the dialect that they speak. It is the one list of
// them; who needs one dialect only imports its package.
package codecs

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A Full codec reads and writes all that a dialect has. All codecs here are.
type Full interface {
	wire.Codec
	wire.Streamer
	wire.Refuser
	wire.Splicer
}

// All returns every codec, in the order in which lists show them. The slice is the
// caller's.
func All() []Full {
	return []Full{anthropic.Codec{}, openai.Responses{}, openai.Chat{}, gemini.Codec{}, ollama.Codec{}}
}

// For returns the codec of a dialect.
func For(d llm.Dialect) (Full, bool) {
	for _, c := range All() {
		if c.Dialect() == d {
			return c, true
		}
	}
	return nil, false
}
