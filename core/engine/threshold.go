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
