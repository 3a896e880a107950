package reports

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// groundingText writes what each run kept, and which of them is the cheapest.
func groundingText(runs []replay.Run, width int) string {
	w := console.NewWriter(width)
	if text := tableText(rows.Kept(runs), width, ""); text != "" {
		w.WriteString("\n" + text)
	}
	for _, text := range cheapest(rows.ByWindow(runs)) {
		w.Para(w.Style.Plain, text)
	}
	return w.String()
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

// cheapest says for each window which policy costs least of those that were never over, and
// what it keeps.
func cheapest(runs []replay.Run) []string {
	best, order := map[string]*replay.Run{}, []string{}
	for i := range runs {
		r := &runs[i]
		if r.Policy == PolicyOff || r.Grounding == nil || r.Grounding.Spans == 0 || r.StepsOver > 0 || len(r.Irreducible) > 0 || r.EndedAtStep > 0 {
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
		out = append(out, fmt.Sprintf("cheapest at %s with no call over its limit: %s, %s", windowName(w), console.Safe(best[w].Policy), kept(best[w])))
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
