package web

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// kept says what of what the agent's calls referred to each run still sent.
func kept(res replay.Result) table {
	return table{
		Title: "What is kept", Open: true,
		Note: "Of the paths, names, numbers and lines in the arguments of the agent's calls that were said before: the percentage that the request says; under off it says all. “By step” is the mean over Steps, " +
			"“complete” the share of Steps of which all is visible; “old” is what was said last more than a limit before, with its 95 % interval. What is not visible is behind a Ref that is shown (“by ref”), " +
			"in an archive, or lost. “Look-ups” are outputs to be read again, for 100 calls. “Of cost” sets the cost of the messages against that of the client's own.",
	}.of(rows.Kept(res.Runs))
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
