package web

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// inspectTables are the lists of a report; those that would be empty are left out.
func inspectTables(r inspect.Report) []table {
	tables := []table{
		{Title: "What now", Open: true, Note: "What could have been had for less, and what would have helped."},
		agents(r.Agents, r.WithAgents),
		{Title: "What the file says about its sums", Note: "Beside what the Steps add up to that were read."},
		{
			Title: "Dearest outputs", Open: true,
			Note: "By what they cost, or where that is not known by the tokens that they took of all Steps that they were sent with.",
		},
		{Title: "Shown again", Note: "Runs of at least four lines, or whole outputs, that an earlier output shows in full in the same context."},
		{Title: "What the client cut", Open: true},
		{Title: "Cache breaks", Open: true, Note: "Steps at which the provider read less from its cache than was there; the most expensive ones."},
		{Title: "Calls without a result"},
		{Title: "Thinking", Note: "What of it later prompts had; “seen” are the ends of Turns at which that could be told."},
		{
			Title: "Every Step",
			Note:  "What a prompt was taken for before its call, calibrated and by the counter alone, beside its tokens in the end.",
		},
		problems(rows.Problems(r)), abandoned(r.Abandoned),
	}
	for i, of := range []func(inspect.Report) rows.Table{
		rows.Findings, nil, rows.Stated, rows.Outputs, rows.Repeats, rows.Cuts, rows.Breaks, rows.Open, rows.Thinking, rows.Steps,
	} {
		if of != nil {
			tables[i] = tables[i].of(of(r))
		}
	}
	return slices.DeleteFunc(tables, func(t table) bool { return t.Rows() == 0 })
}

// agents lists the sub-agents, with the sums over all of them.
func agents(list []inspect.Agent, all *inspect.Family) table {
	return table{Title: "Sub-agents", Open: true, Note: "Sessions that calls of this one started. No other figure has them."}.of(rows.Agents(list, all))
}

func problems(t rows.Table) table {
	return table{Title: "Problems in the file", Note: "What could not be read as it should be."}.of(t)
}

func abandoned(list []inspect.Branch) table {
	return table{
		Title: "Left out",
		Note:  "Lines that do not lead to the session's end, and what their calls took: of sub-agents it is in the sum with them, of other lines in none.",
	}.of(rows.Branches(list))
}
