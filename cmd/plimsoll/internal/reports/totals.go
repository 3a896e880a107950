package reports

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// Totals sum up all runs of a policy on a window, and know what they lack.
type Totals struct {
	order []totalKey
	sums  map[totalKey]*total

	Segments int // that there are
	Ran      int // segments of these
	Twice    int // files of a session that another file has
	notRun   int // segments that have model calls
	lost     int // model calls of these
	copied   int // calls that are another session's

	agents []inspect.Agent // of all sessions
	left   []inspect.Branch
	files  map[string]bool // that were replayed, without links
	held   []*heldFile     // that are not in the sums yet

	windows []string       // on which something was too small to be run
	small   map[string]int // segments, by these
}

type totalKey struct{ policy, window string }

// A total is the sum of runs.
type total struct {
	run     replay.Run
	runs    int
	priced  int           // runs whose cost is known
	known   catalog.Money // of these
	ended   int           // runs
	differs bool          // the limit of some run from the lowest one of its window
}

// A heldFile is what came of one file. Of several of one session the sums have the file
// with the most model calls: the others are older copies of it.
type heldFile struct {
	path    string
	twin    string // the first file of the session, if that is another one
	calls   int
	results []replay.Result // without what only a page shows
}

// Segment books a segment of the newest file, whose session another file has first if twin
// is not empty.
func (t *Totals) Segment(res replay.Result, twin string) {
	if res.NotRun == "" {
		t.Ran++
	}
	f := t.held[len(t.held)-1]
	f.twin, f.calls = twin, f.calls+res.Steps+res.Copied
	res.Runs = slices.Clone(res.Runs)
	for i := range res.Runs {
		res.Runs[i].Series, res.Runs[i].Missing = nil, nil
	}
	f.results = append(f.results, res)
}

// Runs reports whether there is a run in the sums.
func (t *Totals) Runs() bool { return len(t.order) > 0 }

// Settle adds up the files.
func (t *Totals) Settle() {
	most := map[string]*heldFile{} // by the first file of the session
	for _, f := range t.held {
		first := cmp.Or(f.twin, f.path)
		if best := most[first]; best == nil || f.calls > best.calls {
			most[first] = f
		}
	}
	for _, f := range t.held {
		own := most[cmp.Or(f.twin, f.path)] == f
		if !own {
			t.Twice++
		}
		for _, res := range f.results {
			t.book(res, own)
		}
	}
	t.held = nil
}

// book adds up a segment. Of one that is not in the sums the sub-agents are, which have
// files of their own: they were looked for once.
func (t *Totals) book(res replay.Result, own bool) {
	for _, a := range res.Agents {
		if own || a.Line == 0 {
			t.agents = append(t.agents, a)
		}
	}
	if !own {
		return
	}
	t.Segments++
	t.copied += res.Copied
	t.left = append(t.left, res.Abandoned...)
	for _, run := range res.Runs {
		t.add(run)
	}
	for _, l := range res.LeftOut {
		if t.small == nil {
			t.small = map[string]int{}
		}
		if t.small[l.Window]++; t.small[l.Window] == 1 {
			t.windows = append(t.windows, l.Window)
		}
	}
	if res.NotRun != "" && res.Steps > 0 {
		t.notRun++
		t.lost += res.Steps
	}
}

// File books the file of a session.
func (t *Totals) File(path string) {
	if t.files == nil {
		t.files = map[string]bool{}
	}
	t.files[unlinked(path)] = true
	t.held = append(t.held, &heldFile{path: path})
}

