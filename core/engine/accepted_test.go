package engine_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// accepting is a session of so many bytes, which are a third as many tokens, that was sent
// to a target, and what it tells of windows.
func accepting(t testing.TB, target budget.Target, size int) (*host, *[]string) {
	t.Helper()
	p, err := policy.Preset("off")
	must(t, err)
	c, err := configured(p, target)
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	var told []string
	h.ready = func(r engine.Ready, _ string) {
		for _, e := range r.Events {
			if e.Kind == engine.EventWindow {
				told = append(told, e.Text)
			}
		}
	}
	ask(t, h, llm.Text{Text: filler(size, "pasted")})
	prepared(t, h)
	return h, &told
}

func usageOf(prompt int) engine.Usage {
	return engine.Usage{Usage: llm.Usage{Input: prompt, Output: 20}, Reported: true}
}

// inputOf is the most that the preferred target is thought to take as a prompt.
func inputOf(h *host) int { return h.m.Targets()[0].Window.Input() }

// A prompt that went through although it is above what the catalogue has, or what the
// policy assumes, or what a refusal seemed to say, corrects the window of that target, for
// the session and after a restart from any point of it.
func TestAcceptedAboveTheWindow(t *testing.T) {
	tests := []struct {
		name             string
		target           budget.Target
		first            engine.Input // before the usage
		was, prompt, now int
	}{
		{"the catalogue's window", budget.Target{Model: "gpt-4o"}, nil, 128_000, 140_000, 140_000},
		{"the catalogue's most input", budget.Target{Model: "gpt-5"}, nil, 272_000, 280_000, 280_000},
		{"an assumed window", budget.Target{Model: "mystery"}, nil, 131_072, 150_000, 150_000},
		{"a refusal's", budget.Target{Model: "gpt-4o"}, engine.Rejected{Window: 100_000}, 100_000, 110_000, 110_000},
		{"less than the window", budget.Target{Model: "gpt-4o"}, nil, 128_000, 127_999, 128_000},
		{"a window that the host states", budget.Target{Model: "gpt-4o", Window: budget.Window{Capacity: 90_000}}, nil, 90_000, 140_000, 90_000},
		{"a refusal below what the host states", budget.Target{Model: "gpt-4o", Window: budget.Window{Capacity: 105_000}}, engine.Rejected{Window: 100_000}, 100_000, 110_000, 105_000},
		{"the sum of two calls", budget.Target{Model: "gpt-4o"}, nil, 128_000, 260_000, 128_000},
		{"no belief", budget.Target{Model: "gpt-4o"}, nil, 128_000, 5_000_000, 128_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			size := 350_000
			if tt.was > 200_000 {
				size *= 2
			}
			h, told := accepting(t, tt.target, size)
			if tt.first != nil {
				must(t, h.feed(tt.first))
			}
			if got := inputOf(h); got != tt.was {
				t.Fatalf("at first: %d, want %d", got, tt.was)
			}
			before := len(*told)
			must(t, h.feed(usageOf(tt.prompt)))
			if got := inputOf(h); got != tt.now {
				t.Errorf("after a prompt of %d: %d, want %d", tt.prompt, got, tt.now)
			}
			if said := len(*told) > before; said != (tt.now != tt.was) || said && !strings.Contains((*told)[before], "was accepted, above") {
				t.Errorf("told %q", (*told)[before:])
			}
			again, err := h.restored() // by the record of the usage
			must(t, err)
			if got := inputOf(again); got != tt.now {
				t.Errorf("after a restart: %d, want %d", got, tt.now)
			}
			must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "done"}}}}))
			ask(t, h, llm.Text{Text: "And now?"})
			prepared(t, h)
			again, err = h.restored() // by the state beside the request
			must(t, err)
			if got := inputOf(again); got != tt.now {
				t.Errorf("after a restart from the state: %d, want %d", got, tt.now)
			}
		})
	}
}

// A refusal is newer than what was accepted before it.
func TestRefusedAfterAccepted(t *testing.T) {
	h, _ := accepting(t, budget.Target{Model: "gpt-4o"}, 350_000)
	must(t, h.feed(usageOf(150_000)))
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "done"}}}}))
	ask(t, h, llm.Text{Text: "And now?"})
	prepared(t, h)
	must(t, h.feed(engine.Rejected{Window: 135_000}))
	if got := inputOf(h); got != 135_000 {
		t.Errorf("%d, want the 135000 that the refusal states", got)
	}
	again, err := h.restored()
	must(t, err)
	if got := inputOf(again); got != 135_000 {
		t.Errorf("after a restart: %d, want 135000", got)
	}
}

// One target's prompt says nothing about another's window.
func TestAcceptedByOneTarget(t *testing.T) {
	a, b := budget.Target{Provider: "a", Model: "gpt-4o"}, budget.Target{Provider: "b", Model: "gpt-4o"}
	p, err := policy.Preset("off")
	must(t, err)
	c, err := configured(p, a, b)
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	ask(t, h, llm.Text{Text: filler(350_000, "pasted")})
	prepared(t, h)
	must(t, h.feed(usageOf(140_000)))
	if got := h.m.Targets(); got[0].Window.Capacity != 140_000 || got[1].Window.Capacity != 128_000 {
		t.Errorf("%+v, want 140000 of a and 128000 of b", got)
	}
}
