package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun: the first line is the address, calls are logged without their keys, and the end
// of the context is the end of the server.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	script, log := filepath.Join(dir, "script.txt"), filepath.Join(dir, "log.jsonl")
	if err := os.WriteFile(script, []byte("reply always\n  text \"hello\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"--script", script, "--log", log}, w) }()
	addr, err := bufio.NewReader(r).ReadString('\n')
	if err != nil || !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Fatalf("first line, want an address of loopback, got %q %v", addr, err)
	}
	url := "http://" + strings.TrimSpace(addr) + "/v1beta/models/m:generateContent?key=sk-secret"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Goog-Api-Key", "sk-secret")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "hello") {
		t.Errorf("answer, want hello, got %d %s %v", resp.StatusCode, body, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("end, want none, got %v", err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var line record
	if err := json.Unmarshal(text, &line); err != nil || line.Dialect != "gemini" || line.Status != 200 || line.Line != 1 || line.Prompt == 0 {
		t.Errorf("log, want the call, got %s %v", text, err)
	}
	if strings.Contains(string(text), "sk-secret") {
		t.Errorf("log, want no key in it, got %s", text)
	}
}

func TestRunFaults(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.txt")
	if err := os.WriteFile(script, []byte("windwo 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		script + ": scriptmodel: parse: line 1": {"--script", script},
		"no such file":                          {"--script", script + "x"},
		"scriptmodel: listen":                   {"--addr", "127.0.0.1:none"},
		"want flags only, got x":                {"x"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q, got %v", args, want, err)
		}
	}
}
