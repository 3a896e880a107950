package console

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// MostListed is how many of a list of unlimited length a person is shown.
const MostListed = 5

// MostName is how many characters of a session's name are shown.
const MostName = 90

// A Writer collects lines of at most width columns.
type Writer struct {
	strings.Builder
	Width int
	Style Styles
}

// NewWriter returns a writer of lines of at most so many columns.
func NewWriter(width int) *Writer { return &Writer{Width: width, Style: NewStyles()} }

// Para writes an indented paragraph.
func (w *Writer) Para(style lipgloss.Style, text string) {
	for i, line := range Wrap(text, w.Width-4) {
		indent := "  "
		if i > 0 {
			indent = "    "
		}
		w.WriteString(indent + style.Render(line) + "\n")
	}
}

// besideName is how many columns stand beside the name of a session in a title, at most.
const besideName = 20

// Named returns the name of a session for a title: its end, where there is no room for all.
func (w *Writer) Named(session string) string {
	return Safe(Shorten(Homely(session), min(MostName, w.Width-besideName)))
}

// List writes the first few of a list.
func (w *Writer) List(lines []string) {
	shown := AtMost(lines, MostListed)
	for i, l := range shown {
		if len(lines) > MostListed && i == len(shown)-1 {
			l += " (all with --json)"
		}
		w.Para(w.Style.Dim, l)
	}
}

// Title writes a line that stands out.
func (w *Writer) Title(text string) { w.WriteString(w.Style.Head.Render(text) + "\n") }

// Part begins a part of the report.
func (w *Writer) Part(title string) {
	w.WriteByte('\n')
	for _, line := range Wrap(title, w.Width) {
		w.Title(line)
	}
}

// More says that a list goes on.
func (w *Writer) More(n, most int) {
	if n > most {
		w.Para(w.Style.Dim, fmt.Sprintf("and %d more (all with --json)", n-most))
	}
}

// Hint writes what a command shows and the command, which is whole on one line, to be pasted.
func (w *Writer) Hint(what, command string) {
	command = Safe(command)
	line := "  " + what + ": " + command
	if lipgloss.Width(line) > w.Width {
		line = "  " + what + ":\n    " + command
	}
	for part := range strings.Lines(line + "\n") {
		w.WriteString(w.Style.Dim.Render(strings.TrimSuffix(part, "\n")) + "\n")
	}
}
