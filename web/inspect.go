package web

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

// WriteInspect writes a page about reports to w: a chart of each segment, and the
// lists of each session with its first segment. The reports are not changed. The error
// is that of w.
func WriteInspect(w io.Writer, reports []inspect.Report, o Options) error {
	if o.Redact {
		r, err := newRedactor()
		if err != nil {
			return err
		}
		reports = r.reports(reports)
	}
	sessions := each(reports, func(r inspect.Report) string { return r.Session })
	b := &inspectPage{page: page{sheet: sheet{Kind: "inspect", Title: titleOf("Inspection", sessions)}, Data: newData("inspect")}}
	for _, r := range reports {
		b.add(r)
	}
	b.overview()
	return write(w, &b.page, o)
}

// An inspectPage is a page that is built.
type inspectPage struct {
	page
	rows  [][]cell // of the overview
	whole bool     // the last report has one segment
}

// wholeSession names the group of a page that has one segment.
const wholeSession = "The whole session"

// add makes the groups of a report.
func (b *inspectPage) add(r inspect.Report) {
	b.whole = len(r.Segments) == 1
	for i, seg := range r.Segments {
		g := group{
			Index: len(b.Groups), Name: segmentName(r.Session, seg.Number), Lead: segmentLead(r, seg),
			Facts: segmentFacts(seg),
		}
		if i == 0 {
			if len(r.Segments) == 1 { // what the session is as a whole is said already
				g.Facts = append(g.Facts, lossFacts(r)...)
			} else {
				g.Facts = append(g.Facts, sessionFacts(r)...)
			}
			g.Tables = inspectTables(r)
		}
		if i < len(r.Talk) {
			g.Said = len(r.Talk[i].Said)
			b.said(len(b.Groups), &r.Talk[i])
		}
		b.push(g, b.draw(r, seg))
		b.rows = append(b.rows, []cell{{Text: g.Name}, text(seg.Model), number(len(seg.Own())), number(promptsOf(seg)), number(peakOf(seg)), {Text: spendingOf(seg).sum()}})
	}
	if len(r.Segments) == 0 {
		g := group{Index: len(b.Groups), Name: clean(base(r.Session)), Lead: "The file holds no conversation.", Facts: sessionFacts(r), Tables: inspectTables(r)}
		b.push(g, dataRun{})
		b.rows = append(b.rows, []cell{{Text: g.Name}, {Text: "–"}, number(0), number(0), number(0), {Text: "–"}})
	}
}

// said adds the conversation of a group; those before it that have none get an empty one.
func (b *inspectPage) said(group int, t *inspect.Talk) {
	if b.Talk == nil {
		b.Talk = &said{Texts: []string{}, Groups: []saidGroup{}, index: map[string]int{}}
	}
	for len(b.Talk.Groups) < group {
		b.Talk.add(nil)
	}
	b.Talk.add(t)
}

// push adds a group with its chart.
func (b *inspectPage) push(g group, run dataRun) {
	b.Groups = append(b.Groups, g)
	d := dataGroup{Name: g.Name, Runs: []dataRun{}}
	if run.Length > 0 {
		d.Runs = append(d.Runs, run)
	}
	b.Data.Groups = append(b.Data.Groups, d)
}

func segmentLead(r inspect.Report, seg inspect.Segment) string {
	who := cmp.Or(r.Client, r.Format)
	if r.ClientVersion != "" {
		who += " " + r.ClientVersion
	}
	text := fmt.Sprintf("%s, %s; start: %s", who, seg.Model, seg.Start)
	if end := r.End.Text(); end != "" && seg.Number == len(r.Segments) {
		text = "It ended so: " + end + ". " + text
	}
	if seg.Name != "" {
		text += "; conversation " + seg.Name
	}
	text += begun(r.Parent, r.Kin, r.Totals.CopiedSteps > 0)
	if seg.NotRun != "" {
		text += "; its requests cannot be rebuilt: " + seg.NotRun
	}
	return clean(text + where(r.Session) + ".")
}

func segmentFacts(seg inspect.Segment) []fact {
	window := "unknown"
	if seg.Window > 0 {
		window = count(seg.Window)
	}
	return append([]fact{
		{"Steps", count(len(seg.Own())), count(seg.Messages) + " messages" + moreCopied(len(seg.Steps)-len(seg.Own()))},
		{"Window", window, "tokens"},
		{"Largest prompt", count(peakOf(seg)), share(peakOf(seg), seg.Window) + " of the window"},
		{"Hidden part", count(seg.Hidden.Tokens + seg.Hidden.Unrecorded), "tokens of each prompt, " + clean(seg.Hidden.Kind)},
		{"All prompts", count(promptsOf(seg)), "tokens, " + kindOf(seg)},
		spendingOf(seg).fact("Cost"),
	}, acceptedFacts(seg.Accepted)...)
}

// sessionFacts are those of the whole file.
func sessionFacts(r inspect.Report) []fact {
	t := r.Totals
	return append([]fact{
		{"Session", count(t.Tokens), fmt.Sprintf("tokens in %s Steps", count(t.Steps))},
		spendingOf(r.Segments...).fact("Session's cost"),
	}, lossFacts(r)...)
}

