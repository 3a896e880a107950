package prompt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func ruleNamed(t *testing.T, name string) catalog.CacheRule {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, ok := c.CacheRule(name)
	if !ok {
		t.Fatalf("no rule %s", name)
	}
	return r
}

// items are messages: u a person's, t a tool's, c a call, r a reply of thinking alone, w a blank text.
func items(kinds string) []edit.Item {
	var out []edit.Item
	for i, k := range kinds {
		m := map[rune]llm.Message{
			'u': llm.UserText("ahoy"), 't': llm.ToolText("1", "out"), 'c': llm.AssistantText("", llm.ToolCall{CallID: "1", Name: "look"}),
			'r': {Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Thinking{Text: "hm"}}}, 'w': llm.UserText(" \n"),
		}[k]
		m.ID = llm.MessageID(i + 1)
		out = append(out, edit.Item{Message: m, Before: m.ID})
	}
	return out
}

// on returns a mark on a piece.
func on(p llm.Piece, at int, m llm.Mark) llm.Place { return llm.Place{On: p, At: at, Mark: m} }

func TestMarks(t *testing.T) {
	const short, long = llm.MarkShort, llm.MarkLong
	base, rules, memories := llm.SystemText("b"), llm.SystemText("r"), llm.SystemText("m")
	skill, pad := llm.Section{Kind: llm.SectionSkills, Text: "s", Cacheable: true}, llm.Section{Kind: llm.SectionNotes, Text: "p"}
	for _, c := range []struct {
		name, rule, style string
		front             llm.Mark
		Layout
		want llm.Marks
	}{
		{
			"four: end of tools and base, end of the cacheable sections, end of the last request, end of this one", "anthropic", MarksMoving, short,
			Layout{2, []llm.Section{base, rules, memories, pad}, items("uctct")},
			llm.Marks{on(llm.OnSection, 0, short), on(llm.OnSection, 2, short), on(llm.OnMessage, 2, short), on(llm.OnMessage, 4, short)},
		},
		{
			"long-lived ones stand before the others", "anthropic", MarksMoving, long,
			Layout{2, []llm.Section{base, rules}, items("u")},
			llm.Marks{on(llm.OnSection, 0, long), on(llm.OnSection, 1, long), on(llm.OnMessage, 0, short)},
		},
		{
			"without cacheable sections the tools have one", "anthropic", MarksMoving, short,
			Layout{2, []llm.Section{pad, base}, items("u")},
			llm.Marks{on(llm.OnTool, 1, short), on(llm.OnMessage, 0, short)},
		},
		{
			"a mark stands on nothing blank and on no thinking", "anthropic", MarksMoving, short,
			Layout{0, []llm.Section{llm.SystemText(" ")}, items("uwctrw")},
			llm.Marks{on(llm.OnMessage, 3, short)},
		},
		{
			"what was said in vain has one mark", "anthropic", MarksMoving, short,
			Layout{0, nil, items("uw")},
			llm.Marks{on(llm.OnMessage, 0, short)},
		},
		{
			"more was shown than is now", "anthropic", MarksMoving, short, Layout{0, nil, items("u")}, llm.Marks{on(llm.OnMessage, 0, short)},
		},
		{
			"R002-14_after_sections_1_to_3_and_the_tools", "anthropic", MarksSections, short,
			Layout{2, []llm.Section{base, rules, memories, skill, pad}, items("uct")},
			llm.Marks{on(llm.OnTool, 1, short), on(llm.OnSection, 0, short), on(llm.OnSection, 1, short), on(llm.OnSection, 2, short)},
		},
		{"R002-14_others_ignore_them", "openai-marks", MarksSections, short, Layout{2, []llm.Section{base, rules}, items("u")}, nil},
		{
			"a provider that marks the end itself has those in front", "openai-marks", MarksMoving, long,
			Layout{2, []llm.Section{base, rules, pad}, items("uct")},
			llm.Marks{on(llm.OnSection, 0, short), on(llm.OnSection, 1, short)},
		},
		{"no mark on tools there", "openai-marks", MarksMoving, short, Layout{2, nil, items("u")}, nil},
		{"a provider without marks", "openai", MarksMoving, short, Layout{2, []llm.Section{base}, items("u")}, nil},
		{"none", "anthropic", MarksNone, short, Layout{2, []llm.Section{base}, items("u")}, nil},
		{"nothing to mark", "anthropic", MarksMoving, short, Layout{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Marks(ruleNamed(t, c.rule), c.style, c.front, c.Layout)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
