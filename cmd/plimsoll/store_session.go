package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func newStoreSessions(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "List the sessions, the oldest first",
		Example: "  plimsoll store sessions",
	}
	return storeCommand(cmd, "print one JSON object a line", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		return listSessions(ctx, s, st, f.json)
	})
}

// storedSession is what plimsoll store sessions --json prints for each.
type storedSession struct {
	Session string `json:"session"`
	Parent  string `json:"parent"` // empty: not forked, or from one that was deleted
	Records int    `json:"records"`
	Blobs   int    `json:"blobs"`
	Bytes   int64  `json:"bytes"`
	Created string `json:"created"` // RFC 3339, UTC
	Updated string `json:"updated"`
}

func listSessions(ctx context.Context, s streams, st *sqlite.Store, asJSON bool) error {
	const layout = "2006-01-02 15:04"
	t := console.Table{Width: console.Width(s.out), Columns: []console.Column{
		{Name: "session", Wrap: true},
		{Name: "forked from", Spare: 1},
		{Name: "records", Right: true},
		{Name: "blobs", Right: true},
		{Name: "bytes", Right: true},
		{Name: "begun (UTC)", Spare: 2},
		{Name: "last written"},
	}}
	for one, err := range st.Sessions(ctx) {
		if err != nil {
			return err
		}
		if asJSON {
			out := storedSession{one.Name, one.Parent, one.Records, one.Blobs, one.Bytes, one.Created.Format("2006-01-02T15:04:05Z"), one.Updated.Format("2006-01-02T15:04:05Z")}
			if err := console.PrintJSON(s.out, out); err != nil {
				return err
			}
			continue
		}
		t.Rows = append(t.Rows, console.Plain(console.Safe(one.Name), console.Safe(console.Shorten(one.Parent, 30)), edit.Thousands(one.Records), edit.Thousands(one.Blobs),
			edit.Thousands(int(one.Bytes)), one.Created.Format(layout), one.Updated.Format(layout)))
	}
	if asJSON {
		return nil
	}
	text := "no sessions\n"
	if len(t.Rows) > 0 {
		text = t.String()
	}
	_, err := lipgloss.Fprint(s.out, text)
	return err
}

func newStoreShow(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show SESSION", Short: "Show the messages of a session and what was decided about them",
		Long: `Show the records of a session in their order: its messages, what Plimsoll took out of
the view and why, and the references of what it kept. What the program only needs
for a restart is left out.`,
		Example: "  plimsoll store show fix-the-build",
		Args:    wantArgs(1, 1, "session"),
	}
	return storeCommand(cmd, "print one JSON object a record", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		return showSession(ctx, s, st, f)
	})
}

// storedRecord is what plimsoll store show --json prints for each record.
type storedRecord struct {
	Record int       `json:"record"` // its number, from 0
	Kind   string    `json:"kind"`
	Of     string    `json:"of"`   // who says a message, which transform made an edit
	Text   string    `json:"text"` // what it says, shortened, or why
	Refs   []llm.Ref `json:"refs"` // of what is kept of it
}

// showSession prints the records of a session.
func showSession(ctx context.Context, s streams, st *sqlite.Store, f storeFlags) error {
	one, err := findSession(ctx, st, f)
	if err != nil {
		return err
	}
	t := console.Table{Width: console.Width(s.out), Columns: []console.Column{{Name: "record", Right: true}, {Name: "kind"}, {Name: "of"}, {Name: "what", Wrap: true}}}
	n := -1
	var tools []llm.Tool // that were set last
	for r, err := range journal.Read(st.Records(ctx, one.Name, 0)) {
		if err != nil {
			return err
		}
		n++
		if r.Kind == journal.KindTools {
			tools = r.Tools
		}
		row, told := tellRecord(r, tools)
		if !told {
			continue
		}
		row.Record = n
		if f.json {
			if err := console.PrintJSON(s.out, row); err != nil {
				return err
			}
			continue
		}
		what := row.Text
		for _, ref := range row.Refs {
			what += " ref=" + string(ref)
		}
		t.Rows = append(t.Rows, console.Plain(edit.Thousands(n), row.Kind, console.Safe(row.Of), console.Safe(strings.TrimSpace(what))))
	}
	if f.json {
		return nil
	}
	head := fmt.Sprintf("%s, begun %s UTC", console.Safe(one.Name), one.Created.Format("2006-01-02 15:04"))
	if one.Parent != "" {
		head += ", forked from " + console.Safe(one.Parent)
	}
	_, err = lipgloss.Fprint(s.out, head+"\n", t.String())
	return err
}

