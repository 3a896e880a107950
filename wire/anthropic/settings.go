package anthropic

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/setting"
)

// dropBlock is the value of prefix_mismatch_behavior that drops thinking which no longer
// fits its prefix; bindingBeta is the beta header that this field needs.
const (
	dropBlock   = "drop_block"
	bindingBeta = "thinking-binding-controls-2026-08-01"
)

// What the format has for a provider that shortens prompts by itself (Anthropic, "Context
// editing", "Compaction").
const (
	contextManagement = "context_management"
	clearToolUses     = "clear_tool_uses_20250919"
	clearThinking     = "clear_thinking_20251015"
	compactKind       = "compact_20260112"
	clearingBeta      = "context-management-2025-06-27"
	compactBeta       = "compact-2026-01-12"
	leastTrigger      = 50_000 // of a compaction, in tokens (Anthropic, "Compaction")
)

// form names the settings that this format spells as others do.
var form = setting.Form{Stream: "stream", Temperature: "temperature", TopP: "top_p", Stop: "stop_sequences"}

// readSetting reads a member of a body into s, if it is one of the settings.
func readSetting(s *llm.Settings, name, value []byte) {
	switch string(name) {
	case "stream":
		s.Stream = string(value) == "true"
	case "temperature":
		s.Temperature = raw.Number(value)
	case "top_p":
		s.TopP = raw.Number(value)
	case "stop_sequences":
		s.Stop = raw.Texts(value)
	case "tool_choice":
		s.Choice = choiceOf(value)
	case "thinking":
		s.DropBrokenThinking = raw.Named(raw.Value(raw.Value(value, "block_binding"), "prefix_mismatch_behavior"), dropBlock)
	}
}

// choiceOf reads the value of tool_choice.
func choiceOf(value []byte) llm.Choice {
	if raw.IsNone(value) {
		return llm.Choice{}
	}
	v := raw.Values(value, "type", "name")
	kind := raw.Unquote(v[0])
	if kind == "tool" {
		return llm.Choice{Mode: llm.ChoiceTool, Tool: raw.Unquote(v[1])}
	}
	for mode := llm.ChoiceAuto; mode < llm.ChoiceTool; mode++ {
		if choiceWord(mode) == kind {
			return llm.Choice{Mode: mode}
		}
	}
	return llm.Choice{Mode: llm.ChoiceOther}
}

// choiceWord returns the type of tool_choice for a mode; empty if there is none.
func choiceWord(m llm.ChoiceMode) string {
	switch m {
	case llm.ChoiceAuto:
		return "auto"
	case llm.ChoiceNone:
		return "none"
	case llm.ChoiceAny:
		return "any"
	case llm.ChoiceTool:
		return "tool"
	}
	return ""
}

// putSettings changes those settings of the body that are others in is, also to nothing.
func putSettings(b *raw.Body, is llm.Settings) {
	var was llm.Settings
	var choice, thinking []byte
	b.Each(func(name, value []byte) {
		readSetting(&was, name, value)
		switch string(name) {
		case "tool_choice":
			choice = value
		case "thinking":
			thinking = value
		}
	})
	b.PutFields(form.Changes(was, is)...)
	b.PutFields(setting.Choice("tool_choice", was.Choice, is.Choice, toolChoice(is.Choice, choice))...)
	if was.DropBrokenThinking != is.DropBrokenThinking && raw.IsObject(thinking) {
		b.PutFields(raw.Field{Name: "thinking", Value: bound(thinking, is.DropBrokenThinking)})
	}
}

// toolChoice returns the value of tool_choice for c, nil if there is none. What old says of
// parallel calls stays; the type none has no such member.
func toolChoice(c llm.Choice, old []byte) []byte {
	if choiceWord(c.Mode) == "" {
		return nil
	}
	o := new(raw.Object).Text("type", choiceWord(c.Mode))
	if c.Mode == llm.ChoiceTool {
		o.Text("name", c.Tool)
	}
	if c.Mode != llm.ChoiceNone {
		o.Raw("disable_parallel_tool_use", raw.Value(old, "disable_parallel_tool_use"))
	}
	return o.Bytes()
}

// thinks reports whether the value of thinking turns it on.
func thinks(thinking []byte) bool {
	kind := raw.Unquote(raw.Value(thinking, "type"))
	return kind == "enabled" || kind == "adaptive"
}

// bound returns the value of thinking with a request to drop what is broken, or without it.
// Where thinking is off the field would be refused, and there is nothing to drop.
func bound(thinking []byte, drop bool) []byte {
	binding := raw.Value(thinking, "block_binding")
	switch {
	case drop && !thinks(thinking):
		return thinking
	case drop && !raw.IsObject(binding):
		binding = []byte("{}")
	}
	if drop {
		return raw.Set(thinking, "block_binding", raw.Set(binding, "prefix_mismatch_behavior", raw.Quote(dropBlock)))
	}
	if binding = raw.Delete(binding, "prefix_mismatch_behavior"); raw.Empty(binding) {
		return raw.Delete(thinking, "block_binding")
	}
	return raw.Set(thinking, "block_binding", binding)
}

