package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
)

// runLoopDaemon starts the same command again in the background, in a session of its own, so
// that it outlives the terminal. What can be refused at once is refused here.
func runLoopDaemon(s streams, f loopFlags) (err error) {
	if _, err := f.options(); err != nil {
		return err
	}
	if _, err := f.readGoal(); err != nil {
		return err
	}
	workspace, err := loop.Workspace(f.workspace)
	if err != nil {
		return fail(err, "")
	}
	if h, held, err := loop.HolderOf(workspace); err == nil && held {
		return fail(&loop.BusyError{Workspace: workspace, Holder: h}, "")
	}
	log, err := loop.Log(workspace)
	if err != nil {
		return fail(err, "")
	}
	defer func() { err = errors.Join(err, fail(log.Close(), "")) }()
	program, err := os.Executable()
	if err != nil {
		return fail(fmt.Errorf("loop: --daemon: %w", err), "")
	}
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return a == "--daemon" || a == "--daemon=true" })
	cmd := exec.Command(program, args...) //nolint:gosec // this program
	cmd.Stdout, cmd.Stderr = log, log
	if err := detach(cmd); err != nil {
		return usage(fmt.Errorf("loop: --daemon: %w", err), "")
	}
	if err := cmd.Start(); err != nil {
		return fail(fmt.Errorf("loop: --daemon: %w", err), "")
	}
	_, err = fmt.Fprintf(s.err, "process %d, which prints to %s/%s/log; plimsoll loop --status says how it gets on\n", cmd.Process.Pid, console.Safe(workspace), loop.FolderName)
	return fail(errors.Join(err, cmd.Process.Release()), "")
}
