package engine

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A rulebook is what the machine was told to go by.
type rulebook struct {
	cfg    Config
	policy policy.Policy
}

// What stands in place of outputs for which there is no room, where the policy has
// no text of its own (R000-13).
const (
	failText    = "(tool failed: context window budget exceeded)"
	skippedText = "(tool failed: context window budget exceeded; previous tool overflowed. Session will conclude after this turn.)"
)

// fallbackTokens is the longest deterministic summary where the policy states no
// length (R004-4).
const fallbackTokens = 2000

// finalRule begins the name under which the note of a host's final Step is in the
// journal. The names of a policy's own rules have no colon.
const finalRule = "final:"

func ruleOf(r Reason) string { return finalRule + string(r) }

// reasonOf returns the reason of a final Step by the rule that its note names.
func reasonOf(rule string) Reason {
	name, ok := strings.CutPrefix(rule, finalRule)
	if _, known := finalTexts[Reason(name)]; ok && known {
		return Reason(name)
	}
	return ReasonNone
}

// Names of rules that no policy has, which edits made by hand carry.
const (
	compactRule = "compact"
	undoRule    = "undo"
	offerRule   = "many-tools"
)

// compactTemplate heads the summary of a compaction by hand.
const compactTemplate = "[A summary of {n} earlier messages, which are stored as {ref}]"

// usedMark is what stands in a text for how full the context is.
const usedMark = "{used}"

// text returns one of the policy's texts.
func (m *rulebook) text(name string) string { return m.policy.Templates[name] }

func (m *rulebook) ruleNamed(name string) policy.Rule {
	for _, r := range m.policy.Rules {
		if r.Name == name {
			return r
		}
	}
	if name == compactRule {
		return m.compaction()
	}
	return policy.Rule{Name: name}
}

// ends reports whether the policy ends a Turn whose context is full.
func (m *rulebook) ends() bool {
	return slices.ContainsFunc(m.policy.Rules, func(r policy.Rule) bool {
		return r.Do == policy.DoFinal && r.When.Measure == policy.MeasureGuard
	})
}

// finalTool returns the name of the tool that may still be called in a final Step.
func (m *rulebook) finalTool() string { return orElse(m.policy.FinalTool, policy.ToolFinalReport) }

// looksAtOutputs reports whether a rule measures all outputs together.
func (m *rulebook) looksAtOutputs() bool {
	return slices.ContainsFunc(m.policy.Rules, func(r policy.Rule) bool { return r.When.Measure == policy.MeasureOutputs })
}

// tells reports whether r keeps a note on how full the context is in every request. Its
// document has it in a part of the prompt that is written anew for each call and never
// cached (R002-13, R002-23), which law 5 excepts.
func (m *rulebook) tells(r policy.Rule) bool {
	return r.Do == policy.DoNote && r.At == policy.AtPrepare && strings.Contains(m.text(r.Args.Template), usedMark)
}

// holdsForBatch reports whether r prepares its summary ahead of a demotion, which
// then shows it.
func (m *rulebook) holdsForBatch(r policy.Rule) bool {
	for _, o := range m.policy.Rules {
		if o.Do == policy.DoDemote {
			return r.Args.Background && r.At == policy.AtPrepare
		}
	}
	return false
}

// compaction returns the policy's rule for a summary that replaces what it is about,
// made to be waited for, or one that summarises all before the tail.
func (m *rulebook) compaction() policy.Rule {
	for _, r := range m.policy.Rules {
		if r.Do == policy.DoSummarise && !m.holdsForBatch(r) {
			r.Args.Background, r.Args.Min = false, 0
			return r
		}
	}
	r := policy.Rule{Name: compactRule, Do: policy.DoSummarise, Args: policy.Args{MaxTokens: fallbackTokens}}
	if m.policy.Tail.Unit == "" {
		r.Args.Keep = policy.Tail{Unit: policy.TailRounds, N: 1}
	}
	return r
}

// Policy returns the policy in force.
func (m *rulebook) Policy() policy.Policy { return m.policy }

// orElse returns s, or other if s is empty.
func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func beginningOf(r policy.Rule) edit.Beginning {
	return edit.Beginning{Chars: r.Args.Chars, Bytes: r.Args.Bytes}
}
