package rows

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// Off is the policy that changes nothing. It is there for comparison only.
const Off = "off"

// ByWindow orders runs so that what is to be compared stands together: by window, in the order in
// which these were asked for.
func ByWindow(runs []replay.Run) []replay.Run {
	at := map[string]int{}
	for i, r := range runs {
		if _, ok := at[r.Window]; !ok {
			at[r.Window] = i
		}
	}
	return slices.SortedStableFunc(slices.Values(runs), func(a, b replay.Run) int { return at[a.Window] - at[b.Window] })
}

// Window writes a window as it was asked for, a number of tokens with separators.
func Window(window string) string {
	if n, err := strconv.Atoi(window); err == nil {
		return edit.Thousands(n)
	}
	return window
}

// steps says how many Steps a run has, and that it ended early.
func steps(r replay.Run) Cell {
	if r.EndedAtStep > 0 {
		return text(edit.Thousands(r.EndedAtStep) + ", ended")
	}
	return number(r.Steps)
}

// Runs compares runs. The limit and the one limit of all policies on a window are missing where
// a run has none, as a sum of runs.
func Runs(runs []replay.Run) Table {
	t := Table{By: "window", Columns: []Column{
		{Name: "policy"},
		{Name: "window", Unit: "tokens, or a share of the session's", Numbers: true, Spare: 3},
		{Name: "limit", Unit: "tokens", Numbers: true},
		{Name: "steps", Numbers: true},
		{Name: "over", Unit: "steps above the limit", Numbers: true},
		{Name: "one limit", Unit: "tokens: the lowest limit of all policies on the window", Numbers: true, Page: true},
		{Name: "over one limit", Unit: "steps above that limit", Numbers: true, Page: true},
		{Name: "irreducible", Unit: "steps", Numbers: true},
		{Name: "sent", Unit: "tokens", Numbers: true, Spare: 2},
		{Name: "of raw", Unit: "of what the client sent", Numbers: true, Spare: 1},
		{Name: "peak", Unit: "tokens", Numbers: true},
		{Name: "breaks", Unit: "steps that lost what the cache had", Numbers: true},
		{Name: "cost", Unit: "dollars", Numbers: true},
		{Name: "count", Page: true},
		{Name: "edits", Wrap: true, Below: true},
	}}
	for _, r := range ByWindow(runs) {
		irreducible := some(len(r.Irreducible))
		irreducible.Look = Bad
		t.add(text(r.Policy), text(Window(r.Window)), some(r.Limit), steps(r), fault(r.StepsOver), some(r.CommonLimit), fault(r.OverCommon), irreducible,
			number(r.TokensSent), part(Percent, r.TokensSent, r.TokensToEnd), number(r.PeakSent), number(r.CacheBreaks), spent(r), text(r.CountKind), text(edits(r.Edits)))
	}
	return t
}

// OneLimit judges runs by one limit for each window, on windows on which their own limits differ;
// differs says of which ones.
func OneLimit(runs []replay.Run, differs func(window string) bool) Table {
	t := Runs(slices.DeleteFunc(slices.Clone(runs), func(r replay.Run) bool { return !differs(r.Window) })).Pick("policy", "window", "one limit", "over one limit")
	for i := range t.Columns {
		t.Columns[i].Page, t.Columns[i].Spare = false, 0
	}
	return t
}

// spent is what a run cost, and nothing where a price is not known.
func spent(r replay.Run) Cell {
	if r.TokensSent == 0 {
		return Cell{Kind: Missing}
	}
	return money(r.CostUSD)
}

// None says of edits that there are none.
const None = "none"

// edits writes how many edits of each kind there were.
func edits(by map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%s %s", kind, edit.Thousands(by[kind])))
	}
	if len(parts) == 0 {
		return None
	}
	return strings.Join(parts, ", ")
}
