// Package web writes report pages: what replay and inspect found, and what a loop did,
// as one HTML file that needs nothing else. It has no server, measures nothing and
// decides nothing.
//
//	err := web.WriteReplay(w, results, web.Options{Title: "Night run", Redact: true})
//	err := web.WriteInspect(w, reports, web.Options{})
//	err := web.WriteLoop(w, loop, web.Options{})
//
// # The page
//
// Tables are HTML and can be read without scripts. One script draws the charts from
// a block of JSON: what the tokens of each Step were spent on, with the limit and the
// edits; what the Steps cost; what was read from the provider's cache. Every chart
// has a table of its figures. Charts are drawn by uPlot, which is embedded
// (assets/uplot).
//
// # Safety
//
// Texts of a session are hostile. They come into the page only through html/template
// as text or as JSON, after control and direction characters were replaced by their
// code points, and the script puts them in as text nodes. A content security policy
// allows the two scripts and the style sheet of the page by their hashes and nothing
// else: no request leaves the page.
//
// # Sharing
//
// With [Options].Redact a page is built from copies that have numbers, and words from
// closed lists only: no text, path, host, argument or name of the session. What
// stands in no list is replaced; a test marks every string of the input and finds none
// again, so that a field that is added later is not forgotten.
//
// # Same input, same bytes
//
// A page depends on its input alone; the date is in it only if Options.Generated is
// set.
//
// # Files
//
// A file uses what it or an earlier one in this list declares, and no later one.
//
//	text.go            foreign texts, and figures, fit to be shown
//	table.go           tables as they are drawn
//	rows.go            tables of the reports' own rows
//	data.go            what the script draws
//	said.go            what was said, for the script
//	facts.go           figures at the head of a page
//	plot.go            cost against what is kept
//	page.go            a page, and its template
//	redact.go          what may stay in a page that is shared
//	redactcopy.go      copies with nothing else
//	inspecttables.go   the lists of a report
//	inspect.go         the page of reports
//	replaytables.go    a page of results, and its tables
//	kepttables.go      what policies keep
//	batchtables.go     what their batches cost and saved
//	replay.go          the page of results
//	loopreport.go      what a loop did
//	loopchart.go       its chart
//	loop.go            the page of a loop
package web
