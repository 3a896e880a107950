package plimsoll_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// TestSummaryByCodeAfterARestart: a summary by code was measured by the tokens of the target that was asked then. It is the same
// one after a restart, whichever target was asked last (law 4).
func TestSummaryByCodeAfterARestart(t *testing.T) {
	first := budget.Target{Provider: "openai", Model: "gpt-4", Window: budget.Window{Capacity: 12_000, Buffer: -1, OutputReserve: 500}}
	second := budget.Target{Provider: "ollama", Model: "qwen3-8b", Window: budget.Window{Capacity: 60_000, Buffer: -1, OutputReserve: 500}}
	play := func(restart bool) string {
		fails := &summariser{err: errors.New("overloaded")}
		o := plimsoll.Options{
			ID: "a", Store: new(store.Memory), Policy: preset(t, "summary-ahead"), Targets: []budget.Target{first}, Summariser: fails,
		}
		s := open(t, o)
		exchange := func(n int, to budget.Target) string {
			add(t, s, human(fmt.Sprintf("Question %d: コンテキスト %s", n, strings.Repeat(fmt.Sprintf("上限 %d を超えました ", n), 30))))
			send := prepare(t, s, to)
			add(t, s, reply(fmt.Sprintf("Answer %d.", n)))
			if err := s.TurnEnd(t.Context()); err != nil {
				t.Fatal(err)
			}
			return text(send.Messages())
		}
		n := 0
		for ; len(fails.asks) == 0; n++ {
			if n == 100 {
				t.Fatal("nobody was asked for a summary")
			}
			exchange(n, first)
		}
		exchange(n, second)
		if restart {
			_ = s.Close()
			o.Targets = []budget.Target{second}
			s = open(t, o)
		}
		for n++; len(s.Edits()) == 0; n++ {
			if n == 200 {
				t.Fatal("no batch was made")
			}
			exchange(n, first)
		}
		return exchange(n, first)
	}
	got, want := play(true), play(false)
	if !strings.Contains(want, "kept by code") {
		t.Fatalf("sent %s, want a summary by code in it", want)
	}
	if got != want {
		t.Errorf("sent after a restart:\n%s\nwant what is sent without one:\n%s", got, want)
	}
}

func text(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}
