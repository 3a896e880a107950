package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/replay"
)

// TestJudgeErrorText: a fault of the program says how many, and what to do about it.
func TestJudgeErrorText(t *testing.T) {
	for _, c := range []struct {
		found []string
		want  string
	}{
		{[]string{"a text"}, "plimsoll: replay: s under balanced at 50%: 1 part that nobody wrote: a text\n"},
		{[]string{"a text", "b"}, "plimsoll: replay: s under balanced at 50%: 2 parts that nobody wrote, the first: a text\n"},
	} {
		var out bytes.Buffer
		printError(&out, fmt.Errorf("replay: %w", &replay.JudgeError{Session: "s", Policy: "balanced", Window: "50%", Found: c.found}))
		want := c.want + "hint: this is a fault in plimsoll: please report it with the session's format and version\n"
		if out.String() != want {
			t.Errorf("got  %q\nwant %q", out.String(), want)
		}
	}
}

// htmlCheck runs the check in time, or fails: a pipe must not be waited for.
func htmlCheck(t *testing.T, file string) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- htmlFlags{html: file}.check("inspect") }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: the check waits", file)
		return nil
	}
}

// TestHTMLPlace: whatever cannot become a page is found before any work, and never opened.
func TestHTMLPlace(t *testing.T) {
	dir := t.TempDir()
	page, link := filepath.Join(dir, "page.html"), filepath.Join(dir, "link.html")
	if err := os.WriteFile(page, []byte("<!DOCTYPE html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(page, link); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "no-such")
	for _, c := range []struct{ file, want, hint string }{
		{page, "", ""},
		{filepath.Join(dir, "new.html"), "", ""},
		{dir, "got a folder", ""},
		{link, "got a link", ""},
		{os.DevNull, "got a device", ""},
		{"-", "got the standard output", "name a file"},
		{filepath.Join(missing, "page.html"), "folder " + missing, "a folder that is there"},
		{filepath.Join(page, "page.html"), "folder " + page, "a folder that is there"},
	} {
		err := htmlCheck(t, c.file)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.file, err)
			}
			continue
		}
		coded, ok := errors.AsType[*codedError](err)
		if !ok || coded.code != exitUsage || !strings.Contains(err.Error(), c.want) || !strings.Contains(hintOf(err), c.hint) {
			t.Errorf("%s: want %q with the hint %q, got %v, %q", c.file, c.want, c.hint, err, hintOf(err))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".plimsoll-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestHTMLNotPermitted: a folder that takes no file says so by its own name.
func TestHTMLNotPermitted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if f, err := os.CreateTemp(dir, "x"); err == nil {
		_ = f.Close()
		t.Skip("this user may write everywhere")
	}
	err := htmlCheck(t, filepath.Join(dir, "page.html"))
	if err == nil || !strings.Contains(err.Error(), "folder "+dir+": permission denied") || !strings.Contains(hintOf(err), "you may not write there") {
		t.Errorf("got %v, %q", err, hintOf(err))
	}
}
