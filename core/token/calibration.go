package token

import "github.com/plimsoll-dev/plimsoll/core/catalog"

// The constants of the recommended algorithm (the project's study of estimates,
// sections 7 and 8), in permille and tokens. Those marked as reasoned are not
// measured.
const (
	priorWeight   = 1500 // of the prior ratio among the learnt ones
	ringSize      = 32   // learnt ratios kept
	leastPair     = 32   // raw tokens below which a pair teaches nothing
	heaviestPair  = 2000 // weight of a pair: its raw tokens, at most these
	lowestRatio   = 700  // permille of the prior
	highestRatio  = 1500 // permille of the prior
	removedShare  = 850  // of removed text that is taken off; reasoned
	boundShare    = 150  // of what is new
	boundTokens   = 600
	boundHosted   = 9000 // where a hosted tool was used; from two cases
	boundMedia    = 250  // permille of the tokens of media; reasoned
	boundUnlearnt = 200  // permille of everything where nothing was ever reported
	shortShare    = 1500 // permille of what a bound was short of that those after it have more
	mostShort     = 300  // tokens: what was short of more is seldom seen twice
	shortFades    = 16   // reports in which that mostly goes again
)

// An Estimate is the size of a prompt in tokens.
type Estimate struct {
	Point int // the likeliest
	Bound int // what it hardly exceeds; what decides whether a request fits
	Kind  Kind
}

// A Calibration predicts the size of the next prompt of one model in one
// session. It learns from each reported usage. It is not safe for concurrent
// use; copies are independent.
type Calibration struct {
	family   catalog.Family
	ring     [ringSize]learnt
	filled   int // of the ring
	next     int // place of the ring that is written next
	anchored bool
	ratio    int // kept up to date; permille
	short    int // tokens that bounds have more, as one was short of some
	thinking Thinking
	frame    FrameState
}

type learnt struct{ ratio, weight int }

// NewCalibration returns a calibration that knows the constants of f and no
// usage yet.
func NewCalibration(f catalog.Family) *Calibration {
	f.Prior = clamp(f.Prior, 1, 100_000)
	return &Calibration{family: f, ratio: f.Prior}
}

// DropsThinking says whether the provider is known to take a finished Turn's
// thinking out of the prompt. Without it c finds out.
func (c *Calibration) DropsThinking(known bool) { c.thinking = NewThinking(known) }

// LosesThinking says that the provider is known to send no thinking again at all. c still
// finds out where it is not so.
func (c *Calibration) LosesThinking() { c.thinking.lost() }

// Reply notes the thinking in a reply whose output was reported, in tokens.
func (c *Calibration) Reply(thinking int) { c.thinking.Reply(thinking) }

// Hosted notes that a tool of the provider's own ran in a reply.
func (c *Calibration) Hosted() { c.thinking.Lost() }

// Turn notes that a message of a person begins a Turn.
func (c *Calibration) Turn() { c.thinking.Turn() }

// Clone returns an independent copy.
func (c *Calibration) Clone() *Calibration {
	twin := *c
	return &twin
}

// Ratio returns the true tokens of 1,000 raw ones: the weighted median of the
// prior and what was learnt.
func (c *Calibration) Ratio() int { return c.ratio }

// Cost returns the tokens that g adds to a prompt.
func (c *Calibration) Cost(g Growth) int {
	g = g.sane()
	return c.guess(g) + g.Known
}

// guess returns the tokens of g as far as they are not known.
func (c *Calibration) guess(g Growth) int {
	return share(g.Tokens, c.ratio) + c.constants(g) + g.MediaTokens
}

// After returns the size of the prompt that follows the call of anchor a and
// has g more than that call's prompt and output. Thinking that is expected to be
// gone lowers the point, never the bound. Where a reports no output, g
// contains the reply.
func (c *Calibration) After(a Anchor, g Growth) Estimate {
	a, g = a.sane(), g.sane()
	g.OutputUnknown = g.OutputUnknown || a.Output < 0
	guess := c.guess(g)
	point := a.Prompt + max(a.Output, 0) + guess + g.Known
	return Estimate{Point: max(point-c.thinking.Gone(), 0), Bound: point + c.margin(guess, g), Kind: Calibrated}
}

// Scratch returns the size of a prompt that nothing reported is left of: the
// overhead, and all that stands in it. Of that, sinceAnchor is the part that
// came after the last reported prompt that was sent unedited; the rest has
// taught the ratio. Before anything was reported, the bound is 20 % higher.
func (c *Calibration) Scratch(overhead int, all, sinceAnchor Growth) Estimate {
	all, sinceAnchor = all.sane(), sinceAnchor.sane()
	all.OutputUnknown, sinceAnchor.OutputUnknown = true, true // replies stand in the prompt as text
	point := clamp(overhead, 0, maxTokens) + c.Cost(all)
	since := c.guess(sinceAnchor)
	sinceAnchor.Hosted = sinceAnchor.Hosted || all.Hosted
	sinceAnchor.MediaTokens = all.MediaTokens
	e := Estimate{Point: point, Bound: point + c.margin(since, sinceAnchor), Kind: Calibrated}
	if c.filled == 0 && !c.anchored {
		e.Bound += share(point, boundUnlearnt)
		e.Kind = Estimated
	}
	return e
}

