package plimsoll_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A crew is a session with a system prompt in sections, and the folder of its rules.
type crew struct {
	*plimsoll.Session
	t       *testing.T
	folder  string
	options plimsoll.Options
}

func newCrew(t *testing.T, policy string) *crew {
	t.Helper()
	folder := t.TempDir()
	c := &crew{t: t, folder: folder, options: plimsoll.Options{
		Policy: preset(t, policy), Store: &store.Memory{}, WithoutTools: true,
		Targets: []budget.Target{{Provider: "anthropic", Model: "claude-sonnet-5", Window: budget.Window{Capacity: 100_000}}},
		Prompt:  &plimsoll.Prompt{Base: "You look after ships.", Rules: folder, Memories: "The mate is called Ann."},
	}}
	c.Session = open(t, c.options)
	return c
}

// rules writes a file of the folder, with a time of its own so that it is seen as edited.
func (c *crew) rules(name, text string, age time.Duration) {
	c.t.Helper()
	path, at := filepath.Join(c.folder, name), time.Unix(1_000_000, 0).Add(-age)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		c.t.Fatal(err)
	}
}

// says is a Turn of a person: what they say, the request, and a reply.
func (c *crew) says(text string) *engine.Send {
	c.t.Helper()
	if err := c.Append(c.t.Context(), llm.UserText(text)); err != nil {
		c.t.Fatal(err)
	}
	send := prepare(c.t, c.Session)
	if err := c.Reply(c.t.Context(), llm.Response{Message: llm.AssistantText("Aye.")}); err != nil {
		c.t.Fatal(err)
	}
	return send
}

// told returns the texts of the sections, and those of the notes.
func told(send *engine.Send) (sections, notes []string) {
	for _, s := range send.Sections {
		sections = append(sections, s.Text)
	}
	for _, it := range send.Items {
		if it.IsNote() {
			notes = append(notes, it.Message.Text())
		}
	}
	return sections, notes
}

func (c *crew) wants(send *engine.Send, sections, notes []string) {
	c.t.Helper()
	gotSections, gotNotes := told(send)
	if diff := cmp.Diff([][]string{sections, notes}, [][]string{gotSections, gotNotes}); diff != "" {
		c.t.Errorf("sections and notes, want - got +:\n%s", diff)
	}
}

