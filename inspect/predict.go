package inspect

// prediction returns the prediction of a reported prompt, nil of any other. What is hidden
// was measured by the first one of a segment that shows the session's start, so that this
// is no prediction.
func (g *segment) prediction(i int) *Prediction {
	s := g.steps[i]
	if !s.reported() || s.tokens == 0 || g.hidden.Kind == Measured && s.first {
		return nil
	}
	return &Prediction{
		Point: s.guess.Point, Bound: s.guess.Bound, Kind: s.guess.Kind.String(), Counter: s.guess.counter, Reported: s.tokens,
		ErrorPPM: errorOf(s.guess.Point, s.tokens), CounterErrorPPM: errorOf(s.guess.counter, s.tokens),
	}
}

// errorOf returns how much n is more than real, in parts per million of that.
func errorOf(n, real int) int { return int(int64(n-real) * 1_000_000 / int64(real)) }
