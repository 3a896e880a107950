package plimsoll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A shown view is what would be sent: its messages and the system prompt.
type shown struct {
	Messages []llm.Message
	Sections []llm.Section
}

func shownBy(s *plimsoll.Session) shown {
	v := s.View()
	return shown{v.Messages(), v.Sections}
}

// turns has n Turns of one call each, with the numbers from first on.
func turns(t *testing.T, s *plimsoll.Session, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		add(t, s, human(fmt.Sprintf("Read file %d.", i)))
		work(t, s, i, i+1)
		prepare(t, s)
		add(t, s, reply(fmt.Sprintf("File %d has nothing.", i)))
	}
}

// roomy is a target in which no preset acts by itself.
func roomy() budget.Target {
	return budget.Target{Model: "mystery", Window: budget.Window{Capacity: 400_000, OutputReserve: 2_000}}
}

// compacted has Compact do something and returns what.
func compacted(t *testing.T, s *plimsoll.Session) []edit.ID {
	t.Helper()
	c, err := s.Compact(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Edits) == 0 || c.After.Point >= c.Before.Point {
		t.Fatalf("%d edits, %d to %d tokens (%q), want something taken out", len(c.Edits), c.Before.Point, c.After.Point, c.Why)
	}
	ids := make([]edit.ID, len(c.Edits))
	for i, e := range c.Edits {
		ids[i] = e.ID
	}
	return ids
}

func restore(t *testing.T, s *plimsoll.Session, ids ...edit.ID) {
	t.Helper()
	if err := s.Undo(t.Context(), ids...); err != nil {
		t.Fatal(err)
	}
}

// sameView says what of a view is not as it was.
func sameView(t *testing.T, what string, want, got shown) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: - before, + after\n%s", what, diff)
	}
}

// TestCompactUnderEveryPolicy: a compaction by hand works whatever the policy is, also
// while a call is open, and Undo puts all of it back, notes included, also after a
// restart before or after it.
func TestCompactUnderEveryPolicy(t *testing.T) {
	for _, name := range policy.Presets() {
		begin := func(t *testing.T) (*plimsoll.Session, plimsoll.Options) {
			t.Helper()
			o := plimsoll.Options{Store: &store.Memory{}, Policy: preset(t, name), Targets: []budget.Target{roomy()}}
			s := open(t, o)
			turns(t, s, 1, 2)
			add(t, s, human("That is enough."))
			finish(t, s, engine.ReasonMaxTurns) // its note is to outlive what follows
			prepare(t, s)
			add(t, s, reply("The report."))
			turns(t, s, 3, 2)
			return s, o
		}
		t.Run(name, func(t *testing.T) {
			s, o := begin(t)
			before := shownBy(s)
			if n := notesIn(before); n != 1 {
				t.Fatalf("%d notes in the view, want that of the final Step", n)
			}
			ids := compacted(t, s)
			small := shownBy(s)
			sameView(t, "law 4: a restart after Compact", small, shownBy(open(t, o)))
			journal := s.Edits()
			s = open(t, o)
			if diff := cmp.Diff(journal, s.Edits()); diff != "" {
				t.Errorf("law 2: edits, - before, + after the restart\n%s", diff)
			}
			restore(t, s, ids...)
			sameView(t, "law 5: Compact and Undo", before, shownBy(s))
			sameView(t, "law 4: a restart after Undo", before, shownBy(open(t, o)))
			compacted(t, s) // and it can be done again
		})
		t.Run(name+"_with_an_open_call", func(t *testing.T) {
			s, _ := begin(t)
			call, out := round(9)
			add(t, s, human("Read one more."), call)
			compacted(t, s)
			add(t, s, out)
			send := prepare(t, s)
			all := send.Messages()
			if got := all[len(all)-2].Calls(); len(got) != 1 || got[0].CallID != "c9" {
				t.Errorf("law 3: the message before the last is %v, want the call", all[len(all)-2])
			}
			if got := all[len(all)-1].Results(); len(got) != 1 || got[0].CallID != "c9" {
				t.Errorf("law 3: the last message is %v, want the result", all[len(all)-1])
			}
		})
	}
}

