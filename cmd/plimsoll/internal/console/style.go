package console

import (
	"io"
	"os"

	"charm.land/lipgloss/v2"
)

// Print prints a text without the colours that w cannot show.
func Print(w io.Writer, text string) error {
	_, err := lipgloss.Fprint(w, text)
	return err
}

// Styles are how people's output looks. Package lipgloss leaves out what the output
// cannot show, so that a pipe gets plain text.
type Styles struct{ Plain, Head, Good, Bad, Dim lipgloss.Style }

// NewStyles returns the styles, none where NO_COLOR is set (no-color.org).
func NewStyles() Styles {
	if os.Getenv("NO_COLOR") != "" || IsDumb() {
		return Styles{}
	}
	s := lipgloss.NewStyle()
	return Styles{
		Plain: s, Head: s.Bold(true), Good: s.Foreground(lipgloss.Green), Bad: s.Foreground(lipgloss.Red).Bold(true), Dim: s.Faint(true),
	}
}

// Zero is the look of a number that should be 0.
func (s Styles) Zero(n int) lipgloss.Style {
	if n > 0 {
		return s.Bad
	}
	return s.Good
}
