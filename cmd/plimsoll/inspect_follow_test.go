package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A session that is followed is printed step by step as its file grows, each step once.
func TestFollow(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(repo, "examples", "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write := func(n int) {
		part := path + ".part" // so that it is never read half written
		if err := os.WriteFile(part, bytes.Join(lines[:n], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(part, path); err != nil {
			t.Fatal(err)
		}
	}
	write(20)
	var out, errs bytes.Buffer
	f := inspectFlags{}
	o, err := f.options()
	if err != nil {
		t.Fatal(err)
	}
	tick := make(chan time.Time)
	done := make(chan error)
	go func() { done <- follow(t.Context(), streams{strings.NewReader(""), &out, &errs}, o, path, tick) }()
	tick <- time.Time{} // what is there was printed before
	write(len(lines))
	tick <- time.Time{}
	close(tick)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != 67 || !strings.Contains(got[66], "step 67  110,567 tokens (55%)") {
		t.Errorf("want 67 steps, the last of 110,567 tokens, got %d: %s", len(got), got[len(got)-1])
	}
	for i, l := range got {
		if i > 0 && l == got[i-1] {
			t.Errorf("%s is printed twice", l)
		}
	}
}
