package plimsoll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// TestUsageAddsUp: what fills the window is said by component so that nothing is counted twice and
// nothing is missing: the shares add up to the count, those of the tools by where they come from to
// the tools, before and after a provider has reported something else, under every preset.
func TestUsageAddsUp(t *testing.T) {
	for _, preset := range policy.Presets() {
		for _, model := range []string{"claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro", "mystery"} {
			t.Run(preset+"/"+model, func(t *testing.T) {
				p, err := policy.Preset(preset)
				if err != nil {
					t.Fatal(err)
				}
				s := open(t, plimsoll.Options{
					Policy: p, Targets: []budget.Target{{Model: model, Window: budget.Window{Capacity: 60_000, OutputReserve: 4_000}}},
				})
				if err := s.SetSections(t.Context(), []llm.Section{
					{Name: "own", Text: strings.Repeat("You look after ships. ", 31)},
					{Name: "skills", Kind: llm.SectionSkills, Text: strings.Repeat("splice a rope; ", 17)},
				}); err != nil {
					t.Fatal(err)
				}
				if err := s.SetTools(t.Context(), []llm.Tool{
					{Name: "read", Description: "Reads a chart.", Schema: `{"type":"object"}`},
					{Name: "mcp__tide__table", Kind: llm.ToolOfServer, Description: "Says when high water is.", Schema: `{}`},
					{Name: "knots", Kind: llm.ToolOfSkill, Description: "Ties one.", Schema: `{}`},
				}); err != nil {
					t.Fatal(err)
				}
				for step := range 4 {
					add(t, s, human(fmt.Sprintf("Chart %d. %s", step, strings.Repeat("deep water ", 40*step))))
					addsUp(t, s.Usage())
					prepare(t, s)
					if err := s.Observe(t.Context(), llm.Usage{Input: 900 + 700*step, Output: 40}); err != nil {
						t.Fatal(err)
					}
					add(t, s, llm.AssistantText(strings.Repeat("Seven fathoms. ", 13)))
					addsUp(t, s.Usage())
				}
			})
		}
	}
}

func addsUp(t *testing.T, u plimsoll.Usage) {
	t.Helper()
	shares, tools := u.Shares(), 0
	if shares.Used() != u.Count.Point {
		t.Errorf("want shares of %d, got %d: %+v", u.Count.Point, shares.Used(), shares)
	}
	for i := range token.NumComponents {
		if of := token.Component(i); shares.Of(of) < 0 || u.Parts.Of(of) == 0 && shares.Of(of) != 0 {
			t.Errorf("%s: %d tokens of %d by the count", of, u.Parts.Of(of), shares.Of(of))
		}
	}
	for _, one := range u.Tools {
		tools += one.Tokens
	}
	if tools != u.Parts.Tools || len(u.Tools) != 3 || shares.Skills == 0 {
		t.Errorf("want three kinds of tools, together %d, and skills, got %d of %+v, %+v", u.Parts.Tools, tools, u.Tools, shares)
	}
}
