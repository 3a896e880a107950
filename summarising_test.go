package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A patient summariser answers when it is told to.
type patient struct {
	mu    sync.Mutex
	asks  []engine.Ask
	gone  int // questions that nobody waited for to the end
	reply chan string
	deaf  bool // it does not heed its context
}

func newPatient() *patient { return &patient{reply: make(chan string)} }

func (p *patient) Summarise(ctx context.Context, ask engine.Ask) (plimsoll.Summary, error) {
	p.mu.Lock()
	p.asks = append(p.asks, ask)
	deaf := p.deaf
	p.mu.Unlock()
	if deaf {
		return plimsoll.Summary{Text: <-p.reply}, nil
	}
	select {
	case text := <-p.reply:
		return plimsoll.Summary{Text: text}, nil
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		p.gone++
		return plimsoll.Summary{}, ctx.Err()
	}
}

func (p *patient) asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asks)
}

// planted is a word that stands in nothing but the patient summary.
const planted = "Zanzibar"

func patientSummary() string {
	return "<summary>" + strings.Repeat("The load was taken to "+planted+", and the work goes on. ", 40) + "</summary>"
}

// untilAsked is Steps under summary-ahead until a summary is asked for in the background; none of
// them waits for it.
func untilAsked(t *testing.T, s *plimsoll.Session, p *patient) {
	t.Helper()
	add(t, s, human("Read all files."))
	before := p.asked()
	for n := 0; p.asked() == before; n++ {
		if n == 400 {
			t.Fatal("nobody was asked")
		}
		step(t, s, n)
		synctest.Wait()
	}
}

// step is a request, and words after it that no output stands for.
func step(t *testing.T, s *plimsoll.Session, n int) *engine.Send {
	t.Helper()
	send, err := s.Prepare(t.Context())
	if err != nil {
		t.Fatalf("step %d: %v", n, err)
	}
	add(t, s, reply(strings.Repeat(fmt.Sprintf("So it is, %d. ", n), 60)), human(strings.Repeat(fmt.Sprintf("What of %d? ", n), 60)))
	return send
}

// untilBatch goes on until something was taken out, and returns that request.
func untilBatch(t *testing.T, s *plimsoll.Session) *engine.Send {
	t.Helper()
	for n := 100; n < 400; n++ {
		if send := step(t, s, n); send.Edited {
			return send
		}
	}
	t.Fatal("no batch was made")
	return nil
}

func patientOptions(t *testing.T, p *patient) plimsoll.Options {
	return plimsoll.Options{
		ID: "s", Store: &store.Memory{}, Policy: preset(t, "summary-ahead"), Summariser: p,
		Targets: []budget.Target{{Provider: "p", Model: "mystery", Window: budget.Window{Capacity: 60_000, Buffer: budget.None, OutputReserve: 2_000}}},
	}
}

// TestSummaryInTheBackground: Steps go on while a summary is written, and the batch shows it
// if it has come by then.
func TestSummaryInTheBackground(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(t *testing.T, s *plimsoll.Session, p *patient) *plimsoll.Session
		shows bool
	}{
		{"comes_in_time", func(t *testing.T, s *plimsoll.Session, p *patient) *plimsoll.Session {
			p.reply <- patientSummary()
			if err := s.AwaitSummary(t.Context()); err != nil {
				t.Fatal(err)
			}
			return s
		}, true},
		{"comes_too_late", func(_ *testing.T, s *plimsoll.Session, _ *patient) *plimsoll.Session { return s }, false},
		{"never_comes", func(t *testing.T, s *plimsoll.Session, p *patient) *plimsoll.Session {
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			if p.gone != 1 {
				t.Errorf("%d questions were given up, want one", p.gone)
			}
			return s
		}, false},
		{"closed_and_opened_again", func(t *testing.T, s *plimsoll.Session, p *patient) *plimsoll.Session {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if p.gone != 1 {
				t.Errorf("%d questions were given up, want one", p.gone)
			}
			return nil
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPatient()
				o := patientOptions(t, p)
				s := open(t, o)
				untilAsked(t, s, p)
				if s = c.do(t, s, p); s == nil {
					s = open(t, o) // it asks again
					synctest.Wait()
					if p.asked() != 2 || p.asks[1].Prompt != p.asks[0].Prompt || p.asks[1].Span != p.asks[0].Span {
						t.Fatalf("asked %d times, want the same once more", p.asked())
					}
					p.reply <- patientSummary()
					synctest.Wait()
				}
				shown := text(untilBatch(t, s).Messages())
				if strings.Contains(shown, planted) != c.shows {
					t.Errorf("the batch shows the summary: %v, want %v", !c.shows, c.shows)
				}
				_ = s.Close()
			})
		})
	}
}

