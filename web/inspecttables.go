package web

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
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
	var made [][]cell
	for _, f := range list {
		cost := "–"
		if f.CostUSD != nil {
			cost = f.CostUSD.String()
		}
		made = append(made, []cell{text(f.Text), text(f.Do), text(f.Command), {Text: cost}})
	}
	return t.with(made, len(made))
}

// agents lists the sub-agents, with the sums over all of them.
func agents(list []inspect.Agent, all *inspect.Family) table {
	t := table{Title: "Sub-agents", Open: true, Note: "Sessions that calls of this one started. No other figure has them."}
	t = t.of(rows.Agents(list[:min(len(list), maxRows)], func(a inspect.Agent) string {
		if a.Line > 0 {
			return base(a.Session) + ", from line " + count(a.Line) + " on"
		}
		return base(a.Session)
	}), len(list))
	if all != nil && len(t.Bodies) > 0 {
		t.Bodies[0].Rows = append(t.Bodies[0].Rows, []cell{{Text: "the session with them"}, number(all.Steps), number(all.Tokens), {Text: "–"}, {Text: all.CostUSD.String()}, number(all.CostEstimated)})
	}
	return t
}

// stated lists what the file says about its own sums.
func stated(list []inspect.Stated) table {
	t := table{
		Title: "What the file says about its sums", Note: "Beside what the Steps add up to that were read.",
		Head: slices.Concat(words("By", "Model"), numbers("Line"), words("Figure"), numbers("Stated", "Added up"), words("Missing")),
	}
	var made [][]cell
	for _, s := range list {
		for _, f := range s.Figures {
			theirs, ours := number(int(f.Stated)), number(int(f.Ours))
			if f.StatedUSD != nil && f.OursUSD != nil {
				theirs, ours = cell{Text: f.StatedUSD.String()}, cell{Text: f.OursUSD.String()}
			}
			if f.Differs {
				ours.Mark = "bad"
			}
			made = append(made, []cell{text(s.What), text(s.Model), line(s.Line), text(f.Name), theirs, ours, text(f.Why)})
		}
	}
	n := len(made)
	return t.with(made[:min(n, maxRows)], n)
}

// predictions sets what each prompt was taken for before the call beside what was
// reported of it.
func predictions(r inspect.Report) table {
	t := rows.Steps(r, inspect.StepRef.Name).Pick("step", "tokens", "estimate", "off", "bound", "counter alone", "counter off")
	t.Rows = slices.DeleteFunc(t.Rows, func(row []rows.Cell) bool { return row[2].Kind == rows.Missing })
	n := len(t.Rows)
	t.Rows = t.Rows[:min(n, maxRows)]
	return table{
		Title: "Estimates and reports", Note: "What a prompt was taken for before its call, calibrated and by the counter alone, and what the provider reported.",
	}.of(t, n)
}

func largest(list []inspect.Output) table {
	return table{
		Title: "Dearest outputs", Open: true, Note: "By what they cost, or where that is not known by the tokens that they took of all Steps that they were sent with.",
	}.of(rows.Outputs(list), len(list))
}

func repeated(list []inspect.Repeat) table {
	return table{
		Title: "Shown again", Note: "Runs of at least four lines, or whole outputs, that an earlier output shows in full in the same context.",
	}.of(rows.Repeats(list), len(list))
}

func cuts(list []inspect.Cut) table {
	t := table{
		Title: "What the client cut", Open: true,
		Head: slices.Concat(words("Step", "What"), numbers("Line", "Before", "After", "Messages dropped", "Messages changed"), words("Dropped", "Added")),
	}
	made := make([][]cell, len(list))
	for i, c := range list {
		made[i] = []cell{
			text(c.Name()), text(c.What), line(c.Line), number(c.Before), number(c.After), number(c.DroppedMessages),
			number(c.ChangedMessages),
			{Text: kinds(c.Dropped)},
			{Text: kinds(c.Added)},
		}
	}
	return t.with(made, len(made))
}

func breaks(list []inspect.Break) table {
	t := table{
		Title: "Cache breaks", Open: true, Note: "Steps at which the provider read less from its cache than was there; the most expensive ones.",
		Head: slices.Concat(words("Step", "Cause", "Where"), numbers("Message", "Line", "Byte", "Expected", "Read", "Lost", "Idle s", "Cost")),
	}
	made := make([][]cell, len(list))
	for i, k := range list {
		at := number(k.At.Byte)
		switch {
		case k.At.Byte < 0:
			at.Text = "–"
		case k.At.Byte == 0 && k.At.Message == 0 && k.At.Line == 0:
			at.Text = "the beginning"
		}
		made[i] = []cell{
			text(k.Name()), text(k.Cause), text(k.At.What), line(k.At.Message), line(k.At.Line), at, number(k.Expected), number(k.Read),
			number(k.Lost), number(k.Idle),
			{Text: k.CostUSD.String()},
		}
	}
	return t.with(made, len(made))
}

func unanswered(list []inspect.Call) table {
	t := table{
		Title: "Calls without a result",
		Head:  slices.Concat(words("Step", "Tool", "Call", "Arguments"), numbers("Line"), words("Why")),
	}
	var made [][]cell
	for _, c := range list[:min(len(list), maxRows)] {
		made = append(made, []cell{text(c.Name()), text(c.Tool), text(c.CallID), text(c.Arguments), line(c.Line), text(c.Why)})
	}
	return t.with(made, len(list))
}

func thinking(list []inspect.Thinking) table {
	t := table{
		Title: "Thinking",
		Head:  slices.Concat(numbers("Segment", "Blocks", "Signed", "Hidden", "Tokens"), words("After its Turn"), numbers("Turns", "Tokens dropped")),
	}
	made := make([][]cell, len(list))
	for i, k := range list {
		made[i] = []cell{
			number(k.Segment), number(k.Blocks), number(k.Signed), number(k.Hidden), number(k.Tokens), text(k.Carried), number(k.Turns), number(k.Dropped),
		}
	}
	return t.with(made, len(made))
}

// of puts in the made of a report, and says how many of all they are.
func (t table) of(r rows.Table, all int) table {
	t.Head = nil
	for _, c := range r.Columns {
		t.Head = append(t.Head, column{Name: strings.ToUpper(c.Name[:1]) + c.Name[1:], Numbers: c.Numbers})
	}
	out := make([][]cell, len(r.Rows))
	for i, row := range r.Rows {
		for _, c := range row {
			out[i] = append(out[i], cellOf(c))
		}
	}
	return t.with(out, all)
}

// cellOf writes a value.
func cellOf(c rows.Cell) cell {
	switch c.Kind {
	case rows.Number:
		return number(c.Number)
	case rows.Money:
		return cell{Text: c.Money.String()}
	case rows.Error:
		return cell{Text: signedPPM(c.Number)}
	case rows.Missing:
		return cell{Text: "–"}
	}
	return text(c.Text)
}

// signedPPM writes parts per million as a percentage with its sign.
func signedPPM(n int) string {
	if n < 0 {
		return "−" + ppm(-n)
	}
	return "+" + ppm(n)
}
