package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	coreloop "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Exit codes of a loop that has ended, by its reason. That the goal was achieved is 0.
const (
	exitTimeLimit      = 10
	exitIterationLimit = 11
	exitManualStop     = 12
	exitAlertPause     = 13
	exitFatalError     = 14
	exitRecoveryFailed = 15
)

// loopCounter counts the prompts of a loop: what its agents' models are is mostly not known.
const loopCounter = "tiktoken:o200k_base"

// maxGoal is the longest goal, in bytes.
const maxGoal = 1 << 20

// newestLoop is the value of --resume without one.
const newestLoop = "newest"

// loopFlags are the flags of plimsoll loop.
type loopFlags struct {
	goal, resume, workspace, db, config string
	clis                                []string
	timeout, maxTime                    time.Duration
	threshold                           float64
	inbox, watch, status, daemon        bool
	settings                            loop.Settings
}

// define adds the flags.
func (f *loopFlags) define(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.goal, "goal", "", "`text` of the goal, or a file that has it")
	fl.StringArrayVar(&f.clis, "cli", nil, "`agent` to run; may be given several times")
	fl.StringVar(&f.resume, "resume", "", "go on with a loop: --resume=`ID`, or the newest of the workspace")
	fl.Lookup("resume").NoOptDefVal = newestLoop
	fl.StringVar(&f.workspace, "workspace", ".", "`folder` that the agents work in")
	fl.StringVar(&f.db, "db", "", "`file` that loops are kept in; default plimsoll/plimsoll.db in the user's data folder")
	fl.StringVar(&f.config, "config", "", "`file` of settings to read, in place of those in the folders")
	fl.DurationVar(&f.timeout, "timeout", time.Hour, "`time` that an iteration may take; 0: any")
	fl.DurationVar(&f.maxTime, "max-time", 0, "`time` that the loop may run; 0: any")
	fl.IntVar(&f.settings.MaxIterations, "max-iterations", 0, "`iterations` that the loop may have; default 1000")
	fl.IntVar(&f.settings.Window, "context-window", 0, "`iterations` that stay raw in the prompt; default 5")
	fl.IntVar(&f.settings.SummarizeEvery, "summarize-every", 0, "`iterations` after which the summary is written anew; default 10")
	fl.IntVar(&f.settings.MaxSummaryTokens, "max-summary-tokens", 0, "`tokens` that the summary may have; default 2000, at most that")
	fl.StringVar(&f.settings.SummaryModel, "summary-model", "", "`provider/model` that writes the summary; default none: it is written without a model")
	fl.Float64Var(&f.threshold, "progress-threshold", 0, "`score` from 0 to 1 that counts as progress; default 0.15")
	fl.IntVar(&f.settings.StuckAfter, "stuck-after", 0, "`iterations` without progress after which the agent is told to try otherwise; default 3")
	fl.IntVar(&f.settings.RecoveryBudget, "recovery-budget", 0, "`iterations` that may try that; default 20")
	fl.IntVar(&f.settings.RunawayAfter, "runaway-after", 0, "identical `outputs` in a row that end the loop; default 5")
	fl.BoolVar(&f.settings.IgnoreAlerts, "ignore-alerts", false, "go on after them")
	fl.StringVar(&f.settings.Promise, "promise", "", "`text` by which the agent says that the goal is achieved; default COMPLETE")
	fl.StringVar(&f.settings.Proxy, "proxy", "", "keep the context of the agents, too: they ask their models through a proxy at `host:port`, or any port of this machine; off ends that")
	fl.Lookup("proxy").NoOptDefVal = anyPort
	fl.StringVarP(&f.settings.Policy, "policy", "p", "", "preset, or `file` with a policy, that the proxy keeps it by")
	fl.StringArrayVar(&f.settings.Upstreams, "upstream", nil, "`NAME=URL` of a provider that the proxy asks; may be given several times")
	fl.BoolVar(&f.inbox, "enable-inbox", false, "give the agent the messages in .plimsoll/inbox")
	fl.BoolVar(&f.watch, "watch-workspace", false, "tell the agent what somebody else changes in the workspace between iterations")
	fl.BoolVar(&f.status, "status", false, "say how the newest loop of the workspace gets on, and end")
	fl.BoolVar(&f.daemon, "daemon", false, "run it in the background; what it prints goes to .plimsoll/log")
	f.defineSwitches(cmd)
	fl.StringVar(&f.settings.Embeddings, "embeddings", "", "`provider/model` by whose vectors --recall finds passages, too; any server with /v1/embeddings")
	_ = cmd.RegisterFlagCompletionFunc("policy", completePolicies)
	_ = cmd.RegisterFlagCompletionFunc("summary-model", completeTargets)
	_ = cmd.RegisterFlagCompletionFunc("cli", cobra.FixedCompletions(loop.Presets(), cobra.ShellCompDirectiveDefault))
}

