package inspect_test

import (
	"iter"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// stream yields the segments of a session as a file does.
func stream(s *sessionfile.Session) iter.Seq2[sessionfile.Segment, error] {
	return func(yield func(sessionfile.Segment, error) bool) {
		for _, seg := range s.Segments {
			if !yield(seg, nil) {
				return
			}
		}
	}
}

// TestBriefly: where everything is reported a brief has the figures of the report.
func TestBriefly(t *testing.T) {
	l := newLog()
	l.summary("Before this the harbour was closed.")
	l.human("Read\n  the chart.")
	l.reply(cached(0, 9_000), call("c1", "read", "{}"))
	l.result("c1", "fathoms")
	l.now += 7_200_000 // two hours on
	l.reply(cached(9_000, 900), text("Read."))
	l.human("And the log?")
	l.fail(wire.Error{Class: wire.TooLong})
	o := withShip(t)
	r := l.report(t, o)
	b, err := o.Briefly(&l.s, stream(&l.s))
	if err != nil {
		t.Fatal(err)
	}
	if b.First != "Read the chart." || b.Model != ship || b.Ended != "too long" {
		t.Errorf("want the first words of the person, the model and the refusal, got %q, %s, %s", b.First, b.Model, b.Ended)
	}
	if b.Steps != r.Totals.Steps || b.Tokens != r.Totals.Tokens || b.Money() != r.Totals.CostUSD || b.Start != r.Totals.Start {
		t.Errorf("want the report's %d steps, %d tokens, %v from %d, got %+v", r.Totals.Steps, r.Totals.Tokens, r.Totals.CostUSD, r.Totals.Start, b.BriefSum)
	}
	if len(b.Hours) != 2 || b.Hours[1].Hour-b.Hours[0].Hour != 2 || b.Hours[0].Tokens != 9_000 {
		t.Errorf("want two hours with a call each, two apart, got %+v", b.Hours)
	}
}

// TestBrieflyUnknown: what the file does not state is in no sum, and said.
func TestBrieflyUnknown(t *testing.T) {
	l := newLog()
	l.human("Read the chart.")
	l.reply(llm.Usage{}, text("Read."))
	l.reply(cached(0, 9_000), text("Read again."))
	l.seg.Entries[2].Step.Copied = "another"
	o := withShip(t)
	b, err := o.Briefly(&l.s, stream(&l.s))
	if err != nil || b.Steps != 1 || b.Unsized != 1 || b.Unpriced != 1 || b.Money().Known {
		t.Errorf("want one call of which nothing is known, and the copied one left out, got %+v, %v", b.BriefSum, err)
	}
}
