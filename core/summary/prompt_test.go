package summary_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/summary"
)

var kinds = []summary.Kind{summary.CacheCompact, summary.Layered, summary.TurnBudget, summary.Balanced}

func TestPrompt(t *testing.T) {
	t.Run("R001-18_directives_are_bullets_after_the_prompt", func(t *testing.T) {
		got := summary.Prompt(summary.CacheCompact, summary.PromptOptions{
			Retain:            true,
			SummaryPrompt:     "Say what happened.",
			SummaryDirectives: []string{"name every owner", " ", "two\nlines"},
			RetainPrompt:      "List what must stay.",
			RetainDirectives:  []string{"all references"},
		})
		for _, want := range []string{
			"\nSay what happened.\n- name every owner\n- two\n  lines\n",
			"\nList what must stay.\n- all references\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in\n%s", want, got)
			}
		}
	})
	t.Run("R001-11_retain_comes_first_and_only_if_asked_for", func(t *testing.T) {
		for _, kind := range kinds {
			with := summary.Prompt(kind, summary.PromptOptions{Retain: true})
			if at := strings.Index(with, "<retain>"); at < 0 || at > strings.Index(with, "<summary>") {
				t.Errorf("%s: retain is not asked for first", kind)
			}
			without := summary.Prompt(kind, summary.PromptOptions{RetainPrompt: "keep", RetainDirectives: []string{"keep too"}})
			if strings.Contains(strings.ToLower(without), "retain") || strings.Contains(without, "keep too") {
				t.Errorf("%s: retain is asked for:\n%s", kind, without)
			}
		}
	})
	t.Run("R001-11_the_default_asks_for_decisions_results_constraints_and_next_steps", func(t *testing.T) {
		got := summary.Prompt(summary.CacheCompact, summary.PromptOptions{Retain: true})
		for _, word := range []string{"decided", "done", "constraints", "next", "references", "paths", "identifiers", "commands", "TODOs", "decisions"} {
			if !strings.Contains(got, word) {
				t.Errorf("%q is missing", word)
			}
		}
	})
	t.Run("R001-15_what_is_asked_for_is_what_Parse_reads", func(t *testing.T) {
		for _, kind := range append(slices.Clone(kinds), "unheard of") {
			form := summary.Prompt(kind, summary.PromptOptions{Retain: true})
			form = form[strings.LastIndex(form, "<retain>"):]
			if got := summary.Parse(form); got != (summary.Answer{Retain: "…", Summary: "…"}) {
				t.Errorf("%s: read %+v", kind, got)
			}
		}
	})
	t.Run("kinds_differ", func(t *testing.T) {
		seen := map[string]summary.Kind{}
		for _, kind := range kinds {
			got := summary.Prompt(kind, summary.PromptOptions{})
			if other, ok := seen[got]; ok {
				t.Errorf("%s asks as %s does", kind, other)
			}
			seen[got] = kind
		}
	})
	t.Run("previous_focus_and_limits", func(t *testing.T) {
		got := summary.Prompt(summary.TurnBudget, summary.PromptOptions{Previous: "the old story\n", Focus: "the schema", MaxTokens: 2000, MaxWords: 500})
		for _, want := range []string{"<previous_summary>\nthe old story\n</previous_summary>", "the schema", "at most 500 words and at most 2000 tokens"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in\n%s", want, got)
			}
		}
		if got := summary.Prompt(summary.TurnBudget, summary.PromptOptions{}); strings.Contains(got, "previous_summary") || strings.Contains(got, "at most") {
			t.Errorf("nothing of the kind was given:\n%s", got)
		}
	})
}
