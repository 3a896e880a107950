package scriptmodel

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// What the Messages API needs to take old outputs out of a prompt, where the request says nothing
// else, and what it leaves in their place (Anthropic, "Context editing").
const (
	clearBeta    = "context-management-2025-06-27"
	clearKind    = "clear_tool_uses_20250919"
	clearAbove   = 100_000
	clearKeep    = 3
	clearedWords = "[cleared to save context]"
)

// clear takes the outputs out of the prompt that the request asks to have taken out.
func (x *exchange) clear() *wire.Error {
	asked := x.field("context_management")
	if x.route.dialect != messages || !asked.Exists() {
		return nil
	}
	if !x.hasBeta(clearBeta) && !x.hasBeta(compactBeta) {
		return x.bad("context_management: Extra inputs are not permitted", "")
	}
	for i, e := range asked.Get("edits").Array() {
		kind, needs := e.Get("type").String(), clearBeta
		if kind == compactKind {
			needs = compactBeta
		}
		if !x.hasBeta(needs) {
			return x.bad(fmt.Sprintf("context_management.edits.%d: Input tag '%s' found using 'type' does not match any of the expected tags", i, kind), "")
		}
		if kind == clearKind {
			x.clearOutputs(e)
		}
	}
	return nil
}

func (x *exchange) clearOutputs(e gjson.Result) {
	above, keep := clearAbove, clearKeep
	if v := e.Get("trigger.value"); v.Exists() {
		above = int(v.Int())
	}
	if v := e.Get("keep.value"); v.Exists() {
		keep = int(v.Int())
	}
	before := x.prompt.Tokens()
	if before <= above {
		return
	}
	var except []string
	for _, name := range e.Get("exclude_tools").Array() {
		except = append(except, name.String())
	}
	var ids []string // of calls whose outputs may go
	calls := 0
	for _, m := range x.r.Messages {
		for _, c := range m.Calls() {
			if calls++; !slices.Contains(except, c.Name) {
				ids = append(ids, c.CallID)
			}
		}
	}
	ids = ids[:max(len(ids)-keep, 0)]
	r, cleared := x.r, 0
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		m.Parts = slices.Clone(m.Parts)
		for at, p := range m.Parts {
			if out, ok := p.(llm.ToolResult); ok && slices.Contains(ids, out.CallID) {
				m.Parts[at] = out.WithContent(llm.Text{Text: clearedWords})
				cleared++
			}
		}
		r.Messages[i] = m
	}
	prompt := prefix.Of(r, x.count, x.salt())
	tokens := before - prompt.Tokens()
	if cleared == 0 || tokens < int(e.Get("clear_at_least.value").Int()) {
		return
	}
	x.prompt = prompt
	x.applied = append(x.applied, object("type", clearKind, "cleared_tool_uses", cleared, "cleared_input_tokens", tokens))
}

// management puts what was taken out into an object of a reply, behind what it begins with.
func (x *exchange) management(body, begin []byte) []byte {
	if len(x.applied) == 0 {
		return body
	}
	told := append([]byte(`"context_management":`), object("applied_edits", x.applied)...)
	if rest := bytes.TrimPrefix(begin, []byte("{")); len(rest) > 0 {
		told = slices.Concat([]byte(","), told)
	} else {
		told = append(told, ',')
	}
	return bytes.Replace(body, begin, slices.Concat(begin, told), 1)
}
