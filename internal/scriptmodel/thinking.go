package scriptmodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A dropped piece of thinking, as the Messages API reports it.
type dropped struct{ path, reason string }

// Why thinking is dropped.
const (
	otherPrefix = "prefix_binding_mismatch"
	otherModel  = "model_binding_mismatch"
)

// The beta that lets a client say what happens to thinking that does not fit.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// anySignature is what a client may send for a call that no such model made
// (google-gemini/gemini-cli).
const anySignature = "skip_thought_signature_validator"

// thinking checks the proofs that come back, each provider in its way.
func (x *exchange) thinking() *wire.Error {
	if x.script.Signatures == BindOff {
		return nil
	}
	switch x.route.dialect {
	case messages:
		return x.boundThinking()
	case responses:
		return x.encryptedReasoning()
	case generate:
		return x.callSignatures()
	}
	return nil
}

// boundThinking is the prefix check of preserved thinking: every piece is bound to the
// system prompt, the tools and all earlier messages, and to the piece before it, but the
// oldest ones may be left out.
func (x *exchange) boundThinking() *wire.Error {
	drop := x.script.Signatures == BindDrop
	if behaviour := x.field("thinking.block_binding.prefix_mismatch_behavior"); behaviour.Exists() {
		if !strings.Contains(strings.Join(x.req.Header.Values("anthropic-beta"), ","), bindingBeta) {
			return x.bad("thinking.block_binding: Extra inputs are not permitted", "")
		}
		drop = behaviour.String() == "drop_block"
	}
	if refused := x.newestThinking(); refused != nil {
		return refused
	}
	w := walk{exchange: x, before: prefix.Before(x.r), drop: drop}
	for i, m := range x.r.Messages {
		kept, refused := w.message(i, m)
		if refused != nil {
			return refused
		}
		if len(kept) < len(m.Parts) {
			x.r.Messages[i] = m.WithParts(kept)
		}
	}
	return nil
}

// A walk goes through the thinking of a request in order.
type walk struct {
	*exchange
	before []prefix.Digest
	last   *prefix.Seal // the newest piece that was good
	drop   bool
}

// message returns the parts of message i that the model gets to see.
func (w *walk) message(i int, m llm.Message) (kept []llm.Part, refused *wire.Error) {
	for j, p := range m.Parts {
		t, ok := p.(llm.Thinking)
		if !ok {
			kept = append(kept, p)
			continue
		}
		path := fmt.Sprintf("messages.%d.content.%d", i, j)
		reason, refused := w.piece(t, i, path)
		switch {
		case refused != nil:
			return nil, refused
		case reason == "":
			kept = append(kept, p)
		default:
			w.dropped = append(w.dropped, dropped{path, reason})
		}
	}
	return kept, nil
}

// piece judges one piece of thinking: why it is dropped, or why the request is refused.
func (w *walk) piece(t llm.Thinking, i int, path string) (reason string, refused *wire.Error) {
	kind := "thinking"
	if t.Redacted {
		kind = "redacted_thinking"
	}
	seal, ok := w.sealer.Open(t.Signature)
	switch {
	case !ok || !seal.Says(t.Text):
		return "", w.badThinking(fmt.Sprintf("%s: Invalid `signature` in `%s` block", path, kind))
	case !seal.By(w.r.Model):
		return otherModel, nil
	case seal.Before == w.before[i] && (w.last == nil || seal.Last == w.last.ID):
		w.last = &seal
		return "", nil
	case w.drop:
		return otherPrefix, nil
	}
	return "", w.badThinking(fmt.Sprintf("%s: Invalid `signature` in `%s` block. The block is bound to a different conversation. "+
		"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", path, kind))
}

func (x *exchange) badThinking(message string) *wire.Error {
	e := x.bad(message, "")
	e.Class = wire.BadThinking
	return e
}

