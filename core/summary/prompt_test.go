package summary_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/summary"
)

func TestPrompt(t *testing.T) {
	const summarise, keep = "Say what happened.", "List what must stay."
	t.Run("R001-18_directives_are_bullets_after_the_prompt", func(t *testing.T) {
		got := summary.Prompt(summary.PromptOptions{
			SummaryPrompt:     summarise,
			SummaryDirectives: []string{"name every owner", " ", "two\nlines"},
			RetainPrompt:      keep,
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
		with := summary.Prompt(summary.PromptOptions{SummaryPrompt: summarise, RetainPrompt: keep})
		if at := strings.Index(with, "<retain>"); at < 0 || at > strings.Index(with, "<summary>") {
			t.Errorf("retain is not asked for first:\n%s", with)
		}
		without := summary.Prompt(summary.PromptOptions{SummaryPrompt: summarise, RetainDirectives: []string{"keep too"}})
		if strings.Contains(strings.ToLower(without), "retain") || strings.Contains(without, "keep too") {
			t.Errorf("retain is asked for:\n%s", without)
		}
	})
	t.Run("R001-15_what_is_asked_for_is_what_Parse_reads", func(t *testing.T) {
		form := summary.Prompt(summary.PromptOptions{SummaryPrompt: summarise, RetainPrompt: keep})
		form = form[strings.LastIndex(form, "<retain>"):]
		if got := summary.Parse(form); got != (summary.Answer{Retain: "…", Summary: "…"}) {
			t.Errorf("read %+v", got)
		}
	})
	t.Run("previous_focus_and_limit", func(t *testing.T) {
		got := summary.Prompt(summary.PromptOptions{SummaryPrompt: summarise, Previous: "the old story\n", Focus: "the schema", MaxTokens: 2000})
		for _, want := range []string{"<previous_summary>\nthe old story\n</previous_summary>", "the schema", "at most 2000 tokens"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in\n%s", want, got)
			}
		}
		if got := summary.Prompt(summary.PromptOptions{SummaryPrompt: summarise}); strings.Contains(got, "previous_summary") || strings.Contains(got, "at most") {
			t.Errorf("nothing of the kind was given:\n%s", got)
		}
	})
}
