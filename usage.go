package plimsoll

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Usage says what fills the window now. All sizes are in tokens.
type Usage struct {
	Target  budget.Target     // the preferred one, its window as resolved
	Count   token.Estimate    // of the view, as it would be sent; Count.Bound is what is compared with the limit, Count.Kind says how far it can be trusted
	Limit   int               // what a request may have
	Percent int               // of the whole window, from 0 to 100
	Parts   budget.Components // by component, each as it is counted; Shares has them as shares of Count
	// Tools are those of Parts by where they come from, with what is left out of requests.
	Tools []engine.ToolShare

	Guard    budget.Counters // the guard's own sum
	Reserved int             // for outputs on their way
	Final    engine.Reason   // why the next request is a final one; empty if it is not. It ends with the next Human message

	// Thresholds are the policy's, each with the figure that drives it.
	Thresholds []engine.Threshold
	// Verdict is the answer for each target, by the count and, where the policy asks
	// it, by the guard.
	Verdict budget.Verdict
}

// Shares returns Parts in proportion as shares of Count.Point, which they add up to: a provider may
// have reported more or less than the parts are counted, and the count has what stands around messages.
func (u Usage) Shares() budget.Components { return u.Parts.Scaled(u.Count.Point) }

// Usage returns what fills the window now. It changes nothing.
func (s *Session) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.machine
	u := Usage{
		Target: m.Targets()[0], Count: m.Count(), Parts: m.Components(), Tools: m.ToolShares(), Guard: m.Guard(), Reserved: m.Reserved(), Final: m.Final(),
		Thresholds: m.Thresholds(), Verdict: m.Verdict(),
	}
	u.Limit = u.Target.Window.Limit()
	u.Percent = u.Target.Window.Percent(u.Count.Point)
	return u
}

// Bill returns what the session's calls used so far.
func (s *Session) Bill() Bill {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bill.bill()
}
