package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

func (w *reportWriter) head(r inspect.Report) {
	w.Title(w.Named(r.Session))
	w.end(r.End)
	w.Para(w.Style.Plain, subject(r))
	t := r.Totals
	if r.Parent != "" {
		w.Para(w.Style.Dim, kinOf(r.Parent, r.Kin, t.CopiedSteps > 0))
	}
	w.Para(w.Style.Plain, extent(r))
	if text := copied(r); text != "" {
		w.Para(w.Style.Plain, text)
	}
	if t.Steps == 0 {
		return
	}
	w.Para(w.Style.Plain, peak(r))
	for _, text := range acceptedTexts(r) {
		w.Para(w.Style.Bad, text)
	}
	if text := hiddenText(r); text != "" {
		w.Para(w.Style.Plain, text)
	}
	w.Para(w.Style.Plain, spent(r))
	if text := leftText(r.Abandoned); text != "" {
		w.Para(w.Style.Plain, text)
	}
}

// end says how the session ended, in red where a call was refused; that all was answered
// needs no words.
func (w *reportWriter) end(e inspect.End) {
	style := w.Style.Plain
	if e.Failed != nil && !e.Failed.Stopped && !e.Failed.Limit {
		style = w.Style.Bad
	}
	if text := e.Text(); text != "" && e.How != inspect.EndAnswered {
		w.Para(style, console.Safe(text))
	}
}

// spent says what all Steps together took.
func spent(r inspect.Report) string {
	t := r.Totals
	text := edit.Thousands(t.Tokens) + " tokens sent" + kindsText(t)
	if n := t.Usage.CacheRead; n > 0 {
		text += fmt.Sprintf(", %s of them read from the cache", edit.Thousands(n))
	}
	if t.OutputReported {
		text += fmt.Sprintf("; %s written by the model", edit.Thousands(t.Usage.Output))
	}
	switch {
	case t.CostUSD.Known:
		text += "; " + t.CostUSD.String() + estimatedCost(t)
	case t.CostSteps > 0:
		text += fmt.Sprintf("; %s for %d of %s%s, the rest is not priced", knownCost(r), t.CostSteps, console.Plural(t.Steps, "step"), estimatedCost(t))
	}
	return text
}

// kindsText says what the sum of all prompts stands on, where the provider did not report
// each of them.
func kindsText(t inspect.Totals) string {
	var parts []string
	for _, k := range t.Kinds {
		how := k.Kind
		switch k.Kind {
		case inspect.Reported:
			how = "as reported"
		case inspect.ClientCounted:
			how = "by the client's own count"
		}
		parts = append(parts, fmt.Sprintf("%s %s", edit.Thousands(k.Tokens), how))
	}
	if t.Reported || len(parts) == 0 {
		return ""
	}
	if len(parts) == 1 {
		_, how, _ := strings.Cut(parts[0], " ")
		return " (" + how + ")"
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// copied says which of the calls are another session's.
func copied(r inspect.Report) string {
	t := r.Totals
	if t.CopiedSteps == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s tokens copied, to line %d: they are in no sum", console.Plural(t.CopiedSteps, "step"), edit.Thousands(t.CopiedTokens), lastCopied(r))
}

// lastCopied returns the line of the last copied call.
func lastCopied(r inspect.Report) int {
	line := 0
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			if s.Copied != "" {
				line = max(line, s.Line)
			}
		}
	}
	return line
}

// knownCost is what the Steps cost together whose cost is known.
func knownCost(r inspect.Report) catalog.Money {
	sum := catalog.Dollars(0)
	for _, g := range r.Segments {
		for _, st := range g.Own() {
			if st.CostUSD.Known {
				sum = sum.Add(st.CostUSD)
			}
		}
	}
	return sum
}

// acceptedTexts says, once for each limit that is known and was too small, which prompt shows
// that: the largest.
func acceptedTexts(r inspect.Report) []string {
	var limits []int
	texts, most := map[int]string{}, map[int]int{}
	for _, g := range r.Segments {
		a := g.Accepted
		if a == nil || a.Tokens <= most[a.Known] {
			continue
		}
		if most[a.Known] == 0 {
			limits = append(limits, a.Known)
		}
		most[a.Known] = a.Tokens
		texts[a.Known] = acceptedText(*a, rows.StepName(r, inspect.StepRef{Segment: g.Number, Step: a.Step}))
	}
	var out []string
	for _, known := range limits {
		out = append(out, texts[known])
	}
	return out
}

// hiddenText says how much of each prompt the file does not have.
func hiddenText(r inspect.Report) string {
	low, high, kind := 0, 0, ""
	for _, g := range r.Segments {
		n := g.Hidden.Tokens + g.Hidden.Unrecorded
		if len(g.Steps) == 0 || n == 0 {
			continue
		}
		if kind == "" || n < low {
			low = n
		}
		high = max(high, n)
		if kind == "" || g.Hidden.Kind == inspect.Assumed {
			kind = g.Hidden.Kind
		}
	}
	switch {
	case high == 0:
		return ""
	case low == high:
		return fmt.Sprintf("%s tokens of each are not in the file (%s)", edit.Thousands(low), kind)
	}
	return fmt.Sprintf("%s to %s tokens of each are not in the file (%s)", edit.Thousands(low), edit.Thousands(high), kind)
}

// subject says whose session it is.
func subject(r inspect.Report) string {
	text := console.Safe(r.Format)
	if r.Client != "" {
		text = strings.TrimSpace(console.Safe(r.Client) + " " + console.Safe(r.ClientVersion))
	}
	var models []string
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			if m := s.Model; m != "" && m != noModel && !slices.Contains(models, m) {
				models = append(models, m)
			}
		}
	}
	if len(models) == 0 {
		return text + "; no model named"
	}
	for i, m := range models {
		models[i] = console.Safe(m)
	}
	return text + "; " + strings.Join(console.AtMost(models, console.MostListed), ", ")
}

// extent says how long it is.
func extent(r inspect.Report) string {
	text := fmt.Sprintf("%s, %s", console.Plural(r.Totals.Steps, "step"), console.Plural(r.Totals.Messages, "message"))
	if n := len(r.Segments); n > 1 {
		text += fmt.Sprintf(" in %d segments", n)
	}
	if r.Totals.Start == 0 {
		return text
	}
	from, to := console.Clock(r.Totals.Start), console.Clock(r.Totals.End)
	day, _, _ := strings.Cut(from, " ")
	switch rest, same := strings.CutPrefix(to, day+" "); {
	case from == to:
		return text + ", " + from + " UTC"
	case same:
		to = rest
	}
	return text + ", " + from + " to " + to + " UTC"
}

// peak says how full the window was.
func peak(r inspect.Report) string {
	t, window := r.Totals, windowOf(r)
	text := fmt.Sprintf("largest prompt %s tokens at step %s", edit.Thousands(t.Peak), rows.ShortStep(r, t.PeakStep))
	if window == 0 {
		return text + ", in a window that is not known"
	}
	text += fmt.Sprintf(", %s of the window of %s", console.Share(t.Peak, window), edit.Thousands(window))
	if !t.Reported {
		text += "; some sizes are estimated"
	}
	return text
}
