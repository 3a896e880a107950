package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"

	"github.com/plimsoll-dev/plimsoll/replay"
)

// Ctrl-C cancels the context; the program says where it stopped.
func TestReplayInterrupted(t *testing.T) {
	var out, errs bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := replayFlags{policies: []string{"off"}, windows: []string{"model"}, judge: true}
	err := runReplay(ctx, streams{strings.NewReader(""), &out, &errs}, f, []string{filepath.Join(repo, "examples", "session.jsonl")})
	c, ok := errors.AsType[*codedError](err)
	if !ok || c.code != exitInterrupted || !strings.Contains(err.Error(), "interrupted at") || out.Len() > 0 {
		t.Errorf("got %v, and printed %q", err, out.String())
	}
}

// In the middle of a session as well.
func TestReplayInterruptedWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		text, _ := generate("good")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := replayFlags{policies: []string{"off"}, windows: []string{"model"}, judge: true}
	out := writerFunc(func(b []byte) (int, error) {
		cancel() // when the first session is printed
		return len(b), nil
	})
	var errs bytes.Buffer
	err := runReplay(ctx, streams{strings.NewReader(""), out, &errs}, f, []string{dir})
	if c, ok := errors.AsType[*codedError](err); !ok || c.code != exitInterrupted || !strings.Contains(err.Error(), "b.jsonl") {
		t.Errorf("got %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// An output that cannot be written ends the program, and says why.
func TestReplayCannotWrite(t *testing.T) {
	full := errors.New("disk full")
	out := writerFunc(func([]byte) (int, error) { return 0, full })
	var errs bytes.Buffer
	for _, flags := range [][]string{nil, {"--json"}} {
		args := append([]string{"replay", filepath.Join(repo, "examples", "session.jsonl"), "-p", "off", "-w", "50%"}, flags...)
		errs.Reset()
		if code := run(args, streams{strings.NewReader(""), out, &errs}); code != exitError || !strings.Contains(errs.String(), "disk full") {
			t.Errorf("%q: exit code %d, said %q", flags, code, errs.String())
		}
	}
}

func TestRunRows(t *testing.T) {
	rows := runRows([]replay.Run{{Policy: "a", Window: "model"}, {Policy: "a", Window: "50%"}, {Policy: "b", Window: "model"}, {Policy: "b", Window: "50%"}})
	var got []string
	for _, r := range rows {
		got = append(got, r.run.Policy+" "+r.run.Window)
	}
	if want := "a model, b model, a 50%, b 50%"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRunNotes(t *testing.T) {
	r := replay.Run{
		EndedAtStep: 3, EndReason: "context", StillOver: 1, BackstopEdits: 2, Orphans: 1, UnresolvedRefs: 1, Uncovered: 1, Note: "smaller",
		Irreducible: []replay.Irreducible{{Step: 2, Floor: 1200, Limit: 1000, Parts: map[string]int{"system": 1100, "newest_round": 100, "tools": 0}}, {Step: 3}},
	}
	want := []string{
		"ended at step 3 of 9: context guard enforced",
		"Still over limit after shrink: its last call was sent all the same",
		"step 2 cannot go below 1,200 tokens (newest round 100, system 1,100); 1 more are like it",
		"the last resort below all policies acted: 2 edits",
		"1 call or result without the other",
		"2 removed parts that cannot be read back",
		"smaller",
	}
	if got := runNotes(r, 9); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := runNotes(replay.Run{Steps: 9}, 9); len(got) > 0 {
		t.Errorf("nothing to say, got %q", got)
	}
}

func TestRatio(t *testing.T) {
	for _, tt := range []struct {
		part, whole int
		want        string
	}{{1, 3, "33%"}, {2, 3, "67%"}, {0, 5, "0%"}, {5, 0, ""}, {1 << 40, 1 << 40, "100%"}} {
		if got := console.Ratio(tt.part, tt.whole); got != tt.want {
			t.Errorf("ratio(%d, %d) = %q, want %q", tt.part, tt.whole, got, tt.want)
		}
	}
	if got := console.PPM(12_345); got != "1.23%" {
		t.Errorf("ppm(12345) = %q", got)
	}
}
