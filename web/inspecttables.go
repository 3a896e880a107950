package web

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// inspectTables are the lists of a report; those that would be empty are left out.
func inspectTables(r inspect.Report) []table {
	tables := []table{
		findings(r.Findings), agents(r.Agents, r.WithAgents), stated(r.Stated), largest(r.Largest), repeated(r.Repeated), cuts(r.Cuts), breaks(r.CacheBreaks), unanswered(r.Unanswered), thinking(r.Thinking),
	}
	list := make([]replay.Problem, len(r.Problems))
	for i, p := range r.Problems {
		list[i] = replay.Problem{File: r.Session, Line: p.Line, What: p.What}
	}
	tables = append(tables, predictions(r), problems(list), abandoned(r.Abandoned))
	return slices.DeleteFunc(tables, func(t table) bool { return t.Rows() == 0 })
}

// findings lists what could have been had for less.
func findings(list []inspect.Finding) table {
	t := table{
		Title: "What now", Open: true, Note: "What could have been had for less, and what would have helped.",
		Head: slices.Concat(words("Finding", "What helps", "Command"), numbers("Cost")),
	}
	var rows [][]cell
	for _, f := range list {
		cost := "–"
		if f.CostUSD != nil {
			cost = f.CostUSD.String()
		}
		rows = append(rows, []cell{text(f.Text), text(f.Do), text(f.Command), {Text: cost}})
	}
	return t.with(rows, len(rows))
}

// agents lists the sub-agents, with the sums over all of them.
func agents(list []inspect.Agent, all *inspect.Family) table {
	t := table{
		Title: "Sub-agents", Open: true, Note: "Sessions that calls of this one started. No other figure has them.",
		Head: slices.Concat(words("File"), numbers("Steps", "All prompts", "Largest prompt", "Cost", "Of Steps estimated")),
	}
	var rows [][]cell
	for _, a := range list[:min(len(list), maxRows)] {
		where := base(a.Session)
		if a.Line > 0 {
			where += ", from line " + count(a.Line) + " on"
		}
		rows = append(rows, []cell{text(where), number(a.Steps), number(a.Tokens), number(a.Peak), {Text: a.CostUSD.String()}, number(a.CostEstimated)})
	}
	if all != nil {
		rows = append(rows, []cell{{Text: "the session with them"}, number(all.Steps), number(all.Tokens), {Text: "–"}, {Text: all.CostUSD.String()}, number(all.CostEstimated)})
	}
	return t.with(rows, len(rows))
}

// stated lists what the file says about its own sums.
func stated(list []inspect.Stated) table {
	t := table{
		Title: "What the file says about its sums", Note: "Beside what the Steps add up to that were read.",
		Head: slices.Concat(words("By", "Model"), numbers("Line"), words("Figure"), numbers("Stated", "Added up"), words("Missing")),
	}
	var rows [][]cell
	for _, s := range list {
		for _, f := range s.Figures {
			theirs, ours := number(int(f.Stated)), number(int(f.Ours))
			if f.StatedUSD != nil && f.OursUSD != nil {
				theirs, ours = cell{Text: f.StatedUSD.String()}, cell{Text: f.OursUSD.String()}
			}
			if f.Differs {
				ours.Mark = "bad"
			}
			rows = append(rows, []cell{text(s.What), text(s.Model), line(s.Line), text(f.Name), theirs, ours, text(f.Why)})
		}
	}
	n := len(rows)
	return t.with(rows[:min(n, maxRows)], n)
}

// predictions sets what each prompt was taken for before the call beside what was
// reported of it.
func predictions(r inspect.Report) table {
	t := table{
		Title: "Estimates and reports", Note: "What a prompt was taken for before its call, calibrated and by the counter alone, and what the provider reported.",
		Head: slices.Concat(words("Step"), numbers("Reported", "Estimate", "Off", "Bound", "Counter alone", "Off")),
	}
	var rows [][]cell
	n := 0
	for _, g := range r.Segments {
		for _, s := range g.Steps {
			p := s.Estimate
			if p == nil {
				continue
			}
			if n++; n <= maxRows {
				rows = append(rows, []cell{
					text(inspect.StepRef{Segment: g.Number, Step: s.Step}.Name()), number(p.Reported), number(p.Point),
					{Text: signedPPM(p.ErrorPPM)},
					number(p.Bound), number(p.Counter),
					{Text: signedPPM(p.CounterErrorPPM)},
				})
			}
		}
	}
	return t.with(rows, n)
}

