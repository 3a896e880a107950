package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// finalTexts are what the model is told in a final Step that the host asks for,
// and, for a full context, where the policy has no text of its own.
var finalTexts = map[Reason]string{
	ReasonContext:         "The context window is {used}% full, so this is the last step. Give your final answer now, from what you already know.",
	ReasonMaxTurns:        "No more steps are allowed after this one. Do not start anything new: give your final answer now, from what you already know.",
	ReasonStatusCompleted: "You have reported that the task is done. Give your final report now.",
	ReasonStatusOnly:      "You have only reported your state, and done nothing else, so this is the last step. Give your final answer now, from what you already know.",
	ReasonTaskCompleted:   "The task is done. Give your final report now.",
	ReasonRetries:         "Too many attempts have failed, so this is the last step. Give your final answer now, from what you already know.",
	ReasonUserStop:        "The user wants to stop here. Do not start anything new: give your final answer now, from what you already know.",
}

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

// A ReasonError says that a final Step was asked for without a known reason.
type ReasonError struct{ Got Reason }

// Error names the reasons.
func (e *ReasonError) Error() string {
	return fmt.Sprintf("engine: force: reason, want %s, %s, %s, %s, %s, %s or %s, got %q", ReasonContext, ReasonMaxTurns,
		ReasonStatusCompleted, ReasonStatusOnly, ReasonTaskCompleted, ReasonRetries, ReasonUserStop, string(e.Got))
}

func (m *Machine) feedForce(in Force) error {
	if _, ok := finalTexts[in.Reason]; !ok {
		return &ReasonError{in.Reason}
	}
	if m.final == ReasonNone && m.wanted == ReasonNone {
		m.wanted = in.Reason // its note may not stand inside a Round
		m.record(journal.Record{Kind: journal.KindForce, Reason: string(in.Reason)})
	}
	return nil
}

// preflight is the guard's answer for all targets (R000-11), in tokens. Its own estimate
// may be below the count, by which law 1 is kept: a view that fits no target by the count
// is final as well. Once the tool budget is exceeded nothing fits any more (R000-13).
func (m *Machine) preflight() budget.Decision {
	if m.guard.Exceeded() {
		return budget.Final
	}
	own := m.guard.Evaluate(nil, m.targets, 0).Decision
	return max(own, m.verdict(m.fitsTokens).Decision, m.decided(m.fitsTokens).Decision)
}

// force makes this the final Step (R000-14): the reason is set, once, and told; the tools
// are restricted; the guard commits what it has; and the model is told why (R000-15). The
// tools come before the commit, other than in the document, since the new tool list may
// be the first thing that a session measures, which begins a Turn for the guard. Nobody
// sees the machine in between.
func (m *Machine) force(reason Reason, rule, text string) {
	if m.final != ReasonNone {
		return
	}
	m.wanted = ReasonNone
	action := m.action(reason)
	m.event(EventFinal, rule, "%s", reason.Sentence())
	m.out.Events[len(m.out.Events)-1].Guard = &action
	m.traceEnforce(action)
	m.setFinal(reason)
	m.guard.Enforce()
	used := m.window().Percent(max(m.guard.Counters().Total(), m.Count().Point)) // R000-15, by whichever is more
	m.note(edit.Fill(orElse(text, finalTexts[reason]), edit.Values{Used: used}), rule, fmt.Sprintf("final Step: %s", reason))
}

// action says what the guard forces a final Step for.
func (m *Machine) action(reason Reason) GuardAction {
	a := GuardAction{Did: ForcedFinal, Reason: reason, Target: m.targets[0], Limit: m.targets[0].Window.Limit()}
	a.Projected = m.projected(0)
	switch {
	case reason != ReasonContext:
	case m.guard.Exceeded():
		a.Trigger = ToolPreflight
	default:
		a.Trigger = TurnPreflight
	}
	return a
}

// projected returns what the next prompt is expected to have for a target: by the
// guard's sum or by the count, whichever is more.
func (m *Machine) projected(target int) int {
	return max(m.guard.Project(0).Base, m.count[target].Count().Bound)
}

// skipped tells of the targets before the one that the request goes to. Where none
// has room nothing was skipped.
func (m *Machine) skipped(v budget.Verdict, taken int) {
	if v.Next < 0 {
		return
	}
	for i, e := range v.Entries[:taken] {
		if e.Decision != budget.Skip {
			continue
		}
		m.event(EventSkip, "", "%s has no room, %s is taken", e.Target.Name(), m.targets[taken].Name())
		m.out.Events[len(m.out.Events)-1].Guard = &GuardAction{
			Trigger: TurnPreflight, Did: SkippedProvider, Target: e.Target, Limit: e.Limit, Projected: m.projected(i),
		}
	}
}

// setFinal makes the next Steps final ones, or ordinary ones again.
func (m *Machine) setFinal(reason Reason) {
	if m.final == reason {
		return
	}
	m.final = reason
	m.measureFront() // other tools are offered
}

// offered returns the tools of this request: all, or in a forced final Step the
// policy's final tool, if the host has it.
func (m *Machine) offered() []llm.Tool {
	if m.final == ReasonNone {
		return m.tools
	}
	i := slices.IndexFunc(m.tools, func(t llm.Tool) bool { return t.Name == m.finalTool() })
	if i < 0 {
		return nil
	}
	return m.tools[i : i+1 : i+1]
}

// finalTool returns the name of the tool that may still be called in a final Step.
func (m *Machine) finalTool() string { return orElse(m.policy.FinalTool, policy.ToolFinalReport) }
