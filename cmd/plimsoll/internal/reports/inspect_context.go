package reports

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// Context writes what takes how much of the window.
func Context(c inspect.Context, width int) string {
	w := newReportWriter(width)
	w.Title(fmt.Sprintf("%s  step %s", w.Named(c.Session), c.Name()))
	text := fmt.Sprintf("%s, %s tokens (%s)", modelName(c.Model), edit.Thousands(c.Tokens), c.Kind)
	if c.Window > 0 {
		text += fmt.Sprintf(", %s of the window of %s", console.Share(c.Tokens, c.Window), edit.Thousands(c.Window))
	}
	w.Para(w.Style.Plain, text)
	all := cmp.Or(c.Window, c.Tokens)
	t := console.Table{Width: width, Columns: []console.Column{{Name: "  what"}, {Name: "tokens", Right: true}, {Name: "share", Right: true}, {Name: "items", Right: true, Spare: 1}, {Name: ""}}}
	columns := min(max(width-contextTable, leastBar), contextBar)
	row := func(what string, tokens, items int) {
		bar := strings.Repeat("#", (tokens*columns+all/2)/all)
		t.Rows = append(t.Rows, console.Plain("  "+console.Safe(what), edit.Thousands(tokens), console.Share(tokens, all), console.Count(items), bar))
	}
	for _, r := range c.Rows {
		what := r.What
		if r.Name != "" {
			what += " of " + r.Name
		}
		row(what, r.Tokens, r.Items)
	}
	if c.Buffer > 0 {
		row("kept free by the client (about)", c.Buffer, 0)
	}
	if c.Window > 0 {
		row("free", c.Free, 0)
	}
	w.WriteString(t.String())
	return w.String()
}

// Columns that the whole window has in the bars of a context.
const (
	contextBar   = 60
	leastBar     = 8
	contextTable = 56 // beside them
)

// Follow is a Step on one line.
func Follow(g inspect.Segment, st inspect.Step, before int) string {
	at := ""
	if st.Time > 0 {
		at = console.Clock(st.Time) + "  "
	}
	grown := fmt.Sprintf("%+d", st.Tokens-before)
	text := fmt.Sprintf("%sstep %s  %s tokens", at, strconv.Itoa(st.Number), edit.Thousands(st.Tokens))
	if g.Window > 0 {
		text += " (" + console.Share(st.Tokens, g.Window) + ")"
	}
	text += "  " + grown
	if c := st.Cache; c != nil {
		text += fmt.Sprintf("  %s from the cache", edit.Thousands(c.Read))
	}
	if st.CostUSD.Known {
		text += "  " + st.CostUSD.String()
	}
	if st.Refused != nil {
		text += "  refused: " + console.Safe(st.Refused.Class)
	}
	return text
}