// TestOneSummaryAtATime: while one is being written no other is asked for, whatever happens.
func TestOneSummaryAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatient()
		s := open(t, patientOptions(t, p))
		untilAsked(t, s, p)
		for n := 100; n < 300; n++ {
			step(t, s, n)
			if err := s.TurnEnd(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := p.asked(); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
		_ = s.Close()
	})
}

// TestRestartWhileASummaryIsWritten: a program that ends while a summary is written sends
// next what one sends whose summary is lost at that moment.
func TestRestartWhileASummaryIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		play := func(restart bool) string {
			p := newPatient()
			o := patientOptions(t, p)
			s := open(t, o)
			untilAsked(t, s, p)
			if restart { // the process is gone: nothing is closed
				s = open(t, o)
			}
			sent := text(step(t, s, 50).Messages()) + text(untilBatch(t, s).Messages())
			_ = s.Close()
			return sent
		}
		if play(true) != play(false) {
			t.Error("another request after the restart")
		}
		time.Sleep(time.Hour) // what is left of those that were not closed
	})
}

// waiting is a session under cache-compact of which a Prepare waits for a summary, and what
// that returns.
func waiting(ctx context.Context, t *testing.T, p *patient) (s *plimsoll.Session, returned chan error) {
	t.Helper()
	s = open(t, plimsoll.Options{ID: "s", Store: &store.Memory{}, Policy: preset(t, "cache-compact"), Summariser: p})
	add(t, s, human(strings.Repeat("please ", 500)), reply(strings.Repeat("so ", 500)), human("And now?"))
	prepare(t, s)
	observe(t, s, llm.Usage{Input: 16_000})
	returned = make(chan error, 1)
	go func() {
		_, err := s.Prepare(ctx)
		returned <- err
	}()
	synctest.Wait()
	if p.asked() != 1 {
		t.Fatalf("asked %d times", p.asked())
	}
	return s, returned
}

// TestWaitingForASummary: while a call waits for a summary the session can be looked at and
// closed, and what changes it waits as well.
func TestWaitingForASummary(t *testing.T) {
	bubble := func(name string, f func(t *testing.T, p *patient)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, newPatient()) })
		})
	}
	bubble("looked_at_and_told", func(t *testing.T, p *patient) {
		s, returned := waiting(t.Context(), t, p)
		if u := s.Usage(); u.Count.Point == 0 || len(s.Messages()) != 3 || s.Bill().Calls != 1 {
			t.Errorf("%+v", u)
		}
		told := make(chan error, 1)
		go func() { told <- s.Append(t.Context(), reply("Now this.")) }()
		synctest.Wait()
		if len(s.Messages()) != 3 {
			t.Error("it was told something meanwhile")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.TurnEnd(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that nobody waits", err)
		}
		p.reply <- patientSummary()
		if err := <-returned; err != nil {
			t.Error(err)
		}
		if err := <-told; err != nil || len(s.Messages()) != 4 {
			t.Errorf("%d messages, %v", len(s.Messages()), err)
		}
		if !strings.Contains(text(prepare(t, s).Messages()), planted) {
			t.Error("the summary is not shown")
		}
	})
	bubble("closed", func(t *testing.T, p *patient) {
		s, returned := waiting(t.Context(), t, p)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-returned; !errors.Is(err, plimsoll.ErrClosed) {
			t.Errorf("got %v, want %v", err, plimsoll.ErrClosed)
		}
	})
	bubble("R001-15_given_up_by_its_caller", func(t *testing.T, p *patient) {
		ctx, cancel := context.WithCancel(t.Context())
		s, returned := waiting(ctx, t, p)
		before := shownBy(s)
		cancel()
		if err := <-returned; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		sameView(t, "given up", before, shownBy(s))
		go func() { p.reply <- patientSummary() }()
		if send := prepare(t, s); !strings.Contains(text(send.Messages()), planted) || p.asked() != 2 {
			t.Errorf("asked %d times, want once more, and the summary", p.asked())
		}
	})
	bubble("R001-21_given_up_at_the_end_of_a_Turn", func(t *testing.T, p *patient) {
		s := open(t, plimsoll.Options{Policy: preset(t, "cache-compact"), Summariser: p})
		add(t, s, human(strings.Repeat("please ", 500)), reply(strings.Repeat("so ", 500)), human("And now?"))
		prepare(t, s)
		observe(t, s, llm.Usage{Input: 16_000})
		add(t, s, reply("Well."))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.TurnEnd(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || p.asked() != 1 {
			t.Errorf("asked %d times, got %v", p.asked(), err)
		}
		add(t, s, human("More?"))
		go func() { p.reply <- patientSummary() }()
		if !strings.Contains(text(prepare(t, s).Messages()), planted) {
			t.Error("the next request has no summary")
		}
	})
	bubble("R001-15_takes_too_long", func(t *testing.T, p *patient) {
		p.deaf = true
		s, returned := waiting(t.Context(), t, p)
		if err := <-returned; err != nil {
			t.Errorf("got %v, want a request without a summary", err)
		}
		if len(s.Edits()) != 0 {
			t.Errorf("%d edits, want the history as it is", len(s.Edits()))
		}
		p.reply <- "" // it may end
	})
}

// TestCompactWhileASummaryIsWritten: what a person asks for takes the place of what is
// being written in the background.
func TestCompactWhileASummaryIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatient()
		s := open(t, patientOptions(t, p))
		untilAsked(t, s, p)
		done := make(chan error, 1)
		go func() {
			c, err := s.Compact(t.Context(), "the load")
			if len(c.Edits) == 0 {
				err = fmt.Errorf("nothing was done: %s (%w)", c.Why, err)
			}
			done <- err
		}()
		synctest.Wait()
		if p.asked() != 2 || p.asks[1].Focus != "the load" || p.gone != 1 {
			t.Fatalf("asked %d times, %d given up", p.asked(), p.gone)
		}
		p.reply <- patientSummary()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if shown := text(prepare(t, s).Messages()); !strings.Contains(shown, planted) {
			t.Errorf("the summary is not shown in\n%s", shown)
		}
		_ = s.Close()
	})
}

