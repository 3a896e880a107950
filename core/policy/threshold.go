package policy

import "github.com/plimsoll-dev/plimsoll/core/budget"

// Always reports whether c has no measure, so that it always holds.
func (c Condition) Always() bool { return c == Condition{} }

// Threshold returns the figure that the measure is compared with in a window: the
// value, or the share of its base, rounded down and then clamped.
func (c Condition) Threshold(w budget.Window) int {
	if c.Permille == 0 {
		return c.Value
	}
	base := w.Input()
	if c.Of == OfLimit {
		base = w.Limit()
	}
	n := max(budget.Share(base, c.Permille), c.Min)
	if c.Max > 0 {
		n = min(n, c.Max)
	}
	return n
}

// Holds reports whether the condition holds for a measured figure.
func (c Condition) Holds(measured int, w budget.Window) bool {
	switch {
	case c.Always():
		return true
	case c.Op == ">=":
		return measured >= c.Threshold(w)
	}
	return measured > c.Threshold(w)
}

// EstimatorOf names what takes the figure of a measure: the policy's estimator,
// "reported" for what the provider says itself, or nothing where things are counted.
func (p Policy) EstimatorOf(m Measure) string {
	switch {
	case m == MeasureUsage:
		return "reported"
	case m == MeasureGuard, m != "" && m.Unit() == UnitTokens:
		return p.Estimator
	}
	return ""
}

// Room returns the most tokens of the note where messages have room tokens; 0: there is none.
func (r References) Room(room int) int { return min(budget.Share(room, r.Permille), r.Most) }

// Room returns the tokens that tools may take in a window before some of them are left out;
// without deferral, none are whatever they take.
func (d Deferral) Room(w budget.Window) int { return budget.Share(w.Limit(), d.Permille) }

// BatchShare returns the share of the limit, in permille, that a batch goes down to without
// its note: first says that no batch was made before.
func (p Policy) BatchShare(first bool) int {
	if first && p.FirstBatch > 0 {
		return p.FirstBatch
	}
	return p.LowWater
}

// BatchMark returns where a batch goes down to where messages have room tokens: the low-water
// mark, or that of the first batch, with the note that it writes on top.
func (p Policy) BatchMark(room int, first bool) int {
	return budget.Share(room, p.BatchShare(first)) + p.References.Room(room)
}

// Down returns what a rule's action goes down to in a window, in the unit of its
// measure; 0 if it has no such figure of its own. A batch by reference goes there where
// messages have the whole limit: what the system prompt and the tools take is added, and the
// mark is of the rest.
func (p Policy) Down(r Rule, w budget.Window) int {
	switch r.Do {
	case DoCap:
		return budget.Share(w.Limit(), r.Args.Permille)
	case DoDemote:
		return p.BatchMark(w.Limit(), false)
	case DoTrim, DoTruncate:
		return budget.Share(r.When.Threshold(w), r.Args.To)
	}
	return 0
}
