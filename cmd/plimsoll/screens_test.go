package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"golang.org/x/tools/txtar"
)

// strip takes the colours out of a text.
func strip(s string) string { return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(s, "") }

// screens are what a person sees, each on terminals of three widths, in colour, in a pipe, and on
// a terminal that obeys nothing.
var screens = []struct{ name, command string }{
	{"inspect", "inspect examples/session.jsonl --top 3"},
	{"died", "inspect died.jsonl"},
	{"context", "inspect examples/session.jsonl --context"},
	{"step", "inspect examples/codex.jsonl --step 5"},
	{"sessions", "sessions"},
	{"months", "sessions --by month"},
	{"replay", "replay examples/codex.jsonl --policy off --policy layered --policy balanced --window 50%"},
	{"count", "count examples/request.json examples/my-policy.yaml"},
	{"models", "models opus"},
	{"model", "models claude-opus-4-5"},
	{"explain", "policy explain balanced"},
	{"list", "policy list"},
}

var terminals = []struct {
	name string
	env  []string
	wide int // columns at most; 0: what comes is whole
}{
	{"60", []string{"COLUMNS=60"}, 60},
	{"80", []string{"COLUMNS=80"}, 80},
	{"200", []string{"COLUMNS=200"}, 200},
	{"colour", []string{"COLUMNS=80", "CLICOLOR_FORCE=1"}, 80},
	{"dumb", []string{"COLUMNS=80", "CLICOLOR_FORCE=1", "TERM=dumb"}, 80},
	{"pipe", nil, 0},
}

// TestScreens holds what commands print against testdata/screens, and its lines within the width,
// but for commands, which are to be pasted.
func TestScreens(t *testing.T) {
	dir, home := screensFolder(t)
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			var got txtar.Archive
			for _, term := range terminals {
				cmd := exec.CommandContext(t.Context(), "plimsoll", strings.Fields(s.command)...)
				cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "XDG_CACHE_HOME=" + home, "TERM=xterm-256color"}, term.env...)
				out, err := cmd.Output() // a word on old prices is not for each day the same
				if err != nil {
					t.Fatalf("%s: %v\n%s", term.name, err, out)
				}
				for line := range strings.Lines(strip(string(out))) {
					line = strings.TrimSuffix(line, "\n")
					if n := lipgloss.Width(line); term.wide > 0 && n > term.wide && !strings.HasPrefix(line, "    plimsoll ") {
						t.Errorf("%s: want at most %d columns, got %d: %s", term.name, term.wide, n, line)
					}
				}
				if term.name == "dumb" && strings.Contains(string(out), "\x1b") {
					t.Error("a terminal that obeys nothing got escape sequences")
				}
				got.Files = append(got.Files, txtar.File{Name: term.name, Data: []byte(strings.ReplaceAll(string(out), "\x1b", "␛"))})
			}
			golden(t, filepath.Join("testdata", "screens", s.name+".txt"), txtar.Format(&got))
		})
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s is not what is printed; go test ./cmd/plimsoll -run TestScreens -update writes it anew:\n%s", name, got)
	}
}

// screensFolder returns a folder with the examples and a session that died, and a home with
// sessions that were just written.
func screensFolder(t *testing.T) (dir, home string) {
	t.Helper()
	dir, home = t.TempDir(), t.TempDir()
	examples, err := filepath.Abs(filepath.Join(repo, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(examples, filepath.Join(dir, "examples")); err != nil {
		t.Skip(err)
	}
	whole, err := os.ReadFile(filepath.Join(examples, "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	died := string(whole) + `{"type":"assistant","uuid":"e1","parentUuid":"c4816a46-0fb6-490b-a34f-2286a58d4f89","sessionId":"6a979d3a-a72f-4e4e-a5e6-4bde08b16928","timestamp":"2026-11-26T09:35:10Z",` +
		`"isApiErrorMessage":true,"message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error: 400 prompt is too long: 213462 tokens > 200000 maximum"}]}}` + "\n"
	codex, err := os.ReadFile(filepath.Join(examples, "codex.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(dir, "died.jsonl"): died,
		filepath.Join(home, ".claude", "projects", "-quay", "6a979d3a-a72f-4e4e-a5e6-4bde08b16928.jsonl"):                                       died,
		filepath.Join(home, ".codex", "sessions", "2026", "09", "01", "rollout-2026-09-01T10-00-00-01a220ed-592a-75e0-b0c7-a9c9261bb2d0.jsonl"): string(codex),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Hour) // however long the test takes, they are of now
		if strings.Contains(name, "rollout-") {
			at = at.Add(time.Second)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir, home
}
