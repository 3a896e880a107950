package rows

import "github.com/plimsoll-dev/plimsoll/inspect"

// Findings are what could have been had for less, and what would have helped. The command is shown
// whole, to be pasted.
func Findings(r inspect.Report) Table {
	t := Table{Columns: []Column{
		{Name: "finding", Wrap: true},
		{Name: "what helps", Wrap: true},
		{Name: "command"},
		{Name: "cost", Unit: "dollars", Numbers: true, Page: true},
	}}
	for _, f := range r.Findings {
		cost := Cell{Kind: Missing}
		if f.CostUSD != nil {
			cost = money(*f.CostUSD)
		}
		t.add(text(f.Text), text(f.Do), text(f.Command), cost)
	}
	return t
}
