package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// A replayPage is a page that is built.
type replayPage struct {
	page
	policies, windows []string
}

// choose makes radio buttons for a run.
func (b *replayPage) choose(run replay.Run) {
	if !slices.Contains(b.policies, run.Policy) {
		b.Policies = append(b.Policies, choice{Index: len(b.policies), Name: clean(run.Policy)})
		b.policies = append(b.policies, run.Policy)
	}
	if !slices.Contains(b.windows, run.Window) {
		b.Windows = append(b.Windows, choice{Index: len(b.windows), Name: windowName(run.Window)})
		b.windows = append(b.windows, run.Window)
	}
}

func sessionsOf(results []replay.Result) []string {
	return each(results, func(r replay.Result) string { return r.Session })
}

// byWindow makes a body of rows for each window, with the runs in their order.
func (b *replayPage) byWindow(res replay.Result, row func(replay.Run) []cell) []body {
	var bodies []body
	for _, window := range b.windows {
		one := body{Name: "Window " + windowName(window)}
		for _, run := range res.Runs {
			if run.Window == window {
				one.Rows = append(one.Rows, row(run))
			}
		}
		if len(one.Rows) > 0 {
			bodies = append(bodies, one)
		}
	}
	return bodies
}

// compared sets the policies side by side.
func compared(res replay.Result) table {
	return table{
		Title: "Policies compared", Open: true,
		Note: "“Over” counts Steps sent above the run's own limit, “over one limit” above the lowest of all policies on that window. " +
			"“Of raw” sets what was sent against what the client sent for the same Steps. Tokens are the count; its least sure kind is named.",
	}.of(rows.Runs(res.Runs))
}

// money says what was paid for.
func (b *replayPage) money(res replay.Result) table {
	const lookUps = " “Look-ups” is what it would cost to read again what was not visible, one call each; it is in no other figure."
	note := "A call that the client made too costs what it did. For others the provider's cache is simulated."
	if c := res.Billing; c.Compared > 0 {
		note = fmt.Sprintf("A call that the client made too costs what it did. For others the provider's cache is simulated; on %s Steps of the client's own requests the simulation read %s tokens, the provider reported %s.",
			count(c.Compared), count(c.ReadSimulated), count(c.ReadReported))
	}
	return table{
		Title: "Money", Note: note + lookUps,
		Head: slices.Concat(words("Policy"), numbers("Full price", "Cache read", "Written, 5 min", "Written, 1 h", "Output", "Lost", "Cost", "Client's", "Saved", "Look-ups")),
		Bodies: b.byWindow(res, func(r replay.Run) []cell {
			saved := cell{Text: r.Bill.SavedUSD.String()}
			if r.Bill.SavedUSD.Known && r.Bill.SavedUSD.Pico < 0 {
				saved.Mark = "bad"
			}
			return []cell{
				text(r.Policy), number(r.Bill.Input), number(r.Bill.CacheRead), number(r.Bill.CacheWrite5m), number(r.Bill.CacheWrite1h),
				number(r.Bill.Output), number(r.Bill.CacheLost),
				{Text: r.CostUSD.String()},
				{Text: r.Bill.RawUSD.String()},
				saved,
				{Text: r.Bill.LookUpsUSD.String()},
			}
		}),
	}
}

// predicted says how good the counts are.
func predicted(res replay.Result) table {
	t := table{
		Title: "How well each prompt was predicted",
		Note:  "The difference between the count and what the provider reported, as a share of the reported prompt.",
		Head:  slices.Concat(words("Model"), numbers("Prompts", "Median", "95 of 100", "Worst", "Within the bound", "Bound above count"), words("Kind")),
	}
	var rows [][]cell
	for _, e := range res.By {
		rows = append(rows, []cell{
			text(cmp.Or(e.Model, res.Model)), number(e.Pairs),
			{Text: ppm(e.P50PPM)},
			{Text: ppm(e.P95PPM)},
			{Text: ppm(e.MaxPPM)},
			{Text: ppm(e.BoundCoveredPPM)},
			number(e.MarginP50Tokens), text(e.Kind),
		})
	}
	if len(rows) > 0 {
		t.Bodies = []body{{Rows: rows}}
	}
	return t
}

