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

// errInjected is what a call says that was made to fail.
var errInjected = errors.New("injected")

// A minefield counts the calls of store and summariser, and has one fail.
type minefield struct {
	calls int
	at    int // the number of the call that fails; 0: none
}

func (m *minefield) step() error {
	m.calls++
	if m.calls == m.at {
		return errInjected
	}
	return nil
}

// A minedStore is a store in memory in a minefield.
type minedStore struct {
	store.Memory
	field *minefield
}

func (s *minedStore) Append(ctx context.Context, id string, seq int, lines [][]byte) error {
	if err := s.field.step(); err != nil {
		return err
	}
	return s.Memory.Append(ctx, id, seq, lines)
}

func (s *minedStore) Put(ctx context.Context, id string, blobs []edit.Blob) error {
	if err := s.field.step(); err != nil {
		return err
	}
	return s.Memory.Put(ctx, id, blobs)
}

// A minedSummariser is one in a minefield.
type minedSummariser struct{ field *minefield }

func (minedSummariser) ByCode() {}

func (s minedSummariser) Summarise(context.Context, engine.Ask) (plimsoll.Summary, error) {
	if err := s.field.step(); err != nil {
		return plimsoll.Summary{}, err
	}
	return plimsoll.Summary{Text: "<summary>" + strings.Repeat("They read the files of numbers. ", 60) + "</summary>"}, nil
}

// TestDegrades fails each call of store and model in turn. What it was part of says so or goes on without;
// then the work goes on, within the window, and nothing that was taken out is lost.
func TestDegrades(t *testing.T) {
	for _, name := range []string{"cache-compact", "layered", "turn-budget", "balanced", "lean"} {
		t.Run("R002-26_"+name, func(t *testing.T) {
			all := &minefield{}
			degrade(t, name, all)
			if all.calls < 50 {
				t.Fatalf("only %d calls", all.calls)
			}
			for at := 1; at <= all.calls; at++ {
				degrade(t, name, &minefield{at: at})
			}
		})
	}
}

// degrade is one session in a minefield.
func degrade(t *testing.T, name string, field *minefield) {
	t.Helper()
	st := &minedStore{field: field}
	target := budget.Target{Model: "mystery", Window: budget.Window{Capacity: 9_000, OutputReserve: 500, Buffer: budget.None}}
	o := plimsoll.Options{ID: "s", Store: st, Policy: preset(t, name), Targets: []budget.Target{target}, Summariser: minedSummariser{field}}
	s, err := plimsoll.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	fails := func(err error) bool {
		if err != nil && !errors.Is(err, errInjected) {
			t.Fatalf("call %d fails: %v", field.at, err)
		}
		return err != nil
	}
	told := 0
	tell := func(m llm.Message) {
		if fails(s.Append(t.Context(), m)) { // it has not happened, so that it is told again
			if err := s.Append(t.Context(), m); err != nil {
				t.Fatalf("call %d fails: told again: %v", field.at, err)
			}
		}
		told++
	}
	for i := range 16 {
		tell(human(fmt.Sprintf("Question %d? %s", i, strings.Repeat("Why is it so? ", 20))))
		id := fmt.Sprintf("c%d", i)
		tell(llm.AssistantText("", llm.ToolCall{CallID: id, Name: "read", Args: "{}"}))
		tell(llm.ToolText(id, strings.Repeat(fmt.Sprintf("line of numbers %d\n", i), 60)))
		send, err := s.Prepare(t.Context())
		if fails(err) {
			if send, err = s.Prepare(t.Context()); err != nil {
				t.Fatalf("call %d fails: prepared again: %v", field.at, err)
			}
		}
		if send.Count.Bound > send.Limit {
			t.Fatalf("call %d fails: %d tokens of %d", field.at, send.Count.Bound, send.Limit)
		}
		fails(s.Observe(t.Context(), llm.Usage{Input: send.Count.Point, Output: 50}))
		tell(reply("It is so. " + strings.Repeat("Well. ", 30)))
		fails(s.TurnEnd(t.Context()))
	}
	if n := len(s.Messages()); n != told {
		t.Fatalf("call %d fails: %d messages of %d", field.at, n, told)
	}
	for _, e := range s.Edits() {
		for _, ref := range e.Refs {
			if _, err := st.Get(t.Context(), "s", ref); err != nil {
				t.Fatalf("call %d fails: edit %d took out %s, which is lost: %v", field.at, e.ID, ref, err)
			}
		}
	}
	if field.at == 0 && len(s.Edits()) == 0 {
		t.Fatal("nothing was taken out, so that this shows nothing")
	}
}