// findSession returns what the store tells of the session that a command names.
func findSession(ctx context.Context, st *sqlite.Store, f storeFlags) (sqlite.Session, error) {
	name := f.args[0]
	for one, err := range st.Sessions(ctx) {
		if err != nil || one.Name == name {
			return one, err
		}
	}
	return sqlite.Session{}, fail(fmt.Errorf("%s: %s has no session %q", f.command, st.Path(), name), "plimsoll store sessions lists them")
}

// tellRecord says what a record is about, beside the tools that were set last. Of what is no message, no decision and no event of
// the conversation there is nothing to tell.
func tellRecord(r journal.Record, tools []llm.Tool) (storedRecord, bool) {
	out := storedRecord{Kind: string(r.Kind), Refs: []llm.Ref{}}
	switch r.Kind {
	case journal.KindMessage:
		out.Of, out.Text = r.Message.Origin.String(), tellMessage(r.Message)
	case journal.KindEdit:
		out.Of, out.Text = string(r.Edit.Kind), r.Edit.Why
		out.Refs = append(out.Refs, r.Edit.Refs...)
	case journal.KindUsage:
		out.Of, out.Text = r.Usage.Model, fmt.Sprintf("prompt %s tokens, output %s", edit.Thousands(r.Usage.Prompt()), edit.Thousands(r.Usage.Usage.Output))
	case journal.KindPolicy:
		out.Text = r.Policy.Name
	case journal.KindOffer:
		out.Of, out.Text = "tools", tellOffer(tools, r.Offer)
	case journal.KindForce:
		out.Text = r.Reason
	case journal.KindRejected, journal.KindTurnEnd, journal.KindFork, journal.KindExceeded:
	default:
		return out, false
	}
	return out, true
}

// tellOffer says how many tools are offered of each kind, and of how many.
func tellOffer(tools []llm.Tool, places []int) string {
	var out []string
	for _, kind := range []llm.ToolKind{llm.ToolBuiltIn, llm.ToolOfSkill, llm.ToolOfServer} {
		all, offered := 0, 0
		for at, t := range tools {
			if t.Kind != kind {
				continue
			}
			all++
			if places == nil || slices.Contains(places, at) {
				offered++
			}
		}
		if all > 0 {
			out = append(out, fmt.Sprintf("%s: %d of %d offered", kind, offered, all))
		}
	}
	return strings.Join(out, ", ")
}

// tellMessage says what a message is, in a line.
func tellMessage(m llm.Message) string {
	var out []string
	if text := m.Text(); text != "" {
		out = append(out, firstWords(text))
	}
	for _, c := range m.Calls() {
		out = append(out, "calls "+c.Name+" "+firstWords(c.Args))
	}
	for _, r := range m.Results() {
		text := r.Text()
		out = append(out, fmt.Sprintf("%s bytes: %s", edit.Thousands(len(text)), firstWords(text)))
	}
	return strings.Join(out, "; ")
}

// firstWords returns the beginning of a text in one line.
func firstWords(text string) string {
	const most = 80
	text = strings.Join(strings.Fields(text[:min(len(text), most*8)]), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func newStoreRemove(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm SESSION", Short: "Remove a session, and what no other one needs",
		Long: `Remove a session, and every text that no other session sees. Its forks stay whole. The
file gets no smaller by that: plimsoll store gc gives the space back.`,
		Example: "  plimsoll store rm fix-the-build",
		Args:    wantArgs(1, 1, "session"),
	}
	return storeCommandWith(cmd, storeFlags{changes: true}, "", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		one, err := findSession(ctx, st, f)
		if err != nil {
			return err
		}
		if err := st.Delete(ctx, one.Name); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s: removed session %s\n", console.Safe(st.Path()), console.Safe(one.Name))
		return err
	})
}
