package loop_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
)

// What changed in a workspace is told with how, and how many lines of it; with git without
// what git ignores, else without what programs make.
func TestR004_14(t *testing.T) {
	for _, git := range []bool{true, false} {
		t.Run(fmt.Sprintf("R004-14_changes_in_a_workspace_with_git_%t", git), func(t *testing.T) {
			dir := t.TempDir()
			file := func(name, text string) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if git {
				if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
					t.Skipf("git: %v: %s", err, out)
				}
				file(".gitignore", "*.log\nmade/\n")
			}
			file("kept.txt", "a\nb\nc\n")
			file("moved.txt", "some\nwords\n")
			file("gone.txt", "x\ny\n")
			file("same.txt", "as it is\n")
			file("binary", "\x00\xff\n\x00")
			w := loop.NewWatcher(dir)
			if got := w.Look(t.Context()); len(got) != 0 {
				t.Errorf("want nothing at the first look, got %v", got)
			}
			file("kept.txt", "a\nB\nc\nd\n")
			file("sub/new.txt", "1\n2\n3\n")
			file("binary", "\x00\xff\n\x00\x01")
			file("node_modules/x.js", "made\n")
			file(".plimsoll/inbox/x.txt", "mine\n")
			if git {
				file("made/x.txt", "made\n")
				file("x.log", "made\n")
				file(".gitignore", "*.log\nmade/\nnode_modules\n")
			}
			for _, err := range []error{
				os.Rename(filepath.Join(dir, "moved.txt"), filepath.Join(dir, "sub", "there.txt")), os.Remove(filepath.Join(dir, "gone.txt")),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, e := range w.Look(t.Context()) {
				got = append(got, fmt.Sprint(e.Op, " ", e.Path, " ", e.Lines))
			}
			want := "modified binary 2, deleted gone.txt 2, modified kept.txt 3, created sub/new.txt 3, renamed sub/there.txt 1"
			if git {
				want = "modified .gitignore 1, " + want
			}
			if text := strings.Join(got, ", "); text != want {
				t.Errorf("want\n%s\ngot\n%s", want, text)
			}
			if got := w.Look(t.Context()); len(got) != 0 {
				t.Errorf("want nothing more, got %v", got)
			}
		})
	}
}
