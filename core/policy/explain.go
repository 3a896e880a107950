package policy

// WindowFigures are the numbers of one target's window that a policy's shares
// are taken of, in tokens.
type WindowFigures struct {
	Capacity int // the whole window
	Buffer   int // kept free
	Output   int // reserved for the reply; 0 if the policy carves none out
}

// Limit returns what is left: Capacity - Buffer - Output (R000-6). It can be
// negative; core/budget calls that a configuration error.
func (w WindowFigures) Limit() int { return w.Capacity - w.Buffer - w.Output }

// Base returns the figure that b names.
func (w WindowFigures) Base(b Base) int {
	if b == OfLimit {
		return w.Limit()
	}
	return w.Capacity
}

// Figures applies the rule to a window of the given capacity. output is the
// reserve that the caller stated or the catalogue knows, 0 if neither; it wins
// over the policy's own (DESIGN.md section 7, open point 1).
func (r WindowRule) Figures(capacity, output int) WindowFigures {
	w := WindowFigures{Capacity: capacity, Buffer: r.BufferOf(capacity)}
	switch {
	case !r.ReserveOutput:
	case output > 0:
		w.Output = output
	case r.Output > 0:
		w.Output = r.Output
	default:
		w.Output = share(capacity, r.OutputPermille)
	}
	return w
}

// BufferOf returns the buffer that the rule keeps free of a capacity where nobody
// states another one.
func (r WindowRule) BufferOf(capacity int) int {
	if r.BufferPermille == 0 {
		return r.Buffer
	}
	return min(r.Buffer, share(capacity, r.BufferPermille))
}

// Always reports whether c has no measure, so that it always holds.
func (c Condition) Always() bool { return c == Condition{} }

// Threshold returns the figure that the measure is compared with: the value, or
// the share of its base, rounded down and then clamped.
func (c Condition) Threshold(w WindowFigures) int {
	if c.Permille == 0 {
		return c.Value
	}
	n := max(share(w.Base(c.Of), c.Permille), c.Min)
	if c.Max > 0 {
		n = min(n, c.Max)
	}
	return n
}

// Holds reports whether the condition holds for a measured figure.
func (c Condition) Holds(measured int, w WindowFigures) bool {
	switch {
	case c.Always():
		return true
	case c.Op == ">=":
		return measured >= c.Threshold(w)
	}
	return measured > c.Threshold(w)
}

// share returns n permille of base, rounded down; nothing of a negative base.
func share(base, n int) int {
	base = max(base, 0)
	return base/1000*n + base%1000*n/1000
}

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
	Min, Max  int // bounds of Threshold as the policy states them; 0: none
	Down      int // tokens that the action goes down to; 0: until the measure no longer holds, or no such figure
	Forced    bool
}

// Explain returns a line for every rule of p, in order. A rule on the guard's
// verdict is explained by what the verdict compares: the projection with the
// limit, strictly (R000-4, R000-6).
func Explain(p Policy, w WindowFigures) []Line {
	lines := make([]Line, 0, len(p.Rules))
	for _, r := range p.Rules {
		c := r.When
		if c.Measure == MeasureGuard {
			c = Condition{Measure: MeasureGuard, Op: ">", Permille: 1000, Of: OfLimit}
		}
		l := Line{
			Rule: r.Name, At: r.At, Do: r.Do, Measure: c.Measure, Op: c.Op, Unit: c.Measure.Unit(),
			Permille: c.Permille, Of: c.Of, Min: c.Min, Max: c.Max, Down: p.down(r, w), Forced: r.Forced,
		}
		switch {
		case c.Always():
			l.Unit = UnitNone
		case c.Measure == MeasureGuard:
			l.Unit, l.Estimator = UnitTokens, p.Estimator
		case c.Measure == MeasureUsage:
			l.Estimator = "reported"
		case l.Unit == UnitTokens:
			l.Estimator = p.Estimator
		}
		l.Threshold = c.Threshold(w)
		lines = append(lines, l)
	}
	return lines
}

// down returns the tokens that a rule's action aims at.
func (p Policy) down(r Rule, w WindowFigures) int {
	switch r.Do {
	case DoCap:
		return share(w.Limit(), r.Args.Permille)
	case DoDemote:
		return share(w.Limit(), p.LowWater)
	case DoTrim, DoTruncate:
		if r.When.Measure.Unit() == UnitTokens {
			return share(r.When.Threshold(w), r.Args.To)
		}
	}
	return 0
}
