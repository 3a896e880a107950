package inspect

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A Context is what takes how much of the window in one request.
type Context struct {
	Schema  int    `json:"schema"`
	Session string `json:"session"`
	StepRef
	Model  string `json:"model"`
	Tokens int    `json:"tokens"`
	Kind   string `json:"kind"`
	Window int    `json:"window"` // 0: nobody knows
	// Buffer is about what the client keeps free by itself, compacting before; 0 where that is
	// not known. Free is what is left beside it, and not known where the window is not.
	Buffer int          `json:"buffer"`
	Free   int          `json:"free"`
	Rows   []ContextRow `json:"rows"` // they add up to Tokens
}

// A ContextRow is one kind of content.
type ContextRow struct {
	What   string `json:"what"`           // one of the constants below
	Name   string `json:"name,omitempty"` // of an MCP server
	Items  int    `json:"items"`
	Tokens int    `json:"tokens"`
}

// What a [ContextRow] is, in the order of a Context.
const (
	RowHidden     = "not in the file"
	RowSystem     = "system prompt"
	RowTools      = "tools"
	RowMCPTools   = "MCP tools"
	RowMemory     = "memory files"
	RowSkills     = "skills"
	RowSummary    = "summary"
	RowNotes      = "notes"
	RowHuman      = "human"
	RowModel      = "model"
	RowThinking   = "thinking"
	RowCalls      = "tool calls"
	RowOutputs    = "tool outputs"
	RowMCPOutputs = "MCP outputs"
	RowMedia      = "images and files"
)

var rowOrder = []string{
	RowHidden, RowSystem, RowTools, RowMCPTools, RowMemory, RowSkills, RowSummary, RowNotes, RowHuman, RowModel, RowThinking, RowCalls,
	RowOutputs, RowMCPOutputs, RowMedia,
}

// buffers are about how many tokens of a window clients keep free: Claude Code compacts at 83 %
// of 200,000, and by the same buffer below a larger window; opencode reserves 20,000.
var buffers = map[string]int{"claude-code": 34_000, "opencode": 20_000}

// ContextOf says what takes how much of the window in the request of a Step.
func ContextOf(s *sessionfile.Session, ref StepRef, o Options) (Context, error) {
	l, err := Contents(s, ref, o)
	if err != nil {
		return Context{}, err
	}
	c := Context{Schema: Schema, Session: l.Session, StepRef: ref, Model: l.Model, Tokens: l.Tokens, Kind: l.Kind, Rows: []ContextRow{}}
	c.Window = o.WindowOf(s, s.Segments[ref.Segment-1]).Tokens
	if b := buffers[s.Client]; c.Window > 2*b {
		c.Buffer = b
	}
	if c.Window > 0 {
		c.Free = max(0, c.Window-c.Buffer-c.Tokens)
	}
	for _, it := range l.Items {
		for _, p := range it.Parts {
			c.add(it, p)
		}
	}
	slices.SortStableFunc(c.Rows, func(a, b ContextRow) int {
		if d := slices.Index(rowOrder, a.What) - slices.Index(rowOrder, b.What); d != 0 {
			return d
		}
		return b.Tokens - a.Tokens
	})
	return c, nil
}

// add books a part.
func (c *Context) add(it Item, p Part) {
	row := ContextRow{What: rowOf(it, p)}
	if row.What == RowMCPTools || row.What == RowMCPOutputs {
		row.Name, _ = serverOf(p.Name)
	}
	i := slices.IndexFunc(c.Rows, func(r ContextRow) bool { return r.What == row.What && r.Name == row.Name })
	if i < 0 {
		i, c.Rows = len(c.Rows), append(c.Rows, row)
	}
	c.Rows[i].Items++
	c.Rows[i].Tokens += p.Tokens
}

// rowOf says what a part is.
func rowOf(it Item, p Part) string {
	_, mcp := serverOf(p.Name)
	switch {
	case it.What == ItemHidden:
		return RowHidden
	case it.What == ItemTool && mcp:
		return RowMCPTools
	case it.What == ItemTool:
		return RowTools
	case it.What == ItemSection:
		return RowSystem
	case it.Rules:
		return RowMemory
	case p.Kind == "media" || p.By[token.ContentMedia.String()] > p.Tokens/2:
		return RowMedia
	case isSkill(p):
		return RowSkills
	case p.By[token.ContentSummary.String()] > 0:
		return RowSummary
	}
	return rowByKind(it, p, mcp)
}

func rowByKind(it Item, p Part, mcp bool) string {
	switch p.Kind {
	case "thinking":
		return RowThinking
	case "call":
		return RowCalls
	case "result":
		if mcp {
			return RowMCPOutputs
		}
		return RowOutputs
	}
	switch it.Origin {
	case llm.Human.String():
		return RowHuman
	case llm.Model.String():
		return RowModel
	}
	return RowNotes
}

// serverOf returns the server of a tool that came over MCP, by the way in which clients name
// these: mcp__server__tool.
func serverOf(tool string) (server string, ok bool) {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return "", false
	}
	server, _, ok = strings.Cut(rest, "__")
	return server, ok
}

// isSkill reports whether a part is a skill, or the list of them.
func isSkill(p Part) bool {
	if p.Kind == "result" {
		return strings.EqualFold(p.Name, "skill")
	}
	return p.Kind == "text" && (strings.HasPrefix(p.Text, "<skill") || strings.HasPrefix(p.Text, "Base directory for this skill:"))
}
