package reports

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// batchesText lists the batches of all runs, and says what a run with some cost beside what the
// client paid; empty if nobody asked, or there was none.
func batchesText(runs []replay.Run, width int) string {
	text := tableText(rows.Batches(runs), width, "")
	if text == "" {
		return ""
	}
	w := console.NewWriter(width)
	for _, r := range rows.ByWindow(runs) {
		if text := billSum(r.Bill); text != "" && len(r.Batches) > 0 {
			w.Para(w.Style.Plain, runName(r)+": "+text)
		}
	}
	return "\n" + text + w.String()
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
