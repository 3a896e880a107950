package main

import (
	"errors"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

//go:generate go run ./internal/gensession -out ../../examples/session.jsonl

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
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
