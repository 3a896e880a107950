package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// inspectFlags are the flags of plimsoll inspect.
type inspectFlags struct {
	step    string
	diff    string
	page    htmlFlags
	model   string
	top     int
	message int
	context bool
	follow  bool
	steps   bool
	json    bool
}

// diffBefore is what --diff means without a range: the Step of --step and the one
// before it.
const diffBefore = "before"

// defaultListed is how many of each list a person is shown unless --top says
// otherwise.
const defaultListed = 5

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

// stepRange is the form of a range of --diff.
const stepRange = `^\d+(\.\d+)?\.\.\d+(\.\d+)?$`

// takeRange takes the range of --diff A..B out of the paths: --diff can stand alone,
// so that what follows it comes as a path.
func (f *inspectFlags) takeRange(paths []string) []string {
	if f.diff != diffBefore {
		return paths
	}
	form := regexp.MustCompile(stepRange)
	i := slices.IndexFunc(paths, form.MatchString)
	if i < 0 {
		return paths
	}
	f.diff = paths[i]
	return slices.Delete(slices.Clone(paths), i, i+1)
}

func (f inspectFlags) check() error {
	switch {
	case f.message < 0:
		return usage(fmt.Errorf("inspect: --message %d, want the number of a message, from 1", f.message), "plimsoll inspect PATH --step 12 --message 7")
	case f.message > 0 && (f.diff != "" || f.context || f.json):
		return usage(errors.New("inspect: --message, want it without --diff, --context and --json"), "")
	case f.context && f.diff != "" || f.follow && (f.step != "" || f.diff != "" || f.context || f.page.html != "" || f.json):
		return usage(errors.New("inspect: --context and --follow, want them without --diff, and --follow alone"), "")
	case f.top < 0:
		return usage(fmt.Errorf("inspect: --top %d, want at least 1", f.top), "")
	case f.diff == diffBefore && f.step == "":
		return usage(errors.New("inspect: --diff, want two steps A..B, or one with --step"), "plimsoll inspect PATH --step 12 --diff shows what changed since step 11")
	case f.diff != "" && f.diff != diffBefore && f.step != "":
		return usage(errors.New("inspect: --step and --diff A..B, want one of them, got both"), "")
	case f.page.html != "" && (f.step != "" || f.diff != ""):
		return usage(errors.New("inspect: --html, want it without --step and --diff, which are not part of the page"), "")
	}
	return f.page.check("inspect")
}

// options are what the analysis stands on. Texts are counted once.
func (f inspectFlags) options() (inspect.Options, error) {
	cat, err := loadCatalog("")
	if err != nil {
		return inspect.Options{}, err
	}
	if err := checkModel("inspect", f.model, cat); err != nil {
		return inspect.Options{}, err
	}
	o := inspect.Options{Catalog: cat, Model: f.model, Top: f.top, Talk: f.page.html != "" && !f.page.redact}
	if f.top == 0 && !f.json {
		o.Top = defaultListed
	}
	o.Encodings = (&plimsoll.Encodings{Other: tokenizers.Encoding}).Load
	return o, nil
}

// one shows one Step, or what changed between two.
func (f inspectFlags) one(s streams, o inspect.Options, files []string) error {
	if len(files) != 1 {
		return usage(fmt.Errorf("inspect: --step, --diff, --context and --message want one session file, got %d", len(files)), "")
	}
	session, err := s.openSession(files[0])
	if err != nil {
		return fail(err, "plimsoll sessions lists the sessions on this machine")
	}
	if f.diff != "" {
		return f.showDiff(s, session, o)
	}
	ref, err := f.ref(session)
	if err != nil {
		return err
	}
	if f.context {
		return f.showContext(s, session, ref, o)
	}
	l, err := inspect.Contents(session, ref, o)
	if err != nil {
		return stepError(err)
	}
	if f.message > 0 {
		return f.showMessage(s, l)
	}
	if f.json {
		return fail(console.PrintJSON(s.out, l), "")
	}
	return fail(console.Print(s.out, reports.Listing(l, console.Width(s.out))), "")
}

// ref returns the Step that is asked for, the last one if none is.
func (f inspectFlags) ref(session *sessionfile.Session) (inspect.StepRef, error) {
	if f.step != "" {
		return parseStep(session, f.step)
	}
	ref, ok := inspect.Last(session)
	if !ok {
		return ref, fail(errors.New("inspect: no model call is in the file"), "")
	}
	return ref, nil
}

func (f inspectFlags) showDiff(s streams, session *sessionfile.Session, o inspect.Options) error {
	a, b, err := f.pair(session)
	if err != nil {
		return err
	}
	d, err := inspect.Compare(session, a, b, o)
	if err != nil {
		return stepError(err)
	}
	if f.json {
		return fail(console.PrintJSON(s.out, d), "")
	}
	return fail(console.Print(s.out, reports.Difference(d, console.Width(s.out))), "")
}

// pair returns the two Steps that are compared.
func (f inspectFlags) pair(s *sessionfile.Session) (a, b inspect.StepRef, err error) {
	from, to, ok := strings.Cut(f.diff, "..")
	if f.diff != diffBefore {
		if !ok {
			return a, b, usage(fmt.Errorf("inspect: --diff %q, want two steps A..B", f.diff), "plimsoll inspect PATH --diff 11..12")
		}
		if a, err = parseStep(s, from); err == nil {
			b, err = parseStep(s, to)
		}
		return a, b, err
	}
	if b, err = parseStep(s, f.step); err != nil {
		return a, b, err
	}
	a, ok = inspect.Before(s, b)
	if !ok {
		return a, b, usage(fmt.Errorf("inspect: --diff: step %s is the first", b.Name()), "")
	}
	return a, b, nil
}

// parseStep reads "14" or "2.14".
func parseStep(s *sessionfile.Session, text string) (inspect.StepRef, error) {
	segment, step, two := strings.Cut(text, ".")
	n, err := strconv.Atoi(segment)
	if err == nil && !two {
		ref, err := inspect.StepAt(s, n)
		return ref, stepError(err)
	}
	k, err2 := strconv.Atoi(step)
	if err != nil || err2 != nil {
		return inspect.StepRef{}, usage(fmt.Errorf("inspect: step %q, want a number or SEGMENT.STEP", text), "")
	}
	return inspect.StepRef{Segment: n, Step: k}, nil
}

// stepError makes a Step that there is none of an error of the command line.
func stepError(err error) error {
	if _, ok := errors.AsType[*inspect.NoStepError](err); ok {
		return usage(err, "")
	}
	return fail(err, "")
}
