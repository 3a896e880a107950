package reports

import (
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// Inspection writes a report for people. colour says that the chart may be told by
// its colours, steps says that every Step is listed.
func Inspection(r inspect.Report, width int, colour, steps bool) string {
	w := newReportWriter(width)
	w.head(r)
	w.WriteString(chartOf(r, width, colour).String())
	if steps && len(r.Segments) > 0 {
		w.steps(r)
	}
	w.agents(r)
	w.stated(r)
	w.largest(r)
	w.repeated(r)
	w.cuts(r)
	w.breaks(r)
	w.thinking(r)
	w.unanswered(r)
	w.unread(r)
	w.findings(r)
	w.next(r)
	return w.String()
}
