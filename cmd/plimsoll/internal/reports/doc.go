// Package reports says what was found about a session in text for a terminal: what fills it
// (package inspect) and what it would have been under policies (package replay). A text is as wide
// as it is told, and safe to print; what it says of colours a pipe does not get (package console).
// Finding out is not its business, and neither are flags and files.
//
//	err := console.Print(out, reports.Inspection(report, console.Width(out), console.Colourful(out), false))
//
// # Files
//
// A file uses what it or an earlier one in this list declares, and no later one.
//
//	words.go             what the reports' own words mean
//	arguments.go         the arguments of a call on one line
//	session.go           what all reports say of a session in the same words
//	rows.go              tables that a page has, too
//	inspect_chart.go     what fills the context, step by step
//	inspect_head.go      how it ended, whose it is, how large it grew
//	inspect_step.go      the content of one request, and what differs between two
//	inspect_context.go   what takes how much of a window
//	inspect_lists.go     outputs, repeats, cuts, cache breaks, open calls, what could not be read
//	inspect_sums.go      sub-agents, stated sums, every step
//	inspect_findings.go  what now
//	inspect.go           all of that
//	replay_runs.go       a row for each policy and window, and remarks
//	replay_bill.go       what costs rest on
//	grounding.go         what a policy keeps
//	batches.go           what its batches cost and saved
//	replay.go            all of that, for a segment
//	totals.go            the sums of all segments
package reports
