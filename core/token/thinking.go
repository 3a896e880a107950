package token

// Some providers take thinking out of the prompt: most at the next message of a
// person, some after every call (the project's study of estimates, section 6). It
// makes the prompt smaller than what was reported with its output, so it only
// ever lowers the point of an estimate, never the bound.
const (
	leastThinking = 150 // tokens below which nothing can be told from a residual
	closeToAll    = 250 // permille of the thinking that a residual may differ from it
	believeStep   = 2   // drops seen before thinking is taken to go after every call
)

// A Thinking follows what becomes of the thinking of one model. The zero Thinking
// believes that it is kept. Copies are independent.
type Thinking struct {
	atTurn  bool // goes when a Turn begins
	atStep  bool // goes after each call
	steps   int  // drops after a call seen in a row
	turn    int  // tokens of thinking in this Turn that are still in the prompt
	last    int  // of the newest reply
	pending int  // of the Turn that has ended, until the next report
}

// NewThinking returns the Thinking of a model of which it is known whether a
// finished Turn's thinking is dropped.
func NewThinking(dropped bool) Thinking { return Thinking{atTurn: dropped} }

// Reply notes the thinking in a reply whose output was reported.
func (t *Thinking) Reply(tokens int) {
	t.last = max(tokens, 0)
	t.turn += t.last
}

// Turn notes that a Turn begins.
func (t *Thinking) Turn() { t.pending, t.turn = t.pending+t.turn, 0 }

// Lost notes that the thinking so far left the prompt by itself, as it did in both
// cases that were seen of a reply with a hosted search.
func (t *Thinking) Lost() { t.turn, t.last = 0, 0 }

// Gone returns the tokens that are expected to be missing from the next prompt.
func (t *Thinking) Gone() int {
	switch {
	case t.atStep:
		return t.last
	case t.atTurn:
		return t.pending
	}
	return 0
}

// Observe learns from the next report: over is by how much a prediction with all
// thinking in it was too large. It returns the tokens of thinking that were gone.
func (t *Thinking) Observe(over int) (gone int) {
	switch {
	case t.pending >= leastThinking:
		t.atTurn = near(over, t.pending)
	case t.last >= leastThinking:
		if near(over, t.last) {
			t.steps++
		} else {
			t.steps = 0
		}
		t.atStep = t.steps >= believeStep
	}
	gone = t.Gone()
	if t.atStep {
		t.turn = 0
	}
	t.pending, t.last = 0, 0
	return gone
}

// near reports whether n is about all of thinking.
func near(n, thinking int) bool {
	d := n - thinking
	return max(d, -d)*1000 <= thinking*closeToAll
}
