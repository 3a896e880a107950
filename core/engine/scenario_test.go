package engine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// rewrite makes TestScenarios write what it got into the files. Read the diff and
// understand every line of it before it is committed: it is a change of behaviour.
var rewrite = flag.Bool("rewrite", false, "write the results of scenarios into testdata; the diff must be understood")

// TestScenarios runs the files of testdata. A file is one behaviour, told in prose,
// with blocks between:
//
//	> command arguments
//	what the command needs, such as messages (notation_test.go)
//	----
//	what the machine answered
//
// The commands, of which open comes first:
//
//	open POLICY MODEL:CAPACITY[/OUTPUT][,bytes=N][,images=N] ...   a machine and its targets; POLICY "mine" is read from the body
//	append           messages
//	stored ID REF-OF BYTES    an output that the host has stored already: the body is its head
//	tools NAMES      each tool takes some tokens; the body, if any, describes each of them
//	sections         the system prompt
//	prepare [TARGETS as for open]
//	usage INPUT OUTPUT [cached N] [unreported] [no-output]
//	rejected [window N] [used N]
//	answer [error]   the body is the summary, or why there is none
//	reserve N        room for an output on its way
//	release N
//	turn_end
//	set-policy NAME
//	fork N           goes on with a fork after message N
//	restore          goes on with a new machine; with "same", restores the machine that stopped
//	fail-blobs N     the next N puts fail; all: from now on; none
//	fail-records     the next append of records fails
//	view             what would be sent, a part a line
//	show ID          a message of the view in full; notes and sections: what edits put in
//	question         what a model is asked
//	counts           the view by component, the guard's counters, what the machine did
//	blob REF         what is stored
//
// What a machine wants done is written as it comes, in the order in which it has
// to be done: blobs, records (but messages and the state), ask, send or refused, grant, edits, events.
// Refs are written as <c1>, what the output of call c1 was, and <2-5>, the archive
// of messages 2 to 5. After each command the laws are checked, too.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata: want scenarios, got %d (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := playFile(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if got == string(text) {
				return
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("- want, + got\n%s", cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")))
		})
	}
}

const separator = "----"

// playFile runs the blocks of a file and returns it with the results as they are.
func playFile(text string) (string, error) {
	var s scene
	var out, command []string
	state := "prose"
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "> "):
			state, command = "command", []string{line}
		case state == "command" && line == separator:
			got, err := s.run(command)
			if err != nil {
				return "", fmt.Errorf("%s: %w", command[0], err)
			}
			out = append(out, got...)
			state = "result"
			continue
		case state == "command":
			command = append(command, line)
		case state == "result" && line != "":
			continue // what was there before
		case state == "result":
			state = "prose"
		}
		out = append(out, line)
	}
	if state == "command" {
		return "", fmt.Errorf("%s: want %s after it", command[0], separator)
	}
	return strings.Join(out, "\n"), nil
}

// A scene is one run of a file.
type scene struct {
	h    *host
	laws *laws
	out  []string
}

func (s *scene) say(format string, args ...any) {
	s.out = append(s.out, s.named(fmt.Sprintf(format, args...)))
}

// run executes a command and returns the separator and what it said.
func (s *scene) run(block []string) ([]string, error) {
	s.out = []string{separator}
	words := strings.Fields(strings.TrimPrefix(block[0], "> "))
	if s.h == nil && words[0] != "open" {
		return nil, fmt.Errorf("want open before it")
	}
	err := s.command(words[0], words[1:], block[1:])
	if isBroken(err) {
		return nil, err
	}
	if err != nil {
		s.say("error: %v", err)
	}
	if s.h != nil {
		if err := s.laws.check(s.h); err != nil {
			return nil, err
		}
	}
	if len(s.out) == 1 {
		s.say("ok")
	}
	return s.out, nil
}

func (s *scene) command(name string, args, body []string) error {
	switch name {
	case "open":
		return s.open(args, body)
	case "append":
		return s.append(body)
	case "fail-blobs", "fail-records":
		return s.fail(name, args)
	case "fork", "restore":
		return s.resume(name, args)
	case "view":
		for _, l := range viewLines(s.h.m.View()) {
			s.say("%s", l)
		}
		return nil
	case "show":
		return s.show(args)
	case "question":
		return s.question()
	case "counts":
		s.counts()
		return nil
	case "blob":
		return s.blob(args)
	}
	in, err := s.input(name, args, body)
	if err != nil {
		return broken("%v", err)
	}
	return s.h.feed(in)
}

