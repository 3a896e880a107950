package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func newReplay(s streams) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [PATH...]",
		Short: "Run recorded sessions under policies and windows, offline",
		Long: `Replay reads session files of agents (docs/session-formats.md lists them) and bare
request bodies, and shows what each policy would have sent at every step within each
window: what overflowed, what was taken out, how much smaller the calls were, what they
would have cost. It calls no model. A folder stands for all session files below it;
without a path it is the newest session on this machine.

A row is one policy on one window:

  limit        tokens that the policy lets a call have: the window less its buffer
               and the room for the reply
  steps        model calls; "25 of 42": the policy ended the session there
  over         calls that were sent above the limit; 0 for every policy but off
  irreducible  calls whose fixed parts alone are above the limit, so that no policy
               can send them: system prompt, tools, pinned messages, newest round
  sent         tokens of all calls together
  of raw       the same, compared with what the client itself sent
  peak         the largest call
  breaks       calls that lost what the provider's prompt cache still had of the call before
  cost         of all calls: what the client paid where the policy sends the same, else
               by the simulated prompt cache; left out where a price is not known
  edits        what was done, by kind

With --bill every batch that broke the provider's cache is listed, with what it cost and
saved. A second table says what of what the agent's calls referred to (paths,
names, lines that an edit replaces) each policy still sent; docs/replay.md explains it.

Policies keep different buffers, so their limits differ. Where they do, the last
rows judge all of them by the lowest limit of each window.`,
		Example: `  plimsoll replay session.jsonl
  plimsoll replay session.jsonl --policy balanced --policy off --window 50%
  plimsoll replay sessions/ --policy my-policy.yaml --window 80k --json
  plimsoll replay session.jsonl --policy balanced --window 60% --out exported
  plimsoll replay session.jsonl --html report.html`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			return runReplay(ctx, s, f, args)
		},
	}
	f.register(cmd)
	return cmd
}

func runReplay(ctx context.Context, s streams, f replayFlags, paths []string) (err error) {
	opts, err := f.options()
	if err != nil {
		return err
	}
	if err := f.page.check("replay"); err != nil {
		return err
	}
	paths, err = orNewest("replay", s, paths)
	if err != nil {
		return err
	}
	files, skipped := findFiles(paths)
	switch {
	case skipped != nil && len(files) == 0:
		return noneThere("replay", skipped)
	case skipped != nil:
		printError(s.err, skipped)
	}
	if err := f.checkOut(files); err != nil {
		return err
	}
	if f.db != "" {
		db, err := sqlite.Open(ctx, f.db, sqlite.Options{})
		if err != nil {
			return storeError(ctx, "replay: --db", err)
		}
		opts.Store = db
		defer func() { // what was kept is on disk by then
			if closed := db.Close(); err == nil && closed != nil {
				err = storeError(ctx, "replay: --db", closed)
			}
		}()
	}
	r, err := replay.New(opts)
	if err != nil {
		return fail(err, "")
	}
	p := &replayPrinter{streams: s, flags: f, width: console.Width(s.out), bar: newBar(s.err, len(files)), seen: seenSessions{}, words: console.Glossary{Words: reports.ReplayWords()}}
	for _, file := range files {
		if err := p.file(ctx, r, file); err != nil {
			return err
		}
	}
	return p.finish(len(files))
}
