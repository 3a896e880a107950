package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// gen writes a file of one kind. All but the first few begin with a good session,
// so that what is wrong has something to be wrong in.
func gen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gen kind file")
	}
	text, ok := generate(args[0])
	if !ok {
		ts.Fatalf("no kind %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

func generate(kind string) (string, bool) {
	const esc = "\x1b[31mred\x1b[0m\x1b]0;title\x07\u009b2J\u202egnp.exe\x7f"
	s := &fixture{model: "claude-sonnet-4-5"}
	s.turn("What is in main.go?", "It holds main.")
	switch kind {
	case "empty":
		return "", true
	case "blank":
		return "\n\n  \n", true
	case "binary":
		return "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\xff\xfe\x00\x01", true
	case "gzip":
		return "\x1f\x8b\x08\x00\x00\x00\x00\x00", true
	case "prose":
		return "Dear diary,\n\x1b[2Jtoday I wrote a session file.\n", true
	case "foreign": // JSON lines of something else, with a name that a terminal would obey
		return `{"event":"click","\u001b[31mx":1}` + "\n" + `{"event":"click"}` + "\n", true
	case "good":
	case "deep": // deeper than any client writes
		s.raw(`{"type":"user","uuid":"deep","message":{"content":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`)
		s.turn("And then?", "Nothing.")
	case "deepcut":
		s.raw(strings.Repeat(`{"a":`, 100_000))
		s.turn("And then?", "Nothing.")
	case "cut":
		s.turn("And then?", "Nothing more.")
		text := s.String()
		return text[:len(text)-40], true
	case "long": // a single line of 5 MB
		s.tool("cat big.log", strings.Repeat("a line of a log that is long\n", 5<<20/29))
		s.turn("And then?", "It is long.")
	case "badutf8":
		s.raw(`{"type":"user","uuid":"u","parentUuid":` + s.parent() + `,"sessionId":"s","message":{"role":"user","content":"caf` + "\xe9\xff" + `"}}`)
		s.last = "u"
		s.turn("And then?", "Nothing.")
	case "surrogate":
		s.raw(`{"type":"user","uuid":"u","parentUuid":` + s.parent() + `,"sessionId":"s","message":{"role":"user","content":"half \ud83d of it"}}`)
		s.last = "u"
		s.turn("And then?", "Nothing.")
	case "cycle":
		s.raw(`{"type":"user","uuid":"c1","parentUuid":"c2","sessionId":"s","message":{"role":"user","content":"one"}}`)
		s.raw(`{"type":"user","uuid":"c2","parentUuid":"c1","sessionId":"s","message":{"role":"user","content":"two"}}`)
		s.last = "c2"
		s.turn("And then?", "Round and round.")
	case "selfcycle":
		s.raw(`{"type":"user","uuid":"c1","parentUuid":"c1","sessionId":"s","message":{"role":"user","content":"one"}}`)
		s.last = "c1"
		s.turn("And then?", "Still there.")
	case "controls": // everything that is printed holds what a terminal would obey
		s.model = "claude-" + esc
		s.last = "no-such-" + esc
		s.turn("Does it "+esc+"?", "No.")
	case "manyproblems":
		for range 12 {
			s.raw(`{"type":"user",`)
		}
		s.turn("And then?", "Much is missing.")
	default:
		return "", false
	}
	return s.String(), true
}

// A fixture is a small session in the form of Claude Code.
type fixture struct {
	b     strings.Builder
	model string
	last  string // uuid of the newest line
	n     int
	size  int // invented prompt size
}

func (f *fixture) String() string { return f.b.String() }

func (f *fixture) raw(line string) { f.b.WriteString(line + "\n") }

func (f *fixture) parent() string {
	if f.last == "" {
		return "null"
	}
	return quote(f.last)
}

func (f *fixture) line(kind, message string) {
	f.n++
	id := fmt.Sprintf("line-%d", f.n)
	f.raw(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"sessionId":"s","version":"2.0.1","type":%q,"message":%s,"uuid":%q,"timestamp":"2026-03-02T09:00:00.000Z"}`,
		f.parent(), kind, message, id))
	f.last = id
}

// turn adds a prompt and its answer.
func (f *fixture) turn(prompt, answer string) {
	f.line("user", fmt.Sprintf(`{"role":"user","content":%s}`, quote(prompt)))
	f.reply(fmt.Sprintf(`{"type":"text","text":%s}`, quote(answer)))
}

// tool adds a call and its output.
func (f *fixture) tool(command, output string) {
	call := fmt.Sprintf("toolu_%d", f.n)
	f.reply(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%s}}`, call, quote(command)))
	f.line("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}`, call, quote(output)))
	f.size += len(output) / 4
}

func (f *fixture) reply(block string) {
	f.size += 60
	f.line("assistant", fmt.Sprintf(`{"role":"assistant","model":%s,"id":"msg_%d","type":"message","content":[%s],"usage":{"input_tokens":%d,"output_tokens":40}}`,
		quote(f.model), f.n, block, 12_000+f.size))
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // cannot be: it is a string
	}
	return string(b)
}
