package gateway

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// ownMarks returns the cache marks that a request gets of the session: where the policy has it so
// (policy.Front.Clients), the provider keeps only what is marked, and the client marks nothing
// itself.
func (x *Exchange) ownMarks(send *engine.Send) llm.Marks {
	p := x.gateway.options.Policy.Prompt
	if !p.Clients || x.call.Dialect != anthropic.Dialect || marksItself(x.call.Body) {
		return nil
	}
	return send.Marks
}

// ownClearing returns what the provider is asked to take out of the prompt by itself; nothing where
// the client has asked it for something of the kind.
func (x *Exchange) ownClearing(send *engine.Send) llm.Clearing {
	if x.call.Dialect != anthropic.Dialect || bytes.Contains(x.call.Body, []byte(`"context_management"`)) {
		return llm.Clearing{}
	}
	c := send.Clear
	c.Compact = 0 // what comes back the client would have to keep, and it has not asked
	return c
}

// marksItself reports whether a body has a cache mark. In a text its name would have other quotes
// around it.
func marksItself(body []byte) bool { return bytes.Contains(body, []byte(`"cache_control"`)) }
