package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// errOnce is what a store that fails once says.
var errOnce = errors.New("disk full, once")

// A onceStore fails its next Append, or its next Put, if it is told to.
type onceStore struct {
	store.Memory
	append, put bool
}

func (s *onceStore) Append(ctx context.Context, id string, seq int, lines [][]byte) error {
	if s.append {
		s.append = false
		return errOnce
	}
	return s.Memory.Append(ctx, id, seq, lines)
}

func (s *onceStore) Put(ctx context.Context, id string, blobs []edit.Blob) error {
	if s.put {
		s.put = false
		return errOnce
	}
	return s.Memory.Put(ctx, id, blobs)
}

// windowOf is a target with a window of so many tokens, all of them for the prompt.
func windowOf(model string, tokens int) budget.Target {
	return budget.Target{Provider: "acme", Model: model, Window: budget.Window{Capacity: tokens, Buffer: budget.None, OutputReserve: budget.None}}
}

// sent is a request as a text.
func sent(s *engine.Send) string {
	return fmt.Sprintf("to %s, count %d\n%s", s.Target.Name(), s.Count.Bound, text(s.Messages()))
}

// fill makes Rounds until the count is at least n.
func fill(t *testing.T, s *plimsoll.Session, from, n int) {
	t.Helper()
	for i := from; s.Usage().Count.Bound < n; i++ {
		id := fmt.Sprintf("c%d", i)
		add(t, s,
			llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read", Args: "{}"}}},
			llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
				llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(fmt.Sprintf(" w%d", i), 60)}}},
			}})
	}
}

// TestOtherTargetsAfterAFailure: a Prepare for a smaller target sends the same, whether the store failed in it once before, or the session
// was taken up again with that target in its options (law 4).
func TestOtherTargetsAfterAFailure(t *testing.T) {
	large, small := windowOf("gpt-4o", 100_000), windowOf("gpt-4o-mini", 10_000)
	play := func(how string) string {
		st := new(onceStore)
		o := plimsoll.Options{ID: "a", Store: st, Targets: []budget.Target{large}}
		s := open(t, o)
		add(t, s, human("Read it."))
		fill(t, s, 1, 9_500) // 95 % of the small window, above the rule "batch" (92 %)
		prepare(t, s, large)
		switch how {
		case "the store fails once":
			st.append = true
			if _, err := s.Prepare(t.Context(), small); !errors.Is(err, errOnce) {
				t.Fatalf("got %v", err)
			}
		case "a restart", "a restart with the target named later":
			_ = s.Close()
			if how == "a restart" {
				o.Targets = []budget.Target{small}
			}
			s = open(t, o)
		}
		return sent(prepare(t, s, small))
	}
	want := play("")
	for _, how := range []string{"the store fails once", "a restart", "a restart with the target named later"} {
		if got := play(how); got != want {
			t.Errorf("after %s: got %.60s… (%d bytes), want %.60s… (%d bytes)", how, got, len(got), want, len(want))
		}
	}
}

// TestTriedAfterARestart: a rule that was tried in vain for the targets named last is not tried again for them after a restart with others
// in the options.
func TestTriedAfterARestart(t *testing.T) {
	large, small := windowOf("gpt-4o", 100_000), windowOf("gpt-4o-mini", 10_000)
	play := func(restart bool) string {
		o := plimsoll.Options{ID: "a", Store: new(store.Memory), Targets: []budget.Target{large}}
		s := open(t, o)
		add(t, s, human("Read it."))
		fill(t, s, 1, 9_500)
		prepare(t, s, small)
		if restart {
			_ = s.Close()
			s = open(t, o)
		}
		return sent(prepare(t, s, small))
	}
	if got, want := play(true), play(false); got != want {
		t.Errorf("got %.60s… (%d bytes), want %.60s… (%d bytes)", got, len(got), want, len(want))
	}
}

// A saying summariser counts how often it is asked.
type saying struct{ asked int }

// ByCode implements plimsoll.ByCode: it answers at once.
func (s *saying) ByCode() {}

func (s *saying) Summarise(context.Context, engine.Ask) (plimsoll.Summary, error) {
	s.asked++
	return plimsoll.Summary{Text: "<summary>" + strings.Repeat("They read the file of numbers. ", 60) + "</summary>"}, nil
}

// TestLateAnswerAfterAFailure: a summary that was written in the background stands in the batch, also where the store failed once between
// the two.
func TestLateAnswerAfterAFailure(t *testing.T) {
	play := func(how string) string {
		st, sum := new(onceStore), new(saying)
		o := plimsoll.Options{ID: "a", Store: st, Policy: preset(t, "summary-ahead"), Summariser: sum, Targets: []budget.Target{windowOf("gpt-4o", 10_000)}}
		s := open(t, o)
		add(t, s, human("Read it."))
		fill(t, s, 1, 8_000)
		prepare(t, s) // 80 %: a summary is written beside
		if sum.asked != 1 {
			t.Fatalf("asked %d times", sum.asked)
		}
		add(t, s, reply("So."))
		fill(t, s, 1_000, 9_500)
		if how != "" {
			st.append = true
			if _, err := s.Prepare(t.Context()); !errors.Is(err, errOnce) {
				t.Fatalf("got %v", err)
			}
		}
		if how == "opened again" {
			_ = s.Close()
			s = open(t, o)
		}
		return sent(prepare(t, s)) // above 92 %: the batch
	}
	want := play("")
	if !strings.Contains(want, "They read the file") {
		t.Fatal("no summary is shown")
	}
	for _, how := range []string{"opened again", "called again"} {
		if got := play(how); got != want {
			t.Errorf("%s: the summary is shown: %v, want %v", how, strings.Contains(got, "They read the file"), true)
		}
	}
}

// TestWithdrawnRequest: a target refuses, the request that is made instead would go to another one, and its contents cannot be stored. It
// never left: the refusal, told again, is still the first one's.
func TestWithdrawnRequest(t *testing.T) {
	a, b := windowOf("gpt-4o", 3_000), windowOf("gpt-5-mini", 9_000)
	st := new(onceStore)
	s := open(t, plimsoll.Options{Policy: preset(t, "cache-compact"), Store: st, Targets: []budget.Target{a, b}, StoreLater: true})
	add(t, s, human("Look."+strings.Repeat(" word", 50)))
	fill(t, s, 1, 3_300)
	if got := prepare(t, s).Target.Name(); got != b.Name() {
		t.Fatalf("sent to %s, want %s", got, b.Name())
	}
	no := &refusal{window: 2_900, used: 3_400}
	st.put = true
	if _, err := s.Rejected(t.Context(), no); !errors.Is(err, errOnce) {
		t.Fatalf("got %v", err)
	}
	_, _ = s.Rejected(t.Context(), no) // whether something fits now is not the question
	for _, e := range s.Usage().Verdict.Entries {
		if e.Target.Name() == a.Name() && e.Target.Window.Capacity != 3_000 {
			t.Errorf("the refusal of %s taught %s a window of %d, want 3000", b.Name(), a.Name(), e.Target.Window.Capacity)
		}
	}
}
