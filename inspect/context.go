package inspect

import (
	"cmp"
	"slices"
	"strings"

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
	What    string `json:"what"`           // one of the constants below
	Name    string `json:"name,omitempty"` // of an MCP server
	Content string `json:"content"`        // that of a [Step]'s By which the row is in, or is a part of
	Items   int    `json:"items"`
	Tokens  int    `json:"tokens"`
}

// What a [ContextRow] is beside the contents of a [Step]: parts of these that the file tells apart.
const (
	RowMCPTools   = "MCP tools"    // of tools
	RowMemory     = "memory files" // of notes, mostly
	RowSkills     = "skills"       // of system, notes or outputs
	RowMCPOutputs = "MCP outputs"  // of outputs
)

// rowOrder is the order of a prompt, each part behind what it is mostly a part of.
func rowOrder() []string {
	var all []string
	for c := range token.NumContents {
		all = append(all, token.Content(c).String())
		switch token.Content(c) {
		case token.ContentTools:
			all = append(all, RowMCPTools, RowMemory, RowSkills)
		case token.ContentOutputs:
			all = append(all, RowMCPOutputs)
		}
	}
	return all
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
			for content, tokens := range p.By {
				c.add(content, it, p, tokens)
			}
		}
	}
	order := rowOrder()
	slices.SortFunc(c.Rows, func(a, b ContextRow) int {
		return cmp.Or(
			slices.Index(order, a.What)-slices.Index(order, b.What), b.Tokens-a.Tokens, cmp.Compare(a.Name, b.Name), cmp.Compare(a.Content, b.Content),
		)
	})
	return c, nil
}

// add books what a part has of a content.
func (c *Context) add(content string, it Item, p Part, tokens int) {
	row := ContextRow{What: rowOf(content, it, p), Content: content}
	if row.What == RowMCPTools || row.What == RowMCPOutputs {
		row.Name, _ = serverOf(p.Name)
	}
	i := slices.IndexFunc(c.Rows, func(r ContextRow) bool { return r.What == row.What && r.Name == row.Name && r.Content == row.Content })
	if i < 0 {
		i, c.Rows = len(c.Rows), append(c.Rows, row)
	}
	c.Rows[i].Items++
	c.Rows[i].Tokens += tokens
}

// rowOf says which row a content of a part is in: its own, but where the file tells more.
func rowOf(content string, it Item, p Part) string {
	_, mcp := serverOf(p.Name)
	switch content {
	case token.ContentTools.String():
		if mcp {
			return RowMCPTools
		}
	case token.ContentSystem.String(), token.ContentNotes.String(), token.ContentOutputs.String():
		switch {
		case it.Rules:
			return RowMemory
		case isSkill(p):
			return RowSkills
		case mcp && content == token.ContentOutputs.String():
			return RowMCPOutputs
		}
	}
	return content
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
