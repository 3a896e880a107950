package inspect

// A Prediction is what a prompt was taken for before the call, beside what its provider
// then reported.
type Prediction struct {
	Point    int    `json:"point"`   // by the count: calibrated by the reports before
	Bound    int    `json:"bound"`   // its upper bound
	Kind     string `json:"kind"`    // of the count: "calibrated" or "estimated"
	Counter  int    `json:"counter"` // by the counter alone, with what is hidden
	Reported int    `json:"reported"`
	// The errors are what each has more than was reported, as a share of that, in parts
	// per million.
	ErrorPPM        int `json:"error_ppm"`
	CounterErrorPPM int `json:"counter_error_ppm"`
}

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
