package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func newStoreResume(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume SESSION", Short: "Show what a session would go on with",
		Long: `Take a session up as a program would that goes on with it, and show where it stands:
what the model would be shown of it, what was taken out, whether a snapshot was there
to begin with, and which process may still be at work on it. Nothing is changed and no
model is called. A program of yours goes on with a session by opening the same file
with the session's name; the proxy does when its client comes back.`,
		Example: "  plimsoll store resume fix-the-build",
		Args:    wantArgs(1, 1, "session"),
	}
	return storeCommand(cmd, "print one JSON object", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		return resumeSession(ctx, s, st, f)
	})
}

// A taken is a session that was taken up, to be looked at.
type taken struct {
	sqlite.Session
	snap journal.Snapshot
	from int // records that its snapshot had
	view edit.View
}

// takeUp reads the session that a command names. after, if not nil, is a record that is not
// written yet.
func takeUp(ctx context.Context, st *sqlite.Store, f storeFlags, after *journal.Record) (taken, error) {
	one, err := findSession(ctx, st, f)
	if err != nil {
		return taken{}, err
	}
	t := taken{Session: one}
	if after == nil {
		t.snap, t.from, err = plimsoll.Look(ctx, st, one.Name)
	} else {
		t.snap, err = journal.Collect(followedBy(journal.Read(st.Records(ctx, one.Name, 0)), *after))
	}
	if err != nil {
		return taken{}, err
	}
	t.view, err = edit.Fold(t.snap.Messages, edit.Holding(t.snap.Edits))
	return t, err
}

// followedBy yields records, and one more.
func followedBy(all iter.Seq2[journal.Record, error], after journal.Record) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range all {
			if !yield(r, err) || err != nil {
				return
			}
		}
		yield(after, nil)
	}
}

// resumed is what plimsoll store resume --json prints.
type resumed struct {
	Session  string         `json:"session"`
	Records  int            `json:"records"`
	Snapshot int            `json:"snapshot"` // records that came from one; 0: none was of use
	Messages int            `json:"messages"` // of the whole conversation
	Shown    []shownMessage `json:"shown"`    // what the model would be shown
	Edits    int            `json:"edits"`    // that were made
	Target   string         `json:"target"`   // where the last request went; empty: not known
	Tokens   int            `json:"tokens"`   // of the prompt, as it was reported last; 0: not known
	Open     []string       `json:"open"`     // calls without a result
	Process  int            `json:"process"`  // that has written last and is still there; 0: none
}

// shownMessage is a message of a view, in short.
type shownMessage struct {
	Message int    `json:"message"` // its number; 0: a note
	Of      string `json:"of"`
	Text    string `json:"text"`
}

func resumeSession(ctx context.Context, s streams, st *sqlite.Store, f storeFlags) error {
	t, err := takeUp(ctx, st, f, nil)
	if err != nil {
		return err
	}
	r := t.resumed()
	if f.json {
		return console.PrintJSON(s.out, r)
	}
	return r.print(s.out)
}

func (t taken) resumed() resumed {
	r := resumed{
		Session: t.Name, Records: t.snap.Records, Snapshot: t.from, Messages: len(t.snap.Messages), Edits: len(t.snap.Edits),
		Shown: []shownMessage{}, Open: []string{}, Process: heldBy(t.Session),
	}
	if s := t.snap.State; s != nil {
		r.Target, r.Tokens = s.Sent.Target, s.Usage.Prompt()
	}
	answered := map[string]bool{}
	for _, it := range t.view.Items {
		one := shownMessage{Of: it.Message.Origin.String(), Text: tellMessage(it.Message)}
		if !it.IsNote() {
			one.Message = int(it.Message.ID)
		}
		r.Shown = append(r.Shown, one)
		for _, res := range it.Message.Results() {
			answered[res.CallID] = true
		}
	}
	for _, it := range t.view.Items {
		for _, c := range it.Message.Calls() {
			if !answered[c.CallID] && !c.Hosted {
				r.Open = append(r.Open, c.Name)
			}
		}
	}
	return r
}

func (r resumed) print(w io.Writer) error {
	from := "from all its records"
	if r.Snapshot > 0 {
		from = fmt.Sprintf("from a snapshot of %s and the records after it", edit.Thousands(r.Snapshot))
	}
	lines := []string{
		fmt.Sprintf("%s: %s, taken up %s", console.Safe(r.Session), console.Plural(r.Records, "record"), from),
		fmt.Sprintf("%s, of which %s shown with notes; %s", console.Plural(r.Messages, "message"), edit.Thousands(len(r.Shown)), console.Plural(r.Edits, "edit")),
	}
	if r.Target != "" {
		lines = append(lines, fmt.Sprintf("last request to %s, a prompt of %s tokens", console.Safe(r.Target), edit.Thousands(r.Tokens)))
	}
	if len(r.Open) > 0 {
		lines = append(lines, "calls without a result, which get a stated one: "+console.Safe(strings.Join(r.Open, ", ")))
	}
	if r.Process > 0 {
		lines = append(lines, fmt.Sprintf("process %d may be at work on it", r.Process))
	}
	t := console.Table{Width: console.Width(w), Columns: []console.Column{{Name: "message", Right: true}, {Name: "of"}, {Name: "what", Wrap: true}}}
	for _, m := range r.Shown {
		n := ""
		if m.Message > 0 {
			n = edit.Thousands(m.Message)
		}
		t.Rows = append(t.Rows, console.Plain(n, m.Of, console.Safe(m.Text)))
	}
	_, err := lipgloss.Fprint(w, strings.Join(lines, "\n")+"\n", t.String())
	return err
}

