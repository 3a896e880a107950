package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func newStoreSearch(s streams) *cobra.Command {
	q := storeQuery{seen: map[place]bool{}}
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Find passages of what is kept, by words, names or paths",
		Long: `Find passages of what is kept, by words, names or paths: session by session, those that
fit best first. What several sessions see is shown once.`,
		Example: "  plimsoll store search 'cannot find module go.mod'",
		Args:    wantArgs(1, 1, "query"),
	}
	cmd = storeCommand(cmd, "print one JSON object a passage", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		q.text, q.json = f.args[0], f.json
		if q.session != "" {
			f.args = []string{q.session}
			if _, err := findSession(ctx, st, f); err != nil {
				return err
			}
		}
		return q.search(ctx, s.out, st)
	})
	cmd.Flags().StringVar(&q.session, "session", "", "search what this `session` sees; without, what any does")
	cmd.Flags().IntVar(&q.most, "max", 10, "`passages` of a session at most")
	return cmd
}

// A storeQuery is a search while its passages are printed.
type storeQuery struct {
	text, session string
	most          int
	json          bool
	seen          map[place]bool // what was printed
}

// A place is where a passage begins.
type place struct {
	ref    llm.Ref
	offset int64
}

// passage is what plimsoll store search --json prints for each.
type passage struct {
	Session string  `json:"session"`
	Ref     llm.Ref `json:"ref"`
	Offset  int64   `json:"offset"` // in bytes, from 0
	Line    int64   `json:"line"`   // from 1
	Text    string  `json:"text"`
}

// search searches what the sessions see.
func (q *storeQuery) search(ctx context.Context, w io.Writer, st *sqlite.Store) error {
	for one, err := range st.Sessions(ctx) {
		if err != nil {
			return err
		}
		if q.session != "" && q.session != one.Name {
			continue
		}
		hits, err := st.Search(ctx, one.Name, q.text, q.most)
		if err != nil {
			return err
		}
		for _, h := range hits {
			if err := q.print(w, one.Name, h); err != nil {
				return err
			}
		}
	}
	if len(q.seen) > 0 || q.json {
		return nil
	}
	_, err := fmt.Fprintf(w, "No matches for: %s\n", console.Safe(q.text))
	return err
}

// print prints a passage that was not printed yet, as store grep prints a match.
func (q *storeQuery) print(w io.Writer, session string, h store.Hit) error {
	at := place{h.Ref, h.Offset}
	if q.seen[at] {
		return nil
	}
	more := len(q.seen) > 0
	q.seen[at] = true
	if q.json {
		return console.PrintJSON(w, passage{session, h.Ref, h.Offset, h.Line + 1, h.Text})
	}
	var b strings.Builder
	if more {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "ref:%s of session %s\n", h.Ref, console.Safe(session))
	n := h.Line
	for text := range strings.Lines(h.Text) {
		n++
		label := fmt.Sprintf("%5d", n)
		if h.Said && n > h.Line+1 {
			label = "     " // it stands in the same line
		}
		fmt.Fprintf(&b, "%s  %s\n", label, console.Safe(strings.TrimRight(text, "\r\n")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
