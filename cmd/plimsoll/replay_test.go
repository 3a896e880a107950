package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
