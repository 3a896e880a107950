package config

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// movesOut reports whether a rule moves an output out by its bytes.
func movesOut(r policy.Rule) bool {
	return r.Do == policy.DoOffload && r.When.Measure == policy.MeasureBytes
}

// ApplyTo returns the policy with toolResponseMaxBytes as the size above which its
// rules move an output out, and whether that changed anything: a policy
// without such a rule stays as it is. p is not changed. A preset that is changed is
// called NAME-custom, as one that a file extends.
func (r Resolved) ApplyTo(p policy.Policy) (policy.Policy, bool) {
	most, changed := r.toolBytes, false
	if !most.Set() {
		return p, false
	}
	rules := slices.Clone(p.Rules)
	for i, rule := range rules {
		if movesOut(rule) && rule.When.Value != most.Value {
			rules[i].When.Value, changed = most.Value, true
		}
	}
	if !changed {
		return p, false
	}
	p.Rules = rules
	if slices.Contains(policy.Presets(), p.Name) {
		p.Name += "-custom"
	}
	return p, true
}
