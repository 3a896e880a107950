package plimsoll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// answered is a session of n Turns with one Round each, to be summarised by sum.
func answered(t *testing.T, name string, sum plimsoll.Summariser, n int) *plimsoll.Session {
	t.Helper()
	s := open(t, plimsoll.Options{Policy: preset(t, name), Summariser: sum, Targets: []budget.Target{roomy()}})
	for i := 1; i <= n; i++ {
		call, result := round(i)
		add(t, s, human(fmt.Sprintf("Question %d.%s", i, strings.Repeat(" Why is it so?", 50))), call, result, reply("Done."+strings.Repeat(" Well.", 40)))
	}
	return s
}

// shownInstead returns the texts that an edit shows in place of what it took out.
func shownInstead(e edit.Edit) (texts []string) {
	for _, n := range e.Notes {
		texts = append(texts, n.Text())
	}
	for _, sec := range e.Sections {
		texts = append(texts, sec.Text)
	}
	return texts
}

// TestEmptySummary: what says nothing, or was cut off, takes nobody's place, whoever
// asks for it. Where the policy has code write a summary instead, that one does.
func TestEmptySummary(t *testing.T) {
	for _, text := range []string{
		"", " \n", "<summary></summary>", "<retain>x</retain>", "<retain></retain><summary> </summary>", "<retain>cut off her",
		"<summary>" + strings.Repeat("half of a summary, which is long enough by itself ", 60), "<summary>They talked.</summary>",
	} {
		for _, name := range policy.Presets() {
			t.Run(fmt.Sprintf("R001-15_%s_%.30s", name, text), func(t *testing.T) {
				c, err := answered(t, name, &summariser{text: text}, 6).Compact(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				byCode := preset(t, name).OnSummaryError == policy.SummaryFallback
				summaries := 0
				for _, e := range c.Edits {
					if e.Kind != edit.KindSummarise {
						continue
					}
					summaries++
					if shown := strings.Join(shownInstead(e), "\n"); !strings.Contains(shown, "[kept by code") || !strings.Contains(shown, "Question 1.") {
						t.Errorf("an edit shows %q", shown)
					}
				}
				if byCode != (summaries > 0) {
					t.Errorf("%d summaries, want one only where code writes it (%v)", summaries, byCode)
				}
				if !strings.Contains(c.Why, "no summary: ") && len(c.Edits) == 0 {
					t.Errorf("nothing was done, because %q", c.Why)
				}
			})
		}
	}
}

// TestSummaryThatQuotesTags: the deterministic summary is adopted whatever a person says
// about tags.
func TestSummaryThatQuotesTags(t *testing.T) {
	s := open(t, plimsoll.Options{Policy: preset(t, "balanced"), Targets: []budget.Target{roomy()}})
	add(t, s, human("Read."), reply("Yes?"), human("Why is <retain> never closed, and what is <summary></summary>?"))
	for i := range 5 {
		call, result := round(i)
		add(t, s, call, result)
	}
	add(t, s, human("And now?"))
	c, err := s.Compact(t.Context(), "")
	if err != nil || len(c.Edits) == 0 {
		t.Fatalf("%d edits (%q), %v, want a summary", len(c.Edits), c.Why, err)
	}
	shown := ""
	for _, e := range c.Edits {
		shown += strings.Join(shownInstead(e), "\n")
	}
	if want := "Why is <retain> never closed, and what is <summary></summary>?"; !strings.Contains(shown, want) {
		t.Errorf("%q is missing in\n%s", want, shown)
	}
}
