package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// docs/inspect-json.md explains every field that is printed.
func TestInspectDocFields(t *testing.T) {
	text := read(t, filepath.Join(repo, "docs", "inspect-json.md"))
	fields := map[string]bool{}
	for _, typ := range []reflect.Type{reflect.TypeFor[inspect.Report](), reflect.TypeFor[inspect.Listing](), reflect.TypeFor[inspect.Diff]()} {
		fieldNames(typ, fields)
	}
	if len(fields) < 80 {
		t.Errorf("found only %d fields, want those of reports, listings and differences", len(fields))
	}
	for name := range fields {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s is not explained", name)
		}
	}
	if want := fmt.Sprintf("`schema` is %d", inspect.Schema); !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
}

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

// A long session has a line for each stretch, with its largest Step in it.
func TestChartOfManySteps(t *testing.T) {
	outputs := make([]int, 1_000)
	for i := range outputs {
		outputs[i] = i % 100 * 10
	}
	rows := chartOf(steps(0, outputs...), 80, false).rows()
	if len(rows) != mostRows {
		t.Fatalf("want %d lines, got %d", mostRows, len(rows))
	}
	for i, r := range rows {
		from, to := i*1_000/mostRows, (i+1)*1_000/mostRows
		for _, n := range outputs[from:to] {
			if r.Step.Step <= from || r.Step.Step > to || n+1_000 > r.Tokens {
				t.Errorf("line %d, of steps %d to %d: want the largest, got step %d of %d tokens", i, from+1, to, r.Step.Step, r.Tokens)
			}
		}
	}
}

// Colour moves nothing, and every content has a letter of its own.
func TestChartColour(t *testing.T) {
	r := steps(4_000, 1_000, 3_000)
	plain, coloured := chartOf(r, 80, false).String(), chartOf(r, 80, true).String()
	letters := map[string]bool{}
	for i := range token.NumContents {
		letters[markOf(token.Content(i)).letter] = true
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

func TestClip(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{"0123456789", "0123456789"},
		{"0123456789a", "012345678…"},
		{"日本語日本語", "日本語日…"},
		{"\x1b[31m", `\x1b[31m`},
	} {
		if got := clip(c.text, 10); got != c.want {
			t.Errorf("clip(%q), want %q, got %q", c.text, c.want, got)
		}
	}
}
