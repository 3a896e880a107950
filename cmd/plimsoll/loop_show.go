package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/web"
)

func newLoopShow(s streams) *cobra.Command {
	var page htmlFlags
	workspace := "."
	cmd := &cobra.Command{
		Use: "show [ID]", Short: "Show what a loop has done",
		Long: `Show the iterations of a loop, with what each prompt was made of, how far each got and
what the summary says. Without an ID it is the newest loop of the workspace; it may be
running.`,
		Example: `  plimsoll loop show
  plimsoll loop show 3f2a91c0-2 --json
  plimsoll loop show --html loop.html`,
		Args: wantArgs(0, 1, "ID"),
	}
	cmd.Flags().StringVar(&workspace, "workspace", ".", "`folder` whose newest loop is shown")
	page.register(cmd)
	return storeCommand(cmd, "print one JSON object", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		if err := page.check("loop show"); err != nil {
			return err
		}
		id := newestLoop
		if len(f.args) > 0 {
			id = f.args[0]
		}
		id, err := loopID(ctx, loop.Options{Store: st, Workspace: workspace}, id)
		if err != nil {
			return loopError(ctx, err)
		}
		h, err := loop.Read(ctx, st, id)
		if err != nil {
			return loopError(ctx, err)
		}
		if f.json {
			err = console.PrintJSON(s.out, h)
		} else {
			err = printLoop(s.out, h)
		}
		if err != nil || page.html == "" {
			return err
		}
		return page.save("loop show", s, func(w io.Writer, o web.Options) error { return web.WriteLoop(w, webLoop(h), o) })
	})
}

// runLoopStatus says how the newest loop of the workspace gets on.
func runLoopStatus(ctx context.Context, s streams, f loopFlags) error {
	return withStore(ctx, "loop", storeFlags{db: f.db}, func(ctx context.Context, st *sqlite.Store, _ storeFlags) error {
		id, err := loopID(ctx, loop.Options{Store: st, Workspace: f.workspace}, newestLoop)
		if err != nil {
			return loopError(ctx, err)
		}
		h, err := loop.Read(ctx, st, id)
		if err != nil {
			return loopError(ctx, err)
		}
		return printLoopHead(s.out, h)
	})
}

// printLoopHead says which loop it is and how it gets on.
func printLoopHead(w io.Writer, h loop.History) error {
	var b strings.Builder
	fmt.Fprintf(&b, "loop %s in %s\n", h.ID, console.Safe(h.Workspace))
	fmt.Fprintf(&b, "goal: %s\n", console.Safe(console.Shorten(firstLine(h.Goal), 100)))
	fmt.Fprintf(&b, "%s\n", console.Safe(loopState(h)))
	fmt.Fprintf(&b, "%s done", console.Plural(len(h.Iterations), "iteration"))
	if h.Running > 0 {
		fmt.Fprintf(&b, ", iteration %d begun", h.Running)
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}

// printLoop prints a loop for people.
func printLoop(w io.Writer, h loop.History) error {
	if err := printLoopHead(w, h); err != nil {
		return err
	}
	if len(h.Iterations) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if _, err := lipgloss.Fprint(w, loopTable(w, h).String()); err != nil {
		return err
	}
	if h.Spent.Calls > 0 {
		if _, err := fmt.Fprintf(w, "\nthe agents asked models %s for %s\n", console.Plural(h.Spent.Calls, "time"), spentText(h.Spent)); err != nil {
			return err
		}
	}
	if h.Summary == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nsummary of iterations 1 to %d, written %s%s\n\n%s\n", h.Folded, console.Plural(len(h.Summaries)-failedSummaries(h), "time"), summariser(h), console.SafeLines(h.Summary))
	return err
}

// failedSummaries counts the summaries that a model was asked for and did not write.
func failedSummaries(h loop.History) (n int) {
	for _, s := range h.Summaries {
		if s.Failed != "" {
			n++
		}
	}
	return n
}

// summariser says which models were asked for summaries, and what that took.
func summariser(h loop.History) string {
	var names []string
	for _, s := range h.Summaries {
		if s.Model != "" && !slices.Contains(names, s.Model) {
			names = append(names, s.Model)
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf("; %s was asked for %s", console.Safe(strings.Join(names, ", ")), spentText(h.Summariser))
	if n := failedSummaries(h); n > 0 {
		text += fmt.Sprintf(" and failed %s", console.Plural(n, "time"))
	}
	return text
}

// spentText says what calls of models took.
func spentText(s loop.Spent) string {
	text := edit.Thousands(s.Input+s.Output) + " tokens"
	if s.Cost.Known {
		text += ", " + console.Money(s.Cost)
	}
	return text
}

// loopTable has a row for each iteration.
func loopTable(w io.Writer, h loop.History) console.Table {
	t := console.Table{Width: console.Width(w), Columns: []console.Column{
		{Name: "iteration", Right: true},
		{Name: "agent", Spare: 2},
		{Name: "prompt", Right: true},
		{Name: "summary", Right: true, Spare: 3},
		{Name: "recent", Right: true, Spare: 3},
		{Name: "seconds", Right: true, Spare: 1},
		{Name: "score", Right: true},
		{Name: "files", Right: true},
	}}
	proxied := h.Spent.Calls > 0
	if proxied {
		t.Columns = append(t.Columns, console.Column{Name: "used", Right: true}, console.Column{Name: "cost", Right: true})
	}
	t.Columns = append(t.Columns, console.Column{Name: "what", Wrap: true})
	st := console.NewStyles()
	plain := func(text string) console.Cell { return console.Cell{Text: text, Style: st.Plain} }
	for _, it := range h.Iterations {
		what := plain(console.Safe(strings.Join(it.ProgressMarkers, "; ")))
		if it.Fault != "" {
			what = console.Cell{Text: console.Safe(it.Fault), Style: st.Bad}
		}
		if it.Interrupted {
			what = console.Cell{Text: strings.TrimSuffix("interrupted: "+console.Safe(it.Fault), ": "), Style: st.Bad}
		}
		row := []console.Cell{
			plain(edit.Thousands(it.Number)), plain(console.Safe(console.Shorten(agentName(it), 24))), plain(edit.Thousands(it.PromptSize)), plain(sectionTokens(it, "summary")),
			plain(sectionTokens(it, "recent")), plain(edit.Thousands(int(time.Duration(it.Duration) * time.Millisecond / time.Second))), plain(fmt.Sprintf("%.2f", float64(it.ProgressScore)/1000)),
			plain(edit.Thousands(len(it.FileChanges))),
		}
		if proxied {
			var spent loop.Spent
			if it.Spent != nil {
				spent = *it.Spent
			}
			row = append(row, plain(edit.Thousands(spent.Input+spent.Output)), plain(console.Money(spent.Cost)))
		}
		t.Rows = append(t.Rows, append(row, what))
	}
	return t
}

// sectionTokens returns how much of a prompt a section took.
func sectionTokens(it loop.Iteration, name string) string {
	for _, s := range it.Sections {
		if s.Name == name {
			return edit.Thousands(s.Tokens)
		}
	}
	return "0"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
