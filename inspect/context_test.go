package inspect_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// TestContext: each kind of content is in a row of its own, under the name that a chart has for it,
// the rows add up to the prompt, and what is free is what the client does not keep.
func TestContext(t *testing.T) {
	l := newLog()
	l.seg.Sections = []llm.Section{{Name: "system", Text: "You tend the harbour."}}
	l.seg.Tools = []llm.Tool{{Name: "read", Description: "Reads a chart."}, {Name: "mcp__tide__table", Description: "Says when high water is."}}
	l.add(llm.Message{Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagRules, Parts: []llm.Part{text("Never sound the bell at night.")}}, nil)
	l.add(llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{text("Base directory for this skill: /skills/bell")}}, nil)
	l.human("Read the chart.")
	l.reply(llm.Usage{Input: 9_000, Output: 20}, call("c1", "read", "{}"), call("c2", "mcp__tide__table", "{}"))
	l.add(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "c1", Content: []llm.Part{text("fathoms")}}, llm.ToolResult{CallID: "c2", Content: []llm.Part{text("high water at noon")}},
	}}, nil)
	l.reply(llm.Usage{Input: 9_200, Output: 20}, text("Read."))
	o := withShip(t)
	c, err := inspect.ContextOf(&l.s, inspect.StepRef{Segment: 1, Step: 2}, o)
	if err != nil {
		t.Fatal(err)
	}
	sum, rows := 0, map[string]int{}
	for _, r := range c.Rows {
		sum += r.Tokens
		rows[r.What+" "+r.Name] += r.Items
	}
	for what, items := range map[string]int{
		"hidden ": 1, "system ": 1, "tools ": 1, "MCP tools tide": 1, "memory files ": 1, "skills ": 1, "human ": 1, "calls ": 2,
		"outputs ": 1, "MCP outputs tide": 1,
	} {
		if rows[what] != items {
			t.Errorf("%s: want %d, got %d of %v", what, items, rows[what], rows)
		}
	}
	if sum != 9_200 || c.Tokens != sum || c.Buffer != 34_000 || c.Free != 200_000-34_000-9_200 {
		t.Errorf("want rows of 9,200 tokens and the rest free but for the buffer, got %d, %+v", sum, c)
	}
	l.report(t, o)
}
