package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/prompt"
)

// SetPrompt says what the system prompt is made of now. A host may say so before every
// request: what has not changed changes nothing. What has changed after the first request is,
// as the policy says (policy.Front), sent in its place, or told at the end in a note. While
// calls are open there is no place for a note; the next SetPrompt makes it.
type SetPrompt struct{ Sections []prompt.Section }

func (SetPrompt) input() {}

// sectionRule begins the rule of a note that tells of a changed section, before its name.
const sectionRule = "section:"

// feedPrompt brings what the model knows of the sections to what they are now.
func (m *prompter) feedPrompt(in SetPrompt) {
	p, err := prompt.Build(in.Sections)
	if err != nil { // R002-26
		p = prompt.Plain(in.Sections)
		if !slices.EqualFunc(m.sections, p, sameSection) {
			m.event(EventSections, "", "the sections are sent as one text, in the order that they came in: %v", err)
		}
	}
	if err != nil || m.policy.Prompt.Changed != policy.ChangedNote || !m.Began() || m.unbuilt() {
		m.feedSections(SetSections{Sections: p})
		return
	}
	if len(m.turns.OpenCalls()) > 0 {
		return
	}
	for _, ch := range inOrder(prompt.Changes(m.toldUnless(p), p)) {
		m.tellSection(ch)
	}
}

// toldUnless returns the sections as the view tells them, and of those that were told and have
// left the view the ones that are none of p: that they hold no more has to be told, too, since
// a summary may have them, and a restart goes by what was told last.
func (m *prompter) toldUnless(p []llm.Section) []llm.Section {
	told := m.toldBy(m.view.Edits())
	for _, s := range m.toldBy(m.journal) {
		same := func(o llm.Section) bool { return o.Name == s.Name }
		if !slices.ContainsFunc(told, same) && !slices.ContainsFunc(p, same) {
			told = append(told, s)
		}
	}
	return told
}

// inOrder returns changes in the order in which they are told: what instructs the model first, skills by
// name, as it does not matter to a note in which order they were set.
func inOrder(changes []prompt.Change) []prompt.Change {
	slices.SortStableFunc(changes, func(a, b prompt.Change) int {
		if a.Kind == b.Kind && a.Kind == llm.SectionSkills {
			return strings.Compare(a.Name, b.Name)
		}
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.At-b.At)
	})
	return changes
}

// unbuilt reports whether the system prompt is not one that was built of sections, so that
// none of it has a place by itself.
func (m *prompter) unbuilt() bool {
	return !slices.ContainsFunc(m.sections, func(s llm.Section) bool { return s.Name != llm.SystemText("").Name })
}

// ToldSections returns the sections as they were told last: those of the system prompt, with
// what notes say of them, also notes that have left the view. What a note says has the name and
// the text alone, and the kind of its slot.
func (m *prompter) ToldSections() []llm.Section { return m.toldBy(m.journal) }

// toldBy returns the sections of the system prompt, with what the notes of edits say of them.
func (m *prompter) toldBy(edits []edit.Edit) []llm.Section {
	told := slices.Clone(m.sections)
	for _, e := range edits {
		name, ok := strings.CutPrefix(e.Rule, sectionRule)
		if !ok || e.Op != edit.Insert || len(e.Notes) == 0 || e.ID <= m.told {
			continue
		}
		_, text, _ := strings.Cut(e.Notes[0].Text(), sectionHead)
		told = slices.DeleteFunc(told, func(s llm.Section) bool { return s.Name == name })
		if text != "" {
			told = append(told, llm.Section{Name: name, Kind: prompt.KindOf(name), Text: text})
		}
	}
	return told
}

// The texts of a note about a section: what it is called, and how it reads.
const (
	sectionHead = "\n"
	sectionNow  = "[%s: this holds from here on, in place of what was said before]" + sectionHead + "%s"
	sectionGone = "[%s: no longer holds]"
)

// tellSection makes the note of one change. What instructs the model stays in view as rules
// do; a note that has left the view is made again.
func (m *prompter) tellSection(ch prompt.Change) {
	text := fmt.Sprintf(sectionNow, ch.Name, ch.Now)
	if ch.Now == "" {
		text = fmt.Sprintf(sectionGone, ch.Name)
	}
	n := edit.NoteOf(llm.Text{Text: text})
	if ch.Kind == llm.SectionSystem {
		n.Flags |= llm.FlagRules
	}
	rule := sectionRule + ch.Name
	if m.adopt(edit.Plan{Edits: []edit.Edit{m.insertion(n, rule, "the section has changed")}}, rule) {
		m.event(EventSections, rule, "%s has changed: the model is told in a note of %d tokens", ch.Name, m.gauge.Message(n))
	}
}
