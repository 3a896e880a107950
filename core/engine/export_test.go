package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// What the tests see of a machine beyond its API.

// A MeterState is what one meter of a machine has booked.
type MeterState struct {
	Key     string
	Counter token.Counter
	Cal     *token.Calibration // nil for a policy's own estimator
	Sums    [token.NumComponents]token.Size
	Outputs int
	Tells   bool // outputs are booked
	Hidden  int
	Count   token.Estimate
}

// MeterStates returns the meters of all targets, then the one of the policy's estimator.
func (m *Machine) MeterStates() []MeterState {
	var out []MeterState
	for _, t := range append(m.count[:len(m.count):len(m.count)], m.gauge) {
		s := MeterState{
			Key: t.Key(), Counter: t.Counter(), Cal: t.Calibration(), Outputs: t.Outputs(), Tells: m.looksAtOutputs(),
			Hidden: t.Components().System - t.Component(token.System), Count: t.Count(),
		}
		for c := range s.Sums {
			s.Sums[c] = t.Size(token.Component(c))
		}
		out = append(out, s)
	}
	return out
}

// Gauge returns the view by the policy's own estimator.
func (m *Machine) Gauge() int { return m.gauge.Total() }

// Prepared reports whether a summary waits for its batch.
func (m *Machine) Prepared() bool { return m.summary != nil }

// Waiting reports whether a request waits for an answer.
func (m *Machine) Waiting() bool { return m.request.making() }

// Asking reports whether a question has no answer yet.
func (m *Machine) Asking() bool { return len(m.asks) > 0 }

// Waits reports whether a rule waits for the next call.
func (m *Machine) Waits() bool { return len(m.due) > 0 }

// Tail returns the first message that the model has not answered.
func (m *Machine) Tail() llm.MessageID { return m.tail() }

// Pinned reports whether a message is never archived.
func (m *Machine) Pinned(msg llm.Message) bool { return m.pinned(msg) }

// Try proposes a plan under a policy's minimum gain, as a rule does.
func (m *Machine) Try(p edit.Plan, rule string) bool { return m.try(p, rule) }

// Figures returns those of a target's window, each with its source.
func (m *Machine) Figures(target int) policy.Figures {
	f, err := m.figures(m.cfg.Targets[target])
	if err != nil {
		return policy.Figures{}
	}
	return f
}
