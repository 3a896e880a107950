package web

import (
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// batches lists the edits that changed what had been sent before, with what each cost and saved,
// and below them what those of a run came to.
func batches(res replay.Result) table {
	return table{
		Title: "What each batch cost and saved",
		Note: "A batch is the edits of one Step that broke the provider's cache. “Rewritten” are tokens behind what left that were still cached and were written once more; " +
			"“served” are the calls to the next batch or the end, “expected” those that the policy reckoned with. By list prices; what the provider let go of by itself costs nothing here.",
	}.of(rows.Batches(res.Runs))
}
