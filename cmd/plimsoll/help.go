package main

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"
)

// helpWidth is how wide help is at most, but for commands that are to be pasted.
const helpWidth = 80

// fitHelp lays out the help of a command and of those below it for a terminal of 80 columns.
func fitHelp(root *cobra.Command) {
	root.SetUsageTemplate(strings.NewReplacer(
		".FlagUsages", ".FlagUsagesWrapped 80",
		`Use "{{.CommandPath}} [command] --help" for more information about a command.`, `"{{.CommandPath}} [command] --help" says more about a command.`,
	).Replace(root.UsageTemplate()))
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		cmd.Long = layout(cmd.Long)
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(root)
}

// layout breaks paragraphs that are too wide anew, and items of lists below their text.
func layout(text string) string {
	var out, run []string
	flush := func() {
		if slices.ContainsFunc(run, tooWide) {
			run = console.Wrap(strings.Join(run, " "), helpWidth)
		}
		out, run = append(out, run...), nil
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		indent := indentOf(lines[i])
		if indent == 0 && lines[i] != "" {
			run = append(run, lines[i])
			continue
		}
		flush()
		item := lines[i : i+1]
		for lines[i] != "" && i+1 < len(lines) && indentOf(lines[i+1]) > indent {
			i++
			item = append(item[:len(item):len(item)], lines[i])
		}
		out = append(out, layoutItem(item)...)
	}
	flush()
	return strings.Join(out, "\n")
}

func tooWide(line string) bool { return lipgloss.Width(line) > helpWidth }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// layoutItem breaks an item of a list anew, if a line of it is too long: a word, blanks, and what
// it means, which may go on on the next lines.
func layoutItem(lines []string) []string {
	if !slices.ContainsFunc(lines, tooWide) {
		return lines
	}
	indent := indentOf(lines[0])
	at := indent
	if gap := strings.Index(lines[0][indent:], console.Gap); gap >= 0 {
		at += gap + indentOf(lines[0][indent+gap:])
	}
	words := []string{strings.TrimSpace(lines[0][at:])}
	for _, l := range lines[1:] {
		words = append(words, strings.TrimSpace(l))
	}
	out := console.Wrap(strings.Join(words, " "), helpWidth-at)
	for i, l := range out {
		out[i] = strings.Repeat(" ", at) + l
	}
	out[0] = lines[0][:at] + strings.TrimSpace(out[0])
	return out
}
