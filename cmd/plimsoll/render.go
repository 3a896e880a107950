package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// Styles of what is printed for people.
type styles struct{ head, good, bad, dim lipgloss.Style }

func newStyles() styles {
	s := lipgloss.NewStyle()
	return styles{head: s.Bold(true), good: s.Foreground(lipgloss.Green), bad: s.Foreground(lipgloss.Red).Bold(true), dim: s.Faint(true)}
}

// printTable prints rows under a header, numbers to the right.
func printTable(w io.Writer, header []string, rows [][]string) error {
	st := newStyles()
	t := table.New().Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).BorderLeft(false).
		BorderHeader(false).Headers(header...).Rows(rows...).
		StyleFunc(func(row, col int) lipgloss.Style {
			s := lipgloss.NewStyle().PaddingRight(1)
			switch {
			case row == table.HeaderRow:
				return st.head.PaddingRight(1).Align(alignment(rows, col))
			case numeric(rows[row][col]):
				return s.Align(lipgloss.Right)
			}
			return s
		})
	_, err := lipgloss.Fprintln(w, t.Render())
	return err
}

func alignment(rows [][]string, col int) lipgloss.Position {
	for _, r := range rows {
		if !numeric(r[col]) {
			return lipgloss.Left
		}
	}
	return lipgloss.Right
}

