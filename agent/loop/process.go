package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// How long the processes of an agent have to end after they were asked to, and how long
// its output is read on when it has ended.
const (
	killGrace = 5 * time.Second
	readGrace = 2 * time.Second
)

// A ran is how a run of an agent ended.
type ran struct {
	text        string // of standard output, both ends if it is long
	bytes       int64  // of standard output in all
	answer      string
	structured  bool
	fault       string // empty: it exited with 0
	interrupted bool   // it was ended from outside
	missing     error  // it could not be started
}

// A task is one run of an agent.
type task struct {
	agent   Agent
	prompt  string
	dir     string
	mark    string
	timeout time.Duration // 0: none
	shown   io.Writer     // for a person: what the agent says
}

// run starts the agent and waits for its end. Where ctx ends, or the time is over, all
// processes of its group are ended.
func (t task) run(ctx context.Context) ran {
	command, input, err := t.agent.arguments(t.prompt)
	if err != nil {
		return ran{missing: err}
	}
	if t.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.timeout, errTimeout)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = t.dir
	cmd.Env = slices.Concat(os.Environ(), t.agent.Env, []string{markName + "=" + t.mark})
	cmd.Stdin = strings.NewReader(input)
	out, errs := newCapture(keptHead, keptTail), newCapture(0, 2048)
	words := listener{form: t.agent.Answer, show: func(text string) { _, _ = io.WriteString(t.shown, text+"\n") }}
	if t.agent.Answer.structured() {
		cmd.Stdout = io.MultiWriter(out, &words)
	} else {
		cmd.Stdout = io.MultiWriter(out, t.shown)
	}
	cmd.Stderr = io.MultiWriter(errs, t.shown)
	group := newGroup(cmd)
	cmd.Cancel = func() error { return group.end(killGrace) }
	cmd.WaitDelay = killGrace + readGrace
	if err := cmd.Start(); err != nil {
		return ran{missing: fmt.Errorf("loop: agent %s: %w", t.agent.Name, err)}
	}
	err = cmd.Wait()
	group.kill() // what it left running in its group would work on beside the next iteration
	r := ran{text: out.text(), bytes: out.all}
	r.fault, r.interrupted = outcome(ctx, err, errs.text())
	if t.agent.Answer.structured() {
		found := false
		r.structured = true
		if r.answer, found = words.end(); !found && r.fault == "" {
			r.fault = "no final answer in its output"
		}
	}
	return r
}

// errTimeout is why a run ended whose time was over.
var errTimeout = errors.New("time is over")

// outcome says what went wrong with a run.
func outcome(ctx context.Context, err error, errs string) (fault string, interrupted bool) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		return "ended: its time was over", false
	case cause != nil:
		return "ended from outside", true
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // a process that it left held its output open
		return "", false
	}
	fault = err.Error()
	if line := lastLine(errs); line != "" {
		fault += ": " + line
	}
	return valid(fault), false
}

// lastLine returns the last line of a text that says something.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
