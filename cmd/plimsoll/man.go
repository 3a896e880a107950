package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// newMan is for those who pack the program, and in no list of commands.
func newMan(streams) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages into a folder", Hidden: true,
		Long: `Write a manual page for each command into a folder, as plimsoll.1, plimsoll-inspect.1
and so on. A release has them in its archives.`,
		Args: wantArgs(1, 1, "folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fail(err, "")
			}
			return fail(writeManuals(cmd.Root(), args[0]), "")
		},
	}
}

// writeManuals writes the page of a command and those of its own.
func writeManuals(cmd *cobra.Command, dir string) error {
	err := os.WriteFile(filepath.Join(dir, manualName(cmd)+".1"), []byte(manual(cmd)), 0o644)
	for _, sub := range shownCommands(cmd) {
		err = errors.Join(err, writeManuals(sub, dir))
	}
	return err
}

func manualName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// shownCommands returns the commands of a command that its help lists.
func shownCommands(cmd *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			out = append(out, c)
		}
	}
	return out
}

// manualWidth is how wide the texts of a page are, beside its margin.
const manualWidth = 72

// manual is the page of a command: what --help says, in the sections of a manual page.
func manual(cmd *cobra.Command) string {
	name := manualName(cmd)
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"plimsoll %s\" \"Plimsoll\"\n", strings.ToUpper(name), version())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", name, roff(cmd.Short))
	section := func(title, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(&b, ".SH %s\n%s", title, paragraphs(text))
		}
	}
	section("SYNOPSIS", cmd.UseLine())
	section("DESCRIPTION", cmd.Long)
	var subs strings.Builder
	for _, sub := range shownCommands(cmd) {
		fmt.Fprintf(&subs, "  %-12s %s\n", sub.Name(), sub.Short)
	}
	section("COMMANDS", subs.String())
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	section("OPTIONS", cmd.NonInheritedFlags().FlagUsagesWrapped(manualWidth))
	section("EXAMPLES", cmd.Example)
	var also []string
	if cmd.HasParent() {
		also = append(also, manualName(cmd.Parent())+"(1)")
	}
	for _, sub := range shownCommands(cmd) {
		also = append(also, manualName(sub)+"(1)")
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(strings.Join(also, ", ")))
	}
	return b.String()
}

// paragraphs writes a text whose paragraphs are filled, but for those with an indented line,
// which are lists.
func paragraphs(text string) string {
	var b strings.Builder
	for i, p := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") || strings.Contains(p, "\t") {
			p = ".nf\n" + roff(p) + "\n.fi"
		} else {
			p = roff(p)
		}
		b.WriteString(p + "\n")
	}
	return b.String()
}

// roff writes a text so that the page shows it as it is: a backslash, a hyphen that can be
// copied, and no line that begins as a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
