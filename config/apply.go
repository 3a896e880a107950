package config

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// An outputSetting takes the place of a figure that a policy's rules for tool outputs have.
type outputSetting struct {
	stated func(Limits) Stated[int]
	figure func(*policy.Rule) *int // of a rule that it is about; nil: it is not
}

var (
	toolResponseMaxBytes = outputSetting{
		func(l Limits) Stated[int] { return l.ToolResponseMaxBytes },
		func(r *policy.Rule) *int {
			return when(r.Do == policy.DoOffload && r.When.Measure == policy.MeasureBytes, &r.When.Value)
		},
	}
	contextBudgetTokens = outputSetting{
		func(l Limits) Stated[int] { return l.ContextBudgetTokens },
		func(r *policy.Rule) *int {
			return when(r.Do == policy.DoTrim && r.When.Measure == policy.MeasureOutputs, &r.When.Value)
		},
	}
	maxMessageBytes = outputSetting{
		func(l Limits) Stated[int] { return l.MaxMessageBytes },
		func(r *policy.Rule) *int { return when(r.Do == policy.DoCap && r.Args.Bytes > 0, &r.Args.Bytes) },
	}
	maxLineLength = outputSetting{
		func(l Limits) Stated[int] { return l.MaxLineLength },
		func(r *policy.Rule) *int {
			return when(r.Do == policy.DoCap && r.Args.LineLength > 0, &r.Args.LineLength)
		},
	}
	outputSettings = []outputSetting{toolResponseMaxBytes, contextBudgetTokens, maxMessageBytes, maxLineLength}
)

func when(holds bool, figure *int) *int {
	if holds {
		return figure
	}
	return nil
}

// apply sets the figure in r to what is stated, and reports whether that changed it. A
// stated figure goes before a share of the window.
func (s outputSetting) apply(l Limits, r *policy.Rule) bool {
	most, figure := s.stated(l), s.figure(r)
	if !most.Set() || figure == nil || *figure == most.Value {
		return false
	}
	*figure = most.Value
	if figure == &r.When.Value {
		r.When = policy.Condition{Measure: r.When.Measure, Op: r.When.Op, Value: most.Value}
	}
	return true
}

// in returns the figure that a policy has in a window, and the rule that has it.
func (s outputSetting) in(p policy.Policy, w budget.Window) (n int, rule string, ok bool) {
	for _, r := range p.Rules {
		if figure := s.figure(&r); figure == &r.When.Value {
			return r.When.Threshold(w), r.Name, true
		} else if figure != nil {
			return *figure, r.Name, true
		}
	}
	return 0, "", false
}

// isCacheRule reports whether a rule is what the section toolOutputCache switches on.
func isCacheRule(r policy.Rule) bool {
	return contextBudgetTokens.figure(&r) != nil || maxMessageBytes.figure(&r) != nil || maxLineLength.figure(&r) != nil
}

// ApplyTo returns the policy with what l states of tool outputs and of compaction, and whether that changed
// anything: toolResponseMaxBytes is the size above which its rules move an output out,
// contextBudgetTokens, maxMessageBytes and maxLineLength are the figures of the rules that
// trim and cap outputs, which leave where toolOutputCache.enabled is false. A policy
// without such rules stays as it is. p is not changed. A preset that is changed is
// called NAME-custom, as one that a file extends.
func (l Limits) ApplyTo(p policy.Policy) (policy.Policy, bool) {
	rules, changed := slices.Clone(p.Rules), false
	if on := l.OutputCache; on.Set() && !on.Value {
		rules = slices.DeleteFunc(rules, isCacheRule)
		changed = len(rules) < len(p.Rules)
	}
	for i := range rules {
		for _, s := range outputSettings {
			changed = s.apply(l, &rules[i]) || changed
		}
	}
	p.Rules = rules
	changed = l.Compaction.apply(&p) || changed
	changed = l.tiers.apply(&p) || changed
	if !changed {
		return p, false
	}
	if slices.Contains(policy.Presets(), p.Name) {
		p.Name, p.About = p.Name+"-custom", aboutDerived(p.Name) // what the preset's says need not hold
	}
	return p, true
}

// ApplyTo is [Limits.ApplyTo] of what holds for all models.
func (s Settings) ApplyTo(p policy.Policy) (policy.Policy, bool) {
	return s.Agent.over(s.Defaults).ApplyTo(p)
}

// ApplyTo is [Limits.ApplyTo] of what holds for the target.
func (r Resolved) ApplyTo(p policy.Policy) (policy.Policy, bool) { return r.limits.ApplyTo(p) }

// outputs resolves what is stated of tool outputs, else what the policy has.
func (r *Resolved) outputs(p policy.Policy, l Limits) {
	r.limits = l
	r.ToolResponseMaxBytes, r.ToolResponseBytesActs = r.output(toolResponseMaxBytes, p)
	set(&r.OutputCache, l.OutputCache)
	if l.OutputCache.Set() && !l.OutputCache.Value {
		p.Rules = nil // no rule goes by the others
	}
	r.ContextBudgetTokens.Sourced, r.ContextBudgetTokens.Acts = r.output(contextBudgetTokens, p)
	r.MaxMessageBytes.Sourced, r.MaxMessageBytes.Acts = r.output(maxMessageBytes, p)
	r.MaxLineLength.Sourced, r.MaxLineLength.Acts = r.output(maxLineLength, p)
}

// output resolves one of them, and reports whether a rule goes by it.
func (r *Resolved) output(s outputSetting, p policy.Policy) (Sourced[int], bool) {
	var out Sourced[int]
	n, rule, acts := s.in(p, r.Figures.Window())
	if acts {
		out = Sourced[int]{n, p.Title() + " (rule " + rule + ")"}
	}
	set(&out, s.stated(r.limits))
	return out, acts
}
