package policy

import "github.com/plimsoll-dev/plimsoll/core/budget"

// A Line explains one rule in the figures of one window.
type Line struct {
	Rule      string
	At        Moment
	Do        Action
	Measure   Measure // empty: the rule always acts
	Op        string
	Threshold int    // in Unit
	Unit      Unit   // of Threshold
	Estimator string // that takes the measured figure: the policy's, "reported" by the provider, or empty where nothing is estimated
	Permille  int    // Threshold as a share of Of; 0 if the policy states a value
	Of        Base
	Min, Max  int    // bounds of Threshold as the policy states them; 0: none
	First     int    // tokens that the first batch of a conversation goes down to; 0: as many as later ones
	Down      int    // tokens that the action goes down to; 0: until the measure no longer holds, or no such figure
	Show      string // what a cap keeps, or a provider is asked for, where the policy states it
	Forced    bool   // the rule does not wait where others do: see Rule.Forced
}

// Explain returns a line for every rule of p, in order. A rule on the guard's
// verdict is explained by what the verdict compares: the projection with the
// limit, strictly.
func Explain(p Policy, w budget.Window) []Line {
	lines := make([]Line, 0, len(p.Rules))
	for _, r := range p.Rules {
		c := r.When
		if c.Measure == MeasureGuard {
			c = Condition{Measure: MeasureGuard, Op: ">", Permille: 1000, Of: OfLimit}
		}
		l := Line{
			Rule: r.Name, At: r.At, Do: r.Do, Measure: c.Measure, Op: c.Op, Unit: c.Measure.Unit(),
			Permille: c.Permille, Of: c.Of, Min: c.Min, Max: c.Max, Estimator: p.EstimatorOf(c.Measure), Show: r.Args.Show, Forced: r.Forced,
		}
		switch {
		case c.Always():
			l.Unit = UnitNone
		case c.Measure == MeasureGuard:
			l.Unit = UnitTokens
		}
		if r.Do == DoCap || r.Do == DoDemote || r.When.Measure.Unit() == UnitTokens {
			l.Down = p.Down(r, w)
		}
		if r.Do == DoDemote && p.FirstBatch > 0 {
			l.First = p.BatchMark(w.Limit(), true)
		}
		l.Threshold = c.Threshold(w)
		if r.Do == DoProvider { // it has no condition: the provider looks when it is to act
			l.Show, l.Threshold = r.Args.What, r.Args.From(w.Limit())
			if l.Threshold > 0 {
				l.Unit, l.Permille = UnitTokens, r.Args.Permille
			}
			if l.Permille > 0 {
				l.Of = OfLimit
			}
			l.Down = budget.Share(l.Threshold, r.Args.To)
		}
		lines = append(lines, l)
	}
	return lines
}
