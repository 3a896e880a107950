package plimsoll

import (
	"time"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
)

// A clock says whether the provider has let go of the last request. Of one that left before
// the session was taken up it says that it is kept.
type clock struct {
	now  func() time.Time
	left time.Time     // when that request did; zero: none has
	kept time.Duration // how long its provider keeps it at most; 0: nobody knows
}

// cold reports whether nothing of the last request is kept any more.
func (c *clock) cold() bool {
	return c.kept > 0 && !c.left.IsZero() && c.now().Sub(c.left) >= c.kept
}

// leaves notes that a request leaves.
func (c *clock) leaves(send *engine.Send, known *catalog.Catalog) {
	c.left, c.kept = c.now(), 0
	if rule, ok := known.CacheRuleOf(send.Target.Model); ok && len(rule.Lifetimes) > 0 {
		c.kept = time.Duration(rule.Lifetimes[len(rule.Lifetimes)-1]) * time.Second
	}
}
