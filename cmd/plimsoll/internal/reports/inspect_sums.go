package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// agents lists the sub-agents of the session, with the sums over all of them.
func (w *reportWriter) agents(r inspect.Report) {
	w.listed(console.Plural(len(r.Agents), "sub-agent"), rows.Agents(r.Agents, nil), mostCuts)
	if all := r.WithAgents; all != nil && len(r.Agents) > 0 {
		w.Para(w.Style.Plain, "the session with them: "+familyText(*all))
	}
}

// stated says what the file states about its own sums: in a table where ours are others, else in
// a line for what is the same of which figures. Lines of the file that say the same are one.
func (w *reportWriter) stated(r inspect.Report) {
	t := rows.Stated(r)
	if len(t.Rows) == 0 {
		return
	}
	w.Part("what the file says about its sums")
	how := t.At("how")
	for _, text := range agreeing(t.Where(func(row rows.Row) bool { return agrees(row.Cells[how].Text) })) {
		w.Para(w.Style.Plain, text)
	}
	others := t.Where(func(row rows.Row) bool { return !agrees(row.Cells[how].Text) })
	all := len(others.Rows)
	others.Rows = console.First(others.Rows, mostCuts)
	w.WriteString(tableText(others, w.Width, indent))
	w.More(all, mostCuts)
}

func agrees(how string) bool { return how == rows.Same || how == rows.Divided }

// agreeing says of rows of stated sums that agree with ours which figures those are, once for all
// lines of which the same is to be said.
func agreeing(t rows.Table) []string {
	t = t.Pick("line", "by", "model", "how", "figure")
	type statement struct {
		line      int
		what, how string
	}
	var order []statement
	figures := map[statement][]string{}
	for _, row := range t.Rows {
		what := console.Safe(row.Cells[1].String())
		if model := row.Cells[2].String(); model != "" {
			what += " of " + console.Safe(model)
		}
		s := statement{row.Cells[0].Number, what, row.Cells[3].Text}
		if figures[s] == nil {
			order = append(order, s)
		}
		figures[s] = append(figures[s], console.Safe(row.Cells[4].String()))
	}
	var texts []string
	at := map[string][]int{} // lines, by what they say
	for _, s := range order {
		text := fmt.Sprintf("%s: %s: %s", s.what, s.how, strings.Join(figures[s], ", "))
		if at[text] == nil {
			texts = append(texts, text)
		}
		at[text] = append(at[text], s.line)
	}
	for i, text := range texts {
		texts[i] = linesText(at[text]) + ", " + text
	}
	return texts
}

// linesText names lines: a few of many.
func linesText(lines []int) string {
	const most = 3
	if len(lines) == 1 {
		return fmt.Sprintf("line %d", lines[0])
	}
	var names []string
	for _, n := range console.First(lines, most) {
		names = append(names, strconv.Itoa(n))
	}
	if n := len(lines) - most; n > 0 {
		return fmt.Sprintf("lines %s and %d more", strings.Join(names, ", "), n)
	}
	last := len(names) - 1
	return "lines " + strings.Join(names[:last], ", ") + " and " + names[last]
}

// steps lists every Step: what its prompt was taken for before the call, and what the
// provider then reported.
func (w *reportWriter) steps(r inspect.Report) {
	t := rows.Steps(r)
	w.listed("steps: the estimate before the call, and what was reported", t, len(t.Rows))
	predicted := len(t.Where(func(row rows.Row) bool { return row.Cells[t.At("estimate")].Kind != rows.Missing }).Rows)
	if predicted > 0 {
		w.Para(w.Style.Dim, fmt.Sprintf("median error of %s: %s; of the counter alone: %s", console.Plural(predicted, "estimate"),
			console.PPM(medianError(r, func(p inspect.Prediction) int { return p.ErrorPPM })), console.PPM(medianError(r, func(p inspect.Prediction) int { return p.CounterErrorPPM }))))
	}
}

// medianError returns the median size of an error of all predictions.
func medianError(r inspect.Report, of func(inspect.Prediction) int) int {
	var all []int
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			if s.Estimate != nil {
				all = append(all, max(of(*s.Estimate), -of(*s.Estimate)))
			}
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}
