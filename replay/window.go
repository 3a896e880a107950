package replay

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A WindowSpec is a window as asked for: a capacity in tokens, a share of what the
// segment needs, or (zero) the model's own.
type WindowSpec struct {
	Tokens  int
	Percent int
}

// ParseWindow reads "80000", "80k", "50%" or "model".
func ParseWindow(s string) (WindowSpec, error) {
	text, unit := strings.ToLower(strings.TrimSpace(s)), 1
	if text == "model" {
		return WindowSpec{}, nil
	}
	percent := strings.HasSuffix(text, "%")
	if digits, ok := strings.CutSuffix(text, "k"); ok {
		text, unit = digits, 1000
	}
	n, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSuffix(text, "%"), "_", ""))
	if err != nil || n <= 0 || n > 100_000_000 {
		return WindowSpec{}, fmt.Errorf("replay: window %q: want tokens (80000 or 80k), a share (50%%) or \"model\"", s)
	}
	if percent {
		if n > 1000 {
			return WindowSpec{}, fmt.Errorf("replay: window %q: want at most 1000%%", s)
		}
		return WindowSpec{Percent: n}, nil
	}
	return WindowSpec{Tokens: n * unit}, nil
}

// String returns the spec as it is asked for.
func (w WindowSpec) String() string {
	switch {
	case w.Percent > 0:
		return strconv.Itoa(w.Percent) + "%"
	case w.Tokens > 0:
		return strconv.Itoa(w.Tokens)
	}
	return "model"
}

// leastShared is how many tokens a conversation has at least of which a share is taken.
// In a smaller one what an estimate allows for its own error is most of the half, so that
// a policy would be judged by that.
const leastShared = 4_000

// fits reports whether the spec means something for a segment: a share that takes
// something away does not of a small one.
func (w WindowSpec) fits(r *raw) bool {
	return w.Percent == 0 || w.Percent >= 100 || r.peak-r.fixed >= leastShared
}

// window returns the window that a policy gets, and a note if buffer and reserve
// had to be made smaller than the policy states.
//
// A share sets the limit: fixed + share of (peak - fixed), where fixed is what no
// policy can change, the overhead with the system prompt and the tools that the file
// has. Buffer and reserve are then added on top. Together they are at most a quarter of a small
// capacity. In [BaseMessages] there are neither.
func (w WindowSpec) window(p policy.Policy, r *raw) (budget.Window, string) {
	capacity, limit, input := w.Tokens, 0, 0
	switch {
	case w.Percent > 0:
		limit = max(r.fixed+max(r.peak-r.fixed, 0)*w.Percent/100, 1)
		capacity = limit * 4 / 3 // so that a quarter is left for the two
	case capacity == 0:
		capacity, input = r.window, r.input
	}
	if r.exactly != "" { // the room for messages is all there is
		return budget.Window{Capacity: cmp.Or(limit, capacity)}, ""
	}
	// What is stated is not unknown.
	f, _ := p.Resolve(policy.Layer{Source: "--window", Capacity: policy.Some(capacity), Input: policy.Optional{Value: input, Set: input > 0}})
	note := ""
	out, small := f.Scaled()
	if small {
		note = fmt.Sprintf("buffer and output reserve made smaller: %d instead of %d together", out.Buffer.Value+out.Output.Value, f.Buffer.Value+f.Output.Value)
	}
	if w.Percent > 0 {
		out.Capacity.Value = limit + out.Buffer.Value + out.Output.Value
	}
	return out.Window(), note
}