// TestTurnBudgetNeverWaits is R003-17: neither the end of a Turn, nor a request that would not
// fit, nor one that was refused waits for a model.
func TestTurnBudgetNeverWaits(t *testing.T) {
	t.Run("R003-17_never_waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPatient()
			s := open(t, plimsoll.Options{Policy: preset(t, "turn-budget"), Summariser: p, Targets: []budget.Target{roomy()}})
			for i := range 60 {
				call, result := round(i)
				add(t, s, human(fmt.Sprintf("Question %d?", i)), call, result, reply("Done."))
				if err := s.TurnEnd(t.Context()); err != nil {
					t.Fatal(err)
				}
				prepare(t, s)
			}
			add(t, s, human("More?"))
			prepare(t, s)
			if _, err := s.Rejected(t.Context(), &wire.Error{Class: wire.TooLong, Window: 20_000}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if p.asked() == 0 || len(s.Edits()) == 0 {
				t.Errorf("asked %d times, %d edits", p.asked(), len(s.Edits()))
			}
			_ = s.Close()
		})
	})
}

// TestSummariserPanics: no work ends for want of a summary.
func TestSummariserPanics(t *testing.T) {
	s := open(t, plimsoll.Options{Policy: preset(t, "cache-compact"), Summariser: panicking{}})
	atEighty(t, s)
	told := false
	for _, e := range events(t, s) {
		told = told || strings.Contains(e.Text, "panicked")
	}
	if !told {
		t.Error("nobody is told")
	}
}

type panicking struct{}

func (panicking) Summarise(context.Context, engine.Ask) (plimsoll.Summary, error) {
	panic("out of words")
}

// TestBalancedPreparesASummaryWhereAModelWritesIt: the default asks for a summary ahead of its
// batch, and shows it there, if a model writes it; by code it asks for none.
func TestBalancedPreparesASummaryWhereAModelWritesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatient()
		o := patientOptions(t, p)
		o.Policy = preset(t, "balanced")
		s := open(t, o)
		untilAsked(t, s, p)
		p.reply <- patientSummary()
		if err := s.AwaitSummary(t.Context()); err != nil {
			t.Fatal(err)
		}
		send := untilBatch(t, s)
		if !slices.ContainsFunc(send.Items, func(it edit.Item) bool { return strings.Contains(it.Message.Text(), planted) }) {
			t.Error("the batch does not show the summary")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
	o := patientOptions(t, nil)
	o.Policy, o.Summariser = preset(t, "balanced"), nil
	s := open(t, o)
	add(t, s, human("Read all files."))
	send := untilBatch(t, s)
	if slices.ContainsFunc(send.Items, func(it edit.Item) bool { return it.Message.Flags.Has(llm.FlagSummary) }) {
		t.Error("a summary by code is shown, want none")
	}
}
