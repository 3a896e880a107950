package clienttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// loopIterations are those that an agent has, two of which are killed, before it promises.
const loopIterations = 32

var soFar = regexp.MustCompile(`- Total iterations: (\d+)`)

// workOn is a model in a loop: it writes a file with the client's shell, then says what it
// has done, and from some iteration on that the goal is achieved. What it knows is in the
// prompt.
func workOn(r llm.Request) scriptmodel.Reply {
	step := 0
	for _, m := range r.Messages {
		if found := soFar.FindStringSubmatch(m.Text()); found != nil {
			n, err := strconv.Atoi(found[1])
			if err == nil {
				step = n + 1
			}
		}
	}
	last := r.Messages[len(r.Messages)-1]
	if len(last.Results()) == 0 && len(r.Tools) > 0 {
		return scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayShell, Text: fmt.Sprintf("seq 1 %d > step%d.txt", step, step)}}}
	}
	text := fmt.Sprintf("Decided to keep step %d in step%d.txt.\n<progress>wrote step %d</progress>", step, step, step)
	if step >= loopIterations {
		text += "\n\nAll steps are written.\n<promise>COMPLETE</promise>"
	}
	return scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: text}}}
}

// looped is an agent that a loop knows by name, behind a program of that name which adds what
// it needs here.
type looped struct {
	agent
	preset, wrapper string
	proxied         bool // it asks its model through the loop's proxy
}

// TestLoop: agents that know nothing of it are run by plimsoll loop until they promise, over
// two kills of the loop; one of them behind the loop's own proxy, too.
func TestLoop(t *testing.T) {
	prefix := installed(t)
	program := filepath.Join(t.TempDir(), "plimsoll")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/plimsoll").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	// Its sandbox needs a home that is not in a folder for temporary files.
	const unboxed = `for a; do shift; [ "$a" = workspace-write ] && a=danger-full-access; set -- "$@" "$a"; done; exec REAL "$@"`
	for name, l := range map[string]looped{
		"codex":       {codex(), "codex", unboxed, false},
		"codex_proxy": {codex(), "codex", unboxed, true},
		"pi":          {pi("openai-completions", "/v1", openai.DialectChat), "pi", `exec REAL "$@" --provider loop --model ` + model, false},
	} {
		t.Run(name, func(t *testing.T) { inLoop(t, program, prefix, l) })
	}
}

func inLoop(t *testing.T, program, prefix string, l looped) {
	script, err := scriptmodel.Parse("reply always when no tools\n  text \"A title\"\n")
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(script, scriptmodel.Options{Think: workOn})
	listener := httptest.NewServer(server)
	defer listener.Close()
	home, work := t.TempDir(), repository(t)
	for name, text := range l.files(listener.URL) {
		write(t, filepath.Join(home, name), text)
	}
	bin := t.TempDir()
	real := filepath.Join(prefix, l.client, "node_modules", ".bin", l.binary)
	write(t, filepath.Join(bin, l.preset), "#!/bin/sh\n"+strings.ReplaceAll(l.wrapper, "REAL", real)+"\n")
	if err := os.Chmod(filepath.Join(bin, l.preset), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	env := append([]string{"HOME=" + home, "PATH=" + bin + ":" + searchPath(t, prefix), "TERM=dumb", "LANG=C.UTF-8"}, l.env(listener.URL)...)
	start := func(killAt int, args ...string) error {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"loop", "--workspace", work, "--db", filepath.Join(home, "loop.db")}, args...)...)
		cmd.Env = env
		return watch(t, cmd, killAt)
	}
	first := []string{"--goal", "Write all steps.", "--cli", l.preset}
	if l.proxied {
		env = append(env, "OPENAI_API_KEY="+key)
		first = append(first, "--proxy", "--upstream", "openai="+listener.URL)
	}
	killed := 0
	for _, run := range []struct {
		killAt int
		args   []string
	}{{9, first}, {20, []string{"--resume"}}, {0, []string{"--resume"}}} {
		err := start(run.killAt, run.args...)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == -1 {
			killed++
		} else if err != nil {
			t.Fatalf("loop %v: %v", run.args, err)
		}
	}
	reap(t, home)
	show := exec.CommandContext(t.Context(), program, "loop", "show", "--json", "--workspace", work, "--db", filepath.Join(home, "loop.db"))
	out, err := show.Output()
	if err != nil {
		t.Fatal(err)
	}
	judgeLoop(t, out, work, killed)
	judgeSpent(t, out, l.proxied)
	for i, c := range server.Log() {
		if c.Error != nil || len(c.Faults) > 0 {
			t.Errorf("request %d, want one that the provider takes, got %v %v", i+1, c.Error, c.Faults)
		}
	}
}

