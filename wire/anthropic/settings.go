package anthropic

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// dropBlock is the value of prefix_mismatch_behavior that drops thinking which no longer
// fits its prefix; bindingBeta is what that field needs (research/proxy.md §0 F1).
const (
	dropBlock   = "drop_block"
	bindingBeta = "thinking-binding-controls-2026-08-01"
)

// decodeSetting reads the member name at c into s, if it is one of the settings.
func decodeSetting(s *llm.Settings, name []byte, c *raw.Cursor) {
	switch string(name) {
	case "stream":
		s.Stream = string(c.Value()) == "true"
	case "temperature":
		s.Temperature = numeral(c.Value())
	case "top_p":
		s.TopP = numeral(c.Value())
	case "stop_sequences":
		s.Stop = texts(c.Value())
	case "tool_choice":
		s.Choice = choiceOf(c.Value())
	case "thinking":
		s.DropBrokenThinking = raw.Named(raw.Value(raw.Value(c.Value(), "block_binding"), "prefix_mismatch_behavior"), dropBlock)
	}
}

// numeral returns value as it is spelled if it is a number.
func numeral(value []byte) string {
	if raw.KindOf(value) != "number" {
		return ""
	}
	return string(value)
}

// texts returns the strings of an array.
func texts(list []byte) []string {
	var out []string
	for _, at := range raw.Elements(list) {
		if lit := raw.Slice(list, at); raw.IsString(lit) {
			out = append(out, raw.Unquote(lit))
		}
	}
	return out
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

// putSettings changes those settings of the body that are stated and others.
func putSettings(b *raw.Body, s llm.Settings) {
	if s.Stream {
		if at, old := b.Find("stream"); string(old) != "true" {
			b.Put("stream", at, []byte("true"))
		}
	}
	putNumeral(b, "temperature", s.Temperature)
	putNumeral(b, "top_p", s.TopP)
	if len(s.Stop) > 0 {
		if at, old := b.Find("stop_sequences"); !slices.Equal(texts(old), s.Stop) {
			b.Put("stop_sequences", at, quoteAll(s.Stop))
		}
	}
	if choiceWord(s.Choice.Mode) != "" {
		if at, old := b.Find("tool_choice"); choiceOf(old) != s.Choice {
			b.Put("tool_choice", at, toolChoice(s.Choice, old))
		}
	}
	if s.DropBrokenThinking {
		putBinding(b)
	}
}

func putNumeral(b *raw.Body, name, number string) {
	if number == "" {
		return
	}
	if at, old := b.Find(name); string(old) != number {
		b.Put(name, at, []byte(number))
	}
}

func quoteAll(list []string) []byte {
	values := make([][]byte, len(list))
	for i, s := range list {
		values[i] = raw.Quote(s)
	}
	return raw.Array(values)
}

// toolChoice returns the value of tool_choice for c. What old says of parallel calls stays;
// the type none has no such member.
func toolChoice(c llm.Choice, old []byte) []byte {
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

// putBinding asks for broken thinking to be dropped. Where thinking is off the field
// would be refused, and there is nothing to drop.
func putBinding(b *raw.Body) {
	at, thinking := b.Find("thinking")
	if !thinks(thinking) {
		return
	}
	binding := raw.Value(thinking, "block_binding")
	if raw.Named(raw.Value(binding, "prefix_mismatch_behavior"), dropBlock) {
		return
	}
	if !raw.IsObject(binding) {
		binding = []byte("{}")
	}
	binding = raw.Set(binding, "prefix_mismatch_behavior", raw.Quote(dropBlock))
	b.Put("thinking", at, raw.Set(thinking, "block_binding", binding))
}

// freshSettings adds the settings to a body that is written from the start. Without
// thinking in it there is nothing that could be broken.
func freshSettings(o *raw.Object, r llm.Request) {
	s := r.Settings
	if s.Stream {
		o.Raw("stream", []byte("true"))
	}
	o.Raw("temperature", []byte(s.Temperature)).Raw("top_p", []byte(s.TopP))
	if len(s.Stop) > 0 {
		o.Raw("stop_sequences", quoteAll(s.Stop))
	}
	if len(r.Tools) > 0 && choiceWord(s.Choice.Mode) != "" {
		o.Raw("tool_choice", toolChoice(s.Choice, nil))
	}
}

// Betas returns the values of the header anthropic-beta that the body of r, as
// [EncodeRequest] writes it, needs beyond those that the client sent with it.
func Betas(r llm.Request) []string {
	if !r.Settings.DropBrokenThinking || r.Dialect != Dialect || len(r.Frame.Raw) == 0 {
		return nil
	}
	b, err := raw.NewBody(r.Frame)
	if err != nil {
		return nil
	}
	if _, thinking := b.Find("thinking"); !thinks(thinking) {
		return nil
	}
	return []string{bindingBeta}
}
