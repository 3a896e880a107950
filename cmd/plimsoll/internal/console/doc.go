// Package console is the floor that what plimsoll prints for people stands on: how wide the
// terminal is and what it can show ([Width], [Styles]), texts from outside made safe and cut to
// fit ([Safe], [Clip], [Shorten]), figures in words, tables, charts, paragraphs, and a glossary
// of a report's own words. It knows no session and no command; what a report says is decided above.
//
//	t := console.Table{Width: console.Width(out), Columns: []console.Column{{Name: "tool"}, {Name: "tokens", Right: true}}}
//	t.Rows = append(t.Rows, console.Plain(console.Safe(name), console.Count(tokens)))
//	err := console.Print(out, t.String())
//
// # Files
//
// A file uses what it or an earlier one in this list declares, and no later one.
//
//	width.go    the screen
//	style.go    looks, and printing with as much of them as can be shown
//	safe.go     texts from outside
//	fit.go      texts and lists cut to what there is room for
//	figures.go  figures, times and paths in words
//	table.go    tables
//	chart.go    charts
//	writer.go   paragraphs
//	words.go    what a report's own words mean
package console
