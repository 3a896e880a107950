package clienttest

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// patience is how long an agent may take; the slowest took 2 s when this was written.
const patience = 2 * time.Minute

// What the default script of the server makes an agent do.
const (
	proofFile = "proof.txt"
	proofText = "tool-ran-42"
	lastWords = "SCRIPT-END"
)

// installed returns the folder that the agents were installed into.
func installed(t *testing.T) string {
	t.Helper()
	prefix := os.Getenv("PLIMSOLL_CLIENTS")
	switch {
	case prefix != "":
	case os.Getenv("CI") == "true":
		t.Fatal("PLIMSOLL_CLIENTS, want the folder that scripts/clients installed into, got nothing")
	default:
		t.Skip("PLIMSOLL_CLIENTS is not set: install agents with scripts/clients FOLDER and set it to that folder")
	}
	prefix, err := filepath.Abs(prefix)
	if err != nil {
		t.Fatal(err)
	}
	return prefix
}

// drive runs one agent and looks at what it did.
func drive(t *testing.T, prefix string, a agent) {
	script, err := scriptmodel.Parse(scriptmodel.DefaultText())
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(script, scriptmodel.Options{})
	listener := httptest.NewServer(server)
	defer listener.Close()
	home, work := t.TempDir(), repository(t)
	out, errs, err := run(t, prefix, a, home, work, listener.URL)
	if err != nil {
		t.Errorf("exit, want 0, got %v\nstdout: %s\nstderr: %s", err, tail(out), tail(errs))
	}

	proof, err := os.ReadFile(filepath.Join(work, proofFile))
	if err != nil || strings.TrimSpace(string(proof)) != proofText {
		t.Errorf("%s, want %s, got %q %v", proofFile, proofText, proof, err)
	}
	if !strings.Contains(out, lastWords) {
		t.Errorf("stdout, want %s in it, got %s", lastWords, tail(out))
	}
	conversation(t, a, server.Log())
}

// run starts an agent in a home and a folder of its own, and waits for its end.
func run(t *testing.T, prefix string, a agent, home, work, url string) (stdout, stderr string, err error) {
	t.Helper()
	for name, text := range a.files(url) {
		write(t, filepath.Join(home, name), text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	start := func(args []string) error {
		cmd := exec.CommandContext(ctx, filepath.Join(prefix, a.client, "node_modules", ".bin", a.binary), args...)
		cmd.Dir = work
		cmd.Env = append([]string{"HOME=" + home, "PATH=" + searchPath(t, prefix), "TERM=dumb", "LANG=C.UTF-8"}, a.env(url)...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = 5 * time.Second
		return cmd.Run()
	}
	if a.setup != nil {
		err = start(a.setup(url))
	}
	if err == nil {
		err = start(a.args)
	}
	reap(t, home)
	return out.String(), errs.String(), err
}

// conversation looks at what came to the server.
func conversation(t *testing.T, a agent, calls []scriptmodel.Call) {
	t.Helper()
	reached, streamed, signed := false, false, false
	for i, c := range calls {
		if c.Error != nil || len(c.Faults) > 0 {
			t.Errorf("request %d, want one that the provider takes, got %s %s: %v %v\n%s", i+1, c.Method, c.Path, c.Error, c.Faults, tail(string(c.Body)))
		}
		if c.Dialect != a.dialect {
			t.Errorf("request %d, want dialect %s, got %s", i+1, a.dialect, c.Dialect)
		}
		streamed = streamed || bytes.HasPrefix(c.Answer, []byte("data:")) || bytes.HasPrefix(c.Answer, []byte("event:"))
		for _, m := range c.Request.Messages {
			for _, p := range m.Parts {
				t, ok := p.(llm.Thinking)
				signed = signed || ok && t.Signature != "" || bytes.Contains(p.Bytes(), []byte("thoughtSignature"))
			}
			for _, r := range m.Results() {
				reached = reached || strings.Contains(r.Text(), proofText)
			}
		}
	}
	if !reached {
		t.Errorf("requests, want one with the result %s, got %d without", proofText, len(calls))
	}
	if signs := a.dialect != openai.DialectChat; signed != signs {
		t.Errorf("signed thinking, want it back where the dialect has it (%t), got %t", signs, signed)
	}
	if streamed != a.stream {
		t.Errorf("streaming, want %t, got %t", a.stream, streamed)
	}
}

// repository returns a git repository with one commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "README.md"), "An example.\n")
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=Example", "-c", "user.email=example@example.invalid", "commit", "-q", "-m", "start"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, text)
		}
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// searchPath returns a PATH with the node that the agents were installed for.
func searchPath(t *testing.T, prefix string) string {
	t.Helper()
	dirs := []string{"/usr/bin", "/bin"}
	if own := filepath.Join(prefix, "node22", "node_modules", ".bin"); exists(own) {
		return strings.Join(append([]string{own}, dirs...), ":")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("node, want it in PATH or under %s, got neither: %v", prefix, err)
	}
	return strings.Join(append([]string{filepath.Dir(node)}, dirs...), ":")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// reap ends every process that lives in home, and says that there was one.
func reap(t *testing.T, home string) {
	t.Helper()
	stat, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stat {
		environ, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(environ), "\x00"), "HOME="+home) {
			continue // gone meanwhile, or another's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		t.Errorf("processes, want none left, got %d", pid)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
}

// tail returns the end of a long text.
func tail(s string) string { return s[max(0, len(s)-4000):] }