// notesIn counts the notes of final Steps.
func notesIn(v shown) (n int) {
	for _, m := range v.Messages {
		if m.Origin == llm.Note && strings.Contains(m.Text(), "No more steps") {
			n++
		}
	}
	return n
}

// TestCompactBesideAPreparedSummary: under summary-ahead a summary is written ahead of the
// batch that shows it. While it waits, and after it was used, a compaction by hand works.
func TestCompactBesideAPreparedSummary(t *testing.T) {
	sum := &summariser{text: "<summary>" + strings.Repeat("They read files, and there was nothing to see in any of them. ", 20) + "</summary>"}
	o := plimsoll.Options{Store: &store.Memory{}, Policy: preset(t, "summary-ahead"), Summariser: sum, Targets: []budget.Target{
		{Model: "mystery", Window: budget.Window{Capacity: 60_000, OutputReserve: 2_000}},
	}}
	s := open(t, o)
	n := 1
	for ; len(sum.asks) == 0; n++ {
		turns(t, s, n, 1)
	}
	prepare(t, s) // takes in the answer
	if len(s.Edits()) > 0 {
		t.Fatalf("edits %v before the batch, want a summary that waits", s.Edits())
	}
	before := shownBy(s)
	ids := compacted(t, s)
	restore(t, s, ids...)
	sameView(t, "law 5: Compact and Undo", before, shownBy(s))
	made := len(s.Edits())
	for ; len(s.Edits()) == made; n++ { // until the policy makes its batch
		turns(t, s, n, 1)
	}
	turns(t, s, n, 2)
	compacted(t, s)
}

// TestUndoGivesBackWhatStoodThere: a compaction takes the place of edits that are
// older. Where it is taken back, they hold again: what came as a handle is one.
func TestUndoGivesBackWhatStoodThere(t *testing.T) {
	o := plimsoll.Options{Store: &store.Memory{}, Policy: preset(t, "guard"), Targets: []budget.Target{
		{Model: "mystery", Window: budget.Window{Capacity: 100_000, OutputReserve: 2_000}},
	}}
	s := open(t, o)
	add(t, s, human("Read the log."), calls("read", 1))
	if p := result(t, s, "c1", output(3<<20)); p.Shown != plimsoll.ShownHandle {
		t.Fatalf("placed %+v, want a handle", p)
	}
	add(t, s, reply("Read."))
	turns(t, s, 2, 3)
	before := shownBy(s)
	ids := compacted(t, s)
	for _, again := range []bool{false, true} {
		if again { // and the whole once more, with a restart between them
			ids = compacted(t, s)
			s = open(t, o)
		}
		restore(t, s, ids...)
		sameView(t, "law 5: Compact and Undo", before, shownBy(s))
		if send := prepare(t, s); send.Final != engine.ReasonNone {
			t.Errorf("the next Step is final: %q", send.Final)
		}
	}
}

// TestUndoTogether is law 5 in a fork: edits that were taken back with one Undo
// are there as if each had been taken back by itself.
func TestUndoTogether(t *testing.T) {
	var views, forks [2]shown
	for i, together := range []bool{true, false} {
		s := open(t, plimsoll.Options{Store: &store.Memory{}, Policy: preset(t, "guard"), Targets: []budget.Target{roomy()}})
		add(t, s, human("Read."))
		for n := range 3 {
			call, _ := round(n)
			add(t, s, call)
			result(t, s, fmt.Sprintf("c%d", n), output(sizeCap+100))
		}
		var ids []edit.ID
		for _, e := range s.Edits() {
			ids = append(ids, e.ID)
		}
		if len(ids) != 3 {
			t.Fatalf("%d edits, want one for each output", len(ids))
		}
		if together {
			restore(t, s, ids...)
		} else {
			for _, id := range ids {
				restore(t, s, id)
			}
		}
		fork, err := s.Fork(t.Context(), "earlier", 3)
		if err != nil {
			t.Fatal(err)
		}
		views[i], forks[i] = shownBy(s), shownBy(fork)
	}
	sameView(t, "the session", views[0], views[1])
	sameView(t, "its fork", forks[0], forks[1])
	if got := len(forks[0].Messages[2].Results()[0].Text()); got != sizeCap+100 {
		t.Errorf("the fork sees %d bytes of the first output, want the %d that were put back", got, sizeCap+100)
	}
}
