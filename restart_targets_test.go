package plimsoll_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/store"
)

// TestTargetsSleepThroughRestarts: what the count has learnt of a target is there when that is named again, however many restarts and
// requests to others lie between.
func TestTargetsSleepThroughRestarts(t *testing.T) {
	a := budget.Target{Provider: "openai", Model: "gpt-4o"}
	b := budget.Target{Provider: "ollama", Model: "qwen3-8b"}
	play := func(restarts bool) token.Estimate {
		o := plimsoll.Options{ID: "a", Store: new(store.Memory), Targets: []budget.Target{a}}
		s := open(t, o)
		again := func() {
			if restarts {
				_ = s.Close()
				s = open(t, o)
			}
		}
		add(t, s, human(strings.Repeat("some words ", 400)))
		prepare(t, s, b)
		if err := s.Observe(t.Context(), llm.Usage{Input: 1_300, Output: 20}); err != nil {
			t.Fatal(err)
		}
		add(t, s, reply("So it is."))
		again()
		for range 2 { // requests to a alone, of which each leaves a state behind
			add(t, s, human("And now?"))
			prepare(t, s, a)
			add(t, s, reply("Still so."))
			again()
		}
		add(t, s, human("Go on."))
		return prepare(t, s, b).Count
	}
	if got, want := play(true), play(false); got != want {
		t.Errorf("the count after restarts, want what it is without, %+v, got %+v", want, got)
	}
}

// TestUnnamedTargetAfterARestart: a request went to b, and the session was taken up with a alone in its options. What b says is b's.
func TestUnnamedTargetAfterARestart(t *testing.T) {
	a, b := windowOf("gpt-4o", 10_000), windowOf("gpt-5-mini", 9_000)
	begin := func() *plimsoll.Session {
		o := plimsoll.Options{ID: "a", Store: new(store.Memory), Targets: []budget.Target{a}}
		s := open(t, o)
		add(t, s, human("Look."))
		fill(t, s, 1, 3_000)
		prepare(t, s, b)
		_ = s.Close()
		return open(t, o)
	}
	s := begin()
	if err := s.Observe(t.Context(), llm.Usage{Input: 2_900, Output: 10}); err != nil {
		t.Fatal(err)
	}
	if got := s.Bill().Lines; got[0].Target != b.Name() {
		t.Errorf("the bill says %+v, want %s", got, b.Name())
	}
	s = begin()
	if _, err := s.Rejected(t.Context(), &refusal{window: 3_500, used: 3_600}); err != nil {
		t.Fatal(err)
	}
	if got := s.Usage().Target; got.Window.Capacity != 10_000 {
		t.Errorf("the refusal of %s taught %s a window of %d", b.Name(), got.Name(), got.Window.Capacity)
	}
	if got := prepare(t, s, b).Target.Window.Capacity; got != 3_500 {
		t.Errorf("the window of %s, named again, want the 3500 that it stated, got %d", b.Name(), got)
	}
}

// TestStateOfARefusedRequest: a request that is over is sent all the same, refused, and sent again as it is. What its usage says is about
// that request also after a restart, and not about the note that came meanwhile.
func TestStateOfARefusedRequest(t *testing.T) {
	play := func(restart bool) token.Estimate {
		p := preset(t, "guard")
		o := plimsoll.Options{ID: "a", Store: new(store.Memory), Policy: p, Targets: []budget.Target{windowOf("mystery", 1_500)}}
		s := open(t, o)
		add(t, s, human(strings.Repeat("some words ", 2_000)))
		prepare(t, s)
		if _, err := s.Rejected(t.Context(), &refusal{used: 9_000}); err == nil {
			t.Fatal("the same request is made again")
		}
		prepare(t, s)
		add(t, s, llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: strings.Repeat("a note ", 200)}}})
		if restart {
			_ = s.Close()
			s = open(t, o)
		}
		if err := s.Observe(t.Context(), llm.Usage{Input: 8_000, Output: 20}); err != nil {
			t.Fatal(err)
		}
		return s.Usage().Count
	}
	if got, want := play(true), play(false); got != want {
		t.Errorf("the count after a restart, want %+v, got %+v", want, got)
	}
}
