package openai

import (
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// readSetting reads a member of a body that says how to answer; both formats name them
// alike, but only Chat has stop. Values of a wrong kind are the provider's to refuse.
func readSetting(s *llm.Settings, name string, value []byte) {
	switch name {
	case "stream":
		s.Stream = len(value) > 0 && value[0] == 't'
	case "temperature":
		s.Temperature = numberText(value)
	case "top_p":
		s.TopP = numberText(value)
	case "stop":
		s.Stop = readStops(value)
	case "tool_choice":
		s.Choice = readChoice(value)
	}
}

// isSetting reports whether readSetting knows the member.
func isSetting(name []byte) bool {
	switch string(name) {
	case "stream", "temperature", "top_p", "stop", "tool_choice":
		return true
	}
	return false
}

func isNumber(b []byte) bool { return raw.KindOf(b) == "number" && raw.Check(b) == nil }

func numberText(b []byte) string {
	if !isNumber(b) {
		return ""
	}
	return string(b)
}

// readStops reads stop: one text or a list of them.
func readStops(value []byte) []string {
	if raw.IsString(value) {
		return []string{raw.Unquote(value)}
	}
	var stops []string
	for _, s := range raw.Elements(value) {
		if b := raw.Slice(value, s); raw.IsString(b) {
			stops = append(stops, raw.Unquote(b))
		}
	}
	return stops
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

// A setting is a member to write.
type setting struct {
	name  string
	value []byte
}

// writeSettings returns the members that state s. Nothing that is not stated is written,
// and no choice where there are no tools: the API refuses it.
func writeSettings(r llm.Request, d llm.Dialect) []setting {
	s := r.Settings
	var all []setting
	if s.Stream {
		all = append(all, setting{"stream", []byte("true")})
	}
	for _, n := range []setting{{"temperature", []byte(s.Temperature)}, {"top_p", []byte(s.TopP)}} {
		if isNumber(n.value) {
			all = append(all, n)
		}
	}
	if len(s.Stop) > 0 && d == DialectChat {
		values := make([][]byte, len(s.Stop))
		for i, text := range s.Stop {
			values[i] = raw.Quote(text)
		}
		all = append(all, setting{"stop", raw.Array(values)})
	}
	if choice := writeChoice(s.Choice, r.Tools, d); choice != nil && len(r.Tools) > 0 {
		all = append(all, setting{"tool_choice", choice})
	}
	return all
}

// putSettings writes those settings of r into its body that say something else there.
func putSettings(b *raw.Body, r llm.Request, d llm.Dialect) {
	for _, s := range writeSettings(r, d) {
		var was, is llm.Settings
		at, value := b.Find(s.name)
		readSetting(&was, s.name, value)
		readSetting(&is, s.name, s.value)
		if !sameSettings(was, is) {
			b.Put(s.name, at, s.value)
		}
	}
}

func sameSettings(a, b llm.Settings) bool {
	return a.Stream == b.Stream && a.Temperature == b.Temperature && a.TopP == b.TopP && a.Choice == b.Choice && slices.Equal(a.Stop, b.Stop)
}

// addOutputLimit adds the member that limits the output, if a limit is stated.
func addOutputLimit(o *raw.Object, name string, n int) {
	if n > 0 {
		o.Raw(name, strconv.AppendInt(nil, int64(n), 10))
	}
}
