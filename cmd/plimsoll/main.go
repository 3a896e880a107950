// Command plimsoll keeps LLM agents' conversations within the context window:
// it counts tokens, explains policies and replays recorded sessions offline.
//
// What it prints for people goes through package lipgloss, which leaves out
// colour where the output is no terminal or NO_COLOR is set. Errors go to
// standard error as "plimsoll: what is wrong", with a hint on a line of its own
// where there is one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK     = 0
	exitError  = 1 // nothing could be done: nothing readable, a broken policy
	exitUsage  = 2 // the command line is wrong
	exitFailed = 3 // a --fail-on condition was met
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program without its process: it returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	printError(s.err, err)
	var c *codedError
	if errors.As(err, &c) {
		return c.code
	}
	return exitUsage
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "Keep an LLM agent's conversation within the model's context window",
		Long: `Plimsoll measures what fills a model's context window, acts before a call
overflows, never loses what it takes out, and shows why.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newCount(s), newReplay(s), newPolicy(s))
	return root
}

// A codedError is an error with its exit code and, for people, a hint.
type codedError struct {
	code int
	err  error
	hint string
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// fail is an error that nothing could be done about.
func fail(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &codedError{exitError, err, hint}
}

// usage is an error of the command line.
func usage(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &codedError{exitUsage, err, hint}
}

func printError(w io.Writer, err error) {
	fmt.Fprintf(w, "plimsoll: %v\n", err)
	var c *codedError
	if errors.As(err, &c) {
		if c.hint != "" {
			fmt.Fprintf(w, "hint: %s\n", c.hint)
		}
		return
	}
	fmt.Fprintln(w, "hint: plimsoll --help lists the commands; plimsoll COMMAND --help its flags")
}
