package inspect_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// died is a session of one call whose next one came to nothing.
func died(e wire.Error) *log {
	l := newLog()
	l.human("Read the chart.")
	l.reply(llm.Usage{Input: 180_000, Output: 20}, call("c1", "read", "{}"))
	l.result("c1", "fathoms")
	l.fail(e)
	return l
}

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		name, want, how string
		log             *log
	}{
		{"answered", "the last call was answered", inspect.EndAnswered, func() *log {
			l := newLog()
			l.human("Read the chart.")
			l.reply(llm.Usage{Input: 9_000, Output: 20}, text("Read."))
			return l
		}()},
		{"a call without a result", "a call of read has no result", inspect.EndOpen, func() *log {
			l := newLog()
			l.human("Read the chart.")
			l.reply(llm.Usage{Input: 9_000, Output: 20}, call("c1", "read", "{}"))
			return l
		}()},
		{"nobody answered", "the last message is not answered", inspect.EndWaits, func() *log {
			l := died(wire.Error{})
			l.seg.Failures = nil
			return l
		}()},
		{"too long, by the provider's count", "call 2 at 22:14 was refused: prompt is too long, 213,462 tokens of 190,000", inspect.EndRefused, died(wire.Error{Class: wire.TooLong, Used: 213_462, Window: 190_000})},
		{"too long, no figures", "call 2 at 22:14 was refused: prompt is too long, 180,037 tokens of 200,000 (calibrated)", inspect.EndRefused, died(wire.Error{Class: wire.TooLong})},
		{"overloaded", `call 2 at 22:14 was refused: overloaded, "Come back."`, inspect.EndRefused, died(wire.Error{Class: wire.Overloaded, Message: "Come back."})},
		{"nobody knows why", "call 2 at 22:14 was refused: it broke", inspect.EndRefused, died(wire.Error{Message: "it broke"})},
		{"stopped", "call 2 at 22:14 was stopped by the user", inspect.EndStopped, func() *log {
			l := died(wire.Error{})
			l.seg.Failures[0].Stopped = true
			return l
		}()},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := c.log.report(t, withShip(t)).End
			if end.How != c.how || end.Text() != c.want {
				t.Errorf("want %s: %s\ngot  %s: %s", c.how, c.want, end.How, end.Text())
			}
		})
	}
}

// TestRefusedIsFree holds a refused request to what it is: a Step that can be looked at, of
// the size that was stated, which cost nothing and is in no sum.
func TestRefusedIsFree(t *testing.T) {
	l := died(wire.Error{Class: wire.TooLong, Used: 213_462, Window: 200_000})
	o := withShip(t)
	r := l.report(t, o)
	steps := r.Segments[0].Steps
	if len(steps) != 2 || steps[1].Refused == nil || steps[1].Tokens != 213_462 || steps[1].CostUSD != catalog.Dollars(0) {
		t.Fatalf("want a second Step of 213,462 tokens, refused and free, got %+v", steps)
	}
	if r.Totals.Steps != 1 || r.Totals.Tokens != 180_000 || r.Totals.Peak != 180_000 || r.Totals.CacheBreaks != 0 {
		t.Errorf("want the sums of the first Step alone, got %+v", r.Totals)
	}
	if _, err := inspect.Contents(&l.s, inspect.StepRef{Segment: 1, Step: 2}, o); err != nil {
		t.Errorf("want to see what was refused: %v", err)
	}
}
