package token

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Growth is what came to a prompt, measured by the raw counter of its family.
type Growth struct {
	Tokens      int // E: raw tokens of text
	Results     int // tool results
	Rounds      int // Rounds that the results belong to; 0 counts as 1 if there are results
	Messages    int // messages without a tool result
	Uses        int // tool calls among them; they cost tokens only where OutputUnknown is set
	MediaTokens int
	Known       int // true tokens, such as a reported reply that is no longer behind an anchor
	// OutputUnknown says that the model's own replies are counted here, by their
	// text, since no provider reported them.
	OutputUnknown bool
	// Hosted says that a tool that the provider runs, such as a search of the
	// web, was enabled and used: what it found is in the prompt and in no message.
	Hosted bool
}

// GrowthOf returns what things of size s add. Whether the output is unknown or
// a hosted tool was used is for the caller to say.
func GrowthOf(s Size) Growth {
	return Growth{
		Tokens:      s.Tokens,
		Results:     s.Results,
		Rounds:      s.Rounds,
		Messages:    s.Plain,
		Uses:        s.Calls,
		MediaTokens: s.MediaTokens,
		Known:       s.Known,
	}
}

// maxTokens bounds every figure of the calibration, so that no sum of a few of
// them and no product with a permille overflows. No prompt comes near it.
const maxTokens = 1 << 40

// sane returns g with its figures in [0, maxTokens].
func (g Growth) sane() Growth {
	for _, n := range []*int{&g.Tokens, &g.Results, &g.Rounds, &g.Messages, &g.Uses, &g.MediaTokens, &g.Known} {
		*n = clamp(*n, 0, maxTokens)
	}
	return g
}

// An Anchor is what a provider reported about one call. The prompt that follows
// it is counted from here.
type Anchor struct {
	Prompt int // tokens
	Output int // tokens; -1: not reported
}

// AnchorOf returns the anchor of a reported usage. visible is the size of the
// reply's visible text and calls by the family's reply estimator. It is false
// for a usage that is no anchor: one that reports no prompt, as some providers
// and errors do. Two more kinds are no anchor, which only the caller can know:
// the usage of another model, and of a reply with parts of hosted tools, which
// adds up the provider's own calls.
func AnchorOf(u llm.Usage, visible int) (Anchor, bool) {
	if u.Prompt() <= 0 {
		return Anchor{}, false
	}
	return Anchor{Prompt: u.Prompt(), Output: ReportedOutput(u.Output, visible)}, true
}

// leastOutput is the most that a streaming placeholder is known to report, and
// a little (the project's study of estimates, section 2: 1 to 10).
const leastOutput = 12

// ReportedOutput returns output, or -1 where it is taken to be the placeholder
// that some clients record while a reply still streams: less than 12, or less
// than three quarters of the visible reply.
func ReportedOutput(output, visible int) int {
	if output < leastOutput || 4*clamp(output, 0, maxTokens) < 3*clamp(visible, 0, maxTokens) {
		return -1
	}
	return output
}

func clamp(n, low, high int) int { return min(max(n, low), high) }

// share returns n * permille / 1000, rounded down.
func share(n, permille int) int { return n/1000*permille + n%1000*permille/1000 }
