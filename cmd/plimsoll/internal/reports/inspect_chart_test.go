package reports

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// steps is a report of Steps with those outputs, besides 1,000 tokens that are
// hidden.
func steps(window int, outputs ...int) inspect.Report {
	g := inspect.Segment{Number: 1, Window: window}
	for i, n := range outputs {
		g.Steps = append(g.Steps, inspect.Step{Step: i + 1, Tokens: 1_000 + n, By: map[string]int{"hidden": 1_000, "outputs": n}})
	}
	return inspect.Report{Segments: []inspect.Segment{g}}
}

func TestChart(t *testing.T) {
	for _, c := range []struct {
		name   string
		report inspect.Report
		want   string
	}{
		{"in the window", steps(4_000, 0, 1_000, 3_000), `
  step  tokens                   4,000
     1   1,000  hhhhh               |
     2   2,000  hhhhhooooo          |
     3   4,000  hhhhhooooooooooooooo|
  at step 3:  h hidden 1,000 (25%)
     o outputs 3,000 (75%)
`},
		{"beyond the window", steps(2_000, 3_000), `
  step  tokens                   4,000
     1   4,000  hhhhhooooo|ooooooooo
  at step 1:  h hidden 1,000 (25%)
     o outputs 3,000 (75%)
`},
		{"far below the window", steps(1_000_000, 0, 1_000), `
  step  tokens                   2,000
     1   1,000  hhhhhhhhhh
     2   2,000  hhhhhhhhhhoooooooooo
  at step 2:  h hidden 1,000 (50%)
     o outputs 1,000 (50%)
`},
		{"nothing", inspect.Report{}, "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := "\n" + chartOf(c.report, 37, false).String(); trimmed(got) != trimmed(c.want) {
				t.Errorf("want%s\ngot%s", c.want, got)
			}
		})
	}
}

// trimmed leaves the blanks in front of a scale's figure out of account.
func trimmed(s string) string { return strings.Join(strings.Fields(s), " ") }

// Colour moves nothing, and every content has a letter of its own.
func TestChartColour(t *testing.T) {
	r := steps(4_000, 1_000, 3_000)
	plain, coloured := chartOf(r, 80, false).String(), chartOf(r, 80, true).String()
	letters := map[string]bool{}
	for _, m := range contentMarks() {
		letters[m.Letter] = true
	}
	if len(letters) != token.NumContents {
		t.Errorf("want %d letters, got %d", token.NumContents, len(letters))
	}
	for i, line := range strings.Split(plain, "\n") {
		if got := strings.Split(coloured, "\n")[i]; lipgloss.Width(got) != lipgloss.Width(line) {
			t.Errorf("line %d: want %d columns, got %d: %q", i, lipgloss.Width(line), lipgloss.Width(got), got)
		}
	}
}
