package plimsoll

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
)

// A Summariser answers an Ask of the engine. An error means that there is no
// summary; what happens then is up to the policy. It is called within the call
// that raised the question, with the session locked, so that it must not call the
// session; one in the background too: only the answer to that one
// is used later, by the next Prepare.
type Summariser interface {
	Summarise(ctx context.Context, ask engine.Ask) (Summary, error)
}

// A Summary is what a Summariser wrote, and what that took.
type Summary = drive.Summary

// Deterministic is the Summariser that needs no model: it lists the facts that
// code can tell.
type Deterministic struct {
	// Count measures the summary; nil: a token for every four bytes.
	Count func(string) int
}

// deterministicTokens is the longest summary where the policy states none (R004-4).
const deterministicTokens = 2000

// Summarise implements Summariser. It never fails.
func (d Deterministic) Summarise(_ context.Context, ask engine.Ask) (Summary, error) {
	limit := ask.MaxTokens
	if limit == 0 {
		limit = deterministicTokens
	}
	return Summary{Text: summary.Write(ask.Messages, summary.Options{MaxTokens: limit, Count: d.Count, Previous: ask.Previous})}, nil
}
