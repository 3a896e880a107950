package token

import "github.com/plimsoll-dev/plimsoll/core/catalog"

// What is left of the doubt about a chat template that is known (reasoned).
const (
	frameDoubt = 16 // tokens that a bound has more
	frameShare = 50 // permille of a prompt that a report may be off, and frameSlack
	frameSlack = 64 // tokens
)

// Frame returns what the chat template of the family puts around messages; zero if it is not known.
func (c *Calibration) Frame() catalog.Frame { return c.family.Frame }

// Framed returns the size of a prompt of nothing but texts, which are tokens by the model's own
// tokenizer with all that the template puts around them, and what the last report had
// beyond that. Before the first report the bound is 20 % and some 60 tokens higher. It is false where a
// report has told that it is another template.
func (c *Calibration) Framed(tokens int) (Estimate, bool) {
	point := max(tokens+c.frame.Drift, 0)
	e := Estimate{Point: point, Bound: point + frameDoubt + max(c.frame.Drift, -c.frame.Drift), Kind: Exact}
	switch {
	case !c.anchored && c.filled == 0:
		e.Bound += share(point, boundUnlearnt) + frameSlack // the template may have a system prompt of its own
		e.Kind = Estimated
	case c.frame.Drift != 0:
		e.Kind = Calibrated
	}
	return e, !c.frame.Refuted
}

// ObserveFramed learns from the report of a prompt for which Framed was given tokens: what it has
// beyond them, such as a system prompt of the template's own, or that it is another template.
func (c *Calibration) ObserveFramed(tokens, reported int) {
	if reported <= 0 || c.frame.Refuted {
		return
	}
	c.frame.Drift = min(reported, maxTokens) - tokens
	c.frame.Refuted = max(c.frame.Drift, -c.frame.Drift) > share(reported, frameShare)+frameSlack
}