// newestThinking checks that, in the middle of a tool run, the thinking of the message with
// the calls is all there and in its order.
func (x *exchange) newestThinking() *wire.Error {
	at := len(x.r.Messages) - 2
	if at < 0 || len(x.r.Messages[at+1].Results()) == 0 {
		return nil
	}
	newest := x.r.Messages[at]
	var have []string
	for _, p := range newest.Parts {
		if t, ok := p.(llm.Thinking); ok {
			have = append(have, t.Signature)
		}
	}
	for _, c := range newest.Calls() {
		want, known := x.state.turns[c.CallID]
		if known && !slices.Equal(have, want) && x.thinks() {
			return x.badThinking(fmt.Sprintf("messages.%d.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message "+
				"cannot be modified. These blocks must remain as they were in the original response.", at))
		}
	}
	return nil
}

// encryptedReasoning checks that reasoning and compacted conversations come back as they
// were given out, and to the same account.
func (x *exchange) encryptedReasoning() *wire.Error {
	var refused *wire.Error
	x.field("input").ForEach(func(_, item gjson.Result) bool {
		content := item.Get("encrypted_content")
		if content.Type != gjson.String {
			return true
		}
		if seal, ok := x.sealer.Open(content.String()); ok && seal.For(x.account) {
			return true
		}
		shown := content.String()
		refused = x.badThinking(fmt.Sprintf("The encrypted content %s... could not be verified. "+
			"Reason: Encrypted content could not be decrypted or parsed.", shown[:min(len(shown), 4)]))
		refused.Code = "invalid_encrypted_content"
		return false
	})
	return refused
}

// callSignatures checks that the first call of each message since the newest text of the
// user carries its proof.
func (x *exchange) callSignatures() *wire.Error {
	for i := len(x.r.Messages) - 1; i >= 0 && x.r.Messages[i].Origin != llm.Human; i-- {
		for _, p := range x.r.Messages[i].Parts {
			c, ok := p.(llm.ToolCall)
			if !ok {
				continue
			}
			if refused := x.callSignature(c, i); refused != nil {
				return refused
			}
			break
		}
	}
	return nil
}

func (x *exchange) callSignature(c llm.ToolCall, i int) *wire.Error {
	signature := either(gjson.ParseBytes(c.Data), "thoughtSignature", "thought_signature").String()
	switch signature {
	case "":
		return x.badThinking(fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. "+
			"This is required for tools to work correctly. Additional data, function call `default_api:%s`, position %d.", c.Name, i+1))
	case anySignature:
		return nil
	}
	if _, ok := x.sealer.Open(signature); !ok {
		return x.badThinking("Corrupted thought signature.")
	}
	return nil
}

// thinks reports whether the request lets the model show its thinking.
func (x *exchange) thinks() bool {
	switch x.route.dialect {
	case messages:
		kind := x.field("thinking.type").String()
		return kind == "enabled" || kind == "adaptive"
	case generate:
		config := either(x.field("@this"), "generationConfig", "generation_config")
		thinking := either(config, "thinkingConfig", "thinking_config")
		return either(thinking, "includeThoughts", "include_thoughts").Bool()
	case native:
		think := x.field("think")
		return think.Exists() && think.Type != gjson.False
	}
	return true
}

// either returns the member of v that is there, under one of its two spellings.
func either(v gjson.Result, camel, snake string) gjson.Result {
	if m := v.Get(camel); m.Exists() {
		return m
	}
	return v.Get(snake)
}

// seal returns the proof of a piece of thinking of the reply.
func (x *exchange) seal(text string, last prefix.ID) string {
	if x.route.dialect == responses && x.route.action == actReply && !x.includesEncrypted() {
		return ""
	}
	before := prefix.Before(x.r)
	return x.sealer.Seal(prefix.Claim{
		Model: x.r.Model, Account: x.account, Text: text, Before: before[len(before)-1], Last: last,
	})
}

func (x *exchange) includesEncrypted() bool {
	return slices.ContainsFunc(x.field("include").Array(), func(v gjson.Result) bool {
		return v.String() == "reasoning.encrypted_content"
	})
}

// lastSeal returns the id of the newest piece of thinking in the request.
func (x *exchange) lastSeal() prefix.ID {
	for i := len(x.r.Messages) - 1; i >= 0; i-- {
		for _, p := range slices.Backward(x.r.Messages[i].Parts) {
			if t, ok := p.(llm.Thinking); ok {
				if seal, good := x.sealer.Open(t.Signature); good {
					return seal.ID
				}
			}
		}
	}
	return prefix.ID{}
}