// loopOptions are those of a loop, with what makes models for it.
type loopOptions struct {
	loop.Options
	models loopModels
}

// options returns what the flags say, but for the store.
func (f loopFlags) options() (loopOptions, error) {
	o := loopOptions{Options: loop.Options{Workspace: f.workspace, Timeout: f.timeout, Inbox: f.inbox, Watch: f.watch, Settings: f.settings}}
	switch {
	case f.threshold < 0 || f.threshold > 1:
		return o, usage(fmt.Errorf("loop: --progress-threshold, want 0 to 1, got %g", f.threshold), "")
	case f.timeout < 0 || f.maxTime < 0:
		return o, usage(errors.New("loop: --timeout and --max-time, want times of 0 or more"), "")
	}
	o.Settings.Threshold, o.Settings.MaxTime = int(f.threshold*1000+0.5), f.maxTime.Milliseconds()
	clis := f.clis
	if len(clis) == 0 && f.resume == "" {
		return o, usage(errors.New("loop: no agent to run"), "name one with --cli, such as --cli codex; plimsoll loop --help lists those that are known")
	}
	for _, text := range clis {
		a, err := loop.ParseAgent(text)
		if err != nil {
			return o, usage(err, "")
		}
		o.Agents = append(o.Agents, a)
	}
	stated, err := loadSettings(f.config)
	if err != nil {
		return o, fail(err, settingsPage)
	}
	for _, v := range []struct {
		flag *int
		file int
	}{
		{&o.Settings.Window, stated.Loop.RawWindowSize.Value},
		{&o.Settings.SummarizeEvery, stated.Loop.SummarizeEvery.Value},
		{&o.Settings.MaxSummaryTokens, stated.Loop.MaxSummaryTokens.Value},
	} {
		if *v.flag == 0 {
			*v.flag = v.file
		}
	}
	o.models = loopModels{stated}
	o.ModelOf, o.Price, o.EmbedderOf = o.models.of, o.models.price, o.models.embedder
	if m := o.Settings.SummaryModel; m != "" && m != loop.ByCode {
		if _, err := o.models.of(m); err != nil {
			return o, err
		}
	}
	counter, err := token.NewCounter(loopCounter, (&plimsoll.Encodings{}).Load)
	o.Counter = counter
	return o, fail(err, "")
}

// readGoal returns the goal: what a file of that name has, else the text itself.
func (f loopFlags) readGoal() (string, error) {
	if f.resume != "" {
		if f.goal != "" {
			return "", usage(errors.New("loop: --goal and --resume, want one of them, got both"), "a loop that goes on has its goal; a message in its inbox can add to it")
		}
		return "", nil
	}
	goal := f.goal
	if info, err := os.Stat(goal); err == nil && info.Mode().IsRegular() {
		file, err := os.Open(goal)
		if err != nil {
			return "", fail(fmt.Errorf("loop: --goal: %w", err), "")
		}
		defer file.Close() //nolint:errcheck // only read
		text, err := io.ReadAll(io.LimitReader(file, maxGoal+1))
		if err != nil {
			return "", fail(fmt.Errorf("loop: --goal: %w", err), "")
		}
		goal = string(text)
	}
	switch {
	case strings.TrimSpace(goal) == "":
		return "", usage(errors.New("loop: --goal, want a goal, got none"), `such as --goal "Make all tests pass."`)
	case len(goal) > maxGoal:
		return "", usage(fmt.Errorf("loop: --goal, want at most %d bytes, got more", maxGoal), "a prompt shows the first 1,000 tokens of it: have it name the files that say more")
	}
	return goal, nil
}

