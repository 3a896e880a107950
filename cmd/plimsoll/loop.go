package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
)

func newLoop(s streams) *cobra.Command {
	var f loopFlags
	cmd := &cobra.Command{
		Use:   "loop --goal TEXT|FILE",
		Short: "Run command-line agents on one goal until it is achieved",
		Long: `Run a command-line agent on a goal again and again. Each prompt has the goal, a
summary of what was done, the newest iterations, and stays below 50,000 tokens. The loop
ends when the agent's own answer has <promise>COMPLETE</promise>, at a limit, or when the
agent is stuck and nothing helps.

Agents are ` + strings.Join(loop.Presets(), ", ") + `, with a model behind a colon if one is to be
named, or any command line: its prompt comes on standard input, or stands for {prompt} in
an argument. Several agents take turns.

All of it is kept: killed at any time, plimsoll loop --resume goes on in the same place. A
file .plimsoll/stop in the workspace ends the loop after the running iteration,
.plimsoll/pause holds it, and with --enable-inbox files in .plimsoll/inbox are messages to
the agent. Ctrl-C ends the running iteration, too.

Exit codes: 0 goal_complete, 10 time_limit, 11 iteration_limit, 12 manual_stop,
13 alert_pause, 14 fatal_error, 15 recovery_failed, 130 interrupted.`,
		Example: `  plimsoll loop --goal "Make all tests pass." --cli codex
  plimsoll loop --goal goal.md --cli claude --cli codex:gpt-5 --max-time 8h
  plimsoll loop --goal goal.md --cli 'aider --yes --message {prompt}'
  plimsoll loop --resume`,
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			switch {
			case f.status:
				return runLoopStatus(ctx, s, f)
			case f.daemon:
				return runLoopDaemon(s, f)
			}
			return runLoop(ctx, s, f)
		},
	}
	f.define(cmd)
	cmd.AddCommand(newLoopShow(s), newLoopMemory(s))
	return cmd
}

func runLoop(ctx context.Context, s streams, f loopFlags) (err error) {
	o, err := f.options()
	if err != nil {
		return err
	}
	goal, err := f.readGoal()
	if err != nil {
		return err
	}
	st, err := openOwnStore(ctx, "loop", f.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fail(st.Close(), "")) }()
	o.Store = st
	screen := newLoopScreen(s)
	o.Output, o.Notify = screen, screen.notify
	proxies := &loopProxies{config: f.config, store: st, models: o.models, note: screen.note}
	defer func() { err = errors.Join(err, proxies.close()) }()
	o.ProxyBy = proxies.by
	r, err := f.runner(ctx, o.Options, goal)
	if err != nil {
		return loopError(ctx, err)
	}
	defer func() { err = errors.Join(err, fail(r.Close(), "")) }()
	screen.started(r.ID())
	defer screen.follow()()
	outcome, err := r.Run(ctx)
	if err != nil {
		return loopError(ctx, err)
	}
	return loopEnd(s, r.ID(), outcome)
}
