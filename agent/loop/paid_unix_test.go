//go:build unix

package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A payer is a proxy that has seen three calls, one after the other.
type payer struct {
	calls int
	told  chan struct{} // closed once all three are on record
}

func (p *payer) Reach(a loop.Agent) (loop.Agent, error) { return a, nil }

func (p *payer) Spent() loop.Spent { return loop.Spent{} }

func (p *payer) SpentSoFar() loop.Spent {
	if p.calls++; p.calls <= 3 {
		return loop.Spent{Calls: 1, Input: 100, Output: 10}
	}
	if p.calls == 4 {
		close(p.told)
	}
	return loop.Spent{}
}

// TestPaidBeforeAKill: what the calls of an iteration took is on record before it has ended, and is that iteration's
// when the loop goes on after a kill.
func TestPaidBeforeAKill(t *testing.T) {
	a, err := loop.ParseAgent(`sh -c "cat >/dev/null; exec sleep 600"`)
	if err != nil {
		t.Fatal(err)
	}
	o, p := options(t, a), &payer{told: make(chan struct{})}
	o.Poll, o.Settings.Proxy = time.Millisecond, "127.0.0.1:0"
	o.ProxyBy = func(loop.Settings) (loop.Proxy, error) { return p, nil }
	r, err := loop.Start(t.Context(), o, "Wait.")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.Run(ctx)
		ended <- err
	}()
	<-p.told
	killed := new(store.Memory) // has what the store had when the loop was killed
	var lines [][]byte
	for data, err := range o.Store.Records(t.Context(), "loop/"+r.ID(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, data)
	}
	if err := killed.Append(t.Context(), "loop/"+r.ID(), 0, lines); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, loop.ErrInterrupted) {
		t.Fatalf("want it interrupted, got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	want := loop.Spent{Calls: 3, Input: 300, Output: 30}
	h, err := loop.Read(t.Context(), killed, r.ID())
	if err != nil || h.Running != 1 || h.Spent != want {
		t.Fatalf("of a loop that was killed: iteration %d runs, %+v, %v, want 1 and %+v", h.Running, h.Spent, err, want)
	}
	o.Store = killed
	next, err := loop.Resume(t.Context(), o, r.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	h, err = loop.Read(t.Context(), killed, r.ID())
	if err != nil || len(h.Iterations) != 1 || !h.Iterations[0].Interrupted || h.Iterations[0].Spent == nil || *h.Iterations[0].Spent != want || h.Spent != want {
		t.Errorf("after it went on: %+v, %v, want one interrupted iteration with %+v", h, err, want)
	}
	saved, err := loop.Replayed(t.Context(), o, r.ID())
	if err != nil || string(saved) != string(next.Saved()) {
		t.Errorf("its records lead to another state, %v", err)
	}
}

// TestInboxHasBounds: while a hundred messages wait for a prompt, others stay where they are, and that is told once.
func TestInboxHasBounds(t *testing.T) {
	o := options(t, agent(t, "works", "9"))
	o.Inbox, o.Settings.MaxIterations = true, 1
	var notes []string
	o.Notify = func(n loop.Notice) {
		if n.Kind == loop.NoticeNote {
			notes = append(notes, n.Text)
		}
	}
	inbox := filepath.Join(o.Workspace, ".plimsoll", "inbox")
	const all = 230
	for i := range all {
		put(t, filepath.Join(inbox, fmt.Sprintf("%03d.txt", i)), strings.Repeat(fmt.Sprint("word", i, " "), 500))
	}
	h := end(t, o, core.IterationLimit)
	left, err := os.ReadDir(inbox)
	if err != nil {
		t.Fatal(err)
	}
	taken := len(h.Messages)
	if shown := taken - 100; shown < 0 || shown > 20 || len(left) != all-taken+1 { // 1: those that were taken
		t.Errorf("want a hundred beyond those that the prompt shows, got %d taken, %d left in the folder", taken, len(left))
	}
	told := 0
	for _, n := range notes {
		if strings.Contains(n, "100 messages wait") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("want to be told once, got %d times: %q", told, notes)
	}
}
