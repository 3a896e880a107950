//go:build unix

package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// The test binary is the agents, too, and a host that can be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		os.Exit(act(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) == 5 && os.Args[1] == "host" {
		os.Exit(host(os.Args[2], os.Args[3], os.Args[4]))
	}
	os.Exit(m.Run())
}

// act is an agent of some kind. It counts its runs in the file n.
func act(kind string, args []string) int {
	prompt, _ := io.ReadAll(os.Stdin)
	data, _ := os.ReadFile("n")
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	n++
	if err := os.WriteFile("n", []byte(strconv.Itoa(n)), 0o600); err != nil {
		return 9
	}
	say := func(format string, a ...any) { fmt.Printf(format+"\n", a...) }
	switch kind {
	case "works": // does a step each time, promises at the one that it is told
		last, _ := strconv.Atoi(args[0])
		say("Decided to do step %d with tool%d.", n, n)
		say("<progress>finished step %d</progress>", n)
		_ = os.WriteFile(fmt.Sprintf("step%d.txt", n), []byte(strings.Repeat("a line\n", n)), 0o600)
		if n >= last {
			say("All of it is done.\n<promise>COMPLETE</promise>")
		}
	case "names": // makes files in the workspace as it is told, one each run
		if n <= len(args) {
			_ = os.WriteFile(args[n-1], []byte("x"), 0o600)
		}
		say("<progress>run %d of what I was told</progress>", n)
	case "recalls": // is told of a figure once, in a log, and needs it much later
		say("<progress>run %d of it</progress>", n)
		if n == 2 {
			say("%s2026-01-01T10:00:00 DEBUG turbine calibrated rpm=4711\n%s", strings.Repeat("2026-01-01T10:00:00 DEBUG idle\n", 90), strings.Repeat("2026-01-01T10:00:01 DEBUG idle\n", 90))
		}
		if n >= 9 {
			say("Next step: set the speed of the turbine.")
		}
		if strings.Contains(string(prompt), "rpm=4711") && n > 8 {
			say("The turbine is set.\n<promise>COMPLETE</promise>")
		}
	case "means": // is told of a thing once, and asks for it in other words much later
		if n == 2 {
			say("Nothing is out of order there.\n2026-01-01T10:00:00 DEBUG rotor revolutions=4711")
			break
		}
		say("<progress>run %d of it</progress>", n)
		if n >= 9 {
			say("Next step: set how fast the turbine goes, its speed.")
		}
		if strings.Contains(string(prompt), "revolutions=4711") && n > 8 {
			say("It is set.\n<promise>COMPLETE</promise>")
		}
	case "remembers": // finds something out, and is done once it is told of it
		say("<progress>run %d of it</progress>", n)
		say("Decided to keep format %d.", n)
		say("<remember>The tests need port %s.</remember>", args[0])
		if n >= 3 {
			say("<promise>COMPLETE</promise>")
		}
	case "echoes":
		say("%s", prompt)
		say("Run %d: %s", n, strings.Repeat(fmt.Sprint("w", n, " "), 20))
	case "argument":
		say("<progress>got %d bytes in an argument, %d on input</progress>\n<promise>COMPLETE</promise>", len(args[0]), len(prompt))
	case "json":
		say(`{"type":"item.completed","item":{"type":"command_execution","output":"<promise>COMPLETE</promise>"}}`)
		say(`not JSON: <promise>COMPLETE</promise>`)
		text := fmt.Sprintf(`looked around in run %d`, n)
		if n == 3 {
			text = `done\n<promise>COMPLETE</promise>`
		}
		say(`{"type":"item.completed","item":{"type":"agent_message","text":"first words <promise>COMPLETE</promise>"}}`)
		say(`{"type":"item.completed","item":{"type":"agent_message","text":"%s"}}`, text)
	case "floods":
		line := strings.Repeat("x", 1<<16-1) + "\n"
		megabytes, _ := strconv.Atoi(args[0])
		for range megabytes * 16 {
			_, _ = os.Stdout.WriteString(line)
		}
		say("<progress>the end is kept</progress>")
	case "binary":
		_, _ = os.Stdout.Write([]byte("\xff\xfe\x00\x01\x1b[31mred\x1b[0m\xc3("))
		say("\n<progress>\xf0\x9f marked</progress>")
	case "fails":
		fmt.Fprintln(os.Stderr, "first line\nno such model")
		return 3
	case "dies":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "hangs", "stubborn": // with a child of its own, whose process id it writes down
		if kind == "stubborn" {
			signal.Ignore(syscall.SIGTERM)
		}
		say("<progress>about to hang</progress>")
		return leave(true)
	case "forks":
		return leave(false)
	}
	return 0
}