func numeric(s string) bool {
	s = strings.NewReplacer(",", "", "%", "", "-", "", "<", "", " ", "").Replace(s)
	if s == "" {
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// printExplain prints the rules of a policy in the figures of a window.
func printExplain(w io.Writer, p policy.Policy, f policy.WindowFigures) error {
	st := newStyles()
	_, err := lipgloss.Fprintf(w, "%s  %s\ncapacity %s − buffer %s − output reserve %s = limit %s\n\n", st.head.Render(p.Name), p.About,
		edit.Thousands(f.Capacity), edit.Thousands(f.Buffer), edit.Thousands(f.Output), edit.Thousands(f.Limit()))
	if err != nil {
		return err
	}
	var rows [][]string
	for _, l := range policy.Explain(p, f) {
		when := "always"
		if l.Measure != "" {
			when = fmt.Sprintf("%s %s %s %s", l.Measure, l.Op, edit.Thousands(l.Threshold), l.Unit)
		}
		of := ""
		if l.Permille > 0 {
			of = percent(l.Permille) + " of " + string(l.Of)
		}
		down := ""
		if l.Down > 0 {
			down = edit.Thousands(l.Down)
		}
		rows = append(rows, []string{l.Rule, string(l.At), when, of, string(l.Do), down, l.Estimator})
	}
	return printTable(w, []string{"rule", "at", "when", "threshold", "does", "down to", "measured by"}, rows)
}

// percent writes a permille as a percentage.
func percent(permille int) string {
	if permille%10 == 0 {
		return strconv.Itoa(permille/10) + "%"
	}
	return fmt.Sprintf("%d.%d%%", permille/10, permille%10)
}

// printResult prints one segment with a row for each run.
func printResult(w io.Writer, res replay.Result) error {
	st := newStyles()
	if _, err := lipgloss.Fprintf(w, "%s  segment %d (%s), %s, %d steps, %d messages\n", st.head.Render(filepath.Base(res.Session)),
		res.Segment, res.Start, res.Model, res.Steps, res.Messages); err != nil {
		return err
	}
	for _, p := range res.Problems {
		if _, err := lipgloss.Fprintln(w, st.dim.Render(fmt.Sprintf("  line %d: %s", p.Line, p.What))); err != nil {
			return err
		}
	}
	if res.NotRun != "" {
		_, err := lipgloss.Fprintf(w, "  not run: %s\n\n", res.NotRun)
		return err
	}
	facts := fmt.Sprintf("  overhead %s tokens (%s)", edit.Thousands(res.Overhead.Tokens), res.Overhead.Kind)
	if res.Reported.Peak > 0 {
		facts = fmt.Sprintf("  reported peak %s tokens, overhead %s (%s)", edit.Thousands(res.Reported.Peak), edit.Thousands(res.Overhead.Tokens), res.Overhead.Kind)
	}
	if e := res.Estimate; e.Pairs > 0 {
		facts += fmt.Sprintf("; next prompt predicted within %s (median) and %s (95 of 100) over %d pairs", ppm(e.P50PPM), ppm(e.P95PPM), e.Pairs)
	}
	if _, err := lipgloss.Fprintln(w, st.dim.Render(facts)); err != nil {
		return err
	}
	var rows [][]string
	for _, run := range res.Runs {
		rows = append(rows, runRow(st, run))
	}
	if err := printTable(w, runHeader(), rows); err != nil {
		return err
	}
	for _, run := range res.Runs {
		if run.Note == "" {
			continue
		}
		if _, err := lipgloss.Fprintln(w, st.dim.Render(fmt.Sprintf("  %s at %s: %s", run.Policy, run.Window, run.Note))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

func runHeader() []string {
	return []string{"policy", "window", "limit", "steps", "over", "irreducible", "ended", "sent", "of raw", "peak", "breaks", "edits"}
}

func runRow(st styles, r replay.Run) []string {
	over := st.good.Render("0")
	if r.StepsOver > 0 {
		over = st.bad.Render(strconv.Itoa(r.StepsOver))
	}
	ended := ""
	if r.EndedAtStep > 0 {
		ended = fmt.Sprintf("step %d (%s)", r.EndedAtStep, r.EndReason)
	}
	return []string{
		r.Policy, r.Window, edit.Thousands(r.Limit), strconv.Itoa(r.Steps), over, strconv.Itoa(len(r.Irreducible)), ended,
		edit.Thousands(r.TokensSent), ratio(r.TokensSent, r.TokensToEnd), edit.Thousands(r.PeakSent), strconv.Itoa(r.PrefixBreaks), editList(r.Edits),
	}
}

// editList writes how many edits of each kind there were.
func editList(edits map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(edits)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, edits[k]))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// ratio writes part of whole as a percentage.
func ratio(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return strconv.Itoa(int((int64(part)*100+int64(whole)/2)/int64(whole))) + "%"
}

// ppm writes parts per million as a percentage.
func ppm(n int) string { return fmt.Sprintf("%d.%02d%%", n/10_000, n%10_000/100) }

// totals sum up all runs of a policy on a window.
type totals struct {
	order []totalKey
	sums  map[totalKey]*replay.Run
	irr   map[totalKey]int
}

type totalKey struct{ policy, window string }

func (t *totals) add(r replay.Run) {
	if t.sums == nil {
		t.sums, t.irr = map[totalKey]*replay.Run{}, map[totalKey]int{}
	}
	k := totalKey{r.Policy, r.Window}
	sum, ok := t.sums[k]
	if !ok {
		sum = &replay.Run{Policy: r.Policy, Window: r.Window, Edits: map[string]int{}}
		t.sums[k] = sum
		t.order = append(t.order, k)
	}
	t.irr[k] += len(r.Irreducible)
	sum.Steps += r.Steps
	sum.StepsOver += r.StepsOver
	sum.TokensSent += r.TokensSent
	sum.TokensToEnd += r.TokensToEnd
	sum.PeakSent = max(sum.PeakSent, r.PeakSent)
	sum.PrefixBreaks += r.PrefixBreaks
	if r.EndedAtStep > 0 {
		sum.EndedAtStep++
	}
	for kind, n := range r.Edits {
		sum.Edits[kind] += n
	}
}

func (t *totals) print(w io.Writer, files int) error {
	st := newStyles()
	if _, err := lipgloss.Fprintln(w, st.head.Render(fmt.Sprintf("all %d sessions", files))); err != nil {
		return err
	}
	var rows [][]string
	for _, k := range t.order {
		r := t.sums[k]
		row := runRow(st, *r)
		row[2], row[5], row[6] = "", strconv.Itoa(t.irr[k]), ""
		if r.EndedAtStep > 0 {
			row[6] = fmt.Sprintf("%d runs", r.EndedAtStep)
		}
		rows = append(rows, row)
	}
	return printTable(w, runHeader(), rows)
}
