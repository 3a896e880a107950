package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// mostState is the largest record of a state, in bytes.
const mostState = 4 << 10

// TestStateIsSmall: what is written beside each request does not grow with the session,
// whatever was learnt about however many models, and there is one a Step.
func TestStateIsSmall(t *testing.T) {
	p, err := policy.Preset("balanced")
	must(t, err)
	var targets []budget.Target
	for _, model := range []string{"gpt-4o", "gpt-5", "claude-opus-4-5", "claude-sonnet-4-5"} {
		targets = append(targets, budget.Target{Provider: "a-provider", Model: model, Window: budget.Window{Capacity: 60_000, OutputReserve: 2000}})
	}
	c, err := configured(p, targets...)
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	const steps = 160
	for step := range steps { // each model in its turn, so that each learns
		order := append(targets[step%4:4:4], targets[:step%4]...)
		ask(t, h, llm.Text{Text: fmt.Sprint(step, " ", prose(900, "why"))})
		must(t, h.feed(engine.Prepare{Targets: order}))
		s := h.sent[len(h.sent)-1]
		must(t, h.feed(engine.Usage{Usage: llm.Usage{Input: s.Count.Point * 11 / 10, Output: 200 + step, Reasoning: step}, Reported: true}))
		must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: prose(400, "so")}}}}))
	}
	states, largest := 0, 0
	for _, line := range h.lines {
		if r, err := journal.Decode(line); err != nil {
			t.Fatal(err)
		} else if r.Kind == journal.KindState {
			states, largest = states+1, max(largest, len(line))
		}
	}
	if states != steps || largest > mostState {
		t.Errorf("want one state for each of %d Steps, of at most %d bytes, got %d, the largest of %d", steps, mostState, states, largest)
	}
}

// TestVersion1IsTakenUp: a session that was recorded without states goes on, with what its
// records tell.
func TestVersion1IsTakenUp(t *testing.T) {
	h := screenHost(t, "gpt-4o", budget.Window{Capacity: 40_000, OutputReserve: 2000})
	for step := range 4 {
		ask(t, h, llm.Text{Text: fmt.Sprint(step, " ", prose(2000, "why"))})
		s := prepared(t, h)
		must(t, h.feed(engine.Usage{Usage: llm.Usage{Input: s.Count.Point, Output: 50}, Reported: true}))
		must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: prose(200, "so")}}}}))
	}
	var old [][]byte
	for _, line := range h.lines {
		if !strings.Contains(string(line), `"kind":"state"`) {
			old = append(old, []byte(strings.Replace(string(line), `{"v":2,`, `{"v":1,`, 1)))
		}
	}
	h.lines = old
	again, err := h.restored()
	must(t, err)
	if was, is := h.m.Count(), again.m.Count(); is != was {
		t.Errorf("the count was %+v, is %+v", was, is)
	}
	ask(t, again, llm.Text{Text: "And now?"})
	prepared(t, again)
}
