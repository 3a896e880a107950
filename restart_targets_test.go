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
