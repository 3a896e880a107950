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

// What the Messages API needs to have its own summary stand for a conversation, and from where on it
// does if the request does not say (Anthropic, "Compaction").
const (
	compactBeta  = "compact-2026-01-12"
	compactKind  = "compact_20260112"
	compactAbove = 150_000
)

// A compaction is a summary that the server has made for the reply at hand.
type compaction struct {
	part  llm.Opaque
	whole int // tokens of the prompt that it stands for
}

// passed leaves out of the prompt what stands before the newest compaction, as the provider does
// whether or not the client sends it. One that no server made is refused.
func (x *exchange) passed() *wire.Error {
	from := -1
	for i, m := range x.r.Messages {
		for _, p := range m.Parts {
			o, ok := p.(llm.Opaque)
			if !ok || o.Compacts == "" {
				continue
			}
			if !x.state.summaries[x.account+"\n"+summaryOf(o)] {
				return x.bad(fmt.Sprintf("messages.%d: the compaction is not one that was returned", i), "input")
			}
			from = i
		}
	}
	if from < 0 {
		return nil
	}
	if x.route.dialect == messages && !x.hasBeta(compactBeta) {
		return x.bad("messages: Input tag 'compaction' found using 'type' does not match any of the expected tags", "")
	}
	r := x.r
	r.Messages = r.Messages[from:]
	x.prompt = prefix.Of(r, x.count, x.salt())
	return nil
}

// summaryOf returns what a compaction says, or hides.
func summaryOf(o llm.Opaque) string {
	v := gjson.ParseBytes(o.Data)
	return v.Get("content").String() + v.Get("encrypted_content").String()
}

func (x *exchange) hasBeta(name string) bool {
	return strings.Contains(strings.Join(x.req.Header.Values("Anthropic-Beta"), ","), name)
}

// trigger returns from what size of a prompt on a request asks for a compaction; 0: it does not.
func (x *exchange) trigger() int {
	switch x.route.dialect {
	case messages:
		for _, e := range x.field("context_management.edits").Array() {
			if e.Get("type").String() != compactKind {
				continue
			}
			if v := e.Get("trigger.value"); v.Exists() {
				return int(v.Int())
			}
			return compactAbove
		}
	case responses:
		for _, e := range x.field("context_management").Array() {
			if e.Get("type").String() == "compaction" {
				return int(e.Get("compact_threshold").Int())
			}
		}
	}
	return 0
}

// summarise has a summary stand for the prompt, if it is as long as the request says. It is read at
// once: what the model answers it answers behind it.
func (x *exchange) summarise() {
	above, whole := x.trigger(), x.prompt.Tokens()
	if above == 0 || whole <= above {
		return
	}
	x.compacted = x.summaryOf(whole)
	r := x.r
	r.Messages = []llm.Message{{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{x.compacted.part}}}
	x.prompt = prefix.Of(r, x.count, x.salt())
}

// summaryOf makes the summary of a prompt.
func (x *exchange) summaryOf(whole int) *compaction {
	id := x.id("cmp_")
	text := fmt.Sprintf("Summary %s: %s", id, filler(60))
	c := &compaction{whole: whole, part: llm.Opaque{Kind: "compaction", Compacts: "anthropic"}}
	c.part.Data = object("type", "compaction", "content", text)
	if x.route.dialect == responses {
		before := prefix.Before(x.r)
		text = x.sealer.Seal(prefix.Claim{Model: x.r.Model, Account: x.account, Text: text, Before: before[len(before)-1], Last: x.lastSeal()})
		c.part.Data, c.part.Compacts = object("id", id, "type", "compaction", "encrypted_content", text), "openai"
	}
	x.returned(text)
	return c
}

// returned notes what a compaction says that is returned.
func (x *exchange) returned(text string) {
	if x.state.summaries == nil {
		x.state.summaries = map[string]bool{}
	}
	x.state.summaries[x.account+"\n"+text] = true
}

func (x *exchange) sizeOf(c *compaction) int {
	return x.written().Message(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{c.part}})
}

// reported puts the summary into a reply: first of all where it was made before the model spoke, and
// else, where prompt and reply together are as long as the request says, behind it (OpenAI, as
// recorded). Messages API: what it took is told apart from the call.
func (x *exchange) reported(r *llm.Response) {
	c := x.compacted
	if c == nil {
		above := x.trigger()
		if x.route.dialect != responses || above == 0 || r.Usage.Prompt()+r.Usage.Output <= above {
			return
		}
		c = x.summaryOf(r.Usage.Prompt() + r.Usage.Output)
		r.Message.Parts = append(r.Message.Parts, c.part)
		r.Usage.Output += x.sizeOf(c)
		return
	}
	r.Message.Parts = slices.Insert(r.Message.Parts, 0, llm.Part(c.part))
	if x.route.dialect == messages {
		r.Extra = llm.Usage{Input: c.whole, Output: max(x.sizeOf(c), 1)}
		r.Usage.Cleared += max(c.whole-r.Usage.Prompt(), 0)
		return
	}
	r.Usage.Input += c.whole
	r.Usage.Output += x.sizeOf(c)
}
