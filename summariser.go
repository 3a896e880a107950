package plimsoll

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
)

// A Summariser answers an Ask of the engine. An error means that there is no
// summary; what happens then is up to the policy. It is called without the session's lock, for one
// question at a time: the call that raised the question waits for the answer and others go on
// only if they change nothing, so that it may look at the session but not tell it something;
// or, where the policy lets it run in the background, nobody waits and the next Prepare
// uses the answer. One that is ByCode is called within the call instead, with the session locked.
type Summariser interface {
	Summarise(ctx context.Context, ask engine.Ask) (Summary, error)
}

// A Summary is what a Summariser wrote, and what that took.
type Summary = drive.Summary

// ByCode marks a Summariser that asks nobody: its answers are there at once, and so the same
// session is the same each time it runs.
type ByCode interface {
	Summariser
	ByCode()
}

// Deterministic is the Summariser that needs no model: it lists the facts that
// code can tell.
type Deterministic struct {
	// Count measures the summary; nil: a token for every four bytes.
	Count func(string) int
}

// deterministicTokens is the longest summary where the policy states none (R004-4).
const deterministicTokens = 2000

// ByCode implements [ByCode].
func (Deterministic) ByCode() {}

// Summarise implements Summariser. It never fails.
func (d Deterministic) Summarise(_ context.Context, ask engine.Ask) (Summary, error) {
	limit := ask.MaxTokens
	if limit == 0 {
		limit = deterministicTokens
	}
	return Summary{Text: summary.Write(ask.Messages, summary.Options{MaxTokens: limit, Count: d.Count, Previous: ask.Previous})}, nil
}
