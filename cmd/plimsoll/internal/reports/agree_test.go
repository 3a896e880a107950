package reports

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/web"
)

// A grid is a table as it is shown.
type grid struct {
	title string
	heads []string
	right []bool // columns that stand to the right
	rows  [][]string
}

// column returns the place of a head, -1 if the table does not have it.
func (g grid) column(head string) int { return slices.Index(g.heads, head) }

// gridsOf reads the tables of a page.
func gridsOf(t *testing.T, page string) []grid {
	t.Helper()
	var out []grid
	for _, part := range strings.Split(page, "<table>")[1:] {
		part, _, _ = strings.Cut(part, "</table>")
		out = append(out, gridOf(t, part))
	}
	return out
}

// gridOf reads a table of a page. What stands in the band above rows is a cell of each, behind the
// others: "Window 50%" is one of the column window.
func gridOf(t *testing.T, table string) grid {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<table>" + table + "</table>"))
	d.Strict, d.Entity = false, xml.HTMLEntity
	var g grid
	var row []string
	text, class, band := "", "", ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return g
		}
		if err != nil {
			t.Fatalf("%v in %s", err, table)
		}
		switch x := token.(type) {
		case xml.StartElement:
			text, class = "", ""
			for _, a := range x.Attr {
				if a.Name.Local == "class" {
					class = a.Value
				}
			}
			if x.Name.Local == "tr" {
				row, band = nil, cmp.Or(map[string]string{"band": "now"}[class], band)
			}
		case xml.CharData:
			text += string(x)
		case xml.EndElement:
			switch x.Name.Local {
			case "caption":
				g.title = text
			case "th", "td":
				if g.rows == nil && band == "" && len(g.heads) == 0 {
					g.right = append(g.right, class == "n")
				}
				if text = strings.Join(strings.Fields(text), " "); text == "–" {
					text = ""
				}
				row = append(row, text)
			case "tr":
				band = g.take(row, band)
			}
		}
	}
}

// take takes a row of a page: the heads, a band, of which it returns what the rows below it have, or
// cells.
func (g *grid) take(row []string, band string) string {
	switch {
	case g.heads == nil:
		for _, head := range row {
			g.heads = append(g.heads, strings.ToLower(head[:1])+head[1:])
		}
	case band == "now":
		name, value, _ := strings.Cut(row[0], " ")
		if g.column(strings.ToLower(name)) < 0 {
			g.heads, g.right = append(g.heads, strings.ToLower(name)), append(g.right, true)
		}
		return value
	case band != "":
		g.rows = append(g.rows, append(row, band))
	default:
		g.rows = append(g.rows, row)
	}
	return band
}

// printed finds the table in what a terminal is shown that has some heads, with the columns that the
// page says stand to the right.
func printed(text string, page grid, heads []string) (grid, bool) {
	lines := strings.Split(text, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return slices.Equal(columnsIn(line), heads) })
	if at < 0 {
		return grid{}, false
	}
	g := grid{heads: heads}
	for _, line := range lines[at+1:] {
		if line == "" || strings.HasPrefix(line, "  and ") || strings.HasPrefix(line, "  median ") || strings.HasPrefix(line, "  the session with them") || !strings.HasPrefix(line, " ") && strings.HasPrefix(lines[at], " ") || strings.HasPrefix(line, "  ") && !strings.HasPrefix(lines[at], " ") {
			break
		}
		g.rows = append(g.rows, cellsOf(lines[at], line, page, heads))
	}
	return g, true
}

