package console

import (
	"regexp"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"pgregory.net/rapid"
)

// Strip takes the colours out of a text.
func strip(s string) string { return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(s, "") }

func TestTable(t *testing.T) {
	st := NewStyles()
	tb := Table{
		Width:   120,
		Columns: []Column{{Name: "policy"}, {Name: "over", Right: true}, {Name: "nothing"}, {Name: "edits", Wrap: true}},
		Rows: [][]Cell{
			{{Text: "off"}, {Text: "1,044", Style: st.Bad}, {}, {Text: "none"}},
			{{Text: "balanced"}, {Text: "0", Style: st.Good}, {}, {Text: "dedup 6, drop 2, stub 15"}},
		},
	}
	want := "policy     over  edits\n" +
		"off       1,044  none\n" +
		"balanced      0  dedup 6, drop 2, stub 15\n"
	if got := strip(tb.String()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	tb.Width = 34
	want = "policy     over  edits\n" +
		"off       1,044  none\n" +
		"balanced      0  dedup 6, drop 2,\n" +
		"                 stub 15\n"
	if got := strip(tb.String()); got != want {
		t.Errorf("at 34 columns got\n%swant\n%s", got, want)
	}
}

// In a narrow terminal the least important columns are left out first.
func TestTableSpare(t *testing.T) {
	tb := Table{
		Width:   14,
		Columns: []Column{{Name: "aaaaaa"}, {Name: "bbbbbb", Spare: 2}, {Name: "cccccc", Spare: 1}},
		Rows:    [][]Cell{Plain("1", "2", "3")},
	}
	if got := strip(tb.String()); got != "aaaaaa  bbbbbb\n1       2\n" {
		t.Errorf("got %q", got)
	}
	tb.Width = 7
	if got := strip(tb.String()); got != "aaaaaa\n1\n" {
		t.Errorf("got %q", got)
	}
}

// Colour never moves a column, wide characters do not either, and no line is wider
// than allowed where the texts can be broken.
func TestTableAligned(t *testing.T) {
	word := rapid.StringMatching(`[a-z日本]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		st := NewStyles()
		coloured := Table{Width: 60, Columns: []Column{{Name: "name"}, {Name: "n", Right: true}, {Name: "text", Wrap: true}}}
		bare := coloured
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			texts := []string{word.Draw(t, "name"), word.Draw(t, "n"), strings.Join(rapid.SliceOfN(word, 1, 20).Draw(t, "words"), " ")}
			bare.Rows = append(bare.Rows, Plain(texts...))
			row := Plain(texts...)
			row[0].Style, row[1].Style, row[2].Style = st.Dim, st.Bad, st.Good
			coloured.Rows = append(coloured.Rows, row)
		}
		got := strip(coloured.String())
		if want := strip(bare.String()); got != want {
			t.Fatalf("coloured\n%s\nbare\n%s", got, want)
		}
		for line := range strings.Lines(got) {
			if lipgloss.Width(strings.TrimSuffix(line, "\n")) > 60 {
				t.Fatalf("too wide: %q", line)
			}
		}
	})
}

// What stands below rows is said once for neighbours of which it says the same, and all of what there is no room for
// beside the others goes there.
func TestTableBelow(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	tb := Table{
		Width:   24,
		Columns: []Column{{Name: "step"}, {Name: "out", Under: true, Wrap: true}, {Name: "in", Under: true, Wrap: true}},
		Rows:    [][]Cell{Plain("1", "outputs 10", "summary 3"), Plain("2", "outputs 10", "summary 3"), Plain("3", "calls 4", ""), Plain("4", Nothing, "")},
	}
	want := "step\n1\n2\n    these 2, out:\n    outputs 10\n    these 2, in: summary\n    3\n3\n    out: calls 4\n4\n"
	if got := strip(tb.String()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	tb.Width = 40
	if got := strip(tb.String()); !strings.HasPrefix(got, "step  out         in\n1     outputs 10  summary 3\n") {
		t.Errorf("got\n%s", got)
	}
}

// A column by which rows belong together is not lost where there is no room for it.
func TestTableBand(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	tb := Table{
		Width:   12,
		Columns: []Column{{Name: "policy"}, {Name: "window", Spare: 1, Band: true}, {Name: "over"}},
		Rows:    [][]Cell{Plain("a", "50%", "1"), Plain("b", "50%", "2"), Plain("a", "30,000", "3")},
	}
	want := "policy  over\nwindow 50%\na       1\nb       2\nwindow 30,000\na       3\n"
	if got := strip(tb.String()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
