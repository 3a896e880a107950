package main

import (
	"context"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

func newInspect(s streams) *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect [PATH...]",
		Short: "Show what fills the context of recorded sessions, and what broke",
		Long: `Inspect reads session files of coding agents and bare request bodies, and shows what
filled the model's context at every step: which outputs are large, what is repeated,
what the client cut and when, which calls have no result, what became of the model's
thinking, where the provider's cache broke, and which lines are corrupt. It calls no
model. A folder stands for all files below it that end in .jsonl, .json, .traj or .eval
and for the chat histories of aider, which may have any name of a text.

The chart has a line for each stretch of steps, with the largest of them:

  h  hidden: what the client sends and does not record
  s  system prompt      t  tool definitions     m  summaries   n  notes
  u  what people wrote  a  what the model said  k  thinking    x  stubs
  c  tool calls         o  tool outputs         i  images and files

--step shows the exact content of one request: its number, counted through the whole
session, or SEGMENT.STEP. --diff A..B shows what changed from one request to another,
and --step B --diff what changed since the one before. --message shows one message of the
last request, or of --step, whole, by its number in that list; --context what takes how much
of the window there. --follow prints a line for each step that a running session makes.

Without a path it inspects the session that was written last, in the folders where
the agents keep theirs: of this folder's own project, if it has one.

Formats: ` + formatList() + `.`,
		Example: `  plimsoll inspect session.jsonl
  plimsoll inspect session.jsonl --step 12
  plimsoll inspect session.jsonl --step 12 --diff
  plimsoll inspect session.jsonl --step 12 --message 7
  plimsoll inspect session.jsonl --context
  plimsoll inspect --follow
  plimsoll inspect session.jsonl --diff 1.60..2.1
  plimsoll inspect session.jsonl --html report.html
  plimsoll inspect sessions/ --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			return runInspect(ctx, s, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.step, "step", "s", "", "show the content of one `step`: its number, or SEGMENT.STEP")
	fl.StringVarP(&f.diff, "diff", "d", "", "show what changed between two steps `A..B`, or with --step since the one before")
	fl.Lookup("diff").NoOptDefVal = diffBefore
	fl.StringVarP(&f.model, "model", "m", "", "`model` to count and size for, in place of the session's own")
	fl.IntVar(&f.top, "top", 0, "how many of each list to show (default 5, with --json 20)")
	fl.BoolVar(&f.steps, "steps", false, "list every step: the estimate before the call beside what was reported")
	fl.IntVar(&f.message, "message", 0, "print one `message` whole, by its number: of the last step, or of --step")
	fl.BoolVar(&f.context, "context", false, "show what takes how much of the window: of the last step, or of --step")
	fl.BoolVar(&f.follow, "follow", false, "print a line for each step that a running session makes, until Ctrl-C")
	f.page.register(cmd)
	fl.BoolVar(&f.json, "json", false, "print one JSON object for each session (docs/inspect-json.md)")
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	return cmd
}

// formatList names the formats that are read.
func formatList() string {
	var names []string
	for _, f := range formats.Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

func runInspect(ctx context.Context, s streams, f inspectFlags, paths []string) error {
	paths = f.takeRange(paths)
	if err := f.check(); err != nil {
		return err
	}
	paths, err := orNewest("inspect", s, paths)
	if err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	files, skipped := findFiles(paths)
	switch {
	case skipped != nil && len(files) == 0:
		return noneThere("inspect", skipped)
	case skipped != nil:
		printError(s.err, skipped)
	}
	switch {
	case f.follow:
		return f.followOne(ctx, s, opts, files)
	case f.step != "" || f.diff != "" || f.context || f.message > 0:
		return f.one(s, opts, files)
	}
	p := &inspectPrinter{streams: s, flags: f, width: console.Width(s.out), bar: newBar(s.err, len(files)), single: len(files) == 1, seen: seenSessions{}, words: console.Glossary{Words: reports.InspectWords()}}
	if p.bar != nil {
		p.bar.Describe("inspecting")
	}
	for _, file := range files {
		if err := p.file(ctx, opts, file); err != nil {
			return err
		}
	}
	return p.finish(len(files))
}