// runner begins a loop, or goes on with one.
func (f loopFlags) runner(ctx context.Context, o loop.Options, goal string) (*loop.Runner, error) {
	if f.resume == "" {
		return loop.Start(ctx, o, goal)
	}
	id, err := loopID(ctx, o, f.resume)
	if err != nil {
		return nil, err
	}
	return loop.Resume(ctx, o, id)
}

// loopID returns the id that is meant: itself, or the newest of the workspace.
func loopID(ctx context.Context, o loop.Options, id string) (string, error) {
	if id != newestLoop {
		return id, nil
	}
	workspace, err := loop.Workspace(o.Workspace)
	if err != nil {
		return "", err
	}
	id, err = loop.Newest(ctx, o.Store, workspace)
	if err == nil && id == "" {
		err = fmt.Errorf("loop: %s: %w", workspace, loop.ErrUnknown)
	}
	return id, err
}

// loopError gives an error its exit code and, where something can be done, a hint.
func loopError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, loop.ErrInterrupted):
		return &codedError{exitInterrupted, errors.New("loop: interrupted"), "plimsoll loop --resume goes on"}
	case errors.Is(err, loop.ErrUnknown):
		return fail(err, "plimsoll loop --goal begins one; --workspace and --db say where it is looked for")
	}
	if _, ok := errors.AsType[*loop.BusyError](err); ok {
		return fail(err, "touch .plimsoll/stop in the workspace ends that one; or work in another folder, such as a git worktree")
	}
	if _, ok := errors.AsType[*loop.MissingError](err); ok {
		return fail(err, "install it, or name the command with --cli")
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fail(err, "the loop needs a folder .plimsoll in the workspace that it can write to")
	}
	return storeError(ctx, "loop", err)
}

// loopEnd says how a loop has ended.
func loopEnd(s streams, id string, o loop.Outcome) error {
	codes := map[coreloop.Reason]int{
		coreloop.TimeLimit: exitTimeLimit, coreloop.IterationLimit: exitIterationLimit, coreloop.ManualStop: exitManualStop,
		coreloop.AlertPause: exitAlertPause, coreloop.FatalError: exitFatalError, coreloop.RecoveryFailed: exitRecoveryFailed,
	}
	if o.Reason == coreloop.GoalComplete {
		_, err := fmt.Fprintf(s.err, "loop %s: %s: %s\n", id, o.Reason, console.Safe(o.Why))
		return fail(err, "")
	}
	return &codedError{codes[o.Reason], fmt.Errorf("loop %s: %s: %s", id, o.Reason, o.Why), "plimsoll loop --resume goes on, where what ended it can be overcome"}
}

// A switchFlag is on, off, or not stated.
type switchFlag struct{ to *string }

// String implements pflag.Value.
func (f switchFlag) String() string {
	if f.to == nil {
		return ""
	}
	return *f.to
}

// Set implements pflag.Value.
func (f switchFlag) Set(text string) error {
	switch text {
	case loop.On, "true":
		*f.to = loop.On
	case loop.Off, "false":
		*f.to = loop.Off
	default:
		return fmt.Errorf("want on or off, got %q", text)
	}
	return nil
}

// Type implements pflag.Value.
func (switchFlag) Type() string { return "on|off" }

// defineSwitches adds the flags of what goes beyond the document.
func (f *loopFlags) defineSwitches(cmd *cobra.Command) {
	for _, x := range []struct {
		name, usage string
		to          *string
	}{
		{"chunks", "cut a long output between what belongs together, so that decisions and failures in it stay", &f.settings.BySense},
		{"recall", "look in all older iterations for passages that fit the next prompt, and show them", &f.settings.Recall},
		{"memory", "show what is known of the workspace from other loops, and have the agent add to it (plimsoll loop memory)", &f.settings.Memory},
		{"adaptive-window", "keep more iterations raw while they are short or make no progress, fewer of long ones", &f.settings.Adaptive},
	} {
		cmd.Flags().Var(switchFlag{x.to}, x.name, x.usage)
		cmd.Flags().Lookup(x.name).NoOptDefVal = loop.On
	}
}
