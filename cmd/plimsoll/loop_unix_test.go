//go:build unix

package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

// Behind --proxy the context of an agent is kept within its model's window, and what its calls
// took is on record, also of a loop that goes on.
func TestLoopBehindProxy(t *testing.T) {
	script, err := scriptmodel.Parse("window 8000\noutput 100\nreply always\n  text \"Read on.\"\n")
	if err != nil {
		t.Fatal(err)
	}
	model := scriptmodel.New(script, scriptmodel.Options{})
	upstream := httptest.NewServer(model)
	defer upstream.Close()
	dir := t.TempDir()
	settings := "providers: {openai: {models: {gpt-5-mini: {contextWindow: 8000, maxOutputTokens: 100}}}}\n"
	if err := os.WriteFile(filepath.Join(dir, "plimsoll.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (out, errs string, code int) {
		var b, e strings.Builder
		cmd := exec.CommandContext(t.Context(), "plimsoll", append([]string{"loop"}, args...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &b, &e
		cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+upstream.URL+"/v1", "XDG_CONFIG_HOME="+dir)
		_ = cmd.Run()
		return b.String(), e.String(), cmd.ProcessState.ExitCode()
	}
	const times = 14 // pages of 900 tokens: more than the window
	if _, errs, code := run("--goal", "Read the book.", "--cli", "talker "+strconv.Itoa(times)+" {proxy}", "--proxy", "--db", "l.db", "--max-iterations", "1"); code != exitIterationLimit {
		t.Fatalf("want the limit, got %d: %s", code, errs)
	}
	if _, errs, code := run("--resume", "--cli", "talker "+strconv.Itoa(times), "--max-iterations", "5", "--db", "l.db"); code != 0 {
		t.Fatalf("want the goal, got %d: %s", code, errs)
	}
	log := model.Log()
	if len(log) != 2*times {
		t.Errorf("want %d requests, got %d", 2*times, len(log))
	}
	for i, c := range log {
		if c.Error != nil || len(c.Faults) > 0 {
			t.Errorf("request %d, want one that fits and that the provider takes, got %v %v", i+1, c.Error, c.Faults)
		}
	}
	out, errs, code := run("show", "--json", "--db", "l.db")
	var h struct {
		Spent      spentJSON
		Iterations []struct{ Spent *spentJSON }
	}
	if err := json.Unmarshal([]byte(out), &h); err != nil || code != 0 || len(h.Iterations) != 2 {
		t.Fatalf("%v %d %s %s", err, code, out, errs)
	}
	sum := spentJSON{}
	for i, it := range h.Iterations {
		if s := it.Spent; s == nil || s.Calls != times || s.Input < times*1000 || s.Output < times || s.Cost <= 0 {
			t.Fatalf("iteration %d, want all its calls, their tokens and money, got %+v", i+1, s)
		}
		sum.Calls, sum.Input = sum.Calls+it.Spent.Calls, sum.Input+it.Spent.Input
	}
	if h.Spent.Calls != sum.Calls || h.Spent.Input != sum.Input || h.Spent.Cost <= h.Iterations[0].Spent.Cost {
		t.Errorf("want their sum, got %+v of %+v", h.Spent, sum)
	}
	if out, _, _ := run("show", "--db", "l.db", "--html", "p.html"); !strings.Contains(out, "the agents asked models 28 times for ") || !strings.Contains(out, ", $0.0") {
		t.Errorf("want tokens and money, got %s", out)
	}
}

type spentJSON struct {
	Calls, Input, Output int
	Cost                 float64
}

// Without the proxy an agent asks where it would; what cannot be told of one is refused.
func TestLoopProxyRefused(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "pi")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--proxy"}, "pi reads the address of a proxy from a file"},
		{[]string{"--proxy=0.0.0.0:0"}, "can be reached from other machines"},
		{[]string{"--proxy=nowhere"}, "want a host and a port"},
		{[]string{"--proxy", "--policy", "no-such"}, "no-such"},
		{[]string{"--proxy", "--upstream", "x"}, "want NAME=URL"},
	} {
		cmd := exec.CommandContext(t.Context(), "plimsoll", append([]string{"loop", "--goal", "x", "--cli", "pi", "--db", "l.db", "--max-iterations", "1"}, c.args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "iteration 1") {
			t.Errorf("%v: want %q before anything is begun, got %v %s", c.args, c.want, err, out)
		}
	}
}

// Agents that are known by name are told of the proxy in the way that they go by.
func TestLoopProxyReach(t *testing.T) {
	address, err := proxyURL("127.0.0.1:4711")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"claude":                             "ANTHROPIC_BASE_URL=http://127.0.0.1:4711",
		"gemini":                             "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4711",
		"codex":                              `-c model_providers.plimsoll={name="plimsoll",base_url="http://127.0.0.1:4711/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`,
		"opencode":                           `OPENCODE_CONFIG_CONTENT={"provider": {`,
		"pi":                                 "",
		"aider {proxy}/x --message {prompt}": "aider http://127.0.0.1:4711/x --message {prompt}",
		"other":                              "OPENAI_BASE_URL=http://127.0.0.1:4711/v1",
	} {
		a, err := loop.ParseAgent(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&loopProxy{url: address, fixed: true}).Reach(a)
		if all := strings.Join(got.Command, " ") + "\n" + strings.Join(got.Env, "\n"); err != nil || !strings.Contains(all, want) {
			t.Errorf("%s: want %s, got %v %s", name, want, err, all)
		}
		if again, _ := loop.ParseAgent(name); strings.Join(again.Command, " ") != strings.Join(a.Command, " ") || len(a.Env) > 0 {
			t.Errorf("%s: want the agent itself left alone", name)
		}
	}
}
