package plimsoll_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// billed goes through so many Steps of a session whose provider keeps a prefix of each prompt:
// all that the call before had, less what a batch took from it. lapses says at which call it
// has let go of everything.
func billed(t *testing.T, o plimsoll.Options, steps int, lapses func(call int) bool) *plimsoll.Session {
	t.Helper()
	s := open(t, o)
	ctx := context.Background()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(s.Append(ctx, llm.UserText("Which log has the error?")))
	cached := 0
	for n := range steps {
		edits := len(s.Edits())
		send, err := s.Prepare(ctx)
		do(err)
		u := llm.Usage{Output: 50}
		prompt := send.Count.Point
		if u.CacheRead = cached; len(s.Edits()) > edits && n > 0 {
			u.CacheRead = 50 // what stands before all edits
		}
		if lapses(n + 1) {
			u.CacheRead = 0
		}
		u.CacheWrite5m = prompt - u.CacheRead
		do(s.Observe(ctx, u))
		cached = prompt
		id := fmt.Sprint("call-", n)
		do(s.Append(ctx, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read_log", Args: fmt.Sprintf(`{"n":%d}`, n)}}}))
		var log strings.Builder
		for line := range 120 {
			fmt.Fprintf(&log, "log %d, line %d: all is well at the quay\n", n, line)
		}
		_, err = s.ToolResult(ctx, plimsoll.Result{CallID: id, Body: strings.NewReader(log.String())})
		do(err)
	}
	return s
}

func billedOptions() plimsoll.Options {
	return plimsoll.Options{ID: "s", Store: &store.Memory{}, Targets: []budget.Target{{
		Provider: "anthropic", Model: "claude-haiku-4-5", Window: budget.Window{Capacity: 16_000, Buffer: 1_000, OutputReserve: 1_000},
	}}}
}

// TestBillOfBatches: the bill has each batch with what left, what was written once more by what
// the provider reported, the calls that it has served, and its money by list prices; after a
// restart the same.
func TestBillOfBatches(t *testing.T) {
	o := billedOptions()
	s := billed(t, o, 30, func(int) bool { return false })
	b := s.Bill()
	if len(b.Batches) < 2 {
		t.Fatalf("want several batches, got %+v", b.Batches)
	}
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := known.Lookup("claude-haiku-4-5")
	p, _ := m.PricesAt(10_000)
	served := b.Batches[0].Call - 1
	for _, x := range b.Batches {
		served += x.Calls
		cost, saved := int64(x.Rewritten)*int64(p.CacheWrite5m-p.CacheRead), int64(x.Removed)*int64(p.CacheRead)*int64(x.Calls)
		if x.Target != "anthropic/claude-haiku-4-5" || x.Edits == 0 || len(x.Rules) == 0 || x.Removed <= 0 || x.Rewritten <= 0 {
			t.Errorf("got %+v", x)
		}
		if x.Cost != catalog.Dollars(cost) || x.Saved != catalog.Dollars(saved) {
			t.Errorf("want a cost of %d and %d saved, got %+v", cost, saved, x)
		}
		if even := int64(x.Removed) * int64(p.CacheRead); x.BreakEven != int((cost+even-1)/even) {
			t.Errorf("want it to pay after %d calls, got %+v", (cost+even-1)/even, x)
		}
	}
	if served != b.Calls {
		t.Errorf("the batches serve all calls from the first one on: want %d, got %d", b.Calls, served)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if again := open(t, o).Bill(); !reflect.DeepEqual(again, b) {
		t.Errorf("after a restart %+v, want %+v", again, b)
	}
}

// TestWhatLapsedIsNoBatchOfOurs: where the provider has let go of everything before a batch, the
// batch has written nothing once more, and costs nothing.
func TestWhatLapsedIsNoBatchOfOurs(t *testing.T) {
	for _, x := range billed(t, billedOptions(), 30, func(call int) bool { return call > 1 }).Bill().Batches {
		if x.Rewritten != 0 || x.Cost.Pico != 0 || x.Removed <= 0 {
			t.Errorf("got %+v", x)
		}
	}
}

// TestForksBillHasItsOwnBatches: the bill of a fork begins with the fork.
func TestForksBillHasItsOwnBatches(t *testing.T) {
	o := billedOptions()
	s := billed(t, o, 30, func(int) bool { return false })
	fork, err := s.Fork(t.Context(), "f", plimsoll.Here)
	if err != nil {
		t.Fatal(err)
	}
	if b := fork.Bill(); len(b.Batches) != 0 {
		t.Errorf("got %+v", b.Batches)
	}
}