// noticed returns what was told of sections and of their files.
func (c *crew) noticed() (texts []string) {
	c.t.Helper()
	if err := c.Close(); err != nil {
		c.t.Fatal(err)
	}
	for e := range c.Events(c.t.Context()) {
		if e.Kind == plimsoll.EventPrompt || e.Kind == plimsoll.EventNotice && e.Notice.Kind == engine.EventSections {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// TestSectionsThatChange: R002-28's sources, under a policy that rewrites what has changed (002) and under one that tells it in a note.
func TestSectionsThatChange(t *testing.T) {
	ctx := t.Context()
	t.Run("R002-28_rewritten", func(t *testing.T) {
		c := newCrew(t, "layered")
		c.rules("AGENTS.md", "Write short words.", 0)
		c.wants(c.says("Ahoy."), []string{"You look after ships.", "Write short words.", "The mate is called Ann."}, nil)

		c.rules("AGENTS.md", "Write long words.", time.Second) // edited
		if err := c.SetSkill(ctx, "knots", "Tie bowlines."); err != nil {
			t.Fatal(err)
		}
		c.wants(c.says("Go on."), []string{"You look after ships.", "Write long words.", "The mate is called Ann.", "Tie bowlines."}, nil)

		if err := c.SetSkill(ctx, "knots", ""); err != nil {
			t.Fatal(err)
		}
		if err := c.SetScratchpad(ctx, "Look at hull 3."); err != nil {
			t.Fatal(err)
		}
		// Asked again in the same Turn, the scratchpad is still that of its beginning.
		if sections, _ := told(prepare(t, c.Session)); slices.Contains(sections, "Look at hull 3.") {
			t.Errorf("scratchpad in the middle of a Turn: %q", sections)
		}
		c.wants(c.says("And now?"), []string{"You look after ships.", "Write long words.", "The mate is called Ann.", "Look at hull 3."}, nil)
		for i, want := range []string{"rules, skill knots changed", "skill knots changed", "scratchpad changed"} {
			if got := c.noticed(); len(got) != 3 || !strings.HasPrefix(got[i], want) || !strings.HasSuffix(got[i], "are written again") {
				t.Fatalf("notices: %q, want number %d to begin with %q", got, i, want)
			}
		}
	})
	t.Run("R002-28_in_a_note", func(t *testing.T) {
		c := newCrew(t, "balanced")
		c.rules("CLAUDE.md", "Write short words.", 0)
		front := []string{"You look after ships.", "Write short words.", "The mate is called Ann."}
		c.wants(c.says("Ahoy."), front, nil)
		c.wants(c.says("Nothing new?"), front, nil)

		c.rules("AGENTS.md", "Write long words.", 0) // comes before the other one
		if err := c.SetSkill(ctx, "knots", "Tie bowlines."); err != nil {
			t.Fatal(err)
		}
		rules, skill := "[rules: this holds from here on, in place of what was said before]\nWrite long words.", "[skill knots: this holds from here on, in place of what was said before]\nTie bowlines."
		send := c.says("Go on.")
		c.wants(send, front, []string{rules, skill})
		for _, it := range send.Items {
			if it.IsNote() && it.Message.Flags.Has(llm.FlagRules) != strings.HasPrefix(it.Message.Text(), "[rules") {
				t.Errorf("flags of %q: %v", it.Message.Text(), it.Message.Flags)
			}
		}
		c.wants(c.says("Again."), front, []string{rules, skill}) // told once

		// A session that is taken up knows what it has told.
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c.options.Prompt.Memories = "The mate is called Bo." // of a later start
		c.Session = open(t, c.options)
		c.wants(c.says("Still there?"), front, []string{rules, skill})
		if err := c.SetSkill(ctx, "knots", ""); err != nil {
			t.Fatal(err)
		}
		c.wants(c.says("No knots."), front, []string{rules, skill, "[skill knots: no longer holds]"})
	})
}

// TestPromptOfSections runs what is asked of a session whose system prompt stands in sections.
func TestPromptOfSections(t *testing.T) {
	t.Run("R002-28_rules_files", rulesFiles)
	t.Run("R002-26_a_prompt_that_cannot_be_built", unbuildable)
	t.Run("R003-1_R003-4_regions", regions)
	t.Run("R002-14_who_gets_the_marks", whoGetsMarks)
	t.Run("R002-31_sections_work_alone", workAlone)
	t.Run("R000-27_R002-30_reasoning_of_a_session", reasoningOfSession)
}

// rulesFiles: what is read of a project, and what is not.
func rulesFiles(t *testing.T) {
	front := func(rules ...string) []string {
		return append(append([]string{"You look after ships."}, rules...), "The mate is called Ann.")
	}
	t.Run("a link that leads out", func(t *testing.T) {
		c := newCrew(t, "layered")
		secret := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(secret, []byte("hidden"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(secret, filepath.Join(c.folder, "AGENTS.md")); err != nil {
			t.Skip(err)
		}
		c.wants(c.says("Ahoy."), front(), nil)
		c.wants(c.says("Go on."), front(), nil)
		if got := c.noticed(); len(got) != 1 || !strings.Contains(got[0], "AGENTS.md") {
			t.Errorf("notices: %q, want one that names the file", got)
		}
	})
	t.Run("a link within", func(t *testing.T) {
		c := newCrew(t, "layered")
		c.rules("RULES.txt", "Write short words.", 0)
		if err := os.Symlink("RULES.txt", filepath.Join(c.folder, "AGENT.md")); err != nil {
			t.Skip(err)
		}
		c.wants(c.says("Ahoy."), front("Write short words."), nil)
	})
	t.Run("what is no text, or too long, or gone", func(t *testing.T) {
		c := newCrew(t, "layered")
		c.rules("AGENTS.md", "Write short words.", 0)
		c.wants(c.says("Ahoy."), front("Write short words."), nil)
		c.rules("AGENTS.md", "\xff\xfe", time.Second)
		c.wants(c.says("Go on."), front("Write short words."), nil) // as it was
		c.rules("AGENTS.md", strings.Repeat("a", 256<<10+1), 2*time.Second)
		c.wants(c.says("Go on."), front("Write short words."), nil)
		if err := os.Remove(filepath.Join(c.folder, "AGENTS.md")); err != nil {
			t.Fatal(err)
		}
		c.wants(c.says("Go on."), front(), nil)
		if got := c.noticed(); len(got) != 3 || !strings.Contains(got[0], "UTF-8") || !strings.Contains(got[1], "262144 bytes") {
			t.Errorf("notices: %q", got)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		c := newCrew(t, "layered")
		if err := os.Remove(c.folder); err != nil {
			t.Fatal(err)
		}
		c.wants(c.says("Ahoy."), front(), nil)
	})
}

// unbuildable: its texts are sent as they come, and somebody is told.
func unbuildable(t *testing.T) {
	for _, name := range []string{"layered", "balanced"} {
		c := newCrew(t, name)
		c.says("Ahoy.")
		if err := c.SetSkill(t.Context(), "kn\nots", "Tie bowlines."); err != nil {
			t.Fatal(err)
		}
		c.wants(c.says("Go on."), []string{"You look after ships.\n\nThe mate is called Ann.\n\nTie bowlines."}, nil)
		if err := c.SetSkill(t.Context(), "kn\nots", ""); err != nil {
			t.Fatal(err)
		}
		c.wants(c.says("Go on."), []string{"You look after ships.", "The mate is called Ann."}, nil)
		if got := c.noticed(); !strings.Contains(got[0], "one text") {
			t.Errorf("%s: notices: %q", name, got)
		}
	}
}

func TestPromptIsWanted(t *testing.T) {
	s := open(t, plimsoll.Options{Targets: []budget.Target{target()}})
	if err := s.SetSkill(t.Context(), "knots", "Tie bowlines."); err == nil || !strings.Contains(err.Error(), "Options.Prompt") {
		t.Errorf("got %v", err)
	}
	if err := s.SetScratchpad(t.Context(), "hull 3"); err == nil {
		t.Error("no error")
	}
}

// regions: system prompt and tools are no part of the history, and the summary stands apart (R003-4).
func regions(t *testing.T) {
	c := newCrew(t, "turn-budget")
	c.says("Ahoy.")
	for _, m := range c.Messages() {
		if m.Role == llm.RoleSystem {
			t.Errorf("a system message in the history: %+v", m)
		}
	}
	u := c.Usage()
	if u.Parts.System == 0 || u.Parts.History == 0 || u.Parts.Summary != 0 {
		t.Errorf("parts %+v, count %+v", u.Parts, u.Count)
	}
	if text, at := c.View().Prompt(); text != "You look after ships.\n\nThe mate is called Ann." || !cmp.Equal(at, []int{21, 46}) {
		t.Errorf("%q, %v", text, at)
	}
}

// whoGetsMarks: under the document's policy one provider's requests have them, and all others ignore them.
func whoGetsMarks(t *testing.T) {
	c := newCrew(t, "layered")
	for model, want := range map[string]int{"claude-sonnet-5": 2, "gpt-5.6-luna": 0, "gemini-2.5-pro": 0, "mystery": 0} {
		send := prepare(t, c.Session, budget.Target{Model: model, Window: budget.Window{Capacity: 100_000}})
		if err := c.Append(t.Context(), llm.UserText("Ahoy.")); err != nil {
			t.Fatal(err)
		}
		for _, codec := range codecs.All() {
			body, err := codecs.Body(send.Request(), codec.Dialect())
			if err != nil {
				t.Fatal(err)
			}
			n := strings.Count(string(body.JSON), "cache")
			if want := want; codec.Dialect() != "anthropic" && n > 0 || codec.Dialect() == "anthropic" && n != want {
				t.Errorf("%s for %s: %d marks, want %d in the one dialect that has them:\n%s", model, codec.Dialect(), n, want, body.JSON)
			}
		}
	}
}

// workAlone: with no rule of the policy, without marks, and marks without sections.
func workAlone(t *testing.T) {
	c := newCrew(t, "off")
	if send := c.says("Ahoy."); len(send.Sections) != 2 || len(send.Marks) != 0 || send.Edited {
		t.Errorf("sections %v, marks %v, edited %v", send.Sections, send.Marks, send.Edited)
	}
	s := open(t, plimsoll.Options{Targets: c.options.Targets, WithoutTools: true})
	if err := s.SetSections(t.Context(), []llm.Section{llm.SystemText("You look after ships.")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), llm.UserText("Ahoy.")); err != nil {
		t.Fatal(err)
	}
	if send := prepare(t, s); len(send.Marks) != 2 {
		t.Errorf("marks %v, want one on the section and one at the end", send.Marks)
	}
}

// TestSectionNotesComeBack: the note of a section that a batch has taken out is made again, for what it says still holds.
func TestSectionNotesComeBack(t *testing.T) {
	c := newCrew(t, "balanced")
	c.options.Targets[0].Window.Capacity = 20_000
	c.Session = open(t, c.options)
	c.says("Ahoy.")
	if err := c.SetSkill(t.Context(), "knots", "Tie bowlines."); err != nil {
		t.Fatal(err)
	}
	note := "[skill knots: this holds from here on, in place of what was said before]\nTie bowlines."
	for n := range 60 {
		send := c.says(strings.Repeat("The wind has turned to the north again. ", 40) + strings.Repeat("x", n))
		if _, notes := told(send); !slices.Contains(notes, note) {
			t.Fatalf("request %d: notes %q", n, notes)
		}
	}
	if !slices.ContainsFunc(c.Edits(), func(e edit.Edit) bool { return e.Op == edit.Archive }) {
		t.Error("nothing was archived: the test tests nothing")
	}
}

// TestWhatWasToldAfterARestart: a skill whose note has left the view is still active, one that was ended while its
// note was out of view is not, and rules that cannot be read stay as they were.
func TestWhatWasToldAfterARestart(t *testing.T) {
	c := newCrew(t, "balanced")
	c.options.Targets[0].Window.Capacity = 20_000
	c.rules("AGENTS.md", "Keep the log.", time.Hour)
	c.Session = open(t, c.options)
	c.says("Ahoy.")
	for name, text := range map[string]string{"knots": "Tie bowlines.", "sails": "Reef early."} {
		if err := c.SetSkill(t.Context(), name, text); err != nil {
			t.Fatal(err)
		}
	}
	c.says("Go on.")
	shown := func() bool {
		return slices.ContainsFunc(c.View().Messages(), func(m llm.Message) bool { return strings.HasPrefix(m.Text(), "[skill sails: this") })
	}
	for n := 0; shown(); n++ { // until a batch has taken the notes out
		if n == 60 {
			t.Fatal("the note never leaves: the test tests nothing")
		}
		for _, m := range []llm.Message{llm.UserText(strings.Repeat("The wind has turned. ", 200) + strings.Repeat("x", n)), llm.AssistantText("Aye.")} {
			if err := c.Append(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Compact(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SetSkill(t.Context(), "sails", ""); err != nil {
		t.Fatal(err)
	}
	c.says("Go on.")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(c.folder, c.folder+".away"); err != nil {
		t.Fatal(err)
	}
	c.Session = open(t, c.options)
	_, notes := told(c.says("Still there?"))
	text := strings.Join(notes, "\n")
	if !strings.Contains(text, "Tie bowlines.") || !strings.Contains(text, "[skill sails: no longer holds]") || strings.Contains(text, "Reef early.") || strings.Contains(text, "[rules") {
		t.Errorf("notes %q", notes)
	}
}

// TestThinkingUnderToolsOfLater is law 6 for tools that are set while the model writes: its thinking is of the ones before.
func TestThinkingUnderToolsOfLater(t *testing.T) {
	o := plimsoll.Options{
		Policy: preset(t, "balanced"), Store: &store.Memory{}, WithoutTools: true,
		Targets: []budget.Target{{Provider: "anthropic", Model: "claude-opus-5-5", Window: budget.Window{Capacity: 100_000}}},
	}
	s := open(t, o)
	if err := s.Append(t.Context(), llm.UserText("Ahoy.")); err != nil {
		t.Fatal(err)
	}
	prepare(t, s)
	if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read", Schema: `{"type":"object"}`}}); err != nil {
		t.Fatal(err)
	}
	thought := llm.AssistantText("Aye.")
	thought.Parts = append([]llm.Part{llm.Thinking{Text: "hm", Signature: "c2ln"}}, thought.Parts...)
	if err := s.Reply(t.Context(), llm.Response{Message: thought}); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), llm.UserText("Go on.")); err != nil {
		t.Fatal(err)
	}
	if !prepare(t, s).DropBrokenThinking {
		t.Error("the thinking goes out under other tools, and nobody is asked to drop it")
	}
	if !prepare(t, open(t, o)).DropBrokenThinking {
		t.Error("nor after a restart")
	}
}

// reasoningOfSession: each request asks its own target, as far as that can be asked, and has its output limit (R002-30).
func reasoningOfSession(t *testing.T) {
	window := budget.Window{Capacity: 100_000, OutputReserve: 9_000}
	s := open(t, plimsoll.Options{Effort: "low", Targets: []budget.Target{{Model: "gpt-5", Window: window}}})
	if err := s.Append(t.Context(), llm.UserText("Ahoy.")); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]llm.Effort{"gpt-5": {Word: "low"}, "claude-sonnet-4-5": {Budget: 2048}, "gpt-4o": {}} {
		r := prepare(t, s, budget.Target{Model: model, Window: window}).Request()
		if r.Settings.Effort != want || r.MaxOutput != 9_000 {
			t.Errorf("%s: effort %+v, output %d, want %+v and 9,000", model, r.Settings.Effort, r.MaxOutput, want)
		}
	}
	if _, err := plimsoll.Open(t.Context(), plimsoll.Options{Effort: "hard", Targets: []budget.Target{target()}}); err == nil || !strings.Contains(err.Error(), "minimal") {
		t.Errorf("an effort that is none: %v", err)
	}
}

// TestThinkingUnderOtherSections is law 6 for a system prompt that was rewritten: what was thought under the old one is asked to be dropped, also
// after a restart; under a policy that tells changes in notes nothing is broken.
func TestThinkingUnderOtherSections(t *testing.T) {
	for name, broken := range map[string]bool{"layered": true, "balanced": false} {
		t.Run("law6_"+name, func(t *testing.T) {
			c := newCrew(t, name)
			c.options.Targets = []budget.Target{{Provider: "anthropic", Model: "claude-opus-5-5", Window: budget.Window{Capacity: 100_000}}}
			c.Session = open(t, c.options)
			if err := c.Append(t.Context(), llm.UserText("Ahoy.")); err != nil {
				t.Fatal(err)
			}
			prepare(t, c.Session)
			thought := llm.AssistantText("Aye.")
			thought.Parts = append([]llm.Part{llm.Thinking{Text: "hm", Signature: "c2ln"}}, thought.Parts...)
			if err := c.Reply(t.Context(), llm.Response{Message: thought}); err != nil {
				t.Fatal(err)
			}
			if err := c.SetSkill(t.Context(), "knots", "Tie bowlines."); err != nil {
				t.Fatal(err)
			}
			if send := c.says("Go on."); send.DropBrokenThinking != broken {
				t.Errorf("asked to drop: %v, want %v", send.DropBrokenThinking, broken)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			c.Session = open(t, c.options)
			if send := c.says("Still there?"); send.DropBrokenThinking != broken {
				t.Errorf("after a restart: %v, want %v", send.DropBrokenThinking, broken)
			}
			if err := c.SetSkill(t.Context(), "knots", ""); err != nil {
				t.Fatal(err)
			}
			if send := c.says("As before."); send.DropBrokenThinking {
				t.Error("under the prompt that it was made under it fits again")
			}
		})
	}
}
