package web

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/replay"
)

// kept says what of what the agent's calls referred to each run still sent.
func (b *replayPage) kept(res replay.Result) table {
	t := table{
		Title: "What is kept", Open: true,
		Note: "Of the paths, names, numbers and lines in the arguments of the agent's calls that were said before: the share that the request says. “By step” is the mean over Steps; " +
			"“old” is what was said last more than a limit before, with its 95 % interval. What is not visible is behind a Ref that is shown, in an archive, or lost.",
		Head: slices.Concat(words("Policy"), numbers("Visible", "By step", "Steps complete", "Names", "Lines", "Old", "Only in notes", "Behind a Ref", "Archived", "Lost", "Look-ups", "Cost, of the client's")),
	}
	for _, body := range b.byWindow(res, keptRow) {
		body.Rows = slices.DeleteFunc(body.Rows, func(row []cell) bool { return row == nil })
		if len(body.Rows) > 0 {
			t.Bodies = append(t.Bodies, body)
		}
	}
	return t
}

func keptRow(r replay.Run) []cell {
	g := r.Grounding
	if g == nil || g.Spans == 0 {
		return nil
	}
	lines := g.Kind("line")
	lost := cell{Text: share(g.Lost, g.Spans)}
	if g.Lost > 0 {
		lost.Mark = "bad"
	}
	old := "–"
	if g.Hard.Spans > 0 {
		old = fmt.Sprintf("%s (%s to %s)", share(g.Hard.Visible, g.Hard.Spans), share(g.Hard.LowPPM, million), share(g.Hard.HighPPM, million))
	}
	return []cell{
		text(r.Policy),
		{Text: share(g.Visible, g.Spans)},
		{Text: share(g.MacroPPM, million)},
		{Text: share(g.Complete, g.Steps)},
		{Text: share(g.Visible-lines.Visible, g.Spans-lines.Spans)},
		{Text: share(lines.Visible, lines.Spans)},
		{Text: old},
		{Text: share(g.Noted, g.Spans)},
		{Text: share(g.Reachable, g.Spans)},
		{Text: share(g.Archived, g.Spans)},
		lost,
		number(g.LookUps),
		{Text: share(g.Cost.SharePPM, million)},
	}
}

// missing lists what was not visible, and what took it out.
func (b *replayPage) missing(res replay.Result) table {
	t := table{
		Title: "What was not visible", Note: "Each is in the arguments of a call of that Step, and was said before it.",
		Head: slices.Concat(words("Policy", "Window"), numbers("Step"), words("What", "Text", "Said last by"), numbers("Tokens before"), words("Where it is", "Taken out by"), numbers("From", "To")),
	}
	var rows [][]cell
	n := 0
	for _, run := range res.Runs {
		for _, m := range run.Missing {
			if n++; n > maxRows {
				continue
			}
			by := "–"
			if m.Edit.Count > 0 {
				by = clean(fmt.Sprintf("%s (%s): %s", m.Edit.Rule, m.Edit.Kind, m.Edit.Why))
			}
			rows = append(rows, []cell{
				text(run.Policy),
				{Text: windowName(run.Window)},
				number(m.Step), text(m.Kind), text(m.Text), text(m.Source), number(m.Behind),
				{Text: whereNames[m.Where]},
				{Text: by},
				number(m.Edit.Before), number(m.Edit.After),
			})
		}
	}
	return t.with(rows, n)
}

// whereNames are in the words of the page.
var whereNames = map[string]string{"reachable": "behind a Ref", "archived": "in an archive", "lost": "lost"}
