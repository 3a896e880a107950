package summary_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, answer, retain, summary, open string }{
		{"R001-15_both", "<retain>\na.go\n</retain>\n<summary>\nDone.\n</summary>", "a.go", "Done.", ""},
		{"R001-15_in_the_other_order_with_talk_around", "Sure:\n<summary>Done.</summary>\nand\n<retain>a.go</retain>\nBye", "a.go", "Done.", ""},
		{"R001-15_in_any_case", "<Retain>a</RETAIN><SUMMARY>b</Summary>", "a", "b", ""},
		{"R001-15_no_summary_tag_is_the_text_without_the_retain_block", "Before. <retain>a</retain> After.", "a", "Before.  After.", ""},
		{"R001-15_no_tag_at_all", "  Just text.\n", "", "Just text.", ""},
		{"R001-15_retain_inside_the_summary", "<summary>x <retain>a</retain> y</summary>", "a", "x  y", ""},
		{"R001-15_nothing", "", "", "", ""},
		{"R001-15_empty_tags", "<retain></retain><summary> </summary>", "", "", ""},
		{"R001-15_the_first_summary_counts", "<summary>one</summary><summary>two</summary>", "", "one", ""},
		{"R001-15_cut_off_in_the_summary", "<retain>a</retain><summary>half a sent", "a", "half a sent", "<summary>"},
		{"R001-15_cut_off_in_the_retain_section", "<retain>a\nb", "a\nb", "", "<retain>"},
		{"R001-15_an_unclosed_retain_ends_at_the_summary", "<retain>a <summary>b</summary>", "a", "b", "<retain>"},
		{"R001-15_a_retain_section_that_is_never_closed", "<summary>b</summary><retain>a", "a", "b", "<retain>"},
		{"R001-15_a_tag_in_the_middle_of_a_text_that_is_never_closed", "They changed the <summary> element.", "", "element.", "<summary>"},
		{"R001-15_a_tag_that_the_summary_quotes", "<summary>They changed the <summary> element.</summary>", "", "They changed the <summary> element.", ""},
		{"R001-15_a_letter_that_grows_when_lowered", "İİİ<retain>İ</retain>İ<summary>ẞ</summary>", "İ", "ẞ", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := summary.Answer{Retain: tt.retain, Summary: tt.summary, Open: tt.open}
			if got := summary.Parse(tt.answer); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// The deterministic summary quotes people; what they write about tags is no tag of it.
func TestParseTakesTheDeterministicSummaryAsItStands(t *testing.T) {
	for _, words := range []string{"Why is <retain> never closed?", "<summary></summary>", "Make <summary>x</summary> bold."} {
		text := summary.Write([]llm.Message{said(1, llm.Human, words)}, summary.Options{MaxTokens: 1000})
		if !strings.Contains(text, words) {
			t.Fatalf("%q does not quote %q", text, words)
		}
		if got := summary.Parse(text); got != (summary.Answer{Summary: text}) {
			t.Errorf("got %+v, want all of %q", got, text)
		}
	}
}

func TestParseFindsWhatWasWrapped(t *testing.T) {
	plain := rapid.StringMatching(`[a-zA-Zäß .\n<>/-]{0,60}`).Filter(func(s string) bool {
		s = strings.ToLower(s)
		return !strings.Contains(s, "retain>") && !strings.Contains(s, "summary>")
	})
	rapid.Check(t, func(t *rapid.T) {
		retain, sum := plain.Draw(t, "retain"), plain.Draw(t, "summary")
		want := summary.Answer{Retain: strings.TrimSpace(retain), Summary: strings.TrimSpace(sum)}
		if got := summary.Parse("<retain>" + retain + "</retain>\n<summary>" + sum + "</summary>"); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("<retain>a</retain><summary>b</summary>")
	f.Add("<SUMMARY><retain></summary></retain>")
	f.Add("<summary><summary></summary>")
	f.Fuzz(func(t *testing.T, answer string) {
		got := summary.Parse(answer)
		retain, sum := got.Retain, got.Summary
		if !strings.Contains(answer, retain) {
			t.Errorf("the retain section %q is not in the answer", retain)
		}
		if len(retain)+len(sum) > len(answer) {
			t.Errorf("%d and %d bytes out of %d", len(retain), len(sum), len(answer))
		}
		if retain != strings.TrimSpace(retain) || sum != strings.TrimSpace(sum) {
			t.Errorf("not trimmed: %q, %q", retain, sum)
		}
	})
}