// heldBy returns the process that has written to a session last, if it is another one and
// still there; else 0.
func heldBy(one sqlite.Session) int {
	if one.Writer == os.Getpid() || !isAlive(one.Writer) {
		return 0
	}
	return one.Writer
}

func newStoreFork(s streams) *cobra.Command {
	var at int
	cmd := &cobra.Command{
		Use: "fork SESSION NAME", Short: "Begin another session that goes on from a message of this one",
		Long: `Begin a session of another name that has the messages of this one up to --at, with what
was taken out of them until then. Neither notices the other from there on, and nothing
is copied. SESSION may be in use: nothing of it is changed.`,
		Example: "  plimsoll store fork fix-the-build another-try --at 12",
		Args:    wantArgs(2, 2, "session and a name"),
	}
	cmd.Flags().IntVar(&at, "at", -1, "the last `message` that both have, by its number in plimsoll store resume; default the last")
	return storeCommandWith(cmd, storeFlags{changes: true}, "", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		n, err := forkSession(ctx, st, f, f.args[1], at)
		if err == nil {
			_, err = fmt.Fprintf(s.out, "%s: session %s goes on after message %s of %s\n", console.Safe(st.Path()), console.Safe(f.args[1]), edit.Thousands(n), console.Safe(f.args[0]))
		}
		return err
	})
}

// forkSession begins a fork of the session that a command names.
func forkSession(ctx context.Context, st *sqlite.Store, f storeFlags, name string, at int) (int, error) {
	r, err := cutOf(ctx, st, f, at)
	if err != nil {
		return 0, err
	}
	t, err := takeUp(ctx, st, f, &r) // what could not be taken up is not begun
	if err != nil {
		return 0, err
	}
	line, err := journal.Encode(r)
	if err != nil {
		return 0, err
	}
	if err := st.Fork(ctx, t.Name, name, t.Records); err != nil {
		return 0, err
	}
	if err := st.Append(ctx, name, t.Records, [][]byte{line}); err != nil {
		return 0, errors.Join(err, st.Delete(context.WithoutCancel(ctx), name)) // half a fork would look like the parent
	}
	return int(r.Fork.At), nil
}

// cutOf returns the record by which a session goes on after message at; below 0: after the
// last one.
func cutOf(ctx context.Context, st *sqlite.Store, f storeFlags, at int) (journal.Record, error) {
	t, err := takeUp(ctx, st, f, nil)
	if err != nil {
		return journal.Record{}, err
	}
	n := len(t.snap.Messages)
	if at < 0 {
		at = n
	}
	if at > n {
		return journal.Record{}, usage(fmt.Errorf("%s: message, want 0 to %d, got %d", f.command, n, at), "plimsoll store resume shows their numbers")
	}
	return journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: t.Name, At: llm.MessageID(at)}}, nil
}

func newStoreRewind(s streams) *cobra.Command {
	var to int
	var keep string
	cmd := &cobra.Command{
		Use: "rewind SESSION --to MESSAGE", Short: "Have a session go on from an earlier message",
		Long: `Have a session go on after an earlier message, as if what came later had not been said.
Its records stay in the file, and so does what was kept of it; --keep gives all of it
another name first, so that it can be gone on with. A session that another process is
at work on is left as it is.`,
		Example: "  plimsoll store rewind fix-the-build --to 12 --keep before-the-rewind",
		Args:    wantArgs(1, 1, "session"),
	}
	cmd.Flags().IntVar(&to, "to", -1, "the last `message` that stays, by its number in plimsoll store resume")
	cmd.Flags().StringVar(&keep, "keep", "", "`name` of a session that keeps all of it")
	return storeCommandWith(cmd, storeFlags{changes: true}, "", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		if to < 0 {
			return usage(fmt.Errorf("%s: no --to", f.command), "plimsoll store resume shows the numbers of messages")
		}
		if err := rewindSession(ctx, st, f, to, keep); err != nil {
			return err
		}
		_, err := fmt.Fprintf(s.out, "%s: session %s goes on after message %s\n", console.Safe(st.Path()), console.Safe(f.args[0]), edit.Thousands(to))
		return err
	})
}

func rewindSession(ctx context.Context, st *sqlite.Store, f storeFlags, to int, keep string) error {
	r, err := cutOf(ctx, st, f, to)
	if err != nil {
		return err
	}
	t, err := takeUp(ctx, st, f, &r)
	if err != nil {
		return err
	}
	if pid := heldBy(t.Session); pid > 0 {
		return fail(fmt.Errorf("%s: process %d has written to session %q last and is still there", f.command, pid, t.Name),
			"end it first, or fork the session, which changes nothing of it: plimsoll store fork SESSION NAME --at "+fmt.Sprint(to))
	}
	if keep != "" {
		if _, err := forkSession(ctx, st, f, keep, -1); err != nil {
			return err
		}
	}
	line, err := journal.Encode(r)
	if err != nil {
		return err
	}
	return st.Append(ctx, t.Name, t.Records, [][]byte{line})
}