// judgeSpent looks at what the agents' calls took: a proxy knows of each of a whole iteration.
func judgeSpent(t *testing.T, out []byte, proxied bool) {
	t.Helper()
	type spent struct{ Calls, Input, Output int }
	var h struct {
		Spent      spent
		Iterations []struct {
			Interrupted bool
			Spent       *spent
		}
	}
	if err := json.Unmarshal(out, &h); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i, it := range h.Iterations {
		switch {
		case !proxied && it.Spent != nil:
			t.Errorf("iteration %d, want nothing known of its calls, got %+v", i+1, it.Spent)
		case proxied && !it.Interrupted && (it.Spent == nil || it.Spent.Calls < 2 || it.Spent.Input == 0 || it.Spent.Output == 0):
			t.Errorf("iteration %d, want its calls, at least two, got %+v", i+1, it.Spent)
		case it.Spent != nil:
			sum += it.Spent.Calls
		}
	}
	if h.Spent.Calls != sum {
		t.Errorf("want %d calls in all, got %d", sum, h.Spent.Calls)
	}
}

// watch runs the loop, and kills it when an iteration begins.
func watch(t *testing.T, cmd *exec.Cmd, killAt int) error {
	t.Helper()
	var all bytes.Buffer
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if killAt > 0 && strings.HasPrefix(lines.Text(), fmt.Sprintf("iteration %d: ", killAt)) {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	err = cmd.Wait()
	if err != nil && killAt == 0 {
		t.Log(tail(all.String()))
	}
	return err
}

// judgeLoop looks at what is on record.
func judgeLoop(t *testing.T, out []byte, work string, killed int) {
	t.Helper()
	var h struct {
		End        string `json:"end"`
		Folded     int    `json:"folded"`
		Iterations []struct {
			Number      int      `json:"iteration_number"`
			Interrupted bool     `json:"interrupted"`
			Fault       string   `json:"fault"`
			Markers     []string `json:"progress_markers"`
			Files       []string `json:"file_changes"`
			Tokens      int      `json:"prompt_tokens"`
		} `json:"iterations"`
	}
	if err := json.Unmarshal(out, &h); err != nil {
		t.Fatalf("%v: %s", err, tail(string(out)))
	}
	interrupted := 0
	for i, it := range h.Iterations {
		step := strconv.Itoa(i + 1)
		switch {
		case it.Number != i+1 || it.Tokens <= 0 || it.Tokens >= 50_000:
			t.Errorf("iteration %s, want each once, within the budget, got %+v", step, it)
		case it.Interrupted:
			interrupted++
		case it.Fault != "" || !slices.Equal(it.Markers, []string{"wrote step " + step}) || !slices.Contains(it.Files, "step"+step+".txt") || !exists(filepath.Join(work, "step"+step+".txt")):
			t.Errorf("iteration %s, want its step done and on record, got %+v", step, it)
		}
	}
	if h.End != "goal_complete" || len(h.Iterations) != loopIterations || interrupted != 2 || killed != 2 || h.Folded != loopIterations-5 {
		t.Errorf("want the goal after %d iterations, two of them killed, got %s, %d, %d, %d kills, %d folded", loopIterations, h.End, len(h.Iterations), interrupted, killed, h.Folded)
	}
}