// lossFacts are those of the whole file that are no sums of its segments'.
func lossFacts(r inspect.Report) []fact {
	t := r.Totals
	return []fact{
		{"Shown again", count(t.Repeated), "tokens of outputs that were shown before"},
		{"Cache breaks", count(t.CacheBreaks), count(t.CacheLost) + " tokens not read"},
	}
}

func peakOf(seg inspect.Segment) int {
	n := 0
	for _, s := range seg.Own() {
		n = max(n, s.Tokens)
	}
	return n
}

func promptsOf(seg inspect.Segment) int {
	n := 0
	for _, s := range seg.Own() {
		n += s.Tokens
	}
	return n
}

// kindOf is the least sure kind of the Steps' sizes.
func kindOf(seg inspect.Segment) string {
	kind := inspect.Reported
	for _, s := range seg.Own() {
		if s.Kind == inspect.Estimated || kind == inspect.Reported {
			kind = s.Kind
		}
	}
	return clean(kind)
}

// A spending is what Steps cost together.
type spending struct {
	known  catalog.Money // of those whose cost is known
	priced int           // how many they are
	// estimated is of how many of these the cost is an estimate.
	estimated int
	steps     int // of all
}

// spendingOf sums up the costs of all Steps of some segments.
func spendingOf(segments ...inspect.Segment) spending {
	s := spending{known: catalog.Dollars(0)}
	for _, seg := range segments {
		own := seg.Own()
		s.steps += len(own)
		for _, step := range own {
			if step.CostUSD.Known {
				s.priced++
				s.known = s.known.Add(step.CostUSD)
			}
			if step.CostKind == inspect.CostEstimated {
				s.estimated++
			}
		}
	}
	return s
}

// sum is what all Steps cost: a sum with something unknown is unknown.
func (s spending) sum() string {
	if s.priced < s.steps || s.steps == 0 {
		return catalog.Money{}.String()
	}
	return s.known.String()
}

// text is the sum, or else what is known and of how many Steps.
func (s spending) text() string {
	if s.priced == 0 || s.priced == s.steps {
		return s.sum()
	}
	return fmt.Sprintf("%s for %s of %s Steps", s.known, count(s.priced), count(s.steps))
}

// fact is the sum under a name, with what is known of it.
func (s spending) fact(name string) fact {
	if s.priced == 0 || s.priced == s.steps {
		text := fmt.Sprintf("%s of %s Steps have a price", count(s.priced), count(s.steps))
		if s.estimated > 0 {
			text += ", estimated for " + count(s.estimated)
		}
		return fact{name, s.sum(), text}
	}
	return fact{name, s.sum(), s.text() + ", the rest has no price"}
}

// draw packs the chart of a segment.
func (b *inspectPage) draw(r inspect.Report, seg inspect.Segment) dataRun {
	n := len(seg.Steps)
	d := dataRun{
		Limit: seg.Window, Length: n, CostText: spendingOf(seg).text(), Sent: promptsOf(seg), Lost: [][2]int{}, Marks: []mark{}, Bad: [][2]int{},
		By: b.Data.parts(n, func(i int) map[string]int {
			if s := seg.Steps[i]; len(s.By) == 0 {
				return map[string]int{"hidden": s.Tokens}
			}
			return seg.Steps[i].By
		}),
	}
	read, amounts := make([]int, n), make([]catalog.Money, n)
	for i, s := range seg.Steps {
		amounts[i] = s.CostUSD
		if s.Cache != nil {
			read[i] = s.Cache.Read
		}
	}
	d.Read = pack(read)
	d.Cost, d.Paid = costs(amounts)
	for _, c := range r.Cuts {
		if c.Segment == seg.Number {
			d.Marks = append(d.Marks, mark{
				c.Step, b.Data.text("client"), b.Data.text(c.What),
				b.Data.text("dropped " + kinds(c.Dropped) + "; added " + kinds(c.Added)), c.DroppedMessages, c.Before, c.After,
			})
		}
	}
	for _, k := range r.CacheBreaks {
		if k.Segment == seg.Number {
			d.Lost = append(d.Lost, [2]int{k.Step, k.Lost})
			d.Marks = append(d.Marks, mark{k.Step, b.Data.text("provider"), b.Data.text(breakKind), b.Data.text(k.Cause), 1, k.Expected, k.Read})
		}
	}
	slices.SortStableFunc(d.Marks, func(a, b mark) int { return a[0] - b[0] })
	return d
}

// breakKind is the kind of the marks that are no cuts; page.js knows it.
const breakKind = "cache break"

// overview lists the groups where there are several. A single one is not named once more
// after the file that the title names.
func (b *inspectPage) overview() {
	if len(b.rows) < 2 {
		if len(b.Groups) == 1 && b.whole {
			b.Groups[0].Name, b.Data.Groups[0].Name = wholeSession, wholeSession
		}
		return
	}
	b.Overview = &table{
		Title: "Sessions and segments", Open: true, Bodies: []body{{Rows: b.rows}},
		Head: slices.Concat(words("Segment", "Model"), numbers("Steps", "All prompts", "Largest prompt", "Cost")),
	}
}
