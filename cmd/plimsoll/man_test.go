package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManuals: every command that help lists has a page with its words and flags, whose lines are
// none that the formatter would take for its own.
func TestManuals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	if code := run([]string{"man", dir}, streams{nil, os.Stdout, os.Stderr}); code != exitOK {
		t.Fatalf("exit code: want 0, got %d", code)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("want a page of each command, got %d, %v", len(pages), err)
	}
	known := map[string]bool{".TH": true, ".SH": true, ".PP": true, ".nf": true, ".fi": true}
	for _, name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if word := strings.Fields(line + " x")[0]; strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !known[word] {
				t.Errorf("%s: a line that is no text: %q", filepath.Base(name), line)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "plimsoll-policy-explain.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`plimsoll-policy-explain \- `, `\-\-window`, ".SH EXAMPLES", `plimsoll\-policy(1)`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page of policy explain has no %q:\n%s", want, page)
		}
	}
}
