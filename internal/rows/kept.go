package rows

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/replay"
)

// Kept says what of what the agent's calls referred to each run still sent, but for off, which
// sent all of it. A run is left out if nobody asked, or no call referred to anything.
func Kept(runs []replay.Run) Table {
	const share = "% of what calls referred to"
	t := Table{By: "window", Columns: []Column{
		{Name: "policy"},
		{Name: "window", Unit: "tokens, or a share of the session's", Numbers: true, Spare: 9},
		{Name: "steps", Numbers: true},
		{Name: "visible", Unit: share, Numbers: true},
		{Name: "by step", Unit: share + ", as a mean over steps", Numbers: true, Spare: 6},
		{Name: "complete", Unit: "% of steps", Numbers: true, Spare: 8},
		{Name: "names", Unit: "% of these", Numbers: true, Spare: 2},
		{Name: "lines", Unit: "% of these", Numbers: true},
		{Name: "old", Unit: "% of what was said last more than a limit before, with its 95 % interval", Numbers: true, Spare: 3},
		{Name: "by notes", Unit: share, Numbers: true, Spare: 4},
		{Name: "by ref", Unit: share, Numbers: true, Spare: 5},
		{Name: "archived", Unit: share, Numbers: true, Spare: 5},
		{Name: "lost", Unit: share, Numbers: true},
		{Name: "look-ups", Unit: "for 100 calls", Numbers: true, Spare: 7},
		{Name: "of cost", Unit: "of what the client's own messages cost", Numbers: true},
		{Name: "with look-ups", Unit: "of what the client's own messages cost", Numbers: true, Spare: 1},
	}}
	for _, r := range ByWindow(runs) {
		g := r.Grounding
		if g == nil || g.Spans == 0 || r.Policy == Off {
			continue
		}
		lines, ended := g.Kind("line"), Cell{Kind: Missing}
		if r.EndedAtStep > 0 {
			ended = steps(r)
		}
		lost := part(Tenths, g.Lost, g.Spans)
		lost.Look = zero(g.Lost)
		t.add(text(r.Policy), text(Window(r.Window)), ended,
			part(Tenths, g.Visible, g.Spans), part(Tenths, g.MacroPPM, 1_000_000), part(Tenths, g.Complete, g.Steps),
			part(Tenths, g.Visible-lines.Visible, g.Spans-lines.Spans), part(Tenths, lines.Visible, lines.Spans), sample(g.Hard),
			part(Tenths, g.Noted, g.Spans), part(Tenths, g.Reachable, g.Spans), part(Tenths, g.Archived, g.Spans), lost,
			part(Tenths, g.LookUps, r.Steps), part(Ratio, int(g.Cost.Sent), int(g.Cost.Raw)), part(Ratio, int(g.Cost.Sent+g.Cost.LookUps), int(g.Cost.Raw)))
	}
	return t
}

// sample writes the visible share of few spans, with its interval.
func sample(s replay.Sample) Cell {
	if s.Spans == 0 {
		return Cell{Kind: Missing}
	}
	whole := func(part int) string { return strconv.Itoa((part + 5_000) / 10_000) }
	return text(fmt.Sprintf("%s (%s–%s)", whole(s.Visible*1_000_000/s.Spans), whole(s.LowPPM), whole(s.HighPPM)))
}
