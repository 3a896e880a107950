package replay

// commonLimit returns the one limit by which all policies are judged on a window:
// the lowest that any of them has there. Policies keep different buffers and
// reserves; a policy that never exceeds a limit of its own may still exceed what
// another one keeps to.
func (r *Replayer) commonLimit(raw *raw, spec WindowSpec) int {
	lowest := 0
	for i, p := range r.opts.Policies {
		w, _ := spec.window(p, raw)
		if limit := w.Limit(); i == 0 || limit < lowest {
			lowest = limit
		}
	}
	return lowest
}