// columnsIn returns the heads in a line.
func columnsIn(line string) []string {
	var out []string
	for part := range strings.SplitSeq(line, "  ") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// cellsOf cuts a line into cells by where the heads above it stand, from the last one on.
func cellsOf(above, line string, page grid, heads []string) []string {
	out := make([]string, len(heads))
	over, rest := []rune(above), []rune(line)
	for i, head := range slices.Backward(heads) {
		start := strings.LastIndex(string(over), head) // in runes, as heads are ASCII
		end := start + len(head)
		if page.right[page.column(head)] {
			if len(rest) < end { // nothing is there, nor behind it
				over = over[:end-len(head)]
				continue
			}
			start = end
			for start > 0 && (rest[start-1] != ' ' || start > 1 && rest[start-2] != ' ') {
				start--
			}
		}
		start = min(start, len(rest))
		out[i] = strings.Join(strings.Fields(string(rest[start:])), " ")
		over, rest = over[:max(end-len(head), 0)], rest[:start]
	}
	return out
}

// sameCell reports whether a terminal shows what a page does, which it may shorten.
func sameCell(shown, whole string) bool {
	if begin, cut := strings.CutSuffix(shown, "…"); cut {
		return strings.HasPrefix(whole, strings.TrimSpace(begin))
	}
	if end, cut := strings.CutPrefix(shown, "…"); cut {
		return strings.Contains(whole, end)
	}
	return shown == whole || strings.HasPrefix(whole, shown+" ") && strings.Contains(whole, "=") // the other arguments of a call
}

// holds says that a table of a terminal has the heads of its rows, and row for row the cells of the page.
func holds(t *testing.T, text string, page grid, table rows.Table) int {
	t.Helper()
	var heads []string
	for _, c := range table.Narrow().Filled().Columns {
		heads = append(heads, c.Name)
		if page.column(c.Name) < 0 {
			t.Errorf("%s: the page has no column %q: %q", page.title, c.Name, page.heads)
			return 0
		}
	}
	got, ok := printed(text, page, heads)
	if !ok {
		t.Errorf("%s: want a table of a terminal with the heads %q in\n%s", page.title, heads, text)
		return 0
	}
	next := 0
	for _, row := range got.rows {
		for ; next < len(page.rows); next++ {
			if !slices.ContainsFunc(heads, func(head string) bool {
				return !sameCell(row[slices.Index(heads, head)], page.rows[next][page.column(head)])
			}) {
				break
			}
		}
		if next == len(page.rows) {
			t.Errorf("%s: the page does not have the row\n%q\nof\n%q in its order: it has\n%q\n%q", page.title, row, heads, page.heads, page.rows)
			return 0
		}
		next++
	}
	if len(got.rows) == 0 {
		t.Errorf("%s: no rows under %q", page.title, heads)
	}
	return len(got.rows)
}

// TestTerminalAndPageAgree reads examples and fixtures, and holds each table that a terminal of 200 columns is shown of a report or a replay
// against the table of the page: it has the columns that are for both, and in each row the same cells.
func TestTerminalAndPageAgree(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, name := range agreeing200 {
		t.Run(filepath.Base(name), func(t *testing.T) {
			session, err := formats.Open(filepath.Join("..", "..", "..", "..", name))
			if err != nil {
				t.Fatal(err)
			}
			r, err := inspect.Session(session, inspect.Options{Catalog: cat, Encodings: (&plimsoll.Encodings{}).Load, Top: 5})
			if err != nil {
				t.Fatal(err)
			}
			r.Findings = advice.Of(r, nil)
			inspected(t, r, compared)
			err = replayer(t, cat).Session(t.Context(), session, func(res replay.Result) error { replayed(t, res, compared); return nil })
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	made := madeReport()
	inspected(t, made, compared)
	for _, title := range []string{
		"Calls without a result", "Sub-agents", "What the file says about its sums", "Problems in the file", "Left out", "What now",
		"Dearest outputs", "Shown again", "What the client cut", "Cache breaks", "Thinking", "Every Step", "Policies compared", "What is kept", "What each batch cost and saved",
	} {
		if compared[title] == 0 {
			t.Errorf("no row of %q was compared: %v", title, compared)
		}
	}
}

var agreeing200 = []string{"examples/session.jsonl", "examples/pi.jsonl", "examples/codex.jsonl", "examples/gemini-cli.jsonl"}

// madeReport is a report with the lists that the examples have nothing for.
func madeReport() inspect.Report {
	dollars := catalog.Dollars(250_000_000_000)
	at := inspect.StepRef{Segment: 1, Step: 2}
	return inspect.Report{
		Session: "quay.jsonl", Totals: inspect.Totals{Steps: 2, PeakStep: "1.2", Outputs: 1},
		Segments: []inspect.Segment{{Number: 1, Steps: make([]inspect.Step, 2)}, {Number: 2, NotRun: "a line is missing"}},
		Largest:  []inspect.Output{{StepRef: at, Tool: "read", Arguments: `{"path":"/home/ada/quay/berth.go","offset":3}`, Line: 4, Tokens: 1_200, Steps: 3, Carried: 3_600}},
		Unanswered: []inspect.Call{
			{StepRef: at, Tool: "bash", CallID: "c1", Arguments: `{"command":"sail --now"}`, Line: 1_007, Why: "open"},
			{StepRef: at, Tool: "bash", CallID: "c2", Line: 8, Why: "interrupted"},
		},
		Stated: []inspect.Stated{{Line: 9, What: "result", Model: "m-1", Figures: []inspect.StatedFigure{
			{Name: "calls", Stated: 2, Ours: 2},
			{Name: "cache_read", Stated: 12_000, Ours: 11_000, Differs: true, Why: "a call is missing"},
			{Name: "cost", StatedUSD: &dollars, OursUSD: &dollars, Differs: true},
		}}},
		Problems:  []inspect.Problem{{Line: 12, What: "not valid JSON, skipped"}, {What: "the file was being written"}},
		Abandoned: []inspect.Branch{{First: 3, Last: 5, Messages: 2, Why: "abandoned", Took: &inspect.Family{Steps: 1, Tokens: 11_000, CostUSD: dollars}}},
		Kindred: inspect.Kindred{
			Agents:     []inspect.Agent{{Session: "/home/ada/quay/agent-a1.jsonl", Steps: 2, Tokens: 17_000, Peak: 9_000, CostUSD: dollars}, {Line: 77, Steps: 1, Unsized: 1}},
			WithAgents: &inspect.Family{Steps: 5, Tokens: 20_000, CostUSD: dollars},
		},
		Findings: []inspect.Finding{{Text: "half of all is one file", Do: "read a part of it", Command: "plimsoll inspect quay.jsonl", CostUSD: &dollars}},
	}
}

// inspected compares the tables of a report.
func inspected(t *testing.T, r inspect.Report, compared map[string]int) {
	t.Helper()
	var b strings.Builder
	if err := web.WriteInspect(&b, []inspect.Report{r}, web.Options{}); err != nil {
		t.Fatal(err)
	}
	text := Inspection(r, 200, false, true)
	for _, g := range gridsOf(t, b.String()) {
		switch g.title {
		case "Dearest outputs":
			compared[g.title] += holds(t, text, g, rows.Outputs(r))
		case "Shown again":
			compared[g.title] += holds(t, text, g, rows.Repeats(r))
		case "What the client cut":
			compared[g.title] += holds(t, text, g, rows.Cuts(r))
		case "Cache breaks":
			compared[g.title] += holds(t, text, g, rows.Breaks(r))
		case "Calls without a result":
			compared[g.title] += holds(t, text, g, rows.Open(r))
		case "Thinking":
			compared[g.title] += holds(t, text, g, rows.Thinking(r))
		case "Every Step":
			compared[g.title] += holds(t, text, g, rows.Steps(r))
		case "Sub-agents":
			compared[g.title] += holds(t, text, g, rows.Agents(r.Agents, nil))
		case "What the file says about its sums": // what is the same of both is a line
			compared[g.title] += holds(t, text, g, rows.Stated(r).Where(func(row rows.Row) bool { return row.Cells[7].Text == rows.Different }))
		case "What now", "Problems in the file", "Left out": // a list in a terminal
			for _, row := range g.rows {
				compared[g.title]++
				for i, cell := range row {
					if g.heads[i] != "cost" && !strings.Contains(strings.Join(strings.Fields(text), " "), cell) {
						t.Errorf("%s: want %q in a terminal", g.title, cell)
					}
				}
			}
		}
	}
}

// replayed compares the tables of a replay.
func replayed(t *testing.T, res replay.Result, compared map[string]int) {
	t.Helper()
	var b strings.Builder
	if err := web.WriteReplay(&b, []replay.Result{res}, web.Options{}); err != nil {
		t.Fatal(err)
	}
	text := Segment(res, 200)
	for _, g := range gridsOf(t, b.String()) {
		switch g.title {
		case "Policies compared":
			compared[g.title] += holds(t, text, g, rows.Runs(res.Runs))
			if one := rows.OneLimit(res.Runs, func(string) bool { return true }); strings.Contains(text, "one limit") {
				compared["One limit"] += holds(t, text, g, one)
			}
		case "What is kept":
			compared[g.title] += holds(t, text, g, rows.Kept(res.Runs))
		case "What each batch cost and saved":
			compared[g.title] += holds(t, text, g, rows.Batches(res.Runs))
		}
	}
}

// replayer runs three policies on two windows.
func replayer(t *testing.T, cat catalog.Catalog) *replay.Replayer {
	t.Helper()
	o := replay.Options{Ground: true, Batches: true, Catalog: &cat}
	for _, name := range []string{"off", "layered", "balanced"} {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		o.Policies = append(o.Policies, p)
	}
	for _, window := range []string{"50%", "30000"} {
		w, err := replay.ParseWindow(window)
		if err != nil {
			t.Fatal(err)
		}
		o.Windows = append(o.Windows, w)
	}
	r, err := replay.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