// remarks are what a figure does not say.
func (b *replayPage) remarks(res replay.Result) table {
	return table{
		Title: "Remarks", Open: true, Head: words("Policy", "Estimator", "Remark"),
		Bodies: append(trimmed(b.byWindow(res, func(r replay.Run) []cell {
			return []cell{text(r.Policy), text(r.Estimator), {Text: strings.Join(remarksOf(r), " ")}}
		})), leftOut(res)...),
	}
}

// leftOut says on which windows there was no run.
func leftOut(res replay.Result) []body {
	var bodies []body
	for _, l := range res.LeftOut {
		bodies = append(bodies, body{Name: "Window " + windowName(l.Window), Rows: [][]cell{{{Text: "–"}, {Text: "–"}, {Text: "Not run: " + clean(l.Why) + "."}}}})
	}
	return bodies
}

// trimmed leaves out rows that say nothing in their last column, and bodies without rows.
func trimmed(bodies []body) []body {
	for i := range bodies {
		bodies[i].Rows = slices.DeleteFunc(bodies[i].Rows, func(row []cell) bool { return row[len(row)-1].Text == "" })
	}
	return slices.DeleteFunc(bodies, func(b body) bool { return len(b.Rows) == 0 })
}

func remarksOf(r replay.Run) []string {
	var out []string
	say := func(n int, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, count(n)))
		}
	}
	if r.Note != "" {
		out = append(out, "The window was small: "+clean(r.Note)+".")
	}
	if r.EndedAtStep > 0 {
		out = append(out, fmt.Sprintf("Ended at Step %s (%s).", count(r.EndedAtStep), clean(engine.Reason(r.EndReason).Sentence())))
	}
	say(r.StillOver, "Still over the limit after all was reduced: %s.")
	say(r.BackstopEdits, "Edits of the backstop: %s.")
	say(r.Orphans, "Calls or results without their other half: %s.")
	say(r.UnresolvedRefs, "Refs that lead nowhere: %s.")
	say(r.Uncovered, "Parts under no Ref: %s.")
	if len(r.ToolsNotOffered) > 0 {
		out = append(out, "Tools not offered: "+clean(strings.Join(r.ToolsNotOffered, ", "))+".")
	}
	if len(r.Bill.Unpriced) > 0 {
		out = append(out, "Models without a price: "+clean(strings.Join(r.Bill.Unpriced, ", "))+".")
	}
	for i, broken := range r.RuleBreaks {
		if i == 5 {
			say(len(r.RuleBreaks)-i, "And %s more broken rules.")
			break
		}
		if broken.Rule == "" { // redacted
			out = append(out, fmt.Sprintf("Step %s breaks a rule of the provider.", count(broken.Step)))
			continue
		}
		out = append(out, fmt.Sprintf("Step %s breaks the provider's rule %s at %s: %s.", count(broken.Step), clean(broken.Rule), clean(broken.Path), clean(broken.Message)))
	}
	return out
}

// irreducible lists Steps that no edit could bring within the limit.
func (b *replayPage) irreducible(res replay.Result) table {
	t := table{
		Title: "Irreducible Steps",
		Note:  "Their floor (system, tools, pins, open calls and the newest Round with its outputs as stubs) is above the limit.",
		Head:  slices.Concat(words("Policy", "Window"), numbers("Step", "Floor", "Limit"), words("Floor by part")),
	}
	var rows [][]cell
	n := 0
	for _, run := range res.Runs {
		for _, r := range run.Irreducible {
			if n++; n <= maxRows {
				rows = append(rows, []cell{
					text(run.Policy), {Text: windowName(run.Window)}, number(r.Step), {Text: count(r.Floor), Mark: "bad"}, number(r.Limit), {Text: kinds(r.Parts)},
				})
			}
		}
	}
	return t.with(rows, n)
}
