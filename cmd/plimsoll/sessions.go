package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// mostSessions is how many sessions are listed unless more are asked for.
const mostSessions = 20

func newSessions(s streams) *cobra.Command {
	limit, asJSON := mostSessions, false
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the newest sessions of the agents on this machine",
		Long: `Sessions lists the session files that agents keep in their usual places, the one
written last first: Claude Code, Codex, Gemini CLI, qwen-code, Copilot CLI, pi, Cline,
opencode, Continue, and aider in the working folder. It reads no file but the list of
sessions in opencode's database, whose size is that of each of them. inspect and replay without a path take the first one that they can read.`,
		Example: `  plimsoll sessions
  plimsoll sessions --limit 0 --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if limit < 0 {
				return usage(fmt.Errorf("sessions: --limit %d, want at least 0 (0: all)", limit), "")
			}
			found, err := sessionsHere(limit)
			if err != nil {
				return fail(fmt.Errorf("sessions: %w", err), "")
			}
			if asJSON {
				return printSessionsJSON(s.out, found)
			}
			if len(found) == 0 {
				return fail(errors.New("sessions: none in the usual places"), "docs/session-formats.md lists the places; inspect and replay take a path")
			}
			return fail(printStyled(s.out, sessionsText(found, widthOf(s.out))), "")
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", mostSessions, "most sessions to list; 0: all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line: path, client, time, bytes, hint")
	return cmd
}

// sessionsHere returns the newest sessions of this machine, each of a database by itself.
func sessionsHere(limit int) ([]places.Found, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	var all []places.Found
	for _, f := range places.Newest(os.Getenv, runtime.GOOS, home, 0) {
		all = append(all, sessionsOf(f)...)
	}
	slices.SortStableFunc(all, func(a, b places.Found) int { return b.Time.Compare(a.Time) })
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all, nil
}

// sessionsOf returns the sessions of a file without their sub-agents; the file itself if
// it is one session, or cannot be read.
func sessionsOf(f places.Found) []places.Found {
	if !f.Database {
		return []places.Found{f}
	}
	sessions, err := formats.Sessions(f.Path)
	if err == nil && sessions == nil {
		err = errors.New("not a database of sessions")
	}
	if err != nil {
		f.Hint = err.Error()
		return []places.Found{f}
	}
	var all []places.Found
	for _, s := range sessions {
		if s.Parent == "" {
			all = append(all, places.Found{Path: s.Path, Client: f.Client, Time: time.UnixMilli(s.Time), Size: f.Size})
		}
	}
	return all
}

// orNewest returns paths, or where none is named the session file that was written last
// among those that can be read. It says which one that is, and which newer ones it passed over.
func orNewest(command string, s streams, paths []string) ([]string, error) {
	if len(paths) > 0 {
		return paths, nil
	}
	found, err := sessionsHere(0)
	if err != nil {
		return nil, fail(fmt.Errorf("%s: %w", command, err), "name a session file or a folder")
	}
	found = slices.DeleteFunc(found, func(f places.Found) bool { return f.Hint != "" })
	var skipped []string
	for _, f := range found {
		why := unreadable(f)
		if why == nil {
			return []string{f.Path}, fail(tellNewest(s.err, f.Path, skipped), "")
		}
		skipped = append(skipped, fmt.Sprintf("%s: %v", f.Path, why))
	}
	if len(skipped) > 0 {
		if err := tellNewest(s.err, "", skipped); err != nil {
			return nil, fail(err, "")
		}
		return nil, fail(fmt.Errorf("%s: none of %s in the usual places can be read", command, plural(len(skipped), "session")), "name a session file or a folder")
	}
	return nil, usage(fmt.Errorf("%s: no session file or folder, and none in the usual places", command), "usage: plimsoll "+command+" PATH...")
}

// unreadable returns why a session cannot be read; nil: it can.
func unreadable(f places.Found) error {
	if f.Size == 0 {
		return errors.New("the file is empty")
	}
	file, err := formats.OpenFile(f.Path)
	if err != nil {
		return err
	}
	return file.Close()
}

// tellNewest says which session is taken, if one is, and which were passed over for it.
func tellNewest(w io.Writer, path string, skipped []string) error {
	const most = 3
	var b strings.Builder
	for _, line := range skipped[:min(len(skipped), most)] {
		fmt.Fprintf(&b, "skipped %s\n", safe(line))
	}
	if n := len(skipped) - most; n > 0 {
		fmt.Fprintf(&b, "skipped %s more\n", plural(n, "session"))
	}
	if path != "" {
		fmt.Fprintf(&b, "newest session: %s\n", safe(path))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sessionsText(found []places.Found, width int) string {
	st := newStyles()
	t := table{width: width, columns: []column{{name: "written"}, {name: "client"}, {name: "bytes", right: true}, {name: "session", wrap: true}}}
	for _, f := range found {
		row := plain(f.Time.Format("2006-01-02 15:04"), safe(f.Client), edit.Thousands(int(f.Size)), safe(f.Path))
		if f.Hint != "" {
			row[3].text += " (" + safe(f.Hint) + ")"
			row[3].style = st.dim
		}
		t.rows = append(t.rows, row)
	}
	return t.String()
}

func printSessionsJSON(w io.Writer, found []places.Found) error {
	for _, f := range found {
		err := printJSON(w, struct {
			Path   string    `json:"path"`
			Client string    `json:"client"`
			Time   time.Time `json:"time"`
			Bytes  int64     `json:"bytes"`
			Hint   string    `json:"hint,omitempty"`
		}{f.Path, f.Client, f.Time.UTC(), f.Size, f.Hint})
		if err != nil {
			return fail(err, "")
		}
	}
	return nil
}
