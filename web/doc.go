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
package web
