// Package rows has the tables of reports, built once for all that show them: which columns there
// are, what is written over them, in which order rows and columns stand, and what each cell says.
// A terminal (cmd/plimsoll/internal/reports) and a page (web) lay out what they get from here and
// write no figure of their own, so that a figure cannot differ between them. JSON is not made
// from rows: its names are versioned with the reports themselves.
//
//	t := rows.Outputs(report)      // columns and rows
//	for _, r := range t.Rows {
//		fmt.Println(r.Cells[0])    // a cell's String is what is shown of it
//	}
//
// # A column
//
// A [Column] is named in lower case, each in its table by another name. It says in which unit its
// figures are, where they have one; that they stand to the right; what may be shortened where there
// is no room, and from which side: a path keeps its end, a sentence its beginning, a call what it is
// about. Where a table is wider than the terminal, its columns fold away one after the other, those
// with the lowest Spare first, and one that is Below stands under its row instead; so no width is
// stated here, but an order. One that is Page stands on a page alone, which can be scrolled. A column
// in which no row has anything is left out everywhere.
//
// # A cell
//
// [Cell.String] writes
//
//	Number   12,345          whole, with separators: tokens, lines, Steps, calls
//	Money    $1.20           US dollars; below ten cents four decimals, below a hundredth of one six
//	Error    +1.25%          parts per million by which something is off
//	Percent  34%             part of whole
//	Tenths   34.5            part of whole in percent, in tables of many of them; the unit says so
//	Ratio    0.34            part of whole
//	Span     1h2m3s          seconds
//	Moment   2026-01-02 03:04  Unix milliseconds, UTC
//	Text     as it is        from outside: whoever shows it makes it safe first
//	Missing                  nothing: nobody knows it, or there is none; a page draws a dash
//
// A cell may say that it is [Bad] or [Good], which is shown as colour; no figure is told by colour
// alone.
//
// # Rows
//
// Rows stand in the order of the report: Steps by number, what costs by cost, runs by window and then
// as they were asked for. Table.By names a column whose equal neighbours a page puts under one band, and
// a terminal where it has no room for the column.
// A [Row] that is a Sum is that of the rows before it.
//
// # Files
//
// A file uses what it or an earlier one in this list declares, and no later one.
//
//	cell.go      values, and how they are written
//	table.go     columns, rows, tables
//	call.go      what a call is about
//	contents.go  figures by name, in one cell
//	lists.go     outputs, repeats, cuts, cache breaks, open calls, thinking
//	unread.go    what could not be read, and lines that are no part of a session
//	sums.go      sub-agents, stated sums, every Step
//	findings.go  what now
//	runs.go      policies compared
//	kept.go      what a policy keeps
//	batches.go   what its batches cost and saved
package rows
