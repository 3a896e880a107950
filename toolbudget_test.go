package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// TestPlacement is R000-13: what becomes of an output, and why.
func TestPlacement(t *testing.T) {
	for _, tt := range []struct {
		name   string
		used   int // of 9,808 tokens
		bytes  int
		shown  plimsoll.Shown
		reason string
	}{
		{"fits", 100, 400, plimsoll.ShownWhole, ""},
		{"at the size cap", 100, sizeCap, plimsoll.ShownWhole, ""},
		{"above the size cap", 100, sizeCap + 1, plimsoll.ShownHandle, plimsoll.ReasonSizeCap},
		{"finds no room", 9_000, 8_000, plimsoll.ShownHandle, plimsoll.ReasonTokenBudget},
		{"is above the size cap and finds no room", 9_000, sizeCap + 1, plimsoll.ShownHandle, plimsoll.ReasonSizeCap},
		{"not even a handle has room", 9_790, 8_000, plimsoll.ShownFailed, plimsoll.ReasonTokenBudget},
	} {
		t.Run("R000-13_"+tt.name, func(t *testing.T) {
			s := filled(t, tt.used)
			add(t, s, calls("read", 1))
			text := output(tt.bytes)
			p := result(t, s, "c1", text)
			if p.Shown != tt.shown || p.Reason != tt.reason || p.Bytes != int64(tt.bytes) {
				t.Errorf("placed %+v, want %s, %q and %d bytes", p, tt.shown, tt.reason, tt.bytes)
			}
			shown := outputs(s)[0]
			switch tt.shown {
			case plimsoll.ShownWhole:
				if shown != text || p.Ref != "" {
					t.Errorf("the model sees %q, ref %q", shown, p.Ref)
				}
				return
			case plimsoll.ShownFailed:
				if shown != failedText {
					t.Errorf("the model sees %q, want %q", shown, failedText)
				}
			default:
				if !strings.Contains(shown, string(p.Ref)) {
					t.Errorf("the model sees %q, want the handle %s", shown, p.Ref)
				}
			}
			if stored, err := s.Blob(t.Context(), p.Ref); err != nil || string(stored) != text {
				t.Errorf("stored: %d bytes, %v, want the output", len(stored), err)
			}
		})
	}
}

// TestPlacementOfStreamed is R000-21 for an output that is not held in memory.
func TestPlacementOfStreamed(t *testing.T) {
	for _, tt := range []struct {
		used  int
		shown plimsoll.Shown
	}{{100, plimsoll.ShownHandle}, {9_795, plimsoll.ShownFailed}} {
		t.Run("R000-21_"+string(tt.shown), func(t *testing.T) {
			s := filled(t, tt.used)
			add(t, s, calls("read", 1))
			text := output(5 << 20)
			p := result(t, s, "c1", text)
			if p.Shown != tt.shown || p.Bytes != int64(len(text)) {
				t.Errorf("placed %+v, want %s and %d bytes", p, tt.shown, len(text))
			}
			if stored, err := s.Blob(t.Context(), p.Ref); err != nil || string(stored) != text {
				t.Errorf("stored: %d bytes, %v, want the output", len(stored), err)
			}
		})
	}
}

// TestPreviewCountsCharacters is R002-6 in a script whose characters are several bytes.
func TestPreviewCountsCharacters(t *testing.T) {
	for name, char := range map[string]string{"ascii": "x", "accents": "é", "CJK": "界", "emoji": "🚢", "not UTF-8": "\xff"} {
		t.Run("R002-6_"+name, func(t *testing.T) {
			s := open(t, plimsoll.Options{Policy: preset(t, "layered")})
			add(t, s, human("q"), calls("shell_exec", 1))
			result(t, s, "c1", strings.Repeat(char, 5000))
			if shown := outputs(s)[0]; !strings.Contains(shown, "First 200 chars: "+strings.Repeat(char, 200)+"...]") {
				t.Errorf("the model sees %q", shown)
			}
		})
	}
}

