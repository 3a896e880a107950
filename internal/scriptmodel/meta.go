package scriptmodel

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// A fixed date stands wherever a body must have one.
const someDay = "2026-01-01T00:00:00Z"

// counted answers the request to count tokens.
func (x *exchange) counted() answer {
	n := x.prompt.Tokens()
	if x.route.dialect == generate {
		details := [][]byte{object("modality", "TEXT", "tokenCount", n)}
		return jsonAnswer(object("totalTokens", n, "promptTokensDetails", details))
	}
	return jsonAnswer(x.report(object("input_tokens", n), []byte("{")))
}

// models lists the models that the script names, or one made-up name.
func (x *exchange) models() (answer, *wire.Error) {
	var all [][]byte
	names := x.names()
	for _, name := range names {
		all = append(all, x.describe(name))
	}
	switch x.route.dialect {
	case messages:
		first, last := names[0], names[len(names)-1]
		return jsonAnswer(object("data", all, "has_more", false, "first_id", first, "last_id", last)), nil
	case generate, native:
		return jsonAnswer(object("models", all)), nil
	}
	return jsonAnswer(object("object", "list", "data", all)), nil
}

func (x *exchange) names() []string {
	var names []string
	for _, r := range x.script.Models {
		if !strings.ContainsAny(r.Model, `*?[\`) {
			names = append(names, r.Model)
		}
	}
	if len(names) == 0 {
		return []string{"scripted-model"}
	}
	return names
}

// model shows one model. Every name is one.
func (x *exchange) model() (answer, *wire.Error) {
	if x.route.dialect != native {
		return jsonAnswer(x.describe(x.route.model)), nil
	}
	name := x.field("model").String()
	if name == "" {
		name = x.field("name").String()
	}
	if name == "" {
		return answer{}, x.bad("model is required", "")
	}
	window, _ := x.script.limits(name)
	info := object("general.architecture", "scripted", "scripted.context_length", window)
	return jsonAnswer(object(
		"modelfile", "", "parameters", "", "template", "", "details", rawJSON(details()), "model_info", rawJSON(info),
		"capabilities", rawJSON(`["completion","tools","thinking"]`), "modified_at", someDay,
	)), nil
}

// details is what the native dialect says about a model's file.
func details() []byte {
	return object("parent_model", "", "format", "gguf", "family", "scripted", "families", rawJSON(`["scripted"]`), "parameter_size", "1B",
		"quantization_level", "Q4_0")
}

// describe returns a model in the list's form of the dialect.
func (x *exchange) describe(name string) []byte {
	window, output := x.script.limits(name)
	switch x.route.dialect {
	case messages:
		return object("type", "model", "id", name, "display_name", name, "created_at", someDay,
			"max_input_tokens", window, "max_tokens", output)
	case generate:
		return object("name", "models/"+name, "version", "001", "displayName", name, "inputTokenLimit", window, "outputTokenLimit", output,
			"supportedGenerationMethods", rawJSON(`["generateContent","countTokens"]`))
	case native:
		return object("name", name, "model", name, "modified_at", someDay, "size", 1, "digest", "0", "details", rawJSON(details()))
	}
	return object("id", name, "object", "model", "created", 0, "owned_by", "scripted")
}
