package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	all, err := LoadRefusals()
	if err != nil {
		t.Fatal(err)
	}
	known, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		model            string
		settings, either string
		prefill, forced  bool
	}{
		{"claude-opus-4", "", "", false, false},
		{"claude-opus-4-1", "", "temperature top_p", false, false},
		{"claude-sonnet-4-5-20250929", "", "temperature top_p", false, false},
		{"claude-opus-4-6", "", "temperature top_p", true, false},
		{"claude-opus-4-7", "temperature top_p top_k", "", true, false},
		{"anthropic/claude-opus-4.8", "temperature top_p top_k", "", true, false},
		{"claude-opus-5-5", "temperature top_p top_k", "", true, true},
		{"gpt-4o", "", "", false, false},
		{"o3-mini", "temperature top_p presence_penalty frequency_penalty logprobs top_logprobs logit_bias stop", "", false, false},
		{"gpt-5-mini", "temperature top_p presence_penalty frequency_penalty logprobs top_logprobs logit_bias stop", "", false, false},
		{"gpt-5.5-pro", "temperature top_p logprobs top_logprobs stop", "", false, false},
		{"gpt-6-astra", "temperature top_p logprobs top_logprobs", "", false, false},
		{"gpt-5-chat-latest", "", "", false, false},
		{"gpt-5.1", "", "", false, false},
		{"nobody-knows", "", "", false, false},
	}
	for _, test := range tests {
		t.Run(test.model, func(t *testing.T) {
			m, ok := known.Lookup(test.model)
			if !ok {
				m = Model{ID: test.model}
			}
			got := all.Of("anthropic", m)
			if strings.Join(got.Settings, " ") != test.settings || strings.Join(got.Either, " ") != test.either || got.Prefill != test.prefill || got.ForcedTool != test.forced {
				t.Errorf("want %+v, got %+v", test, got)
			}
			if got.Argument.Allows("bad key!") || !got.Argument.Allows("good.key-1") || !got.ImageStated || len(got.Images) != 4 {
				t.Errorf("what the format refuses, got %+v", got)
			}
		})
	}
	for _, test := range []struct {
		model, effort string
		refuses       bool
	}{
		{"gpt-5", "none", true},
		{"gpt-5.2", "", false},
		{"gpt-5.2", "none", false},
		{"gpt-5.2", "low", true},
		{"gpt-5.6-luna", "", true},
		{"gpt-5.6-luna", "none", false},
		{"gpt-6-luna", "", true},
		{"gpt-6-luna", "high", true},
		{"gpt-6-luna", "none", false},
		{"gpt-6.1-terra", "", true},
		{"gpt-6.1-sol", "none", true},
		{"gpt-6-astra", "none", true},
		{"gpt-4o", "", false},
	} {
		m, _ := known.Lookup(test.model)
		if got := all.Of("openai-chat", m).Refuses("temperature", test.effort); got != test.refuses {
			t.Errorf("%s with effort %q refuses a temperature: want %v, got %v", test.model, test.effort, test.refuses, got)
		}
	}
	if got := all.Of("ollama", Model{}); len(got.SchemaRoot) != 1 || len(got.Images)+got.Argument.Max > 0 || got.Prefill || got.BlankStop {
		t.Errorf("ollama, want nothing refused but $ref, got %+v", got)
	}
	if got := all.Of("gemini", Model{}); !got.Prefill || got.BlankStop || got.PrefillSpace {
		t.Errorf("gemini, want a prefill refused, got %+v", got)
	}
	if got := all.Of("anthropic", Model{}); got.Prefill || !got.BlankStop || !got.PrefillSpace {
		t.Errorf("anthropic, want white space refused, got %+v", got)
	}
	for _, f := range all.rows {
		if f.model && !slices.ContainsFunc(known.models, func(m Model) bool { return all.nearest(m.ID) == f.name }) {
			t.Errorf("%s, want a name of a model in the catalogue, or the beginning of one", f.name)
		}
	}
	for table, want := range map[string]string{
		"maker, m, settings, x":        "first field",
		"model, m, colour, x":          "third field",
		"format, f, argument, _":       "argument",
		"format, f, argument, _ many":  "a number",
		"model, m, settings, x, extra": "fields",
	} {
		if _, err := parseRefusals(table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want an error about %s, got %v", table, want, err)
		}
	}
}