// freshSettings adds the settings to a body that is written from the start.
func freshSettings(o *raw.Object, r llm.Request) {
	for _, f := range form.Changes(llm.Settings{}, r.Settings) {
		o.Raw(f.Name, f.Value)
	}
	if len(r.Tools) > 0 {
		o.Raw("tool_choice", toolChoice(r.Settings.Choice, nil))
	}
	freshThinking(o, r.Settings)
	if c := r.Settings.Clear; !c.IsZero() {
		o.Raw(contextManagement, clearing(c, thinks(raw.Value(o.Bytes(), "thinking"))))
	}
}

// freshThinking asks for thinking: by a budget, or, of models that decide themselves, by an
// effort. Beside a demand that a tool is called, and beside a temperature, it would be refused.
func freshThinking(o *raw.Object, s llm.Settings) {
	forced := s.Choice.Mode == llm.ChoiceAny || s.Choice.Mode == llm.ChoiceTool
	thinking := new(raw.Object)
	switch {
	case forced || s.Temperature != "":
		return
	case s.Effort.Budget > 0:
		thinking.Text("type", "enabled").Raw("budget_tokens", raw.Digits(s.Effort.Budget))
	case s.Effort.Word != "":
		thinking.Text("type", "adaptive")
		o.Raw("output_config", new(raw.Object).Text("effort", s.Effort.Word).Bytes())
	default:
		return
	}
	value := thinking.Bytes()
	if s.DropBrokenThinking {
		value = bound(value, true)
	}
	o.Raw("thinking", value)
}

// putClearing asks for what the provider is to take out of the prompt by itself, in a body that
// says nothing of that kind.
func putClearing(b *raw.Body, c llm.Clearing) {
	_, thinking := b.Find("thinking")
	if value := clearing(c, thinks(thinking)); value != nil && asks(b) {
		b.PutFields(raw.Field{Name: contextManagement, Value: value})
	}
}

// asks reports whether a clearing may be written into a body.
func asks(b *raw.Body) bool {
	at, _ := b.Find(contextManagement)
	return at.Len() == 0
}

// clearing returns the value of context_management for c, nil if there is nothing to ask for. What
// is about thinking stands first, and is refused where the model does not think.
func clearing(c llm.Clearing, thinking bool) []byte {
	var edits [][]byte
	if c.Thinking > 0 && thinking {
		edits = append(edits, new(raw.Object).Text("type", clearThinking).Raw("keep", figureOf("thinking_turns", c.Thinking)).Bytes())
	}
	if c.Above > 0 {
		edits = append(edits, clearingOutputs(c))
	}
	if c.Compact > 0 {
		trigger := figureOf("input_tokens", max(c.Compact, leastTrigger))
		edits = append(edits, new(raw.Object).Text("type", compactKind).Raw("trigger", trigger).Bytes())
	}
	if edits == nil {
		return nil
	}
	return new(raw.Object).Raw("edits", raw.Array(edits)).Bytes()
}

func figureOf(kind string, n int) []byte {
	return new(raw.Object).Text("type", kind).Raw("value", raw.Digits(n)).Bytes()
}

func clearingOutputs(c llm.Clearing) []byte {
	e := new(raw.Object).Text("type", clearToolUses).Raw("trigger", figureOf("input_tokens", c.Above)).Raw("keep", figureOf("tool_uses", c.Keep))
	if c.Least > 0 {
		e.Raw("clear_at_least", figureOf("input_tokens", c.Least))
	}
	var except [][]byte
	for _, name := range c.Except {
		except = append(except, raw.Quote(name))
	}
	if len(except) > 0 {
		e.Raw("exclude_tools", raw.Array(except))
	}
	return e.Bytes()
}

// Betas returns the values of the header anthropic-beta that the body of r, as
// [EncodeRequest] writes it, needs beyond those that the client sent with it.
func Betas(r llm.Request) []string {
	var out []string
	b, err := raw.NewBody(r.Frame)
	framed := r.Dialect == Dialect && len(r.Frame.Raw) > 0
	if framed && err != nil {
		return nil
	}
	if r.Settings.DropBrokenThinking && thinks(thinkingOf(r, b, framed)) {
		out = append(out, bindingBeta)
	}
	return append(out, clearingBetas(r, b, framed)...)
}

// clearingBetas returns the betas of what the provider is asked to take out, and of compactions
// that are sent back to it.
func clearingBetas(r llm.Request, b *raw.Body, framed bool) (out []string) {
	c := r.Settings.Clear
	if framed && !asks(b) {
		c = llm.Clearing{}
	}
	if c.Above > 0 || c.Thinking > 0 && thinks(thinkingOf(r, b, framed)) {
		out = append(out, clearingBeta)
	}
	holds := func(m llm.Message) bool { return llm.Compacts(m) == maker }
	if c.Compact > 0 || !framed && slices.ContainsFunc(r.Messages, holds) {
		out = append(out, compactBeta)
	}
	return out
}

// thinkingOf returns the value of thinking in the body of r.
func thinkingOf(r llm.Request, b *raw.Body, framed bool) []byte {
	if framed {
		_, thinking := b.Find("thinking")
		return thinking
	}
	o := new(raw.Object)
	freshThinking(o, r.Settings)
	return raw.Value(o.Bytes(), "thinking")
}
