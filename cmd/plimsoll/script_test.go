package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// update rewrites what tests compare with: the files in scripts, the outputs in the
// documents, the picture. Read the difference before it is committed.
var update = flag.Bool("update", false, "rewrite expected outputs in scripts, documents and the picture")

// repo is the module's root, seen from here.
const repo = "../.."

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"plimsoll": main, "talker": talker})
}

// TestScripts runs the scripts in testdata/script. Beside testscript's own commands
// they have
//
//	exits CODE PROGRAM ARG...  the program ends with that exit code
//	gen KIND FILE              writes a hostile or special file; see gen_test.go
//	lines N                    the last output has that many lines
//	pretty FILE                writes the last output, JSON lines, to a file: indented, times replaced
//	jsonlines                  the last output is JSON lines
//	exported DIR               the export below DIR is complete and consistent
//	clean                      the last output and errors hold no control character
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join(repo, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "TTY_FORCE"} {
				e.Setenv(name, "")
			}
			e.Setenv("TERM", "xterm-256color")
			e.Setenv("ESC", "\x1b[31mred\u202e\u009b")
			odd := filepath.Join(e.WorkDir, "odd")
			if err := os.Mkdir(odd, 0o700); err != nil {
				return err
			}
			good, _ := generate("good")
			if err := os.WriteFile(filepath.Join(odd, "\x1b[31mred\u202e.jsonl"), []byte(good), 0o600); err != nil {
				return err
			}
			return os.Symlink(examples, filepath.Join(e.WorkDir, "examples"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "gen": gen, "lines": countLines, "pretty": pretty, "jsonlines": jsonLines, "exported": exported, "clean": clean,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [arg...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("want exit code %d, got %d", want, got)
	}
}

func countLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lines n")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile("stdout"), "\n"); got != want {
		ts.Fatalf("want %d lines, got %d", want, got)
	}
}

func jsonLines(ts *testscript.TestScript, _ bool, _ []string) {
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if !json.Valid([]byte(line)) {
			ts.Fatalf("not JSON: %.200q", line)
		}
	}
}

// seconds are what a run took; nothing else in the output changes from run to run.
var seconds = regexp.MustCompile(`("seconds": ?)[0-9.e-]+`)

func pretty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pretty file")
	}
	var out bytes.Buffer
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		ts.Check(json.Indent(&out, []byte(line), "", "  "))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), seconds.ReplaceAll(out.Bytes(), []byte("${1}0")), 0o600))
}

// clean fails on what a terminal would obey.
func clean(ts *testscript.TestScript, _ bool, _ []string) {
	for _, name := range []string{"stdout", "stderr"} {
		for i, r := range ts.ReadFile(name) {
			if r != '\n' && console.Hidden(r) || r == '\uFFFD' {
				ts.Fatalf("%s: byte %d: %q reached the terminal", name, i, r)
			}
		}
	}
}

// A manifest as it is exported; fields that the test does not look at are left out.
type manifestFile struct {
	Schema int    `json:"schema"`
	Policy string `json:"policy"`
	Window string `json:"window"`
	Steps  []struct {
		Step   int    `json:"step"`
		File   string `json:"file"`
		Tokens int    `json:"tokens"`
		Bound  int    `json:"bound"`
		Kind   string `json:"kind"`
	} `json:"steps"`
	Edits []json.RawMessage `json:"edits"`
}

// exported checks every run below a folder: the manifest lists the steps that are
// there, each is a JSON object, and each blob has the Ref of its content as its
// name.
func exported(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: exported dir")
	}
	runs, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*", "*", "*", "manifest.json"))
	ts.Check(err)
	if len(runs) == 0 {
		ts.Fatalf("no manifest below %s", args[0])
	}
	for _, path := range runs {
		exportedRun(ts, path)
	}
}

func exportedRun(ts *testscript.TestScript, path string) {
	dir := filepath.Dir(path)
	data, err := os.ReadFile(path)
	ts.Check(err)
	var m manifestFile
	ts.Check(json.Unmarshal(data, &m))
	if m.Schema == 0 || m.Policy != filepath.Base(filepath.Dir(dir)) || len(m.Steps) == 0 {
		ts.Fatalf("%s: schema %d, policy %q, %d steps", path, m.Schema, m.Policy, len(m.Steps))
	}
	for i, s := range m.Steps {
		body, err := os.ReadFile(filepath.Join(dir, s.File))
		ts.Check(err)
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil || fields["messages"] == nil && fields["input"] == nil {
			ts.Fatalf("%s: %s is no request body: %v", path, s.File, err)
		}
		if s.Step < i+1 || s.Tokens <= 0 || s.Bound < s.Tokens || s.Kind == "" {
			ts.Fatalf("%s: step %+v", path, s)
		}
	}
	steps, err := filepath.Glob(filepath.Join(dir, "step-*.json"))
	ts.Check(err)
	if len(steps) != len(m.Steps) {
		ts.Fatalf("%s: lists %d steps, %d files are there", path, len(m.Steps), len(steps))
	}
	blobs, err := os.ReadDir(filepath.Join(dir, "blobs"))
	ts.Check(err)
	for _, b := range blobs {
		data, err := os.ReadFile(filepath.Join(dir, "blobs", b.Name()))
		ts.Check(err)
		if string(llm.RefOf(data)) != b.Name() {
			ts.Fatalf("%s: blob %s has the content of %s", path, b.Name(), llm.RefOf(data))
		}
	}
	if m.Policy == "balanced" && (len(m.Edits) == 0 || len(blobs) == 0) {
		ts.Fatalf("%s: %d edits, %d blobs, want some of both", path, len(m.Edits), len(blobs))
	}
}
