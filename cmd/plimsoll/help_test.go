package main

import (
	"bytes"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"
)

// TestHelpFits: the help of every command fits a terminal of 80 columns, but for examples, which
// are to be pasted.
func TestHelpFits(t *testing.T) {
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.Name() == "completion" {
			return // cobra's own
		}
		var out bytes.Buffer
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		example := false
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			example = strings.HasPrefix(line, "Examples:") || example && line != ""
			if n := lipgloss.Width(line); n > helpWidth && !example {
				t.Errorf("%s --help: want lines of at most %d columns, got %d: %s", cmd.CommandPath(), helpWidth, n, line)
			}
		}
		for _, sub := range shownCommands(cmd) {
			each(sub)
		}
	}
	each(newRoot(streams{}))
}

// TestLayout: what is too wide is broken anew, items of lists below their text, and what fits stays.
func TestLayout(t *testing.T) {
	long := strings.Repeat("words that are many ", 6)
	got := layout("One\nparagraph.\n\nOne that " + strings.TrimSpace(long) + "\nand more.\n\nA list:\n  a  short\n  bb  " + long + "\n      and more\n\nEnd.")
	want := "One\nparagraph.\n\nOne that words that are many words that are many words that are many words that\nare many words that are many words that are many and more.\n\nA list:\n  a  short\n" +
		"  bb  words that are many words that are many words that are many words that are\n      many words that are many words that are many and more\n\nEnd."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
