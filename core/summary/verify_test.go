package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

// TestJudge: what a model answers stands for nothing if it was cut off, refuses, or names
// what is not there.
func TestJudge(t *testing.T) {
	ref := string(llm.RefOf([]byte("an output")))
	other := string(llm.RefOf([]byte("another one")))
	source := summary.SourceOf([]llm.Message{
		llm.UserText("Fix pkg/load/line.go, please."),
		llm.AssistantText("I look.", llm.ToolCall{CallID: "1", Name: "bash", Args: `{"command":"cd /srv/ship && cat docs/load.md"}`}),
		llm.ToolText("1", "The line is at Plimsoll's. whole: ref="+ref),
	}, "You work in /home/ann.")
	form, _, _ := strings.Cut(summary.Write([]llm.Message{llm.UserText("Fix it.")}, summary.Options{MaxTokens: 500}), "\n")
	for _, c := range []struct {
		name, text string
		stop       llm.Stop
		fault      string // what it says in part; empty: none
	}{
		{name: "tags", text: "<retain>ref=" + ref + "</retain><summary>pkg/load/line.go is fixed.</summary>"},
		{name: "R001-15_without_tags", text: "The line in line.go is fixed; docs/load.md is read."},
		{name: "from_another_folder", text: "<summary>/srv/ship/pkg/load/line.go and ./load/line.go are fixed</summary>"},
		{name: "proposed", text: "<summary>pkg/load/mark.go (proposed) comes next.</summary>"},
		{name: "quoted_refusal", text: "<summary>" + strings.Repeat("They talked about the line. ", 5) + "I'm sorry, said Ann.</summary>"},
		{name: "empty", text: " \n", fault: "empty"},
		{name: "empty_tags", text: "<retain></retain><summary> </summary>", fault: "empty"},
		{name: "never_closed", text: "<summary>They were about to", fault: "cut off"},
		{name: "cut_at_its_length", text: "<summary>They were.</summary>", stop: llm.StopLength, fault: "cut off"},
		{name: "window_full", text: "They were about to", stop: llm.StopWindow, fault: "cut off"},
		{name: "refused", text: "No.", stop: llm.StopRefusal, fault: "refused"},
		{name: "refused_in_words", text: "I'm sorry, but I can't help with that.", fault: "refuses"},
		{name: "invented_path", text: "<summary>pkg/load/mark.go is fixed.</summary>", fault: "pkg/load/mark.go"},
		{name: "invented_folder", text: "<summary>cmd/line.go is fixed.</summary>", fault: "cmd/line.go"},
		{name: "invented_ref", text: "<retain>ref=" + other + "</retain><summary>The line is fixed.</summary>", fault: other},
		{name: "proposed_ref", text: "<summary>The line is fixed, see ref=" + other + " (new).</summary>", fault: other},
		{name: "copies_the_form_of_code", text: form + "\n## Files changed\n- pkg/load/mark.go\n", fault: "pkg/load/mark.go"},
		{name: "proposed_elsewhere", text: "<summary>pkg/load/mark.go is fixed.\n(proposed)</summary>", fault: "mark.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, fault := summary.Judge(c.text, c.stop, source)
			if (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) {
				t.Errorf("fault %q, want %q", fault, c.fault)
			}
		})
	}
}

// TestJudgeOurs: what code writes names nothing but what there is, whatever was said.
func TestJudgeOurs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var msgs []llm.Message
		for i := range rapid.IntRange(1, 12).Draw(t, "rounds") {
			path := rapid.SampledFrom([]string{"/srv/a.go", "b/c.py", "x.md", "~/n/o.txt", "./q/r.ts"}).Draw(t, "path")
			id := fmt.Sprint("c", i)
			msgs = append(msgs,
				llm.UserText(rapid.StringMatching(`[a-z ./~]{0,200}`).Draw(t, "said")),
				llm.AssistantText("", llm.ToolCall{CallID: id, Name: "edit", Args: fmt.Sprintf(`{"file_path":%q}`, path)}),
				llm.ToolText(id, rapid.StringMatching(`[a-z ./:]{0,300}`).Draw(t, "out")))
		}
		text := summary.Write(msgs, summary.Options{MaxTokens: rapid.IntRange(50, 2000).Draw(t, "tokens")})
		if unknown := summary.SourceOf(msgs).Unknown(text); len(unknown) > 0 && !strings.Contains(text, "…") {
			t.Fatalf("names %q in\n%s", unknown, text)
		}
	})
}
