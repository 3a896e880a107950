package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

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

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(fmt.Errorf("%s: want no argument, got %q", commandName(cmd), args[0]), "usage: "+cmd.UseLine())
}
