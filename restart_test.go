package plimsoll_test

import (
	"errors"
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

// hiccup has the store fail once, in what f asks of it.
func hiccup(t *testing.T, st *flaky, f func() error) {
	t.Helper()
	st.appends = true
	if err := f(); !errors.Is(err, errDisk) {
		t.Fatalf("got %v, want %v", err, errDisk)
	}
	st.appends = false
}

// TestFinishIsKept: what a host asked for holds until its Prepare, whatever happens to
// the store or to the process meanwhile, and no longer than its Turn.
func TestFinishIsKept(t *testing.T) {
	begin := func(t *testing.T) (*plimsoll.Session, *flaky, plimsoll.Options) {
		t.Helper()
		st := &flaky{}
		o := plimsoll.Options{ID: "a", Store: st, Policy: preset(t, "guard")}
		s := open(t, o)
		add(t, s, human("Read the files."))
		finish(t, s, engine.ReasonMaxTurns)
		return s, st, o
	}
	want := func(t *testing.T, s *plimsoll.Session, reason engine.Reason) {
		t.Helper()
		if got := s.Usage().Final; got != reason {
			t.Errorf("before the request: final %q, want %q", got, reason)
		}
		send := prepare(t, s)
		if send.Final != reason {
			t.Errorf("final %q, want %q", send.Final, reason)
		}
		if told := strings.Contains(send.Messages()[len(send.Items)-1].Text(), "No more steps"); told != (reason != engine.ReasonNone) {
			t.Errorf("the model is told that it is the last step: %v", told)
		}
	}
	t.Run("R000-14_a_store_that_fails", func(t *testing.T) {
		s, st, _ := begin(t)
		hiccup(t, st, func() error { return s.Append(t.Context(), reply("lost")) })
		add(t, s, reply("Read."))
		want(t, s, engine.ReasonMaxTurns)
	})
	t.Run("R000-14_a_store_that_fails_at_the_request", func(t *testing.T) {
		s, st, _ := begin(t)
		hiccup(t, st, func() error { _, err := s.Prepare(t.Context()); return err })
		want(t, s, engine.ReasonMaxTurns)
	})
	t.Run("R000-14_a_restart", func(t *testing.T) {
		_, _, o := begin(t)
		want(t, open(t, o), engine.ReasonMaxTurns)
	})
	t.Run("R000-14_a_restart_after_the_request", func(t *testing.T) {
		s, _, o := begin(t)
		want(t, s, engine.ReasonMaxTurns)
		want(t, open(t, o), engine.ReasonMaxTurns)
	})
	t.Run("R000-14_the_first_reason_stands", func(t *testing.T) {
		_, _, o := begin(t)
		s := open(t, o)
		finish(t, s, engine.ReasonUserStop)
		want(t, open(t, o), engine.ReasonMaxTurns)
	})
	t.Run("R000-14_a_failed_Finish_did_not_happen", func(t *testing.T) {
		st := &flaky{}
		s := open(t, plimsoll.Options{Store: st, Policy: preset(t, "guard")})
		add(t, s, human("Read the files."))
		hiccup(t, st, func() error { return s.Finish(t.Context(), engine.ReasonMaxTurns) })
		if send := prepare(t, s); send.Final != engine.ReasonNone {
			t.Errorf("final %q, want none", send.Final)
		}
	})
	t.Run("R000-14_the_next_person_ends_it", func(t *testing.T) {
		for _, sent := range []bool{false, true} {
			s, _, o := begin(t)
			if sent {
				prepare(t, s)
				add(t, s, reply("The report."))
			}
			add(t, s, human("Go on."))
			resumed := restarted(t, o.Store, o)
			want(t, resumed, engine.ReasonNone)
			want(t, s, engine.ReasonNone)
		}
	})
}

// TestBudgetAfterRestart: whether tools may run, why the next Step is final and what an
// output may still have do not depend on whether the process was started again.
func TestBudgetAfterRestart(t *testing.T) {
	for _, c := range []struct {
		name    string
		do      func(t *testing.T, s *plimsoll.Session)
		execute bool          // whether a tool may run then
		final   engine.Reason // of the request that is prepared then
	}{
		{"R000-23_nothing_happened", func(t *testing.T, s *plimsoll.Session) {
			add(t, s, human("Read."))
		}, true, engine.ReasonNone},
		{"R000-23_exceeded_by_Reserve", func(t *testing.T, s *plimsoll.Session) {
			full(t, s)
			overdraw(t, s)
		}, false, engine.ReasonContext},
		{"R000-23_exceeded_by_an_output", func(t *testing.T, s *plimsoll.Session) {
			full(t, s)
			add(t, s, calls("read", 1))
			result(t, s, "c1", output(4_000))
		}, false, engine.ReasonContext},
		{"R000-23_the_failed_output_was_put_back", func(t *testing.T, s *plimsoll.Session) {
			full(t, s)
			add(t, s, calls("read", 1))
			result(t, s, "c1", output(4_000))
			if err := s.Undo(t.Context(), newest(t, s, edit.KindFail)); err != nil {
				t.Fatal(err)
			}
		}, false, engine.ReasonContext},
		{"R000-23_a_final_Step_was_forced", func(t *testing.T, s *plimsoll.Session) {
			add(t, s, human("Read."))
			finish(t, s, engine.ReasonRetries)
			prepare(t, s)
		}, false, engine.ReasonRetries},
		{"R000-23_a_final_Step_for_want_of_room", func(t *testing.T, s *plimsoll.Session) {
			full(t, s)
			add(t, s, calls("read", 1))
			result(t, s, "c1", output(4_000))
			prepare(t, s)
		}, false, engine.ReasonContext},
		{"R000-23_a_person_writes_amid_a_Round", func(t *testing.T, s *plimsoll.Session) {
			full(t, s)
			add(t, s, calls("read", 1))
			overdraw(t, s)
			add(t, s, human("By the way.")) // opens no Turn while a call is open
		}, false, engine.ReasonContext},
		{"R000-14_a_person_writes_amid_a_final_Round", func(t *testing.T, s *plimsoll.Session) {
			add(t, s, human("Read."))
			finish(t, s, engine.ReasonMaxTurns)
			prepare(t, s)
			add(t, s, calls(policy.ToolFinalReport, 1), human("By the way."))
		}, false, engine.ReasonMaxTurns},
		{"R000-14_a_person_writes_amid_a_Round_before_it", func(t *testing.T, s *plimsoll.Session) {
			add(t, s, human("Read."), calls("read", 1))
			finish(t, s, engine.ReasonMaxTurns)
			add(t, s, human("By the way."))
		}, true, engine.ReasonMaxTurns},
		{"R000-23_the_next_Turn", func(t *testing.T, s *plimsoll.Session) {
			add(t, s, human("Read."), calls("read", 1))
			finish(t, s, engine.ReasonMaxTurns)
			result(t, s, "c1", "all is well")
			prepare(t, s)
			add(t, s, reply("Read."), human("Go on."))
		}, true, engine.ReasonNone},
		{"R000-23_the_Turn_after_an_overflow", func(t *testing.T, s *plimsoll.Session) {
			full(t, s)
			overdraw(t, s)
			add(t, s, reply("There was no room."), human("Go on."))
		}, true, engine.ReasonContext}, // there still is none
	} {
		t.Run(c.name, func(t *testing.T) {
			kept := &store.Memory{}
			o := plimsoll.Options{ID: "live", Store: kept, Policy: preset(t, "guard")}
			s := open(t, o)
			c.do(t, s)
			resumed := restarted(t, kept, o)
			for when, s := range map[string]*plimsoll.Session{"live": s, "after a restart": resumed} {
				b := s.Budget()
				if got := b.CanExecute("read"); got != c.execute {
					t.Errorf("%s: a tool may run: %v, want %v", when, got, c.execute)
				}
				if !b.CanExecute(policy.ToolFinalReport) {
					t.Errorf("%s: the report may not be written", when)
				}
			}
			if got, want := resumed.Usage().Final, s.Usage().Final; got != want {
				t.Errorf("final after a restart %q, want %q as before", got, want)
			}
			before, after := prepare(t, s), prepare(t, resumed)
			if before.Final != c.final {
				t.Errorf("live: final %q, want %q", before.Final, c.final)
			}
			if after.Final != before.Final {
				t.Errorf("after a restart: final %q, want %q as before", after.Final, before.Final)
			}
			if diff := cmp.Diff(before.Messages(), after.Messages()); diff != "" {
				t.Errorf("law 4: - live, + after a restart\n%s", diff)
			}
		})
	}
}

// restarted takes up a copy of what the store has of a session, so that the session
// itself can go on.
func restarted(t *testing.T, st store.Store, o plimsoll.Options) *plimsoll.Session {
	t.Helper()
	n := 0
	for _, err := range st.Records(t.Context(), o.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	again := o
	again.ID += " again"
	if err := st.Fork(t.Context(), o.ID, again.ID, n); err != nil {
		t.Fatal(err)
	}
	return open(t, again)
}

// full has a person write so much that no handle has room beside it. Under the guard
// target leaves 9,808 tokens.
func full(t *testing.T, s *plimsoll.Session) {
	t.Helper()
	add(t, s, human(strings.Repeat("word", 9_760)))
}

// overdraw asks for room that is not there.
func overdraw(t *testing.T, s *plimsoll.Session) {
	t.Helper()
	var over *plimsoll.BudgetError
	if _, err := s.Budget().Reserve(t.Context(), 5_000); !errors.As(err, &over) || !over.Exceeded {
		t.Fatalf("got %v, want the tool budget exceeded", err)
	}
}

// newest returns the last edit of a kind.
func newest(t *testing.T, s *plimsoll.Session, kind edit.Kind) edit.ID {
	t.Helper()
	all := s.Edits()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind == kind {
			return all[i].ID
		}
	}
	t.Fatalf("no edit of kind %s among %v", kind, all)
	return 0
}

// TestRestartWithAnotherModel is law 9: what one model's provider reported says nothing
// about another model's tokens. A session that is taken up with another preferred target
// counts as one that went over to it.
func TestRestartWithAnotherModel(t *testing.T) {
	at := func(model string) budget.Target {
		return budget.Target{Model: model, Window: budget.Window{Capacity: 100_000, OutputReserve: 2_000}}
	}
	gpt, claude := at("gpt-5"), at("claude-sonnet-4-5")
	o := plimsoll.Options{Store: &store.Memory{}, Targets: []budget.Target{gpt}}
	s := open(t, o)
	// Text of which both models make a very different number of tokens.
	add(t, s, human(strings.Repeat(strings.Repeat("-", 74)+" 12 ab\n", 1_000)))
	send := prepare(t, s)
	observe(t, s, llm.Usage{Input: send.Count.Point, Output: 5})
	add(t, s, reply("Seen."), human("And now?"))
	live := prepare(t, s, claude).Count
	o.Targets = []budget.Target{claude}
	if got := prepare(t, open(t, o)).Count; got.Kind != live.Kind || got.Point < live.Point-5 || got.Point > live.Point+5 { // the reply was reported to have 5
		t.Errorf("law 9: count after a restart %+v, want %+v", got, live)
	}
	o.Targets = []budget.Target{gpt} // and what gpt-5 taught is not lost by it
	if got := prepare(t, open(t, o)).Count; got.Point < send.Count.Point || got.Point > send.Count.Point+1_000 {
		t.Errorf("law 9: count %+v, want it anchored in the %d tokens that were reported", got, send.Count.Point)
	}
}

// TestObserveAgain: usage that the store did not take may be told again. It is booked
// once, on the target that answered, and teaches that one.
func TestObserveAgain(t *testing.T) {
	small := budget.Target{Model: "small", Window: budget.Window{Capacity: 12_000, OutputReserve: 1_000}}
	large := budget.Target{Model: "large", Window: budget.Window{Capacity: 100_000, OutputReserve: 1_000}}
	st := &flaky{}
	o := plimsoll.Options{Store: st, Policy: preset(t, "summary-ahead"), Targets: []budget.Target{small, large}}
	s := open(t, o)
	add(t, s, human(strings.Repeat("hello world ", 8_000)))
	send := prepare(t, s)
	if send.Target.Name() != large.Name() {
		t.Fatalf("sent to %s, want %s", send.Target.Name(), large.Name())
	}
	u := llm.Usage{Input: 16_000, Output: 10}
	hiccup(t, st, func() error { return s.Observe(t.Context(), u) })
	if b := s.Bill(); b.Calls != 0 {
		t.Errorf("bill %+v, want nothing on it yet", b)
	}
	observe(t, s, u)
	add(t, s, reply("Hello."))
	for when, s := range map[string]*plimsoll.Session{"live": s, "after a restart": open(t, o)} {
		b := s.Bill()
		if b.Calls != 1 || len(b.Lines) != 1 || b.Lines[0].Target != large.Name() || b.Usage != u {
			t.Errorf("%s: bill %+v, want one call to %s", when, b, large.Name())
		}
	}
	// What it taught: the next request to the same target is counted from the report.
	add(t, s, human("And now?"))
	if got := prepare(t, s); got.Target.Name() != large.Name() || got.Count.Point < u.Total() || got.Count.Point > u.Total()+100 {
		t.Errorf("law 9: sent to %s, count %+v, want the %d tokens that were reported and a few more", got.Target.Name(), got.Count, u.Total())
	}
}

// TestToolsSurvive: a session that is taken up again offers the tools that it offered, with all that a
// model reads of them: one that takes free text too.
func TestToolsSurvive(t *testing.T) {
	o := plimsoll.Options{ID: "a", Store: new(store.Memory), Policy: preset(t, "off")}
	s := open(t, o)
	if err := s.SetTools(t.Context(), []llm.Tool{
		{Name: "read", Description: "Reads.", Schema: `{"type":"object"}`},
		{Name: "patch", Description: "Patches.", Schema: `{"type":"grammar","syntax":"lark","definition":"start: /.+/"}`, Custom: true},
	}); err != nil {
		t.Fatal(err)
	}
	add(t, s, human("Go."))
	want := prepare(t, s).Tools
	if got := prepare(t, open(t, o)).Tools; len(want) != 2 || cmp.Diff(want, got) != "" {
		t.Error(cmp.Diff(want, got))
	}
}
