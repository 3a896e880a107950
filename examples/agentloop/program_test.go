package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTools has tools stay in their folder.
func TestTools(t *testing.T) {
	r := begin(t, `
reply
  call read_file {"path": "../secret.txt"}
  call read_file {"path": "link.txt"}
  call read_file {"path": "."}
  call list_files {"path": ".."}
  call read_file {"path": 7}
  call run_shell {"path": "a.txt"}
reply
  text "Done."
`, "guard", large).finish(t)
	if r.err != nil {
		t.Fatal(r.err)
	}
	outputs := results(r.server.Log()[1].Request)
	if len(outputs) != 6 {
		t.Fatalf("%d outputs, want 6", len(outputs))
	}
	for _, out := range outputs {
		if !out.IsError || strings.Contains(out.Text(), "do not tell") {
			t.Errorf("%s: got %q, error %v; want an error", out.CallID, out.Text(), out.IsError)
		}
	}
}

// TestProgram runs the program as a newcomer does. The page promises that it is short.
func TestProgram(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Dir = append(os.Environ(), asMain+"=1"), "../.."
	var out, told strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	for _, want := range []string{"has no room, anthropic/claude-haiku-4-5 is taken", "context guard enforced", "offload by big-output"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("nothing of %q in\n%s", want, told.String())
		}
	}
	if want := "It holds Plimsoll, which keeps an agent's conversation inside the window.\n"; out.String() != want {
		t.Errorf("it prints %q, want %q", out.String(), want)
	}
	for _, steps := range []string{"0", "-1", "x"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-max-steps", steps)
		cmd.Env = append(os.Environ(), asMain+"=1")
		if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "want a number, 1 or more") {
			t.Errorf("-max-steps %s: %v, %s", steps, err, said)
		}
	}
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(text, []byte("\n")); lines >= 200 {
		t.Errorf("main.go has %d lines, want fewer than 200", lines)
	}
}
