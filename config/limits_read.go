package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// mostOutputBytes is more than any tool output that anybody would send whole.
const mostOutputBytes = 1_000_000_000

// bytes reads a number of bytes of a tool output.
func (r *settingsReader) bytes(path string, n *node) int {
	digits, want := figure(n, policy.UnitBytes)
	v, err := strconv.Atoi(digits)
	switch {
	case want != "":
		r.fault(n, "%s: want %s, got %s", path, want, describe(n))
		return 0
	case err != nil || v < 1 || v > mostOutputBytes:
		r.fault(n, "%s: want 1 to %d bytes, got %s", path, mostOutputBytes, describe(n))
		return 0
	}
	return v
}

// defaults reads the section defaults.
func (r *settingsReader) defaults(s *Settings, n *node) {
	if n.kind != object && n.kind != null {
		r.fault(n, "defaults: want what holds where nothing nearer says else, got %s", describe(n))
		return
	}
	for _, m := range n.members {
		path := "defaults." + m.name
		switch {
		case r.limit(&s.Defaults, inDefaults, path, m) || r.toolList(&r.tools.All, path, m):
		case isKeyName(m.name):
			r.literalKey(path, m.value)
		default:
			r.fault(m.value, "%s", wrongField(path, m.name, fieldsOf(inDefaults)))
		}
	}
}

// outputsSection is the section about tool outputs that has the keys of a source document.
const outputsSection = "toolOutputCache"

// outputs reads that section. It holds for all models, as the section defaults does.
func (r *settingsReader) outputs(s *Settings, n *node) {
	if n.kind != object && n.kind != null {
		r.fault(n, "%s: want how much of tool outputs is shown, got %s", outputsSection, describe(n))
		return
	}
	for _, m := range n.members {
		if path := outputsSection + "." + m.name; !r.limit(&s.Defaults, inOutputs, path, m) {
			r.fault(m.value, "%s", wrongField(path, m.name, fieldsOf(inOutputs)))
		}
	}
}

func (r *settingsReader) flag(path string, n *node) bool {
	if n.kind != flag {
		r.fault(n, "%s: want true or false, got %s", path, describe(n))
	}
	return n.text == "true"
}

// providerModels reads the models of a provider: a list of names, or names with
// what is stated about each.
func (r *settingsReader) providerModels(p *ProviderSettings, path string, n *node) {
	if n.kind != object {
		p.Models = r.modelNames(path, n)
		return
	}
	for _, m := range n.members {
		if strings.TrimSpace(m.name) == "" || strings.ContainsAny(m.name, "\t\n") {
			r.fault(m.value, "%s: want the name of a model, got %q", path, m.name)
		}
		p.Models = append(p.Models, m.name)
		r.providerModel(p, path+"."+m.name, m)
	}
}

// modelNames reads a list of models, each of which stands there once.
func (r *settingsReader) modelNames(path string, n *node) []string {
	if n.kind != list {
		return r.texts(path, n)
	}
	seen := map[string]bool{}
	for i, item := range n.items {
		switch at := fmt.Sprintf("%s[%d]", path, i); {
		case item.kind == number || item.kind == flag:
			r.fault(item, "%s: want the name of a model, got %s; a name that looks like that stands in quotes", at, item.text)
		case item.kind == text && seen[item.text]:
			r.fault(item, "%s: want each model once, got %s again", at, describe(item))
		}
		seen[item.text] = true
	}
	return r.texts(path, n)
}

func (r *settingsReader) providerModel(p *ProviderSettings, path string, model member) {
	switch model.value.kind {
	case object:
	case null: // a name and nothing about it
		return
	default:
		r.fault(model.value, "%s: want what is stated about a model, got %s", path, describe(model.value))
		return
	}
	l, tools := ModelLimits{Model: model.name}, ModelTools{Provider: p.Name, Model: model.name}
	for _, m := range model.value.members {
		at := path + "." + m.name
		switch {
		case r.limit(&l.Limits, inModel, at, m) || r.toolList(&tools.ToolLists, at, m):
		case isKeyName(m.name):
			r.literalKey(at, m.value)
		default:
			r.fault(m.value, "%s", wrongField(at, m.name, fieldsOf(inModel)))
		}
	}
	if l.Limits != (Limits{}) {
		p.ModelLimits = append(p.ModelLimits, l)
	}
	if tools.Allowed.Set() || tools.Denied.Set() {
		r.tools.Models = append(r.tools.Models, tools)
	}
}

// room reports windows whose stated figures leave nothing for a prompt. What a
// policy or the catalogue adds is seen when the settings of a model are resolved.
func (r *settingsReader) room(s Settings) {
	if s.Defaults.ContextWindow.Set() {
		r.left(s.Defaults, s.Defaults)
	}
	base := s.Defaults
	base.ContextWindow = Stated[int]{} // only of models that nobody knows
	for _, p := range s.Providers {
		r.left(p.Limits, p.Limits.over(base))
		for _, m := range p.ModelLimits {
			r.left(m.Limits, m.Limits.over(p.Limits).over(base))
		}
	}
}

// left reports that nothing is left of the window in all, at what the place itself
// states of it.
func (r *settingsReader) left(own, all Limits) {
	window, buffer, output := all.ContextWindow, all.ContextWindowBufferTokens, all.MaxOutputTokens
	at := first(first(own.MaxOutputTokens, own.ContextWindowBufferTokens), own.ContextWindow).From
	if at == (Origin{}) || !window.Set() || window.Value == 0 || buffer.Value+output.Value < window.Value {
		return
	}
	r.problems = append(r.problems, problem{place{at.Line, at.Column}, at.Field + ": want something left for the prompt, got " +
		edit.Thousands(window.Value) + " - " + edit.Thousands(buffer.Value) + " - " + edit.Thousands(output.Value) +
		" (contextWindow - contextWindowBufferTokens - maxOutputTokens)"})
}
