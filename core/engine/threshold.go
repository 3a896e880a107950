package engine

import "github.com/plimsoll-dev/plimsoll/core/policy"

// A Threshold is a rule's condition with the figure that drives it.
type Threshold struct {
	Rule      string
	Do        policy.Action
	Measure   policy.Measure
	Estimator string // that Value is measured by: the policy's, or "count"; "reported" for a provider's own figures; empty for messages
	Op        string // ">" or ">="
	Value     int    // of the measure now, in its unit; tokens, but for messages, bytes and the guard's verdict
	At        int    // what it is compared with
	Reached   bool
}

// Thresholds returns the conditions of the policy's rules that have a value between
// calls, in the order of the rules. Those about one tool output have none.
func (m *Machine) Thresholds() []Threshold {
	var out []Threshold
	for _, r := range m.policy.Rules {
		switch r.When.Measure {
		case "", policy.MeasureOutput, policy.MeasureBytes:
			continue
		}
		out = append(out, Threshold{
			Rule: r.Name, Do: r.Do, Measure: r.When.Measure, Estimator: m.policy.EstimatorOf(r.When.Measure), Op: r.When.Op,
			Value: m.value(r.When.Measure, nil), At: m.threshold(r.When), Reached: m.holds(r.When, nil),
		})
	}
	return out
}