// unlinked returns a path without links, as it is where that cannot be told.
func unlinked(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// besides says what the sub-agents took that were not replayed; empty: there are none.
func (t *Totals) besides() string {
	n, sum := 0, inspect.Family{CostUSD: catalog.Dollars(0)}
	for _, a := range t.agents {
		if a.Line > 0 || !t.files[unlinked(a.Session)] {
			n++
			sum = sum.Add(a.Family())
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("not in it: %s with %s", console.Plural(n, "sub-agent"), familyText(sum))
}

func (t *Totals) add(r replay.Run) {
	if t.sums == nil {
		t.sums = map[totalKey]*total{}
	}
	k := totalKey{r.Policy, r.Window}
	s, ok := t.sums[k]
	if !ok {
		s = &total{run: replay.Run{Policy: r.Policy, Window: r.Window, Edits: map[string]int{}, CostUSD: catalog.Dollars(0)}, known: catalog.Dollars(0)}
		t.sums[k] = s
		t.order = append(t.order, k)
	}
	s.runs++
	if r.CostUSD.Known {
		s.priced++
		s.known = s.known.Add(r.CostUSD)
	}
	s.run.Irreducible = append(s.run.Irreducible, r.Irreducible...)
	s.run.Steps += r.Steps
	s.run.StepsOver += r.StepsOver
	s.run.OverCommon += r.OverCommon
	s.run.TokensSent += r.TokensSent
	s.run.TokensToEnd += r.TokensToEnd
	s.run.PeakSent = max(s.run.PeakSent, r.PeakSent)
	s.run.PrefixBreaks += r.PrefixBreaks
	s.run.CacheBreaks += r.CacheBreaks
	s.run.CostUSD = s.run.CostUSD.Add(r.CostUSD)
	if r.Grounding != nil {
		if s.run.Grounding == nil {
			s.run.Grounding = &replay.Grounding{}
		}
		s.run.Grounding.Add(*r.Grounding)
	}
	s.differs = s.differs || r.Limit != r.CommonLimit
	if r.EndedAtStep > 0 {
		s.ended++
	}
	for kind, n := range r.Edits {
		s.run.Edits[kind] += n
	}
}

// Text writes the totals of all segments.
func (t *Totals) Text(files, width int) string {
	if len(t.order) == 0 {
		return ""
	}
	w := console.NewWriter(width)
	title := "all of " + console.Plural(t.Segments, "segment")
	if t.Segments > 1 {
		title = fmt.Sprintf("all %d segments", t.Segments)
	}
	if files > 1 {
		title = fmt.Sprintf("all %d sessions", files)
	}
	w.WriteString(w.Style.Head.Render(title) + "\n")
	runs := make([]replay.Run, 0, len(t.order))
	for _, k := range t.order {
		runs = append(runs, t.sums[k].run)
	}
	w.WriteString(tableText(rows.Runs(runs), width, ""))
	runs = rows.ByWindow(runs)
	for _, r := range runs {
		if n := t.of(r).ended; n > 0 {
			w.Para(w.Style.Dim, fmt.Sprintf("%s: ended %s early", runName(r), console.Plural(n, "segment")))
		}
	}
	for _, text := range t.lacks(runs) {
		w.Para(w.Style.Dim, text)
	}
	return w.String() + t.common(runs, width) + groundingText(runs, width)
}

// lacks says what is in no sum.
func (t *Totals) lacks(runs []replay.Run) []string {
	var out []string
	if t.notRun > 0 {
		out = append(out, fmt.Sprintf("not in it: %s with %s, which could not be run", console.Plural(t.notRun, "segment"), console.Plural(t.lost, "step")))
	}
	if t.copied > 0 {
		out = append(out, fmt.Sprintf("not in it: %s that were copied from another session", console.Plural(t.copied, "step")))
	}
	if text := t.besides(); text != "" {
		out = append(out, text)
	}
	if left := leftIn(t.left); left.Steps > 0 {
		out = append(out, "not in it, on branches that were left: "+familyText(left))
	}
	if t.Twice > 0 {
		out = append(out, fmt.Sprintf("not in it: %s with a session that another file has", console.Plural(t.Twice, "file")))
	}
	for _, w := range t.windows {
		out = append(out, fmt.Sprintf("not in it at %s: %s too small to take a share of", windowName(w), console.Plural(t.small[w], "segment")))
	}
	var partly []string
	for _, r := range runs {
		if s := t.of(r); s.priced > 0 && s.priced < s.runs {
			partly = append(partly, fmt.Sprintf("%s %s for %d of %d segments", runName(r), s.known, s.priced, s.runs))
		}
	}
	if len(partly) > 0 {
		out = append(out, "cost, as far as it is known: "+strings.Join(partly, "; "))
	}
	return out
}

func (t *Totals) of(r replay.Run) *total { return t.sums[totalKey{r.Policy, r.Window}] }

// common judges all policies by the lowest limit of each window and segment, for
// windows on which their own limits differ.
func (t *Totals) common(runs []replay.Run, width int) string {
	text := tableText(rows.OneLimit(runs, func(window string) bool {
		return slices.ContainsFunc(runs, func(r replay.Run) bool { return r.Window == window && t.of(r).differs })
	}), width, "")
	if text == "" {
		return ""
	}
	return "\n" + text
}
