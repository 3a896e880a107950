package openai

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/setting"
)

// readSetting reads a member of a body that says how to answer; both formats name them
// alike, but only Chat has stop. Values of a wrong kind are the provider's to refuse.
func readSetting(s *llm.Settings, name string, value []byte) {
	switch name {
	case "stream":
		s.Stream = len(value) > 0 && value[0] == 't'
	case "temperature":
		s.Temperature = raw.Number(value)
	case "top_p":
		s.TopP = raw.Number(value)
	case "stop":
		s.Stop = raw.Texts(value)
	case "tool_choice":
		s.Choice = readChoice(value)
	case cacheKey:
		s.CacheKey = raw.Unquote(value)
	}
}

// cacheKey is the member that names a conversation, so that requests of one go to where
// their beginning is kept.
const cacheKey = "prompt_cache_key"

// isSetting reports whether readSetting knows the member.
func isSetting(name []byte) bool {
	switch string(name) {
	case "stream", "temperature", "top_p", "stop", "tool_choice", cacheKey:
		return true
	}
	return false
}

// readChoice reads tool_choice: a word, or an object that names a tool, in an object of
// its own in the Chat format. Lists of allowed tools and hosted tools are ChoiceOther.
func readChoice(value []byte) llm.Choice {
	if raw.IsString(value) {
		switch raw.Unquote(value) {
		case "auto":
			return llm.Choice{Mode: llm.ChoiceAuto}
		case "none":
			return llm.Choice{Mode: llm.ChoiceNone}
		case "required", "any":
			return llm.Choice{Mode: llm.ChoiceAny}
		}
		return llm.Choice{Mode: llm.ChoiceOther}
	}
	if !raw.IsObject(value) {
		return llm.Choice{}
	}
	v := raw.Values(value, "type", "name", "function", "custom")
	kind := raw.Unquote(v[0])
	for _, inner := range v[1:] {
		name := raw.Unquote(inner)
		if raw.IsObject(inner) {
			name = raw.Unquote(raw.Value(inner, "name"))
		}
		if name != "" && (kind == "function" || kind == "custom") {
			return llm.Choice{Mode: llm.ChoiceTool, Tool: name}
		}
	}
	return llm.Choice{Mode: llm.ChoiceOther}
}

// writeChoice returns tool_choice for one of tools; nil if there is nothing to say.
func writeChoice(c llm.Choice, tools []llm.Tool, d llm.Dialect) []byte {
	switch c.Mode {
	case llm.ChoiceAuto:
		return []byte(`"auto"`)
	case llm.ChoiceNone:
		return []byte(`"none"`)
	case llm.ChoiceAny:
		return []byte(`"required"`)
	case llm.ChoiceTool:
		kind := toolKind(c.Tool, tools)
		if d == DialectChat {
			inner := new(raw.Object).Text("name", c.Tool).Bytes()
			return new(raw.Object).Text("type", kind).Raw(kind, inner).Bytes()
		}
		return new(raw.Object).Text("type", kind).Text("name", c.Tool).Bytes()
	}
	return nil
}

// toolKind returns the type of the tool of that name.
func toolKind(name string, tools []llm.Tool) string {
	for _, t := range tools {
		b := t.Data
		if b == nil {
			b = t.Base
		}
		if t.Name == name && raw.Named(raw.Value(b, "type"), "custom") {
			return "custom"
		}
	}
	return "function"
}

// chatForm and responsesForm name the settings that the formats spell as others do.
var (
	chatForm      = setting.Form{Stream: "stream", Temperature: "temperature", TopP: "top_p", Stop: "stop"}
	responsesForm = setting.Form{Stream: "stream", Temperature: "temperature", TopP: "top_p"}
)

// changes returns the members that a body of r which says was needs to say the settings of
// r. No choice is written where there are no tools: the API refuses it. Options of a stream
// go with the stream, for the same reason.
func changes(was llm.Settings, r llm.Request, d llm.Dialect) []raw.Field {
	form := responsesForm
	if d == DialectChat {
		form = chatForm
	}
	all := form.Changes(was, r.Settings)
	if d == DialectChat && was.Stream && !r.Settings.Stream {
		all = append(all, raw.Field{Name: "stream_options"})
	}
	if was.CacheKey != r.Settings.CacheKey {
		f := raw.Field{Name: cacheKey}
		if r.Settings.CacheKey != "" {
			f.Value = raw.Quote(r.Settings.CacheKey)
		}
		all = append(all, f)
	}
	var choice []byte
	if len(r.Tools) > 0 {
		choice = writeChoice(r.Settings.Choice, r.Tools, d)
	}
	return append(all, setting.Choice("tool_choice", was.Choice, r.Settings.Choice, choice)...)
}

// putSettings changes those settings of the body that are others in r, also to nothing.
func putSettings(b *raw.Body, r llm.Request, d llm.Dialect) {
	var was llm.Settings
	b.Each(func(name, value []byte) {
		if isSetting(name) && (d == DialectChat || string(name) != "stop") {
			readSetting(&was, string(name), value)
		}
	})
	b.PutFields(changes(was, r, d)...)
}

// addOutputLimit adds the member that limits the output, if a limit is stated.
func addOutputLimit(o *raw.Object, name string, n int) {
	if n > 0 {
		o.Raw(name, raw.Digits(n))
	}
}
