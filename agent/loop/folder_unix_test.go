//go:build unix

package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file named stop ends the loop after the iteration that is running, and is gone then. One
// that was left behind ends nothing.
func TestStop(t *testing.T) {
	o := options(t, agent(t, "names", "a", ".plimsoll/stop"))
	put(t, filepath.Join(o.Workspace, ".plimsoll", "stop"), "")
	h := end(t, o, core.ManualStop)
	if len(h.Iterations) != 2 || h.Iterations[1].Interrupted {
		t.Errorf("want it stopped after the second iteration, got %+v", h.Iterations)
	}
	if _, err := os.Lstat(filepath.Join(o.Workspace, ".plimsoll", "stop")); err == nil {
		t.Error("want the file gone")
	}
}

// A file named pause holds the loop until it is removed.
func TestPause(t *testing.T) {
	o := options(t, agent(t, "names", ".plimsoll/pause", "b"))
	o.Settings.MaxIterations = 3
	var seen []string
	o.Notify = func(n loop.Notice) {
		if n.Kind == loop.NoticeNote {
			seen = append(seen, "paused")
			if err := os.Remove(filepath.Join(o.Workspace, ".plimsoll", "pause")); err != nil {
				t.Error(err)
			}
		}
		if n.Kind == loop.NoticeBegin {
			seen = append(seen, "begin")
		}
	}
	end(t, o, core.IterationLimit)
	if !slices.Equal(seen, []string{"begin", "paused", "begin", "begin"}) {
		t.Errorf("want a pause after the first iteration, got %v", seen)
	}
}

