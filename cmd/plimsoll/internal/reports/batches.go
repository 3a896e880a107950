package reports

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// batchesText lists the batches of all runs, and says what those of each run came to; empty
// if nobody asked, or there was none.
func batchesText(rows []runRow, width int) string {
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: "policy"},
		{Name: "window", Right: true},
		{Name: "step", Right: true},
		{Name: "by"},
		{Name: "removed", Right: true},
		{Name: "rewritten", Right: true},
		{Name: "pays after", Right: true, Spare: 1},
		{Name: "served", Right: true},
		{Name: "expected", Right: true, Spare: 2},
		{Name: "cost", Right: true},
		{Name: "saved", Right: true},
	}}
	w := console.NewWriter(width)
	for _, r := range rows {
		for _, b := range r.run.Batches {
			expected := ""
			if b.Expected != nil {
				expected = strconv.Itoa(b.Expected.Calls)
			}
			t.Rows = append(t.Rows, console.Plain(console.Safe(r.run.Policy), console.Safe(r.run.Window), strconv.Itoa(b.Step), console.Safe(strings.Join(b.Rules, ", ")),
				edit.Thousands(b.Removed), edit.Thousands(b.Rewritten), console.Count(b.BreakEven), strconv.Itoa(b.Calls), expected,
				console.Money(b.CostUSD), console.Money(b.SavedUSD)))
		}
		if len(r.run.Batches) > 0 {
			name := console.Safe(r.run.Policy) + " at " + console.Safe(r.run.Window)
			w.Para(w.Style.Plain, name+": "+batchesSum(*r.run.Batched))
			if text := billSum(r.run.Bill); text != "" {
				w.Para(w.Style.Plain, name+": "+text)
			}
		}
	}
	if len(t.Rows) == 0 {
		return ""
	}
	return "\n" + t.String() + w.String()
}

// batchesSum says what batches came to.
func batchesSum(s replay.BatchSum) string {
	text := fmt.Sprintf("%s of our own, %s tokens written once more", console.Plural(s.Batches, "cache break"), edit.Thousands(s.Rewritten))
	if !s.CostUSD.Known || !s.SavedUSD.Known {
		return text
	}
	return fmt.Sprintf("%s for %s; %s saved by not reading what left", text, s.CostUSD, s.SavedUSD)
}

// billSum sets what a run costs beside what the client paid for the same calls, and what reading
// again would add; empty where a price is not known.
func billSum(b replay.Bill) string {
	if !b.CostUSD.Known || !b.RawUSD.Known {
		return ""
	}
	text := fmt.Sprintf("the client paid %s for the same calls, as sent they cost %s", b.RawUSD, b.CostUSD)
	if b.LookUpsUSD.Known && b.LookUpsUSD.Pico > 0 {
		text += fmt.Sprintf(", and %s more if all that is not visible is read again", b.LookUpsUSD)
	}
	return text
}
