// Command plimsoll keeps LLM agents' conversations within the context window:
// it counts tokens, explains policies and replays recorded sessions offline.
//
// # What it prints
//
// Results go to standard output, everything else to standard error: an error as
// "plimsoll: what is wrong" without capitals and full stops, what can be done
// about it on a line "hint: ...". Tables are at most 120 columns wide, or as wide
// as the terminal, or as COLUMNS says where there is none: then what is longer is
// shortened as on a screen, and words of a report's own are explained at its end.
// Colour is only for terminals, and not where NO_COLOR is set; no meaning hangs on
// it. What comes from a file or from its name is printed with its control characters
// escaped.
//
// # Floors
//
// What is printed for people stands on floors of its own: internal/console has tables,
// charts, widths, looks; internal/reports, on it, the texts of inspect and replay. This
// package has the commands: their flags, what they read and call, and their JSON.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

//go:generate go run ./internal/gensession -out ../../examples/session.jsonl

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program without its process: it returns the exit code.
func run(args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.Execute()
	if err == nil || errors.Is(err, syscall.EPIPE) { // nobody reads on, as behind | head
		return exitOK
	}
	printError(s.err, err)
	if c, ok := errors.AsType[*codedError](err); ok {
		return c.code
	}
	return exitUsage // what cobra itself finds wrong
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "Keep an LLM agent's conversation within the model's context window",
		Long: `Plimsoll measures what fills a model's context window, acts before a call
overflows, never loses what it takes out, and shows why.

Start with the newest session of a coding agent on this machine, or list all:

  plimsoll inspect
  plimsoll sessions

Pages that are named docs/... are at:

  https://github.com/plimsoll-dev/plimsoll/tree/main/docs

Exit codes:
  0    done
  1    nothing could be read, or a policy file is wrong, or something failed
  2    the command line is wrong
  3    a condition of replay --fail-on was met
  10   a loop ended otherwise than by its goal: plimsoll loop --help has 10 to 15
  130  interrupted`,
		Version:            version(),
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // a hint says it
		Args:               noSuchCommand,
		RunE:               showHelp,
	}
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(newCount(s), newReplay(s), newPolicy(s), newModels(s), newInspect(s), newSessions(s), newStatusline(s), newStore(s), newConvert(s), newAsk(s), newConfig(s), newProxy(s), newEnv(s), newMCP(s), newLoop(s), newVersion(s), newMan(s))
	fitHelp(root)
	return root
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// noSuchCommand refuses arguments where a command is wanted.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	if near := policy.Nearest(args[0], names); near != "" {
		hint = fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), near)
	}
	return usage(fmt.Errorf("%s has no command %q", cmd.CommandPath(), args[0]), hint)
}

// wrongFlag says where the flags are listed.
func wrongFlag(cmd *cobra.Command, err error) error {
	return usage(err, cmd.CommandPath()+" --help lists the flags")
}

// wantArgs returns a check of the number of arguments. what is what is missing.
func wantArgs(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(fmt.Errorf("%s: no %s", commandName(cmd), what), "usage: "+cmd.UseLine())
		case most > 0 && len(args) > most:
			return usage(fmt.Errorf("%s: want %d %s, got %d", commandName(cmd), most, what, len(args)), "usage: "+cmd.UseLine())
		}
		return nil
	}
}

// commandName is the command without the program's name, for errors.
func commandName(cmd *cobra.Command) string {
	return cmd.CommandPath()[len(cmd.Root().Name())+1:]
}
