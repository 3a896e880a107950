package loop

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Config says how a loop goes. A 0 stands for the default.
type Config struct {
	// Window is how many of the newest iterations stay raw: 5, at most 100.
	Window int
	// SummarizeEvery is after how many iterations a model writes the summary anew, and is
	// asked again after it failed: 10.
	SummarizeEvery int
	// MaxSummaryTokens is the longest summary: 2,000, and no more than that. It has no
	// more than 500 words either.
	MaxSummaryTokens int
	// AskModel has the host's model write the summary. Else code does.
	AskModel bool

	// MaxIterations ends the loop: 1,000.
	MaxIterations int
	// MaxTime ends the loop between two iterations, in milliseconds of it running; 0: never.
	MaxTime int64
	// Threshold is the least score that counts as progress, in permille: 150.
	Threshold int
	// StuckAfter is how many iterations in a row without progress make it stuck: 3.
	StuckAfter int
	// RecoveryBudget is how many iterations may try to get out of that: 20.
	RecoveryBudget int
	// RunawayAfter is how many identical outputs in a row are an alert: 5.
	RunawayAfter int
	// IgnoreAlerts lets the loop go on after an alert.
	IgnoreAlerts bool
	// Promise is the text that ends the loop, in a tag of that name: COMPLETE.
	Promise string

	// BySense has a long output cut between what belongs together, so that what is missed most
	// stays; else its beginning stays, as the document says.
	BySense bool
	// Recall has the host look for passages of older iterations that fit the next prompt, which
	// shows them.
	Recall bool
	// Memory has the prompt show what is known of the workspace, and the agent told how to add
	// to it.
	Memory bool
	// Adaptive has the window grow and shrink with how long iterations are, from 2 to four times
	// Window: as many of the newest are raw as fit whole in half of their share of a prompt, or in
	// all of it while there is no progress.
	Adaptive bool

	// Counter counts the prompts. It is needed.
	Counter token.Counter
}

// The figures of the document and of its program.
const (
	defaultWindow         = 5
	defaultSummarizeEvery = 10
	maxSummaryTokens      = 2000
	maxSummaryWords       = 500
	defaultMaxIterations  = 1000
	defaultThreshold      = 150
	defaultStuckAfter     = 3
	defaultRecovery       = 20
	defaultRunaway        = 5
	defaultPromise        = "COMPLETE"
)

// Bounds of our own.
const (
	maxWindow  = 100 // raw iterations within 30,000 tokens have 300 each
	maxPending = 100 // more than these are folded by code
	maxPromise = 100 // characters
)

// filled returns c with its defaults, or what is wrong with it.
func (c Config) filled() (Config, error) {
	for _, f := range []struct {
		name           string
		value          *int
		standard, most int
	}{
		{"window", &c.Window, defaultWindow, maxWindow},
		{"summarize_every", &c.SummarizeEvery, defaultSummarizeEvery, 1 << 30},
		{"max_summary_tokens", &c.MaxSummaryTokens, maxSummaryTokens, maxSummaryTokens},
		{"max_iterations", &c.MaxIterations, defaultMaxIterations, 1 << 30},
		{"threshold", &c.Threshold, defaultThreshold, 1000},
		{"stuck_after", &c.StuckAfter, defaultStuckAfter, 1 << 30},
		{"recovery_budget", &c.RecoveryBudget, defaultRecovery, 1 << 30},
		{"runaway_after", &c.RunawayAfter, defaultRunaway, 1 << 30},
	} {
		if *f.value == 0 {
			*f.value = f.standard
		}
		if *f.value < 1 || *f.value > f.most {
			return c, fmt.Errorf("loop: config: %s, want 1 to %d, got %d", f.name, f.most, *f.value)
		}
	}
	if c.MaxTime < 0 {
		return c, fmt.Errorf("loop: config: max_time, want 0 or more milliseconds, got %d", c.MaxTime)
	}
	if c.Promise == "" {
		c.Promise = defaultPromise
	}
	if p := c.Promise; blank(p) || p != strings.TrimSpace(plain(p)) || clip(p, maxPromise) != p || strings.ContainsAny(p, "<>`\n") {
		return c, fmt.Errorf("loop: config: promise, want one line of at most %d characters without <, > and `, got %q", maxPromise, clip(p, maxPromise))
	}
	if c.Counter == nil {
		return c, errors.New("loop: config: counter, want one, got none")
	}
	return c, nil
}
