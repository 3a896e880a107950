package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// replayFlags are the flags of plimsoll replay.
type replayFlags struct {
	policies []string
	windows  []string
	model    string
	join     bool
	judge    bool
	json     bool
	out      string
	failOn   []string
}

// The conditions of --fail-on.
var failConditions = []string{"over", "orphan", "unresolved"}

func newReplay(s streams) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay PATH...",
		Short: "Run recorded sessions under policies and windows, offline",
		Long: `Replay reads session files of coding agents (Claude Code, Codex) and bare request
bodies, and shows what each policy would have sent at every step within each window:
what overflowed, what was taken out, how much smaller the calls were. It calls no
model. A folder stands for all session files in it.`,
		Example: `  plimsoll replay session.jsonl
  plimsoll replay session.jsonl --policy balanced --policy off --window 50%
  plimsoll replay sessions/ --policy my-policy.yaml --window 80000 --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReplay(cmd.Context(), s, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.policies, "policy", "p", []string{"off", "balanced"}, "preset or policy `file`; may be given several times")
	fl.StringArrayVarP(&f.windows, "window", "w", []string{"model"}, "`tokens` (80000, 80k), a share of what the session needs (50%), or model; may be given several times")
	fl.StringVarP(&f.model, "model", "m", "", "`model` to count and size for, in place of the session's own")
	fl.BoolVar(&f.join, "join", false, "ignore the compactions that the client made")
	fl.BoolVar(&f.judge, "judge", true, "check every request from its exported bytes")
	fl.BoolVar(&f.json, "json", false, "print one JSON object for each segment")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` to export every request to, with a manifest")
	fl.StringSliceVar(&f.failOn, "fail-on", nil, "exit with code 3 on any of: over, orphan, unresolved")
	_ = cmd.RegisterFlagCompletionFunc("policy", completePolicies)
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(failConditions, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runReplay(ctx context.Context, s streams, f replayFlags, paths []string) error {
	opts, err := f.options()
	if err != nil {
		return err
	}
	files, err := sessionfile.Find(paths)
	if err != nil {
		return fail(err, "")
	}
	r, err := replay.New(opts)
	if err != nil {
		return fail(err, "")
	}
	p := &replayPrinter{streams: s, json: f.json, failOn: f.failOn, bar: newBar(s.err, len(files))}
	for _, file := range files {
		if err := p.file(ctx, r, file); err != nil {
			return err
		}
	}
	return p.finish(len(files))
}

// options turns the flags into what the replay takes.
func (f replayFlags) options() (replay.Options, error) {
	o := replay.Options{Model: f.model, Join: f.join, Judge: f.judge, Out: f.out}
	for _, c := range f.failOn {
		if !contains(failConditions, c) {
			return o, usage(fmt.Errorf("replay: --fail-on %q", c), "want "+strings.Join(failConditions, ", "))
		}
	}
	for _, name := range f.policies {
		p, err := loadPolicy(name)
		if err != nil {
			return o, err
		}
		o.Policies = append(o.Policies, p)
	}
	for _, w := range f.windows {
		spec, err := replay.ParseWindow(w)
		if err != nil {
			return o, usage(err, "")
		}
		o.Windows = append(o.Windows, spec)
	}
	return o, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// newBar returns a progress bar for more than one file, or nil where nobody
// would see it.
func newBar(w io.Writer, files int) *progressbar.ProgressBar {
	f, ok := w.(*os.File)
	if !ok || files < 2 || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return progressbar.NewOptions(files,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("replaying"),
		progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
}

// A replayPrinter prints results as they come and remembers what the exit code
// depends on.
type replayPrinter struct {
	streams
	json     bool
	failOn   []string
	bar      *progressbar.ProgressBar
	read     int
	broken   []error
	failures []string
	total    totals
}

// file replays one file. A file that cannot be read is reported and left out.
func (p *replayPrinter) file(ctx context.Context, r *replay.Replayer, name string) error {
	defer p.advance()
	s, err := sessionfile.Open(name)
	if err != nil {
		p.broken = append(p.broken, err)
		if p.json {
			return p.print(replay.Unreadable(name, err))
		}
		printError(p.err, &codedError{err: err})
		return nil
	}
	p.read++
	err = r.Session(ctx, s, p.print)
	if errors.Is(err, context.Canceled) {
		return fail(fmt.Errorf("replay: interrupted in %s", name), "")
	}
	return fail(err, "")
}

func (p *replayPrinter) advance() {
	if p.bar != nil {
		_ = p.bar.Add(1) // a bar that cannot be drawn is no reason to stop
	}
}

func (p *replayPrinter) print(res replay.Result) error {
	for _, run := range res.Runs {
		p.total.add(run)
		if run.Policy == policyOff {
			continue
		}
		for _, c := range p.failOn {
			if n := failed(c, run); n > 0 {
				p.failures = append(p.failures, fmt.Sprintf("%s segment %d, %s at %s: %s %d", res.Session, res.Segment, run.Policy, run.Window, c, n))
			}
		}
	}
	if p.json {
		return json.NewEncoder(p.out).Encode(res)
	}
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	return printResult(p.out, res)
}

// policyOff is the preset that is there for comparison only.
const policyOff = "off"

// failed returns how often a condition of --fail-on holds in a run.
func failed(condition string, run replay.Run) int {
	switch condition {
	case "over":
		return run.StepsOver
	case "orphan":
		return run.Orphans
	}
	return run.UnresolvedRefs + run.Uncovered
}

// finish prints the totals and returns the error that the exit code says.
func (p *replayPrinter) finish(files int) error {
	if !p.json && p.read > 1 {
		if err := p.total.print(p.out, p.read); err != nil {
			return fail(err, "")
		}
	}
	switch {
	case p.read == 0 && files == 0:
		return fail(errors.New("replay: no session file found"), "name a .jsonl or .json file, or a folder with some")
	case p.read == 0:
		return &codedError{exitError, fmt.Errorf("replay: none of %d files could be read", files), "known formats: " + knownFormats()}
	case len(p.failures) > 0:
		return &codedError{exitFailed, fmt.Errorf("replay: %s", strings.Join(p.failures, "\n  ")), ""}
	}
	return nil
}

func knownFormats() string {
	var names []string
	for _, f := range sessionfile.Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}
