package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// agents lists the sub-agents of the session, with the sums over all of them.
func (w *reportWriter) agents(r inspect.Report) {
	if len(r.Agents) == 0 {
		return
	}
	w.Part(console.Plural(len(r.Agents), "sub-agent"))
	t := w.table(rows.Agents(console.First(r.Agents, mostCuts), func(a inspect.Agent) string {
		if a.Line > 0 {
			return fmt.Sprintf("in it from line %d on", a.Line)
		}
		return console.Shorten(a.Session, console.MostName)
	}), column{name: "steps"}, column{name: "tokens"}, column{name: "largest", spare: 1}, column{name: "cost"}, column{name: "file"})
	w.WriteString(console.ClippedBy(t, console.Shorten)) // the end of a path says which file it is
	w.More(len(r.Agents), mostCuts)
	if all := r.WithAgents; all != nil {
		w.Para(w.Style.Plain, "the session with them: "+familyText(*all))
	}
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
	t := w.table(rows.Steps(r, func(ref inspect.StepRef) string { return stepName(r, ref.Name()) }),
		column{name: "step", right: true}, column{name: "line", spare: 2}, column{name: "tokens"}, column{name: "kind"}, column{name: "estimate"}, column{name: "off"},
		column{name: "counter alone"}, column{name: "counter off", as: "off"}, column{name: "cost", spare: 1})
	t.Columns = append(t.Columns, console.Column{Name: "note"})
	predicted, n := 0, 0
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			if s.Estimate != nil {
				predicted++
			}
			t.Rows[n] = append(t.Rows[n], console.Cell{Text: stepNote(s)})
			n++
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
