//go:build unix

package loop_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// A host is killed with SIGKILL, each time at another of its lines, and started again: each
// iteration is on record once, those that ran then as interrupted, the window, the summary
// and the counters are what they were, and no process is left of any of them.
func TestKilledAndResumed(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, workspace := filepath.Join(dir, "loop.db"), filepath.Join(dir, "work")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for stop := 2; ; stop = stop%9 + 2 { // lines until the next kill
		cmd := exec.CommandContext(t.Context(), exe, "host", db, workspace, "40")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		ended := ""
		for n := 0; lines.Scan(); n++ {
			if strings.HasPrefix(lines.Text(), "ended ") {
				ended = lines.Text()
			}
			if n == stop {
				_ = cmd.Process.Kill() // it may have ended by itself
				kills++
				break
			}
		}
		_ = cmd.Wait() // killed, mostly
		if ended != "" {
			if ended != "ended goal_complete <nil>" {
				t.Fatalf("want the goal, got %s", ended)
			}
			break
		}
	}
	if kills < 5 {
		t.Fatalf("want it killed some times, got %d", kills)
	}
	st, err := sqlite.Open(t.Context(), db, sqlite.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	path, err := loop.Workspace(workspace)
	if err != nil {
		t.Fatal(err)
	}
	id, err := loop.Newest(t.Context(), st, path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := loop.Read(t.Context(), st, id)
	if err != nil {
		t.Fatal(err)
	}
	interrupted := 0
	for i, it := range h.Iterations {
		if it.Number != i+1 {
			t.Errorf("record %d, want each iteration once, got number %d", i+1, it.Number)
		}
		if it.Interrupted {
			interrupted++
		}
	}
	if h.End != core.GoalComplete || h.Folded != len(h.Iterations)-5 || interrupted == 0 || interrupted > kills {
		t.Errorf("want the goal, all but five in the summary, at most %d interrupted, got %s, %d of %d, %d", kills, h.End, h.Folded, len(h.Iterations), interrupted)
	}
}

// The records of a loop make the machine again that has written them, wherever the last
// whole state is.
func TestRecordsMakeTheMachineAgain(t *testing.T) {
	o := options(t, agent(t, "works", "99"), agent(t, "binary"), agent(t, "fails"))
	o.Settings.MaxIterations = 25
	r := begin(t, o)
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	state := r.Saved()
	again, err := loop.Replayed(t.Context(), o, r.ID())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, state) {
		t.Errorf("want the state\n%s\ngot\n%s", state, again)
	}
	if n := loop.States(t.Context(), o.Store, r.ID()); n < 2 || n > 40 {
		t.Errorf("want some whole states, got %d", n)
	}
}

// A second loop in a workspace is refused, and told who has it; another workspace is none of
// its business. When the first has ended the next begins.
func TestTwoLoopsInOneWorkspace(t *testing.T) {
	o := options(t, agent(t, "works", "1"))
	first := begin(t, o)
	_, err := loop.Start(t.Context(), o, "x")
	busy, ok := errors.AsType[*loop.BusyError](err)
	if !ok || busy.Holder.Loop != first.ID() || busy.Holder.PID != os.Getpid() || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Fatalf("want a *BusyError with the holder, got %v", err)
	}
	if _, err := loop.Resume(t.Context(), o, first.ID()); !errors.As(err, &busy) {
		t.Fatalf("want a *BusyError, got %v", err)
	}
	if h, held, err := loop.HolderOf(o.Workspace); err != nil || !held || h.Loop != first.ID() {
		t.Errorf("want %s as the holder, got %+v %t %v", first.ID(), h, held, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := loop.HolderOf(o.Workspace); err != nil || held {
		t.Errorf("want nobody to hold it, got %t %v", held, err)
	}
	if second := begin(t, o); second.ID() == first.ID() || strings.TrimSuffix(second.ID(), "-2") != strings.TrimSuffix(first.ID(), "-1") {
		t.Errorf("want the next id of the workspace after %s, got %s", first.ID(), second.ID())
	}
}

// A limit that was reached is raised by going on with another; what is not said stays.
func TestResumedWithOtherSettings(t *testing.T) {
	o := options(t, agent(t, "works", "7"))
	o.Settings.MaxIterations, o.Settings.Window = 3, 2
	h := end(t, o, core.IterationLimit)
	o.Settings, o.Agents = loop.Settings{MaxIterations: 50}, []loop.Agent{agent(t, "works", "7")}
	r, err := loop.Resume(t.Context(), o, h.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := r.Run(t.Context()); err != nil || got.Reason != core.GoalComplete {
		t.Fatalf("want the goal, got %+v %v", got, err)
	}
	if h = history(t, o, h.ID); len(h.Iterations) != 7 || h.Folded != 5 || h.Settings.MaxIterations != 50 {
		t.Errorf("want 7 iterations, 5 in the summary, got %d, %d, %+v", len(h.Iterations), h.Folded, h.Settings)
	}
	if _, err := loop.Resume(t.Context(), o, "none-1"); err == nil {
		t.Error("want an error for a loop that is not there, got none")
	}
}

// A failing is a store of which one write fails.
type failing struct {
	*store.Memory
	writes, at int
}

var errDisk = errors.New("disk full")

func (f *failing) fails() bool { f.writes++; return f.writes == f.at }

func (f *failing) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	if f.fails() {
		return errDisk
	}
	return f.Memory.Append(ctx, session, seq, records)
}

func (f *failing) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	if f.fails() {
		return errDisk
	}
	return f.Memory.Put(ctx, session, blobs)
}

// Whichever write to the store fails, the loop says so and goes on with what is on record:
// each iteration is there once.
func TestEachWriteFails(t *testing.T) {
	for at := 1; ; at++ {
		o := options(t, agent(t, "works", "4"))
		st := &failing{Memory: new(store.Memory), at: at}
		o.Store = st
		r, err := loop.Start(t.Context(), o, "Do all steps.")
		if err == nil {
			var got loop.Outcome
			got, err = r.Run(t.Context())
			_ = r.Close()
			if err == nil && st.writes < at {
				if at < 8 || got.Reason != core.GoalComplete {
					t.Fatalf("want some writes to fail, then the goal, got %d, %+v", at, got)
				}
				return
			}
		}
		if !errors.Is(err, errDisk) {
			t.Fatalf("write %d: want %v, got %v", at, errDisk, err)
		}
		if at == 1 {
			continue // nothing had begun
		}
		next, err := loop.Resume(t.Context(), o, r.ID())
		if err != nil {
			t.Fatalf("write %d: %v", at, err)
		}
		if got, err := next.Run(t.Context()); err != nil || got.Reason != core.GoalComplete {
			t.Fatalf("write %d: want the goal, got %+v %v", at, got, err)
		}
		_ = next.Close()
		for i, it := range history(t, o, r.ID()).Iterations {
			if it.Number != i+1 {
				t.Errorf("write %d: want each iteration once, got %d at %d", at, it.Number, i+1)
			}
		}
	}
}

// A loop that runs is not gone on with from another workspace: its agents would be ended.
func TestResumedElsewhereWhileItRuns(t *testing.T) {
	o := options(t, agent(t, "works", "1"))
	r := begin(t, o)
	defer r.Close()
	child := exec.CommandContext(t.Context(), "sleep", "1000")
	child.Env = append(os.Environ(), "PLIMSOLL_LOOP="+r.ID()+":1")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	elsewhere := o
	elsewhere.Workspace = t.TempDir()
	if other, err := loop.Resume(t.Context(), elsewhere, r.ID()); err == nil {
		_ = other.Close()
		t.Error("want it refused")
	} else if busy, ok := errors.AsType[*loop.BusyError](err); !ok || busy.Holder.Loop != r.ID() {
		t.Errorf("want a *BusyError with the holder, got %v", err)
	}
	_ = child.Process.Signal(syscall.SIGTERM) // one that was killed before ends of that
	_ = child.Wait()
	if how, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || how.Signal() != syscall.SIGTERM {
		t.Errorf("want what the loop started left alone, got %v", child.ProcessState)
	}
}