// signedPPM writes parts per million as a percentage with its sign.
func signedPPM(n int) string {
	if n < 0 {
		return "−" + ppm(-n)
	}
	return "+" + ppm(n)
}

func largest(list []inspect.Output) table {
	t := table{
		Title: "Dearest outputs", Open: true, Note: "By what they cost, or where that is not known by the tokens that they took of all Steps that they were sent with.",
		Head: slices.Concat(words("Step", "Tool", "Arguments"), numbers("Line", "Tokens", "Steps", "Carried", "Cost")),
	}
	rows := make([][]cell, len(list))
	for i, o := range list {
		rows[i] = outputRow(o)
	}
	return t.with(rows, len(rows))
}

func outputRow(o inspect.Output) []cell {
	return []cell{
		text(o.Name()), text(o.Tool), text(o.Arguments), line(o.Line), number(o.Tokens), number(o.Steps), number(o.Carried), {Text: o.CostUSD.String()},
	}
}

func repeated(list []inspect.Repeat) table {
	t := table{
		Title: "Shown again", Note: "Runs of at least four lines, or whole outputs, that an earlier output shows in full in the same context.",
		Head: slices.Concat(words("Step", "Tool", "Arguments"), numbers("Line", "Tokens", "Steps", "Carried", "Cost", "Lines again"), words("First shown by"), numbers("Its line")),
	}
	rows := make([][]cell, len(list))
	for i, r := range list {
		lines := number(r.Lines)
		if r.Whole {
			lines.Text = "all"
		}
		rows[i] = append(outputRow(r.Output), lines, text(r.Earlier.Tool+" "+r.Earlier.Arguments), line(r.Earlier.Line))
	}
	return t.with(rows, len(rows))
}

func cuts(list []inspect.Cut) table {
	t := table{
		Title: "What the client cut", Open: true,
		Head: slices.Concat(words("Step", "What"), numbers("Line", "Before", "After", "Messages dropped", "Messages changed"), words("Dropped", "Added")),
	}
	rows := make([][]cell, len(list))
	for i, c := range list {
		rows[i] = []cell{
			text(c.Name()), text(c.What), line(c.Line), number(c.Before), number(c.After), number(c.DroppedMessages),
			number(c.ChangedMessages),
			{Text: kinds(c.Dropped)},
			{Text: kinds(c.Added)},
		}
	}
	return t.with(rows, len(rows))
}

func breaks(list []inspect.Break) table {
	t := table{
		Title: "Cache breaks", Open: true, Note: "Steps at which the provider read less from its cache than was there; the most expensive ones.",
		Head: slices.Concat(words("Step", "Cause", "Where"), numbers("Message", "Line", "Byte", "Expected", "Read", "Lost", "Idle s", "Cost")),
	}
	rows := make([][]cell, len(list))
	for i, k := range list {
		at := number(k.At.Byte)
		switch {
		case k.At.Byte < 0:
			at.Text = "–"
		case k.At.Byte == 0 && k.At.Message == 0 && k.At.Line == 0:
			at.Text = "the beginning"
		}
		rows[i] = []cell{
			text(k.Name()), text(k.Cause), text(k.At.What), line(k.At.Message), line(k.At.Line), at, number(k.Expected), number(k.Read),
			number(k.Lost), number(k.Idle),
			{Text: k.CostUSD.String()},
		}
	}
	return t.with(rows, len(rows))
}

func unanswered(list []inspect.Call) table {
	t := table{
		Title: "Calls without a result",
		Head:  slices.Concat(words("Step", "Tool", "Call", "Arguments"), numbers("Line"), words("Why")),
	}
	var rows [][]cell
	for _, c := range list[:min(len(list), maxRows)] {
		rows = append(rows, []cell{text(c.Name()), text(c.Tool), text(c.CallID), text(c.Arguments), line(c.Line), text(c.Why)})
	}
	return t.with(rows, len(list))
}

func thinking(list []inspect.Thinking) table {
	t := table{
		Title: "Thinking",
		Head:  slices.Concat(numbers("Segment", "Blocks", "Signed", "Hidden", "Tokens"), words("After its Turn"), numbers("Turns", "Tokens dropped")),
	}
	rows := make([][]cell, len(list))
	for i, k := range list {
		rows[i] = []cell{
			number(k.Segment), number(k.Blocks), number(k.Signed), number(k.Hidden), number(k.Tokens), text(k.Carried), number(k.Turns), number(k.Dropped),
		}
	}
	return t.with(rows, len(rows))
}