// leave starts a process that does not end by itself.
func leave(wait bool) int {
	child := exec.CommandContext(context.Background(), "sleep", "1000")
	if err := child.Start(); err != nil {
		return 8
	}
	if err := os.WriteFile("child", []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
		return 7
	}
	if wait {
		_ = child.Wait()
	}
	return 0
}

// host runs a loop of an agent that works, on a store in a file.
func host(db, workspace, last string) int {
	ctx := context.Background()
	st, err := sqlite.Open(ctx, db, sqlite.Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	counter, err := token.NewCounter("chars/4", nil)
	if err != nil {
		return 1
	}
	exe, _ := os.Executable()
	o := loop.Options{
		Store: st, Workspace: workspace, Counter: counter, Poll: time.Millisecond,
		Agents: []loop.Agent{{Name: "works", Command: []string{exe, "agent", "works", last}}},
		Notify: func(n loop.Notice) { fmt.Println(n.Kind, n.Iteration) },
	}
	path, _ := loop.Workspace(workspace)
	id, err := loop.Newest(ctx, st, path)
	if err != nil {
		return 1
	}
	var r *loop.Runner
	if id == "" {
		r, err = loop.Start(ctx, o, "Do all steps.")
	} else {
		r, err = loop.Resume(ctx, o, id)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	end, err := r.Run(ctx)
	fmt.Println("ended", end.Reason, err)
	return 0
}

// chars4 counts four characters as a token.
var chars4 = sync.OnceValue(func() token.Counter {
	c, err := token.NewCounter("chars/4", nil)
	if err != nil {
		panic(err)
	}
	return c
})

// agent returns one of the kinds above.
func agent(t *testing.T, kind string, args ...string) loop.Agent {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return loop.Agent{Name: kind, Command: append([]string{exe, "agent", kind}, args...)}
}

// options are those of a loop in an empty workspace on a store in memory.
func options(t *testing.T, agents ...loop.Agent) loop.Options {
	t.Helper()
	return loop.Options{Store: new(store.Memory), Workspace: t.TempDir(), Agents: agents, Counter: chars4(), Poll: time.Millisecond}
}

// begin starts a loop that is closed at the end of the test.
func begin(t *testing.T, o loop.Options) *loop.Runner {
	t.Helper()
	r, err := loop.Start(t.Context(), o, "Do all steps.")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// end runs a loop to its end, which has to be for a reason, and returns what is on record.
func end(t *testing.T, o loop.Options, want core.Reason) loop.History {
	t.Helper()
	r := begin(t, o)
	got, err := r.Run(t.Context())
	if err != nil || got.Reason != want {
		t.Fatalf("want the end %s, got %s (%s) %v", want, got.Reason, got.Why, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return history(t, o, r.ID())
}

func history(t *testing.T, o loop.Options, id string) loop.History {
	t.Helper()
	h, err := loop.Read(t.Context(), o.Store, id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// gone waits for the end of a process whose id is in a file of the workspace.
func gone(t *testing.T, workspace string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(workspace, "child"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for !dead(pid) {
		if t.Context().Err() != nil {
			t.Fatalf("process %d, want it ended, got it alive", pid)
		}
	}
}

// dead reports whether a process has ended; one that nobody has waited for counts.
func dead(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// asNobody runs a test again as a user who may not read and write everything, where the one
// that runs it is root, and reports whether it did.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(filepath.Join(dir, "test"), program, 0o755)); err != nil { //nolint:gosec // for another user
		t.Fatal(err)
	}
	name := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "test"), "-test.run", name)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	const nobody = 65534
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") || strings.Contains(string(out), "no tests to run") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	return true
}