// Edited returns the size of the prompt that follows the call of anchor a after
// removed was taken out of that call's prompt and reply and inserted was put in, with
// g more at the end. Removed text counts for 85 % of its estimate, so that the
// prompt is not taken for smaller than it is. It serves until the next usage.
func (c *Calibration) Edited(a Anchor, removed, inserted, g Growth) Estimate {
	a, removed, inserted, g = a.sane(), removed.sane(), inserted.sane(), g.sane()
	g.OutputUnknown = g.OutputUnknown || a.Output < 0
	gone := share(share(removed.Tokens, c.ratio)+removed.MediaTokens, removedShare)
	put := share(inserted.Tokens, c.ratio) + inserted.MediaTokens + max(0, c.constants(inserted)-c.constants(removed))
	guess := c.guess(g)
	left := max(0, max(0, a.Prompt-gone)+max(a.Output, 0)-removed.Known) // the reply may be among what is removed
	point := left + put + inserted.Known + guess + g.Known
	g.MediaTokens += inserted.MediaTokens
	return Estimate{Point: point, Bound: point + c.margin(guess+put, g), Kind: Calibrated}
}

// Caution returns how much of the size that Edited gives is caution: what is taken off
// for removed text less than that text was counted as, and what it cost beside its text.
func (c *Calibration) Caution(removed, inserted Growth) int {
	removed, inserted = removed.sane(), inserted.sane()
	removed.OutputUnknown, inserted.OutputUnknown = true, true // as they were counted where they stood
	text := share(removed.Tokens, c.ratio) + removed.MediaTokens
	return text - share(text, removedShare) + max(0, c.constants(removed)-c.constants(inserted))
}

// Observe learns from the usage that a call reported: its prompt is next, it
// followed the call of anchor a, and g came between. It is called for every
// usage that is an anchor; for the first one a is the zero Anchor. The caller
// leaves out pairs with an edit, a compaction or a switch of model between them.
// Nothing is learnt from media, hosted tools, or little text.
func (c *Calibration) Observe(a Anchor, g Growth, next int) {
	if next <= 0 {
		return
	}
	c.anchored = true
	a, g, next = a.sane(), g.sane(), min(next, maxTokens)
	g.OutputUnknown = g.OutputUnknown || a.Output < 0
	over := a.Prompt + max(a.Output, 0) + c.Cost(g) - next
	gone := 0
	if a.Prompt > 0 {
		c.missed(-over - margin(c.guess(g), g))
		gone = c.thinking.Observe(over)
	}
	if a.Prompt == 0 || g.MediaTokens > 0 || g.Hosted || g.Tokens < leastPair {
		return
	}
	text := next + gone - a.Prompt - max(a.Output, 0) - c.constants(g) - g.Known
	low, high := share(c.family.Prior, lowestRatio), share(c.family.Prior, highestRatio)
	ratio := clamp(text*1000/g.Tokens, low, high)
	if over == gone { // as predicted: what rounding took off is no lesson
		ratio = c.ratio
	}
	c.ring[c.next] = learnt{ratio, min(g.Tokens, heaviestPair)}
	c.next = (c.next + 1) % ringSize
	c.filled = min(c.filled+1, ringSize)
	c.ratio = c.median()
}

// missed learns by how much a reported prompt was above the bound as it is without what
// was learnt so; less than 0: it was not. What a client adds to a prompt unseen, such as a
// reminder after some tool, it mostly adds again.
func (c *Calibration) missed(by int) {
	c.short -= (c.short + shortFades - 1) / shortFades
	c.short = max(c.short, min(share(max(by, 0), shortShare), mostShort))
}

// median returns the smallest ratio that half the weight does not exceed.
func (c *Calibration) median() int {
	var sorted [ringSize + 1]learnt
	sorted[0] = learnt{c.family.Prior, priorWeight}
	total := priorWeight
	for i, l := range c.ring[:c.filled] {
		total += l.weight
		j := i + 1
		for ; j > 0 && sorted[j-1].ratio > l.ratio; j-- {
			sorted[j] = sorted[j-1]
		}
		sorted[j] = l
	}
	below := 0
	for _, l := range sorted[:c.filled+1] {
		below += l.weight
		if 2*below >= total {
			return l.ratio
		}
	}
	return c.family.Prior
}

// constants returns what g adds beside text and media (K). The first result of
// a Round and its further ones cost differently.
func (c *Calibration) constants(g Growth) int {
	rounds := min(max(g.Rounds, 1), g.Results)
	k := c.family.First*rounds + c.family.More*(g.Results-rounds) + c.family.Message*g.Messages
	if g.OutputUnknown {
		k += c.family.Use * g.Uses
	}
	return k
}

// margin returns what the bound is above the point, of which guess is new and
// not known.
func (c *Calibration) margin(guess int, g Growth) int { return margin(guess, g) + c.short }

// margin is that before anything was learnt.
func margin(guess int, g Growth) int {
	m := share(guess, boundShare) + boundTokens + share(g.MediaTokens, boundMedia)
	if g.Hosted {
		m += boundHosted
	}
	return m
}

// sane returns a with its figures in range.
func (a Anchor) sane() Anchor {
	return Anchor{clamp(a.Prompt, 0, maxTokens), clamp(a.Output, -1, maxTokens)}
}
