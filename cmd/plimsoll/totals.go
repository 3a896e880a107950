package main

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// totals sum up all runs of a policy on a window.
type totals struct {
	order []totalKey
	sums  map[totalKey]*total
}

type totalKey struct{ policy, window string }

// A total is the sum of runs.
type total struct {
	run         replay.Run
	irreducible int
	ended       int  // runs
	differs     bool // the limit of some run from the lowest one of its window
}

func (t *totals) add(r replay.Run) {
	if t.sums == nil {
		t.sums = map[totalKey]*total{}
	}
	k := totalKey{r.Policy, r.Window}
	s, ok := t.sums[k]
	if !ok {
		s = &total{run: replay.Run{Policy: r.Policy, Window: r.Window, Edits: map[string]int{}, CostUSD: catalog.Dollars(0)}}
		t.sums[k] = s
		t.order = append(t.order, k)
	}
	s.irreducible += len(r.Irreducible)
	s.run.Steps += r.Steps
	s.run.StepsOver += r.StepsOver
	s.run.OverCommon += r.OverCommon
	s.run.TokensSent += r.TokensSent
	s.run.TokensToEnd += r.TokensToEnd
	s.run.PeakSent = max(s.run.PeakSent, r.PeakSent)
	s.run.PrefixBreaks += r.PrefixBreaks
	s.run.CacheBreaks += r.CacheBreaks
	s.run.CostUSD = s.run.CostUSD.Add(r.CostUSD)
	s.differs = s.differs || r.Limit != r.CommonLimit
	if r.EndedAtStep > 0 {
		s.ended++
	}
	for kind, n := range r.Edits {
		s.run.Edits[kind] += n
	}
}

// text writes the totals of all sessions.
func (t *totals) text(files, width int) string {
	if len(t.order) == 0 {
		return ""
	}
	w := &writer{width: width, st: newStyles()}
	w.b.WriteString(w.st.head.Render(fmt.Sprintf("all %d sessions", files)) + "\n")
	runs := make([]replay.Run, 0, len(t.order))
	for _, k := range t.order {
		runs = append(runs, t.sums[k].run)
	}
	rows := runRows(runs)
	for i := range rows {
		rows[i].limit, rows[i].irreducible = "", t.of(rows[i]).irreducible
	}
	w.b.WriteString(runTable(rows, width))
	for _, r := range rows {
		if n := t.of(r).ended; n > 0 {
			w.para(w.st.dim, fmt.Sprintf("%s at %s: ended %s early", safe(r.run.Policy), safe(r.run.Window), plural(n, "segment")))
		}
	}
	return w.b.String() + t.common(rows, width)
}

func (t *totals) of(r runRow) *total { return t.sums[totalKey{r.run.Policy, r.run.Window}] }

// common judges all policies by the lowest limit of each window and segment, for
// windows on which their own limits differ.
func (t *totals) common(rows []runRow, width int) string {
	differs := map[string]bool{}
	for k, s := range t.sums {
		differs[k.window] = differs[k.window] || s.differs
	}
	out := table{width: width, columns: []column{{name: "policy"}, {name: "window", right: true}, {name: "over one limit", right: true}}}
	for _, r := range rows {
		if !differs[r.run.Window] {
			continue
		}
		row := plain(safe(r.run.Policy), safe(r.run.Window), strconv.Itoa(r.run.OverCommon))
		row[2].style = newStyles().count(r.run.OverCommon)
		out.rows = append(out.rows, row)
	}
	if len(out.rows) == 0 {
		return ""
	}
	return "\n" + out.String()
}
