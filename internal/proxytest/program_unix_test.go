//go:build unix

package proxytest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(main(m)) }

// binary is where the program is built, and whether it was.
var binary struct {
	dir  string
	once sync.Once
	err  error
}

func main(m *testing.M) int {
	if job, ok := os.LookupEnv(senderEnv); ok {
		fmt.Fprintln(os.Stderr, sender(job)) // it ends with an error alone
		return 1
	}
	dir, err := os.MkdirTemp("", "proxytest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	binary.dir = dir
	return m.Run()
}

// program returns the path of the program, which it builds once.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(binary.dir, "plimsoll")
	binary.once.Do(func() {
		out, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, "github.com/plimsoll-dev/plimsoll/cmd/plimsoll").CombinedOutput()
		if err != nil {
			binary.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	must(t, binary.err)
	return path
}

// A running program is a proxy of its own process.
type running struct {
	url  string
	cmd  *exec.Cmd
	text chan string // all of its log, once it has ended
}

var listening = regexp.MustCompile(`msg=listening url=(\S+)`)

// run starts the proxy on a file, before an upstream of all providers.
func run(t *testing.T, db, upstream string) *running {
	t.Helper()
	return runAs(t, db, upstream, program(t))
}

// runAs is run by a command that is given the program's arguments.
func runAs(t *testing.T, db, upstream string, command ...string) *running {
	t.Helper()
	args := []string{"proxy", "--listen", "127.0.0.1:0", "--db", db, "--window", fmt.Sprintf("scripted-model=%d", window), "--window", "wide-model=4000000"}
	for _, name := range []string{"anthropic", "openai"} {
		args = append(args, "--upstream", name+"="+upstream)
	}
	cmd := exec.CommandContext(t.Context(), command[0], slices.Concat(command[1:], args)...)
	cmd.Dir = filepath.Dir(db)
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "XDG_CONFIG_HOME="+cmd.Dir)
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadString('\n')
	m := listening.FindStringSubmatch(first)
	if err != nil || m == nil {
		rest, _ := io.ReadAll(lines)
		t.Fatal(first, err, string(rest))
	}
	r := &running{url: m[1], cmd: cmd, text: make(chan string, 1)}
	go func() {
		all, _ := io.ReadAll(lines)
		r.text <- string(all)
	}()
	return r
}

// kill ends the program as a machine that fails does, and returns what it had logged.
func (r *running) kill(t *testing.T) string {
	t.Helper()
	must(t, r.cmd.Process.Kill())
	text := <-r.text
	_ = r.cmd.Wait() // it was killed
	return text
}

// end lets the program end, and returns what it had logged.
func (r *running) end(t *testing.T) string {
	t.Helper()
	must(t, r.cmd.Process.Signal(syscall.SIGTERM))
	text := <-r.text
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	return text
}

// plimsoll runs a command of the program and returns what it prints.
func plimsoll(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("plimsoll %v: %v: %s%s", args, err, out, &stderr)
	}
	return string(out)
}