// TestPlacementInTurn is R000-13 for calls made at once: each output has what those
// before it left.
func TestPlacementInTurn(t *testing.T) {
	t.Run("R000-13_three_messages", func(t *testing.T) {
		s := filled(t, 9_790)
		add(t, s, calls("read", 3))
		for i := range 3 {
			if p := result(t, s, fmt.Sprintf("c%d", i+1), output(4_000)); p.Shown != plimsoll.ShownFailed {
				t.Errorf("output %d is placed %+v, want failed", i+1, p)
			}
		}
		if diff := cmp.Diff([]string{failedText, skippedText, skippedText}, outputs(s)); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	})
	t.Run("R000-13_one_message_is_as_three", func(t *testing.T) {
		one, three := guarded(t), guarded(t)
		add(t, one, human("Read."), calls("read", 3))
		add(t, three, human("Read."), calls("read", 3))
		all := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for i := range 3 {
			r := llm.ToolResult{CallID: fmt.Sprintf("c%d", i+1), Content: []llm.Part{llm.Text{Text: numbered(12_000)}}}
			all.Parts = append(all.Parts, r)
			add(t, three, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{r}})
		}
		add(t, one, all)
		if diff := cmp.Diff(outputs(three), outputs(one)); diff != "" {
			t.Errorf("- in three messages, + in one\n%s", diff)
		}
	})
	t.Run("R000-13_an_empty_output_is_a_space", func(t *testing.T) {
		s := filled(t, 100)
		add(t, s, calls("read", 2))
		if p := result(t, s, "c1", ""); p != (plimsoll.Placement{Shown: plimsoll.ShownWhole}) {
			t.Errorf("placed %+v, want whole and 0 bytes", p)
		}
		if _, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "c2"}); err != nil { // no body at all
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{" ", " "}, outputs(s)); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	})
	t.Run("R000-13_own_tools_are_exempt", func(t *testing.T) {
		for _, tool := range []string{"tool_output", policy.ToolFinalReport} {
			s := filled(t, 9_790)
			add(t, s, calls(tool, 1))
			if p := result(t, s, "c1", output(sizeCap+1)); p.Shown != plimsoll.ShownWhole {
				t.Errorf("the output of %s is placed %+v, want whole", tool, p)
			}
		}
	})
}

// withCalls is a guarded session with n calls that wait for their results.
func withCalls(t *testing.T, n int) *plimsoll.Session {
	t.Helper()
	s := guarded(t)
	add(t, s, human("Read the files."), calls("read", n))
	return s
}

// used returns the guard's sum with what is reserved, and the limit.
func used(s *plimsoll.Session) (used, limit int) {
	u := s.Usage()
	return sum(u.Guard) + u.Reserved, u.Limit
}

