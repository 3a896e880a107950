package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFindHistories: what is in a text says whether it is a history of aider.
func TestFindHistories(t *testing.T) {
	folder := t.TempDir()
	var want []string
	for _, f := range []struct {
		name, text string
		found      bool
	}{
		{"harbour.md", "\n# aider chat started at 2026-05-01 10:00:00\n\n#### hi  \n", true},
		{"history", "# aider chat started at 2026-05-01 10:00:00\n", true},
		{"notes.md", "# Notes\n\naider chat started at noon\n", false},
		{"old.TXT", "of a chat before\n\n# aider chat started at 2026-05-01 10:00:00\n", true},
		{"picture.png", "\n# aider chat started at 2026-05-01 10:00:00\n", false},
		{"sub/empty.md", "", false},
	} {
		path := filepath.Join(folder, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if f.found {
			want = append(want, path)
		}
	}
	got, err := Find([]string{folder})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("files (-want +got):\n%s%v", diff, err)
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	write := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(target, path string) {
		t.Helper()
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	folder := filepath.Join(root, "sessions")
	b := write(filepath.Join(folder, "b.jsonl"))
	a := write(filepath.Join(folder, "a.JSON"))
	deep := write(filepath.Join(folder, "2026", "11", "c.jsonl"))
	aider := write(filepath.Join(folder, ".aider.chat.history.md"))
	evaluation := write(filepath.Join(folder, "d.eval"))
	trajectory := write(filepath.Join(folder, "e.traj"))
	write(filepath.Join(folder, "notes.txt"))
	write(filepath.Join(folder, "notes.md"))
	hidden := write(filepath.Join(folder, "data.log"))
	secret := write(filepath.Join(outside, "secret.jsonl"))
	link(secret, filepath.Join(folder, "out.jsonl"))
	link(outside, filepath.Join(folder, "outside"))
	link(b, filepath.Join(folder, "again.jsonl"))
	link(hidden, filepath.Join(folder, "latest.jsonl"))
	link(filepath.Join(folder, "nowhere"), filepath.Join(folder, "broken.jsonl"))
	link(folder, filepath.Join(root, "linked"))
	single := write(filepath.Join(root, "session.txt"))

	got, err := Find([]string{folder, single, b, filepath.Join(root, "missing"), filepath.Join(root, "linked")})
	want := []string{aider, deep, a, b, evaluation, trajectory, filepath.Join(folder, "latest.jsonl"), single}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err == nil {
		t.Fatal("want an error that names what was left out")
	}
	for _, part := range []string{"missing", "out.jsonl", "leads out of the folder", "broken.jsonl"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %q: %v", part, err)
		}
	}
	if strings.Contains(err.Error(), "again.jsonl") {
		t.Errorf("a link to a file that is listed is no problem: %v", err)
	}

	linked, err := Find([]string{filepath.Join(root, "linked")})
	if len(linked) != 7 || !strings.HasPrefix(linked[0], filepath.Join(root, "linked")) {
		t.Errorf("a folder that is itself a link: want its seven files under the link's name, got %v, %v", linked, err)
	}
}

func TestFindUnreadable(t *testing.T) {
	root := t.TempDir()
	closed := filepath.Join(root, "closed")
	if err := os.MkdirAll(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(root, "open.jsonl")
	if err := os.WriteFile(open, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("permissions do not bind this user")
	}
	got, err := Find([]string{root})
	if diff := cmp.Diff([]string{open}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("want an error that names the folder, got %v", err)
	}
}