// input reads an input that is fed as it stands.
func (s *scene) input(name string, args, body []string) (engine.Input, error) {
	text := fill(strings.Join(body, "\n"))
	switch name {
	case "tools":
		var tools []llm.Tool
		for _, n := range args {
			n, own := strings.CutPrefix(n, "own:") // a builtin one
			tools = append(tools, llm.Tool{Name: n, Builtin: own, Description: "Does " + n + "." + text, Schema: `{"type":"object"}`})
		}
		return engine.SetTools{Tools: tools}, nil
	case "sections":
		return engine.SetSections{Sections: []llm.Section{{Name: "system", Text: text}}}, nil
	case "stored":
		n := number(args, 2)
		data := []byte(filler(n, args[1]))
		ref := llm.RefOf(data)
		s.h.blobs[ref] = data
		return engine.Stored{CallID: args[0], Ref: ref, Bytes: n, Lines: n / lineLength, Head: text}, nil
	case "prepare":
		targets, err := parseTargets(args)
		return engine.Prepare{Targets: targets}, err
	case "usage":
		return engine.Usage{
			Usage:    llm.Usage{Input: number(args, 0), Output: number(args, 1), CacheRead: after(args, "cached")},
			Reported: !slices.Contains(args, "unreported"), OutputUnknown: slices.Contains(args, "no-output"),
		}, nil
	case "rejected":
		return engine.Rejected{Window: after(args, "window"), Used: after(args, "used")}, nil
	case "answer":
		if len(s.h.asks) == 0 {
			return nil, fmt.Errorf("nobody asked")
		}
		a := engine.Answer{Ask: s.h.asks[0].ID, Text: text}
		s.h.asks = s.h.asks[1:]
		if slices.Contains(args, "error") {
			a.Text, a.Err = "", text
		}
		return a, nil
	case "reserve":
		return engine.Reserve{Tokens: number(args, 0)}, nil
	case "release":
		return engine.Release{Tokens: number(args, 0)}, nil
	case "turn_end":
		return engine.TurnEnd{}, nil
	case "set-policy":
		p, err := named(args[0])
		return engine.SetPolicy{Policy: p}, err
	}
	return nil, fmt.Errorf("unknown command")
}

func (s *scene) open(args, body []string) error {
	var p policy.Policy
	var err error
	if args[0] == "mine" {
		p, err = policy.Parse([]byte(strings.Join(body, "\n")))
	} else {
		p, err = named(args[0])
	}
	if err != nil {
		return broken("%v", err)
	}
	targets, err := parseTargets(args[1:])
	if err != nil {
		return broken("%v", err)
	}
	c, err := configured(p, targets...)
	if err != nil {
		return broken("%v", err)
	}
	h, err := newHost(c)
	if err != nil {
		return err
	}
	s.watch(h)
	for _, t := range h.m.Targets() {
		s.say("%s: limit %d = %d - buffer %d - output %d", t.Model, t.Window.Limit(), t.Window.Capacity, t.Window.Buffer, t.Window.OutputReserve)
	}
	return h.drain()
}

func (s *scene) watch(h *host) {
	s.h, s.laws = h, newLaws()
	h.ready = s.ready
}

// append appends messages, each with all that follows from it.
func (s *scene) append(body []string) error {
	messages, err := parseMessages(body)
	if err != nil {
		return broken("%v", err)
	}
	for _, m := range messages {
		if err := s.h.feed(engine.Append{Message: m}); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) fail(name string, args []string) error {
	switch {
	case name == "fail-records":
		s.h.failRecords = true
	case slices.Contains(args, "all"):
		s.h.failBlobs = -1
	case slices.Contains(args, "none"):
		s.h.failBlobs = 0
	default:
		s.h.failBlobs = number(args, 0)
	}
	return nil
}

func (s *scene) resume(name string, args []string) error {
	if slices.Contains(args, "same") {
		snap, err := s.h.snapshot()
		if err != nil {
			return broken("%v", err)
		}
		s.h.asks = nil
		return s.h.feed(engine.Restore{Snapshot: snap})
	}
	n := s.h
	var err error
	if name == "restore" {
		n, err = s.h.restored()
	} else {
		at := llm.MessageID(number(args, 0))
		var snap journal.Snapshot
		if snap, err = s.h.snapshot(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: "parent", At: at}}); err == nil {
			n, err = s.h.continued(engine.Fork{Parent: "parent", At: at, Snapshot: snap})
		}
	}
	if err != nil {
		return err
	}
	s.watch(n)
	return nil
}

func (s *scene) counts() {
	c, g := s.h.m.Components(), s.h.m.Guard()
	s.say("components: system %d, tools %d, summary %d, history %d, notes %d", c.System, c.Tools, c.Summary, c.History, c.Notes)
	s.say("guard: current %d, pending %d, fresh %d, schema %d", g.Current, g.Pending, g.Fresh, g.Schema)
	st := s.h.m.Stats()
	var kinds []string
	for k, n := range st.Edits {
		if n != 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, k))
		}
	}
	slices.Sort(kinds)
	s.say("did: edits [%s], by the backstop %d, still over %d, refused %d", strings.Join(kinds, ", "), st.Backstop, st.StillOver, st.Refused)
}

// number returns args[i] as a number; 0 if it is none.
func number(args []string, i int) int {
	if i >= len(args) {
		return 0
	}
	n, err := strconv.Atoi(args[i])
	if err != nil {
		return 0
	}
	return n
}

// after returns the number after a word.
func after(args []string, word string) int {
	if i := slices.Index(args, word); i >= 0 {
		return number(args, i+1)
	}
	return 0
}

// parseTargets reads MODEL:CAPACITY/OUTPUT,bytes=N,images=N.
func parseTargets(args []string) ([]budget.Target, error) {
	var out []budget.Target
	for _, a := range args {
		fields := strings.Split(a, ",")
		model, window, _ := strings.Cut(fields[0], ":")
		capacity, output, _ := strings.Cut(window, "/")
		t := budget.Target{Provider: "p", Model: model}
		t.Window.Capacity, t.Window.OutputReserve = number([]string{capacity}, 0), number([]string{output}, 0)
		for _, f := range fields[1:] {
			switch key, value, _ := strings.Cut(f, "="); key {
			case "bytes":
				t.Window.MaxBytes = number([]string{value}, 0)
			case "images":
				t.Window.MaxImages = number([]string{value}, 0)
			default:
				return nil, fmt.Errorf("%q: want bytes=N or images=N", f)
			}
		}
		out = append(out, t)
	}
	return out, nil
}
