package check

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A tables is what the catalogue says of models and of what is refused.
type tables struct {
	models   catalog.Catalog
	refusals catalog.Refusals
}

// known returns the embedded tables, which the tests of their package hold to be right.
var known = sync.OnceValue(func() (t tables) {
	t.models, _ = catalog.Load()
	t.refusals, _ = catalog.LoadRefusals()
	return t
})

// refusedOf returns what is refused of a request to a model; of no model what the format refuses.
func refusedOf(d llm.Dialect, model string) catalog.Refused {
	m, ok := known().models.Lookup(model)
	if !ok {
		m = catalog.Model{ID: model}
	}
	return known().refusals.Of(d, m)
}

// defaults are the values of settings that a model takes which refuses the setting.
func defaults() map[string]any {
	return map[string]any{
		"temperature": json.Number("1"), "top_p": json.Number("1"), "presence_penalty": json.Number("0"), "frequency_penalty": json.Number("0"),
		"top_logprobs": json.Number("0"), "logprobs": false,
	}
}

// statesOther reports whether a setting says something else than what holds without it.
func statesOther(n node) bool {
	switch v := n.v.(type) {
	case nil:
		return false
	case json.Number:
		want, ok := defaults()[n.at].(json.Number)
		f, err := v.Float64()
		w, _ := want.Float64() // it is one of the above
		return !ok || err != nil || f != w
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return n.v != defaults()[n.at]
}

// openaiSettings judges the settings of a request to OpenAI by its model and how hard that is to think.
func openaiSettings(n node, r catalog.Refused, effort string) {
	for _, name := range r.Names() {
		s := n.get(name)
		switch {
		case !statesOther(s) || !r.Refuses(name, effort):
		case name == "temperature":
			s.fault("setting", "Unsupported value: 'temperature' does not support %v with this model. Only the default (1) value is supported.", s.v)
		default:
			s.fault("setting", "Unsupported parameter: '%s' is not supported with this model.", name)
		}
	}
}

// settings judges the settings of a request to Claude by its model.
func (c *conversation) settings() {
	either := ""
	for _, name := range c.refused.Either {
		switch s := c.root.get(name); {
		case !s.has():
		case either != "":
			s.fault("setting", "`%s` and `%s` cannot both be specified for this model. Please use only one.", either, name)
		default:
			either = name
		}
	}
	for _, name := range c.refused.Names() {
		if s := c.root.get(name); statesOther(s) && c.refused.Refuses(name, "") {
			s.fault("setting", "`%s` is deprecated for this model.", name)
		}
	}
}

// atRoot returns the first of the members of a schema that may not stand at its root; empty if there is none.
func atRoot(schema node, r catalog.Refused) string {
	for _, word := range r.SchemaRoot {
		if schema.states(word) {
			return word
		}
	}
	return ""
}

// imageType returns the media type of an image as its bytes begin in base64; empty if they begin as none that is known.
func imageType(data string) string {
	for begin, kind := range map[string]string{"/9j/": "image/jpeg", "iVBORw0KGgo": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"} {
		if strings.HasPrefix(data, begin) {
			return kind
		}
	}
	return ""
}

// takes reports whether a format takes a media type, if it is one of an image. Where the bytes count, any name of a JPEG does.
func takes(r catalog.Refused, kind string) bool {
	kind = strings.ToLower(kind)
	if kind == "image/jpg" || kind == "image/pjpeg" {
		kind = "image/jpeg"
	}
	return !strings.HasPrefix(kind, "image/") || len(r.Images) == 0 || slices.Contains(r.Images, kind)
}
