package gemini

import (
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// settingsOf reads generationConfig and toolConfig.
func settingsOf(config, toolConfig []byte) (llm.Settings, int) {
	limit, _ := raw.Int(nameMaxOutput.value(config)) // anything else is the provider's to refuse
	s := llm.Settings{
		Temperature: number(raw.Value(config, "temperature")),
		TopP:        number(nameTopP.value(config)),
		Choice:      choiceOf(nameCalling.value(toolConfig)),
	}
	stop := nameStop.value(config)
	for _, e := range raw.Elements(stop) {
		s.Stop = append(s.Stop, raw.Unquote(raw.Slice(stop, e)))
	}
	return s, max(limit, 0)
}

func number(value []byte) string {
	if raw.KindOf(value) != "number" {
		return ""
	}
	return string(value)
}

// choiceOf reads functionCallingConfig.
func choiceOf(config []byte) llm.Choice {
	allowed := nameAllowed.value(config)
	names := raw.Elements(allowed)
	switch mode := raw.Unquote(raw.Value(config, "mode")); {
	case mode == "" || mode == "MODE_UNSPECIFIED":
		return llm.Choice{}
	case mode == "AUTO":
		return llm.Choice{Mode: llm.ChoiceAuto}
	case mode == "NONE":
		return llm.Choice{Mode: llm.ChoiceNone}
	case mode == "ANY" && len(names) == 0:
		return llm.Choice{Mode: llm.ChoiceAny}
	case mode == "ANY" && len(names) == 1:
		return llm.Choice{Mode: llm.ChoiceTool, Tool: raw.Unquote(raw.Slice(allowed, names[0]))}
	}
	return llm.Choice{Mode: llm.ChoiceOther}
}

// withSettings returns generationConfig with what r states and old, what the config says
// so far, does not. nil if there is nothing to state.
func withSettings(config []byte, r llm.Request) []byte {
	old, limit := settingsOf(config, nil)
	out := config
	if raw.IsNone(out) {
		out = []byte("{}")
	}
	if r.MaxOutput > 0 && r.MaxOutput != limit {
		out = nameMaxOutput.set(out, strconv.AppendInt(nil, int64(r.MaxOutput), 10))
	}
	s := r.Settings
	if s.Temperature != "" && s.Temperature != old.Temperature {
		out = raw.Set(out, "temperature", []byte(s.Temperature))
	}
	if s.TopP != "" && s.TopP != old.TopP {
		out = nameTopP.set(out, []byte(s.TopP))
	}
	if len(s.Stop) > 0 && !slices.Equal(s.Stop, old.Stop) {
		out = nameStop.set(out, texts(s.Stop...))
	}
	if raw.IsNone(config) && string(out) == "{}" {
		return config
	}
	return out
}

// withChoice returns toolConfig with the choice that r states, if it is another one.
func withChoice(config []byte, choice llm.Choice) []byte {
	calling := nameCalling.value(config)
	if choice.Mode == llm.ChoiceUnset || choice.Mode == llm.ChoiceOther || choice == choiceOf(calling) {
		return config
	}
	if calling == nil {
		calling = []byte("{}")
	}
	calling = raw.Set(calling, "mode", raw.Quote(modeOf(choice.Mode)))
	if choice.Mode == llm.ChoiceTool {
		calling = nameAllowed.set(calling, texts(choice.Tool))
	} else {
		calling = raw.Delete(raw.Delete(calling, nameAllowed.camel), nameAllowed.snake)
	}
	if raw.IsNone(config) {
		config = []byte("{}")
	}
	return nameCalling.set(config, calling)
}

func modeOf(m llm.ChoiceMode) string {
	switch m {
	case llm.ChoiceNone:
		return "NONE"
	case llm.ChoiceAny, llm.ChoiceTool:
		return "ANY"
	}
	return "AUTO"
}

func texts(list ...string) []byte {
	values := make([][]byte, len(list))
	for i, s := range list {
		values[i] = raw.Quote(s)
	}
	return raw.Array(values)
}