// TestReserve is R000-22 and R000-23, one call after the other.
func TestReserve(t *testing.T) {
	ctx := t.Context()
	t.Run("R000-22_a_preview_reserves_nothing", func(t *testing.T) {
		s := withCalls(t, 1)
		b := s.Budget()
		before, limit := used(s)
		for range 3 {
			if !b.Preview(limit-before) || b.Preview(limit-before+1) {
				t.Fatalf("want room for %d tokens and not for one more", limit-before)
			}
		}
		if after, _ := used(s); after != before || !b.CanExecute("read") {
			t.Errorf("%d tokens became %d", before, after)
		}
	})
	t.Run("R000-22_a_reservation_is_held_until_its_output", func(t *testing.T) {
		s := withCalls(t, 1)
		before, _ := used(s)
		held, err := s.Budget().Reserve(ctx, 2_000)
		if err != nil {
			t.Fatal(err)
		}
		if now, _ := used(s); now != before+2_000 {
			t.Errorf("%d tokens became %d by a reservation of 2,000", before, now)
		}
		text := output(400)
		cost := s.Budget().Count(text)
		if _, err := s.ToolResult(ctx, plimsoll.Result{CallID: "c1", Body: strings.NewReader(text), Reserved: held}); err != nil {
			t.Fatal(err)
		}
		// Count is the largest figure of all, the guard's own sum that of its estimator.
		if now, _ := used(s); now < before+len(text)/4 || now > before+cost {
			t.Errorf("%d tokens became %d by an output of %d", before, now, cost)
		}
	})
	t.Run("R000-22_giving_back_twice_changes_nothing", func(t *testing.T) {
		s := withCalls(t, 1)
		b := s.Budget()
		first, err1 := b.Reserve(ctx, 1_000)
		_, err2 := b.Reserve(ctx, 500)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for range 3 {
			b.Release(first)
			b.Release(plimsoll.Reservation{}) // none
			if got := s.Usage().Reserved; got != 500 {
				t.Fatalf("%d tokens are reserved, want the 500 of the other one", got)
			}
		}
	})
	t.Run("R000-22_a_reservation_ends_with_the_next_request", func(t *testing.T) {
		s := withCalls(t, 1)
		held, err := s.Budget().Reserve(ctx, 1_000)
		if err != nil {
			t.Fatal(err)
		}
		result(t, s, "c1", "nothing") // without the reservation
		prepare(t, s)
		again, err := s.Budget().Reserve(ctx, 700)
		if err != nil {
			t.Fatal(err)
		}
		s.Budget().Release(held) // of before the request: it must not free the new one
		if got := s.Usage().Reserved; got != 700 {
			t.Errorf("%d tokens are reserved, want 700", got)
		}
		s.Budget().Release(again)
		if got := s.Usage().Reserved; got != 0 {
			t.Errorf("%d tokens are reserved, want none", got)
		}
	})
	t.Run("R000-23_after_an_overflow_no_more_tools_run", func(t *testing.T) {
		s := withCalls(t, 3)
		b := s.Budget()
		before, limit := used(s)
		_, err := b.Reserve(ctx, limit-before+1)
		var over *plimsoll.BudgetError
		if !errors.As(err, &over) || *over != (plimsoll.BudgetError{Tokens: limit - before + 1, Used: before, Limit: limit}) {
			t.Fatalf("got %v (%+v), want a *BudgetError with %d used of %d", err, over, before, limit)
		}
		if !b.CanExecute("read") || !b.Preview(1) {
			t.Fatal("a handle still has room, and no tool may run")
		}
		if err := s.Observe(ctx, llm.Usage{Input: limit - 50}); err != nil { // not even a handle has
			t.Fatal(err)
		}
		if _, err := b.Reserve(ctx, 60); !errors.As(err, &over) || !over.Exceeded {
			t.Errorf("without room for a handle: got %v, want the tool budget exceeded", err)
		}
		if b.CanExecute("read") || b.Preview(1) || !b.CanExecute("tool_output") {
			t.Error("want the policy's own tools alone to run")
		}
		for _, id := range []string{"c1", "c2", "c3"} {
			if err := s.Skip(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range outputs(s) {
			if text != skippedText {
				t.Errorf("a call that was not run says %q", text)
			}
		}
		if send := prepare(t, s); send.Final != engine.ReasonContext {
			t.Errorf("R000-13: the next Step is %q, want the final one", send.Final)
		}
		if err := s.Observe(ctx, llm.Usage{Input: before, Output: 5}); err != nil {
			t.Fatal(err)
		}
		add(t, s, reply("That is all."), human("Go on."))
		if !b.CanExecute("read") || !b.Preview(1) {
			t.Error("want tools to run in the next Turn")
		}
	})
	t.Run("a policy that makes room ends nothing", func(t *testing.T) {
		s := open(t, plimsoll.Options{Policy: preset(t, "balanced")})
		add(t, s, human("Go."), calls("read", 1))
		_, err := s.Budget().Reserve(ctx, 1_000_000)
		var over *plimsoll.BudgetError
		if !errors.As(err, &over) || over.Exceeded || !s.Budget().CanExecute("read") {
			t.Errorf("got %v, want no room for this one and tools that run", err)
		}
	})
}

// TestToolBudgetDoesNotAllocate: what is asked for at each call costs no memory.
func TestToolBudgetDoesNotAllocate(t *testing.T) {
	b, ctx := filled(t, 500).Budget(), t.Context()
	n := testing.AllocsPerRun(100, func() {
		held, err := b.Reserve(ctx, 300)
		if err != nil || !b.Preview(300) || !b.CanExecute("read") {
			t.Error("want room")
		}
		b.Release(held)
	})
	if n != 0 {
		t.Errorf("R000-22: a reservation allocates %v times, want 0", n)
	}
}

// A worker is what a host does for one call: reserve, run, commit.
type worker struct {
	call string
	most int // tokens that it asks for
	text string
	wait time.Duration // that the tool takes
	lost bool          // it comes to nothing: the reservation is given back
}

func (w worker) run(ctx context.Context, s *plimsoll.Session) error {
	b := s.Budget()
	if !b.CanExecute("read") {
		return s.Skip(ctx, w.call)
	}
	held, err := b.Reserve(ctx, w.most)
	var over *plimsoll.BudgetError
	switch {
	case errors.As(err, &over):
		return s.Skip(ctx, w.call)
	case err != nil:
		return err
	}
	time.Sleep(w.wait) // within a synctest bubble, where nobody waits
	if w.lost {
		b.Release(held)
		defer b.Release(held)
		return s.Skip(ctx, w.call)
	}
	_, err = s.ToolResult(ctx, plimsoll.Result{CallID: w.call, Body: strings.NewReader(w.text), Reserved: held})
	return err
}

// workers makes n of them that together want more than there is.
func workers(n int, random *rand.Rand) []worker {
	all := make([]worker, n)
	for i := range all {
		most := 100 + random.IntN(1_500)
		all[i] = worker{
			call: fmt.Sprintf("c%d", i+1), most: most, text: output(most * 3), lost: random.IntN(5) == 0,
			wait: time.Duration(random.IntN(50)) * time.Millisecond,
		}
	}
	return all
}

// TestReserveSideBySide is R000-13's one lock: whatever the order in which calls reserve,
// run and come back, what was granted is never more than there is, nothing leaks, and
// every call has one result.
func TestReserveSideBySide(t *testing.T) {
	const calls = 24
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("R000-22_seed_%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := withCalls(t, calls)
				random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the order of a test
				var wg sync.WaitGroup
				for _, w := range workers(calls, random) {
					wg.Go(func() {
						if err := w.run(t.Context(), s); err != nil {
							t.Errorf("%s: %v", w.call, err)
						}
					})
				}
				// Somebody looks all the time. Only what skipped calls say is not reserved.
				skips := calls * s.Budget().Count(skippedText)
				for range 60 {
					time.Sleep(time.Millisecond)
					if now, limit := used(s); now > limit+skips {
						t.Errorf("%d tokens are used or reserved, of %d", now, limit)
					}
				}
				wg.Wait()
				if got := s.Usage().Reserved; got != 0 {
					t.Errorf("%d tokens are reserved after all came back", got)
				}
				if got := len(outputs(s)); got != calls {
					t.Errorf("%d results, want %d", got, calls)
				}
				send := prepare(t, s)
				if send.StillOver || send.Count.Bound > send.Limit {
					t.Errorf("the request has %d tokens of %d", send.Count.Bound, send.Limit)
				}
			})
		})
	}
}

