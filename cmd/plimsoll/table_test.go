package main

import (
	"regexp"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"pgregory.net/rapid"
)

// strip takes the colours out of a text.
func strip(s string) string { return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(s, "") }

func TestTable(t *testing.T) {
	st := newStyles()
	tb := table{
		width:   120,
		columns: []column{{name: "policy"}, {name: "over", right: true}, {name: "nothing"}, {name: "edits", wrap: true}},
		rows: [][]cell{
			{{text: "off"}, {text: "1,044", style: st.bad}, {}, {text: "none"}},
			{{text: "balanced"}, {text: "0", style: st.good}, {}, {text: "dedup 6, drop 2, stub 15"}},
		},
	}
	want := "policy     over  edits\n" +
		"off       1,044  none\n" +
		"balanced      0  dedup 6, drop 2, stub 15\n"
	if got := strip(tb.String()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	tb.width = 34
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
	tb := table{
		width:   14,
		columns: []column{{name: "aaaaaa"}, {name: "bbbbbb", spare: 2}, {name: "cccccc", spare: 1}},
		rows:    [][]cell{plain("1", "2", "3")},
	}
	if got := strip(tb.String()); got != "aaaaaa  bbbbbb\n1       2\n" {
		t.Errorf("got %q", got)
	}
	tb.width = 7
	if got := strip(tb.String()); got != "aaaaaa\n1\n" {
		t.Errorf("got %q", got)
	}
}

// Colour never moves a column, wide characters do not either, and no line is wider
// than allowed where the texts can be broken.
func TestTableAligned(t *testing.T) {
	word := rapid.StringMatching(`[a-z日本]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		st := newStyles()
		coloured := table{width: 60, columns: []column{{name: "name"}, {name: "n", right: true}, {name: "text", wrap: true}}}
		bare := coloured
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			texts := []string{word.Draw(t, "name"), word.Draw(t, "n"), strings.Join(rapid.SliceOfN(word, 1, 20).Draw(t, "words"), " ")}
			bare.rows = append(bare.rows, plain(texts...))
			row := plain(texts...)
			row[0].style, row[1].style, row[2].style = st.dim, st.bad, st.good
			coloured.rows = append(coloured.rows, row)
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
