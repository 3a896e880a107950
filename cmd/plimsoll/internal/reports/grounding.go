package reports

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// groundingText writes what each run kept, and which of them is the cheapest.
func groundingText(rows []runRow, width int) string {
	w := console.NewWriter(width)
	w.WriteString(groundingTable(rows, width))
	for _, text := range cheapest(rows) {
		w.Para(w.Style.Plain, text)
	}
	return w.String()
}

// groundingTable says what of what the agent's calls referred to each run still sent, but
// for off, which sent all of it; empty if nobody asked, or no call referred to anything.
func groundingTable(rows []runRow, width int) string {
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: "policy"},
		{Name: "window", Right: true},
		{Name: "steps", Right: true},
		{Name: "visible", Right: true},
		{Name: "by step", Right: true, Spare: 6},
		{Name: "complete", Right: true, Spare: 8},
		{Name: "names", Right: true, Spare: 2},
		{Name: "lines", Right: true},
		{Name: "old", Right: true, Spare: 3},
		{Name: "by notes", Right: true, Spare: 4},
		{Name: "by ref", Right: true, Spare: 5},
		{Name: "archived", Right: true, Spare: 5},
		{Name: "lost", Right: true},
		{Name: "look-ups", Right: true, Spare: 7},
		{Name: "of cost", Right: true},
		{Name: "with look-ups", Right: true, Spare: 1},
	}}
	for _, r := range rows {
		g := r.run.Grounding
		if g == nil || g.Spans == 0 || r.run.Policy == PolicyOff {
			continue
		}
		lines, ended := g.Kind("line"), ""
		if r.run.EndedAtStep > 0 {
			ended = r.steps
		}
		row := console.Plain(console.Safe(r.run.Policy), console.Safe(r.run.Window), ended,
			tenths(g.Visible, g.Spans), tenths(g.MacroPPM, 1_000_000), tenths(g.Complete, g.Steps),
			tenths(g.Visible-lines.Visible, g.Spans-lines.Spans), tenths(lines.Visible, lines.Spans), sample(g.Hard),
			tenths(g.Noted, g.Spans), tenths(g.Reachable, g.Spans), tenths(g.Archived, g.Spans), tenths(g.Lost, g.Spans),
			tenths(g.LookUps, r.run.Steps), hundredths(g.Cost.Sent, g.Cost.Raw), hundredths(g.Cost.Sent+g.Cost.LookUps, g.Cost.Raw))
		row[12].Style = console.NewStyles().Zero(g.Lost)
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return ""
	}
	return "\n" + t.String()
}

// tenths writes part of whole as a percentage with one decimal, without its sign; empty if
// there is nothing to have a part of.
func tenths(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}

// hundredths writes part of whole as a ratio.
func hundredths(part, whole int64) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(part)/float64(whole))
}

// sample writes the visible share of few spans, with its interval.
func sample(s replay.Sample) string {
	if s.Spans == 0 {
		return ""
	}
	whole := func(part int) string { return strconv.Itoa((part + 5_000) / 10_000) }
	return fmt.Sprintf("%s (%s–%s)", whole(s.Visible*1_000_000/s.Spans), whole(s.LowPPM), whole(s.HighPPM))
}

// cheapest says for each window which policy costs least of those that were never over, and
// what it keeps.
func cheapest(rows []runRow) []string {
	best, order := map[string]*replay.Run{}, []string{}
	for i := range rows {
		r := &rows[i].run
		if r.Policy == PolicyOff || r.Grounding == nil || r.Grounding.Spans == 0 || r.StepsOver > 0 || rows[i].irreducible > 0 || r.EndedAtStep > 0 {
			continue
		}
		b, ok := best[r.Window]
		if !ok {
			order = append(order, r.Window)
		}
		if !ok || cheaper(r, b) {
			best[r.Window] = r
		}
	}
	var out []string
	for _, w := range order {
		out = append(out, fmt.Sprintf("cheapest at %s with no call over its limit: %s, %s", console.Safe(w), console.Safe(best[w].Policy), kept(best[w])))
	}
	return out
}

// kept says what a run costs and what it keeps.
func kept(r *replay.Run) string {
	g, lines := r.Grounding, r.Grounding.Kind("line")
	text := fmt.Sprintf("for %s of what the client's own messages cost", hundredths(g.Cost.Sent, g.Cost.Raw))
	if r.CostUSD.Known {
		text = "for " + r.CostUSD.String()
	}
	text += fmt.Sprintf("; it keeps %s%% of what calls referred to", tenths(g.Visible, g.Spans))
	if lines.Spans > 0 {
		text += fmt.Sprintf(", and %s%% of the lines", tenths(lines.Visible, lines.Spans))
	}
	return text
}

// cheaper reports whether a costs less than b: in money where that is known of both, else
// by their messages.
func cheaper(a, b *replay.Run) bool {
	if a.CostUSD.Known && b.CostUSD.Known {
		return a.CostUSD.Pico < b.CostUSD.Pico
	}
	return float64(a.Grounding.Cost.Sent)*float64(b.Grounding.Cost.Raw) < float64(b.Grounding.Cost.Sent)*float64(a.Grounding.Cost.Raw)
}
