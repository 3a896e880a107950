package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/journal"
)

// Force makes the next call the final Step of its Turn, for a reason of the
// host's. The first reason stands.
type Force struct{ Reason Reason }

func (Force) input() {}

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
