package token

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

func clamp(n, low, high int) int { return min(max(n, low), high) }

// share returns n * permille / 1000, rounded down.
func share(n, permille int) int { return n/1000*permille + n%1000*permille/1000 }