// TestReservations checks the tool budget against a model: any sequence of its methods
// leaves what is used and reserved within the limit, as long as only reservations were
// made, and what is reserved is the sum of what was granted and not given back.
func TestReservations(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := withCalls(t, 1)
		b := s.Budget()
		before, limit := used(s)
		type grant struct {
			held   plimsoll.Reservation
			tokens int
		}
		var granted []grant
		reserved, exceeded := 0, false
		r.Repeat(map[string]func(*rapid.T){
			"reserve": func(r *rapid.T) {
				n := rapid.IntRange(0, limit).Draw(r, "tokens")
				held, err := b.Reserve(t.Context(), n)
				fits := !exceeded && before+reserved+n <= limit
				if (err == nil) != fits {
					r.Fatalf("reserve %d beside %d and %d of %d: %v", n, before, reserved, limit, err)
				}
				if fits {
					reserved += n
					granted = append(granted, grant{held, n})
				} else if before+100 > limit { // not even a handle has room
					exceeded = true
				}
			},
			"release": func(r *rapid.T) {
				if len(granted) == 0 {
					r.Skip()
				}
				i := rapid.IntRange(0, len(granted)-1).Draw(r, "which")
				b.Release(granted[i].held)
				reserved -= granted[i].tokens
				granted[i].tokens = 0 // it may be released again
			},
			"preview": func(r *rapid.T) {
				n := rapid.IntRange(-5, limit+5).Draw(r, "tokens")
				if got, want := b.Preview(n), !exceeded && before+reserved+max(n, 0) <= limit; got != want {
					r.Fatalf("preview %d beside %d and %d of %d: %v", n, before, reserved, limit, got)
				}
			},
			"": func(r *rapid.T) {
				u := s.Usage()
				if u.Reserved != reserved || sum(u.Guard) != before || before+reserved > limit {
					r.Fatalf("%d reserved beside %d, want %d beside %d, of %d", u.Reserved, sum(u.Guard), reserved, before, limit)
				}
				if b.CanExecute("read") == exceeded {
					r.Fatalf("tools may run: %v after an overflow: %v", !exceeded, exceeded)
				}
			},
		})
	})
}

// TestBudgetIsOver is what a host that comes late gets.
func TestBudgetIsOver(t *testing.T) {
	s := withCalls(t, 2)
	b := s.Budget()
	held, err := b.Reserve(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reserve(t.Context(), -1); err == nil || !b.CanExecute("read") {
		t.Errorf("a negative reservation: %v, want an error that ends nothing", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reserve(t.Context(), 1); !errors.Is(err, plimsoll.ErrClosed) {
		t.Errorf("reserve after Close: %v, want %v", err, plimsoll.ErrClosed)
	}
	if _, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "c1", Reserved: held}); !errors.Is(err, plimsoll.ErrClosed) {
		t.Errorf("an output after Close: %v, want %v", err, plimsoll.ErrClosed)
	}
	if err := s.Skip(t.Context(), "c2"); !errors.Is(err, plimsoll.ErrClosed) {
		t.Errorf("skip after Close: %v, want %v", err, plimsoll.ErrClosed)
	}
	b.Release(held)
	b.Release(held)
	for _, tool := range []string{"read", "tool_output", policy.ToolFinalReport} {
		if b.CanExecute(tool) {
			t.Errorf("%s may run after Close", tool)
		}
	}
	if b.Preview(0) || b.Count("still counts") == 0 {
		t.Error("want no room after Close, and a count that still works")
	}
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}
