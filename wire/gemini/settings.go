package gemini

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/setting"
)

// settingsOf reads generationConfig and toolConfig.
func settingsOf(config, toolConfig []byte) (llm.Settings, int) {
	limit, _ := raw.Int(nameMaxOutput.value(config)) // anything else is the provider's to refuse
	s := llm.Settings{
		Temperature: raw.Number(raw.Value(config, "temperature")),
		TopP:        raw.Number(nameTopP.value(config)),
		Stop:        raw.Texts(nameStop.value(config)),
		Choice:      choiceOf(nameCalling.value(toolConfig)),
	}
	return s, max(limit, 0)
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

// withSettings returns generationConfig with what r says and the config so far does not.
// Names that it does not have yet are spelled as its others are, else in the given style.
func withSettings(config []byte, r llm.Request, outer style) []byte {
	old, limit := settingsOf(config, nil)
	form := setting.Form{Temperature: "temperature", TopP: nameTopP.in(config, outer), Stop: nameStop.in(config, outer)}
	var fields []raw.Field
	if r.MaxOutput > 0 && r.MaxOutput != limit {
		fields = append(fields, raw.Field{Name: nameMaxOutput.in(config, outer), Value: raw.Digits(r.MaxOutput)})
	}
	fields = append(fields, form.Changes(old, r.Settings)...)
	switch {
	case len(fields) == 0:
		return config
	case raw.IsNone(config):
		config = []byte("{}")
	}
	return raw.SetFields(config, fields...)
}

// withChoice returns toolConfig with the choice, if it is another one; nil if that leaves
// nothing.
func withChoice(config []byte, choice llm.Choice, outer style) []byte {
	calling := nameCalling.value(config)
	for _, f := range setting.Choice(nameCalling.in(config, outer), choiceOf(calling), choice, callingOf(calling, choice, outer.of(config))) {
		if raw.IsNone(config) {
			config = []byte("{}")
		}
		if config = raw.SetFields(config, f); raw.Empty(config) {
			return nil
		}
	}
	return config
}

// callingOf returns functionCallingConfig with the choice; nil if the format has no such.
func callingOf(old []byte, choice llm.Choice, outer style) []byte {
	if choice.Mode == llm.ChoiceUnset || choice.Mode >= llm.ChoiceOther {
		return nil
	}
	if old == nil {
		old = []byte("{}")
	}
	calling := raw.Set(old, "mode", raw.Quote(modeOf(choice.Mode)))
	if choice.Mode == llm.ChoiceTool {
		return raw.Set(calling, nameAllowed.in(calling, outer), raw.QuoteAll([]string{choice.Tool}))
	}
	return raw.Delete(raw.Delete(calling, nameAllowed.camel), nameAllowed.snake)
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
