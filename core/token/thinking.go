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
type Thinking struct{ s ThinkingState }

// NewThinking returns the Thinking of a model of which it is known whether a
// finished Turn's thinking is dropped.
func NewThinking(dropped bool) Thinking { return Thinking{ThinkingState{AtTurn: dropped}} }

// lost says that thinking is known to go after every call.
func (t *Thinking) lost() { t.s.AtStep, t.s.Steps = true, believeStep }

// Reply notes the thinking in a reply whose output was reported.
func (t *Thinking) Reply(tokens int) {
	t.s.Last = max(tokens, 0)
	t.s.Turn += t.s.Last
}

// Turn notes that a Turn begins.
func (t *Thinking) Turn() { t.s.Pending, t.s.Turn = t.s.Pending+t.s.Turn, 0 }

// Lost notes that the thinking so far left the prompt by itself, as it did in both
// cases that were seen of a reply with a hosted search.
func (t *Thinking) Lost() { t.s.Turn, t.s.Last = 0, 0 }

// Gone returns the tokens that are expected to be missing from the next prompt.
func (t *Thinking) Gone() int {
	switch {
	case t.s.AtStep:
		return t.s.Last
	case t.s.AtTurn:
		return t.s.Pending
	}
	return 0
}

// Observe learns from the next report: over is by how much a prediction with all
// thinking in it was too large. It returns the tokens of thinking that were gone.
func (t *Thinking) Observe(over int) (gone int) {
	switch {
	case t.s.Pending >= leastThinking:
		t.s.AtTurn = near(over, t.s.Pending)
	case t.s.Last >= leastThinking:
		if near(over, t.s.Last) {
			t.s.Steps++
		} else {
			t.s.Steps = 0
		}
		t.s.AtStep = t.s.Steps >= believeStep
	}
	gone = t.Gone()
	if t.s.AtStep {
		t.s.Turn = 0
	}
	t.s.Pending, t.s.Last = 0, 0
	return gone
}

// near reports whether n is about all of thinking.
func near(n, thinking int) bool {
	d := n - thinking
	return max(d, -d)*1000 <= thinking*closeToAll
}
