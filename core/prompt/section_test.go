package prompt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// all is a section for each slot, in an order that is not the one they are sent in.
func all() []Section {
	return []Section{
		Status.Section("83 % used"), Scratchpad.Section("look at hull 3"), Skill("knots", "Tie bowlines."),
		Memories.Section("The mate is called Ann."), Rules.Section("Write short words."), Base.Section("You look after ships."),
	}
}

// TestSections runs what is asked of sections.
func TestSections(t *testing.T) {
	t.Run("R002-12_sections_and_breakpoints", sectionsAndBreakpoints)
	t.Run("R002-13_order", ordered)
	t.Run("R003-16_static_part", staticPart)
	t.Run("R002-26_what_cannot_be_built_is_concatenated", concatenated)
}

func sectionsAndBreakpoints(t *testing.T) {
	p, err := Build(all())
	if err != nil {
		t.Fatal(err)
	}
	text, breakpoints := Text(p)
	want := "You look after ships.\n\nWrite short words.\n\nThe mate is called Ann.\n\nTie bowlines.\n\nlook at hull 3\n\n83 % used"
	if text != want {
		t.Errorf("text:\n%s\nwant\n%s", text, want)
	}
	// R002-13: breakpoints after sections 1 to 3.
	var ends []string
	for _, at := range breakpoints {
		ends = append(ends, text[:at][strings.LastIndex(text[:at], "\n")+1:])
	}
	if diff := cmp.Diff([]string{"You look after ships.", "Write short words.", "The mate is called Ann."}, ends); diff != "" {
		t.Error(diff)
	}
}

func ordered(t *testing.T) {
	p, err := Build(all())
	if err != nil {
		t.Fatal(err)
	}
	got := p
	want := []llm.Section{
		{Name: "base", Text: "You look after ships.", Cacheable: true},
		{Name: "rules", Text: "Write short words.", Cacheable: true},
		{Name: "memories", Text: "The mate is called Ann.", Cacheable: true},
		{Name: "skill knots", Kind: llm.SectionSkills, Text: "Tie bowlines."},
		{Name: "scratchpad", Kind: llm.SectionNotes, Text: "look at hull 3"},
		{Name: "status", Kind: llm.SectionNotes, Text: "83 % used"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A skill that stays is cacheable, and a base that does not stay stands behind it.
	skill, base := Skill("knots", "Tie bowlines."), Base.Section("It is Monday.")
	skill.Cacheable, base.Cacheable = true, false
	p, err = Build([]Section{base, skill, Rules.Section("Write short words.")})
	if err != nil {
		t.Fatal(err)
	}
	if text, at := Text(p); text != "Write short words.\n\nTie bowlines.\n\nIt is Monday." || !cmp.Equal(at, []int{18}) {
		t.Errorf("%q, breakpoints %v", text, at)
	}
}

// staticPart: whatever becomes of the dynamic sections, the bytes of the static ones stay and lead.
func staticPart(t *testing.T) {
	text := rapid.StringMatching(`[a-z ]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		static := []Section{Base.Section(text.Draw(t, "base")), Rules.Section(text.Draw(t, "rules")), Memories.Section(text.Draw(t, "memories"))}
		build := func(label string) []llm.Section {
			dynamic := []Section{Scratchpad.Section(text.Draw(t, label)), Status.Section(text.Draw(t, label))}
			for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 3, rapid.ID[string]).Draw(t, label) {
				dynamic = append(dynamic, Skill(name, text.Draw(t, label)))
			}
			p, err := Build(rapid.Permutation(append(dynamic, static...)).Draw(t, label))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		a, b := build("before"), build("after")
		before, at := Text(a)
		after, also := Text(b)
		if diff := cmp.Diff(at, also); diff != "" {
			t.Fatal(diff)
		}
		if n := len(at); n > 0 && before[:at[n-1]] != after[:at[n-1]] {
			t.Fatalf("the static part moved:\n%q\n%q", before, after)
		}
	})
}

func concatenated(t *testing.T) {
	for name, bad := range map[string][]Section{
		"two of one name":              {Rules.Section("a"), Rules.Section("b")},
		"no such slot":                 {{Slot: 17, Content: "a"}, Base.Section("b")},
		"not UTF-8":                    {Base.Section("a\xff"), Rules.Section("b")},
		"a name that is not":           {Skill("\xff", "a"), Rules.Section("b")},
		"a name of more than one line": {Skill("a\nb", "a"), Rules.Section("b")},
	} {
		if _, err := Build(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := Plain([]Section{Status.Section("late"), {}, Rules.Section("a\xff"), Rules.Section("b")})
	if diff := cmp.Diff([]llm.Section{{Name: "system", Text: "late\n\na\uFFFD\n\nb"}}, p); diff != "" {
		t.Error(diff)
	}
	if _, at := Text(p); at != nil {
		t.Errorf("breakpoints: %v, want none", at)
	}
	if p := Plain(nil); p != nil {
		t.Errorf("of nothing: %v", p)
	}
}

func TestChanges(t *testing.T) {
	build := func(sections ...Section) []llm.Section {
		p, err := Build(sections)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	was := build(Base.Section("b"), Rules.Section("r"), Skill("x", "1"), Scratchpad.Section("s"))
	now := build(Base.Section("b"), Memories.Section("m"), Skill("x", "2"), Scratchpad.Section("s"))
	want := []Change{
		{Name: "memories", At: 1, Now: "m"},
		{Name: "rules", At: 1, Was: "r"},
		{Name: "skill x", At: 2, Was: "1", Now: "2", Kind: llm.SectionSkills},
	}
	if diff := cmp.Diff(want, Changes(was, now)); diff != "" {
		t.Error(diff)
	}
	if got := Changes(was, was); got != nil {
		t.Errorf("of the same: %v", got)
	}
}
