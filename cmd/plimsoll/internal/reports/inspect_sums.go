package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// agents lists the sub-agents of the session, with the sums over all of them.
func (w *reportWriter) agents(r inspect.Report) {
	if len(r.Agents) == 0 {
		return
	}
	w.Part(console.Plural(len(r.Agents), "sub-agent"))
	t := console.Table{Width: w.Width, Columns: []console.Column{
		{Name: "   steps", Right: true},
		{Name: "tokens", Right: true},
		{Name: "largest", Right: true, Spare: 1},
		{Name: "cost", Right: true},
		{Name: "file"},
	}}
	for _, a := range console.First(r.Agents, mostCuts) {
		where := console.Safe(console.Shorten(a.Session, console.MostName))
		if a.Line > 0 {
			where = fmt.Sprintf("in it from line %d on", a.Line)
		}
		t.Rows = append(t.Rows, console.Plain(strconv.Itoa(a.Steps), sizeOf(a, a.Tokens), sizeOf(a, a.Peak), console.Money(a.CostUSD), where))
	}
	w.WriteString(console.Clipped(t))
	w.More(len(r.Agents), mostCuts)
	if all := r.WithAgents; all != nil {
		w.Para(w.Style.Plain, "the session with them: "+familyText(*all))
	}
}

// sizeOf is a number of tokens of a sub-agent's prompts, empty if nobody knows one of them.
func sizeOf(a inspect.Agent, tokens int) string {
	if a.Unsized == a.Steps && a.Steps > 0 {
		return ""
	}
	return edit.Thousands(tokens)
}

// stated says what the file states about its own sums, and where ours are others. Lines that say
// the same are one.
func (w *reportWriter) stated(r inspect.Report) {
	if len(r.Stated) == 0 {
		return
	}
	w.Part("what the file says about its sums")
	var agree, others []string
	lines := map[string][]int{} // by what they say
	for _, s := range r.Stated {
		what := console.Safe(s.What)
		if s.Model != "" {
			what += " of " + console.Safe(s.Model)
		}
		same, divided, differ := figuresOf(s)
		for _, one := range []struct {
			how   string
			names []string
		}{{"as added up here", same}, {"divided among the steps", divided}} {
			if len(one.names) == 0 {
				continue
			}
			text := fmt.Sprintf("%s: %s: %s", what, one.how, strings.Join(one.names, ", "))
			if lines[text] == nil {
				agree = append(agree, text)
			}
			lines[text] = append(lines[text], s.Line)
		}
		for _, text := range differ {
			others = append(others, fmt.Sprintf("line %d, %s: %s", s.Line, what, text))
		}
	}
	for _, text := range agree {
		w.Para(w.Style.Plain, linesText(lines[text])+", "+text)
	}
	for _, text := range console.First(others, mostCuts) {
		w.Para(w.Style.Bad, text)
	}
	w.More(len(others), mostCuts)
}

// figuresOf returns the names of the figures that are ours, too, those that our own were made
// of, and what is to be said of the others.
func figuresOf(s inspect.Stated) (same, divided, others []string) {
	for _, f := range s.Figures {
		name := strings.ReplaceAll(console.Safe(f.Name), "_", " ")
		switch {
		case f.Differs || f.Why != "" && !f.Estimated:
			others = append(others, figureText(f))
		case f.Estimated && f.Stated > 0:
			divided = append(divided, name)
		default:
			same = append(same, name)
		}
	}
	return same, divided, others
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

// figureText sets a stated figure beside ours.
func figureText(f inspect.StatedFigure) string {
	stated, ours := edit.Thousands(int(f.Stated)), edit.Thousands(int(f.Ours))
	if f.StatedUSD != nil && f.OursUSD != nil {
		stated, ours = f.StatedUSD.String(), f.OursUSD.String()
	}
	how := "added up"
	if f.Estimated {
		how = "estimated"
	}
	text := fmt.Sprintf("%s: %s stated, %s %s", strings.ReplaceAll(console.Safe(f.Name), "_", " "), stated, ours, how)
	if f.Why != "" {
		text += ": " + console.Safe(f.Why)
	}
	return text
}

// steps lists every Step: what its prompt was taken for before the call, and what the
// provider then reported.
func (w *reportWriter) steps(r inspect.Report) {
	w.Part("steps: the estimate before the call, and what was reported")
	t := console.Table{Width: w.Width, Columns: []console.Column{
		{Name: "    step", Right: true},
		{Name: "line", Right: true, Spare: 2},
		{Name: "tokens", Right: true},
		{Name: "kind"},
		{Name: "estimate", Right: true},
		{Name: "off", Right: true},
		{Name: "counter alone", Right: true},
		{Name: "off", Right: true},
		{Name: "cost", Right: true, Spare: 1},
		{Name: "note"},
	}}
	predicted := 0
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			name := stepName(r, inspect.StepRef{Segment: g.Number, Step: s.Step}.Name())
			row := []string{name, console.Count(s.Line), edit.Thousands(s.Tokens), s.Kind, "", "", "", "", console.Money(s.CostUSD), stepNote(s)}
			if p := s.Estimate; p != nil {
				predicted++
				row[4], row[5] = edit.Thousands(p.Point), console.SignedPPM(p.ErrorPPM)
				row[6], row[7] = edit.Thousands(p.Counter), console.SignedPPM(p.CounterErrorPPM)
			}
			t.Rows = append(t.Rows, console.Plain(row...))
		}
	}
	w.WriteString(t.String())
	if predicted > 0 {
		w.Para(w.Style.Dim, fmt.Sprintf("median error of %s: %s; of the counter alone: %s", console.Plural(predicted, "estimate"),
			console.PPM(medianError(r, func(p inspect.Prediction) int { return p.ErrorPPM })), console.PPM(medianError(r, func(p inspect.Prediction) int { return p.CounterErrorPPM }))))
	}
}

// stepNote says what is particular about a Step's figures.
func stepNote(s inspect.Step) string {
	var notes []string
	if s.Copied != "" {
		notes = append(notes, "copied")
	}
	if s.CostKind == inspect.CostEstimated {
		notes = append(notes, "cost estimated")
	}
	return strings.Join(notes, ", ")
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