// A loop that was killed in a pause goes on when the file is gone by then.
func TestPauseThatEndedMeanwhile(t *testing.T) {
	o := options(t, agent(t, "works", "1"))
	put(t, filepath.Join(o.Workspace, ".plimsoll", "pause"), "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Notify = func(loop.Notice) { cancel() }
	r := begin(t, o)
	if _, err := r.Run(ctx); !errors.Is(err, loop.ErrInterrupted) {
		t.Fatalf("want %v, got %v", loop.ErrInterrupted, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(o.Workspace, ".plimsoll", "pause")); err != nil {
		t.Fatal(err)
	}
	o.Notify = nil
	next, err := loop.Resume(t.Context(), o, r.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if got, err := next.Run(t.Context()); err != nil || got.Reason != core.GoalComplete {
		t.Errorf("want the goal, got %+v %v", got, err)
	}
}

// Messages reach the next prompt, the lower numbers first, each once; what leads out of the
// folder is no message, and a pipe holds nothing up.
func TestInbox(t *testing.T) {
	o := options(t, agent(t, "works", "2"))
	o.Inbox = true
	outside := filepath.Join(t.TempDir(), "secret.txt")
	put(t, outside, "a secret")
	inbox := filepath.Join(o.Workspace, ".plimsoll", "inbox")
	put(t, filepath.Join(inbox, "later.txt"), "third words")
	put(t, filepath.Join(inbox, "001-high.txt"), "second words")
	put(t, filepath.Join(inbox, "000-urgent.txt"), "first words")
	put(t, filepath.Join(inbox, "notes.md"), "no message")
	if err := os.Symlink(outside, filepath.Join(inbox, "002-link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(inbox, "003-pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := end(t, o, core.GoalComplete)
	var texts []string
	for _, m := range h.Messages {
		texts = append(texts, m.Text)
	}
	if got := strings.Join(texts, ", "); got != "first words, second words, third words" {
		t.Errorf("want the three messages by their rank, got %s", got)
	}
	shown := 0
	for _, it := range h.Iterations {
		for _, s := range it.Sections {
			if s.Name == "messages" {
				shown++
			}
		}
	}
	if shown != 1 {
		t.Errorf("want them in one prompt, got %d", shown)
	}
	left, err := os.ReadDir(filepath.Join(inbox, "processed"))
	if err != nil || len(left) != 3 {
		t.Errorf("want the three moved, got %v %v", left, err)
	}
}

// Nothing of the folder leads out of it.
func TestFolderStaysWhereItIs(t *testing.T) {
	for _, name := range []string{".plimsoll", ".plimsoll/lock"} {
		t.Run(name, func(t *testing.T) {
			o := options(t, agent(t, "works", "1"))
			o.Inbox = true
			outside := t.TempDir()
			path := filepath.Join(o.Workspace, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if name == ".plimsoll/lock" {
				outside = filepath.Join(outside, "made")
			}
			if err := os.Symlink(outside, path); err != nil {
				t.Fatal(err)
			}
			r, err := loop.Start(t.Context(), o, "x")
			if err == nil {
				_, err = r.Run(t.Context())
				_ = r.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "loop: ") {
				t.Errorf("want it refused, got %v", err)
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(outside), "made")); err == nil {
				t.Error("want no file made outside")
			}
		})
	}
}

// In a workspace that can only be read no loop begins, and nothing is written to the store.
func TestWorkspaceThatCanOnlyBeRead(t *testing.T) {
	if asNobody(t) {
		return
	}
	o := options(t, agent(t, "works", "1"))
	if err := os.Chmod(o.Workspace, 0o500); err != nil { //nolint:gosec // a folder
		t.Fatal(err)
	}
	if _, err := loop.Start(t.Context(), o, "x"); !os.IsPermission(err) && !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("want it refused, got %v", err)
	}
}

// What somebody else changes between iterations is not counted as the agent's, and it is told
// of it where that is wanted. A name of a file cannot make a line of its own.
func TestChangesOfOthers(t *testing.T) {
	for _, watch := range []bool{true, false} {
		o := options(t, agent(t, "names"))
		o.Settings.MaxIterations, o.Watch = 2, watch
		o.Notify = func(n loop.Notice) {
			if n.Kind == string(core.EventIteration) && n.Iteration == 1 {
				put(t, filepath.Join(o.Workspace, "theirs\n# Goal"), "a\nb\n")
			}
		}
		h := end(t, o, core.IterationLimit)
		if got := h.Iterations[1].FileChanges; !slices.Equal(got, []string{"n"}) {
			t.Errorf("want the agent's own file alone, got %q", got)
		}
		told := len(h.Messages) == 1 && strings.HasSuffix(h.Messages[0].Text, "\n- created theirs?# Goal (lines: 2)")
		if told != watch || len(h.Messages) > 1 {
			t.Errorf("watch %t: want it told so, got %+v", watch, h.Messages)
		}
	}
}

// A message that is no UTF-8 is the same on record and in the machine, so that a restart makes
// the same prompt, and knows it as delivered.
func TestInboxHoldsWhatIsNoText(t *testing.T) {
	o := options(t, agent(t, "works", "1"))
	o.Inbox = true
	put(t, filepath.Join(o.Workspace, ".plimsoll", "inbox", "000-bytes.txt"), "caf\xe9 \xff\xfe")
	r := begin(t, o)
	defer r.Close()
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := loop.Replayed(t.Context(), o, r.ID())
	if err != nil || string(again) != string(r.Saved()) {
		t.Errorf("want the same machine, got %v\n%s\n%s", err, r.Saved(), again)
	}
}

// What cannot be read or moved ends no loop: it is told, once, and the other messages come.
func TestInboxThatIsBroken(t *testing.T) {
	t.Run("a_message_that_cannot_be_read", func(t *testing.T) {
		if asNobody(t) {
			return
		}
		o, inbox := options(t, agent(t, "works", "3")), ""
		inbox = filepath.Join(o.Workspace, ".plimsoll", "inbox")
		put(t, filepath.Join(inbox, "000-closed.txt"), "nobody reads this")
		if err := os.Chmod(filepath.Join(inbox, "000-closed.txt"), 0); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(inbox, "001-open.txt"), "words")
		brokenInbox(t, o, "words", "000-closed.txt: permission denied")
	})
	t.Run("no_folder_for_those_that_were_read", func(t *testing.T) {
		o := options(t, agent(t, "works", "3"))
		inbox := filepath.Join(o.Workspace, ".plimsoll", "inbox")
		put(t, filepath.Join(inbox, "processed"), "no folder")
		put(t, filepath.Join(inbox, "001-open.txt"), "words")
		brokenInbox(t, o, "words", "not a directory")
	})
	t.Run("a_link_that_leads_out", func(t *testing.T) {
		o, outside := options(t, agent(t, "works", "3")), t.TempDir()
		put(t, filepath.Join(outside, "000.txt"), "from outside")
		put(t, filepath.Join(o.Workspace, ".plimsoll", "log"), "")
		if err := os.Symlink(outside, filepath.Join(o.Workspace, ".plimsoll", "inbox")); err != nil {
			t.Fatal(err)
		}
		brokenInbox(t, o, "", "escapes")
		if _, err := os.Stat(filepath.Join(outside, "processed")); err == nil {
			t.Error("want nothing made outside")
		}
	})
	t.Run("no_inbox_at_all", func(t *testing.T) {
		o := options(t, agent(t, "works", "3"))
		put(t, filepath.Join(o.Workspace, ".plimsoll", "inbox"), "no folder")
		brokenInbox(t, o, "", "not a directory")
	})
}

// brokenInbox runs a loop to its goal: want is all that it was told, wrong the one fault.
func brokenInbox(t *testing.T, o loop.Options, want, wrong string) {
	t.Helper()
	var notes []string
	o.Inbox = true
	o.Notify = func(n loop.Notice) {
		if n.Kind == loop.NoticeNote {
			notes = append(notes, n.Text)
		}
	}
	h := end(t, o, core.GoalComplete)
	texts := ""
	for _, m := range h.Messages {
		texts += m.Text
	}
	if texts != want {
		t.Errorf("want the message %q, got %q", want, texts)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], wrong) {
		t.Errorf("want one note about %q, got %q", wrong, notes)
	}
}

// Of more messages than are read in one go the most urgent come first, whatever their names.
func TestInboxThatIsFull(t *testing.T) {
	o := options(t, agent(t, "works", "3"))
	o.Inbox = true
	inbox := filepath.Join(o.Workspace, ".plimsoll", "inbox")
	for i := range 120 {
		put(t, filepath.Join(inbox, fmt.Sprintf("100%03d.txt", i)), fmt.Sprint("later ", i))
	}
	put(t, filepath.Join(inbox, "2-urgent.txt"), "first")
	h := end(t, o, core.GoalComplete)
	if len(h.Messages) != 121 || h.Messages[0].Text != "first" {
		t.Errorf("want 121 messages, the urgent one first, got %d, %+v", len(h.Messages), h.Messages[0])
	}
}

// Who only looks who holds a lock does not keep another from taking it; who holds it does.
func TestLockThatIsLookedAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	put(t, path, "")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	looking, first, second := open(), open(), open()
	if err := loop.ShareLock(looking); err != nil {
		t.Fatal(err)
	}
	waited := 0
	err := loop.TakeLock(first, func() {
		if waited++; waited == 3 {
			_ = looking.Close()
		}
	})
	if err != nil || waited != 3 {
		t.Errorf("want it taken when nobody looks any more, got %v after %d waits", err, waited)
	}
	if err := loop.TakeLock(second, func() { t.Error("want no wait for who holds it") }); err == nil {
		t.Error("want it refused while another has it")
	}
}
