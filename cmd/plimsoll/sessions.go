package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// mostSessions is how many sessions are listed unless more are asked for.
const mostSessions = 20

func newSessions(s streams) *cobra.Command {
	f := sessionsFlags{}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of agents on this machine, and what they took",
		Long: `Sessions lists the session files that agents keep in their usual places, the one
written last first: Claude Code, Codex, Gemini CLI, qwen-code, Copilot CLI, pi, Cline,
opencode, Continue, and aider in the working folder. Of each it says the project (the
folder that it works in), how long ago it was written, its calls (steps), the tokens of
their prompts, what they cost as far as the file states that or list prices are known
(with + if some calls are in no sum), how it ended, and the words that it began with.

--by sums up all sessions, those of sub-agents included: by day, month or block (five
hours from the first call on) of UTC, by model, or by project.

A session can be named by its id, or the beginning of that, wherever a command takes a
session file. inspect without a path takes the newest session of the folder's own project,
or else of all; replay takes the newest of all.

What was read of a file is kept in the user's cache folder until the file changes.`,
		Example: `  plimsoll sessions
  plimsoll sessions --by month
  plimsoll sessions --by project --csv
  plimsoll sessions --limit 0 --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return runSessions(ctx, s, f)
		},
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.limit, "limit", "n", mostSessions, "most sessions to list; 0: all")
	fl.StringVar(&f.by, "by", "", "sum up by `what`: day, month, block, model or project")
	fl.BoolVar(&f.json, "json", false, "print one JSON object a line (docs/sessions.md)")
	fl.BoolVar(&f.csv, "csv", false, "print comma-separated values")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(sumNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runSessions(ctx context.Context, s streams, f sessionsFlags) error {
	switch {
	case f.limit < 0:
		return usage(fmt.Errorf("sessions: --limit %d, want at least 0 (0: all)", f.limit), "")
	case f.json && f.csv:
		return usage(errors.New("sessions: --json and --csv, want one of them, got both"), "")
	case f.by != "" && !slices.Contains(sumNames(), f.by):
		return usage(fmt.Errorf("sessions: --by %q, want one of %s", f.by, strings.Join(sumNames(), ", ")), "")
	}
	found, err := allSessions()
	if err != nil {
		return fail(fmt.Errorf("sessions: %w", err), "")
	}
	names := namesOf(found)
	if f.by == "" {
		found = slices.DeleteFunc(found, func(f places.Found) bool { return f.Agent })
		if f.limit > 0 && len(found) > f.limit {
			found = found[:f.limit]
		}
	}
	if len(found) == 0 && !f.json {
		return fail(errors.New("sessions: none in the usual places"), "inspect and replay take a path: plimsoll inspect PATH")
	}
	known, err := briefsOf(ctx, s, found)
	if err != nil {
		return err
	}
	if f.by != "" {
		return fail(f.printSums(s.out, sumsBy(f.by, known)), "")
	}
	for i := range known {
		known[i].Short = shortOf(idOf(known[i].Path), names)
	}
	return fail(f.printSessions(s.out, known), "")
}
