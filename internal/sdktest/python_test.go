package sdktest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pythonScript answers by the case that the user's text names.
var pythonScript = `
secret "k"
reply always when result "list_files"
  thinking "One more."
  call read_file {"path": "README.md"}
reply always when result
  text "It is on her side."
reply always when user "case:loop"
  thinking "Where is the load line?"
  text "I look."
  call read_file {"path": "docs/水.md", "limit": 40}
  call list_files {}
reply always when user "case:text"
  text "The hold is full."
  usage input 10 output 5
reply always when user "case:unicode"
  text ` + strconv.Quote(mixed) + `
  usage input 10 output 5
reply always when user "case:usage"
  text "Counted."
  usage input 120 read 3000 write 40 output 75 reasoning 25
reply always when user "case:length"
  text "and then"
  stop length
  usage input 10 output 5
reply always when user "case:no arguments"
  call list_files {}
  usage input 10 output 5
reply always when user "case:parallel"
  text "Two."
  call read_file {"path": "docs/水.md", "limit": 40, "deep": {"b": [1, 0.5, null], "a": "é"}}
  call list_files {}
  usage input 10 output 5
reply always when user "case:thinking and call"
  thinking "Is it?"
  call read_file {"path": "a"}
  usage input 30 read 64 output 90 reasoning 80
reply always when user "case:thinking"
  thinking "Is it?"
  text "It is."
  usage input 30 read 64 output 90 reasoning 80
reply always when user "case:429"
  status 429 "slow down"
reply always when user "case:overloaded"
  status 529 "full"
reply always when user "case:fail"
  words 200
  fail after 3 events
`

// A pythonCase is one line of python/conformance.py.
type pythonCase struct {
	SDK    string          `json:"sdk"`
	Case   string          `json:"case"`
	Stream bool            `json:"stream"`
	Got    json.RawMessage `json:"got"`
	Error  string          `json:"error"`
	Fault  json.RawMessage `json:"fault"` // the SDK's own error: its name, status and code
}

// TestPython runs the official Python SDKs against the scripted model, with strict checks
// of every reply and every event.
func TestPython(t *testing.T) {
	python := pythonSDKs(t)
	_, url := scripted(t, pythonScript, true)
	lines := runPython(t, python, url)
	if want := 2*(8+6+8+8+3*4) + 4; len(lines) != want {
		t.Errorf("cases, want %d, got %d", want, len(lines))
	}
	for _, l := range lines {
		t.Run(l.SDK+"/"+l.Case+map[bool]string{true: " streamed"}[l.Stream], func(t *testing.T) {
			want, ok := pythonWants[l.Case]
			if !ok {
				t.Fatalf("case, want a known one, got %q", l.Case)
			}
			l.holds(t, want)
		})
	}
}

// pythonSDKs returns a Python that has the SDKs, or skips the test.
func pythonSDKs(t *testing.T) string {
	t.Helper()
	python := os.Getenv("PLIMSOLL_PYTHON_SDKS")
	if python == "" && os.Getenv("CI") == "true" {
		t.Fatal("PLIMSOLL_PYTHON_SDKS, want the interpreter that scripts/sdks made, got nothing")
	}
	if python == "" {
		t.Skip("PLIMSOLL_PYTHON_SDKS is not set: the Python SDKs are not tested (scripts/sdks DIR installs them)")
	}
	return python
}

func runPython(t *testing.T, python, url string) []pythonCase {
	t.Helper()
	cmd := exec.Command(python, "python/conformance.py", url)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("conformance.py: %v", err)
	}
	var lines []pythonCase
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var l pythonCase
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("line: %v\n%s", err, s.Text())
		}
		lines = append(lines, l)
	}
	return lines
}

// holds compares what the SDK gave with what was scripted.
func (l pythonCase) holds(t *testing.T, want pythonWant) {
	t.Helper()
	if want.fault != nil {
		if got, ok := want.fault[l.SDK]; l.Got != nil || ok && sorted(t, got) != sorted(t, string(l.Fault)) {
			t.Errorf("error, want %s, got %s (%s) and %s", got, l.Fault, l.Error, l.Got)
		}
		return
	}
	if l.Error != "" {
		t.Fatalf("reply, want one, got %s", l.Error)
	}
	var got pythonHeard
	if err := json.Unmarshal(l.Got, &got); err != nil {
		t.Fatalf("line: %v", err)
	}
	if diff := cmp.Diff(want.of(l.SDK), got); diff != "" {
		t.Errorf("reply, want as scripted, got (-want +got):\n%s", diff)
	}
}

type pythonHeard struct {
	Text     string          `json:"text"`
	Thoughts []pythonThought `json:"thoughts"`
	Calls    []pythonCall    `json:"calls"`
	Stop     string          `json:"stop"`
	Usage    pythonUsage     `json:"usage"`
	Tools    []string        `json:"tools"`
}

type pythonThought struct {
	Text   string `json:"text"`
	Signed bool   `json:"signed"`
}

type pythonCall struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

type pythonUsage struct {
	Prompt    int `json:"prompt"`
	Read      int `json:"read"`
	Written   int `json:"written"`
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"`
}

// A pythonWant is what a case must give: a reply, or for each SDK the error.
type pythonWant struct {
	heard pythonHeard
	stop  string // end, tool or length, as pythonStops spells it for each SDK
	fault map[string]string
}

var pythonStops = map[string]map[string]string{
	"anthropic": {"end": "end_turn", "tool": "tool_use", "length": "max_tokens"},
	"chat":      {"end": "stop", "tool": "tool_calls", "length": "length"},
	"responses": {"end": "completed", "tool": "completed", "length": "incomplete: max_output_tokens"},
	"gemini":    {"end": "STOP", "tool": "STOP", "length": "MAX_TOKENS"},
}

// of returns what an SDK must give.
func (w pythonWant) of(sdk string) pythonHeard {
	h := w.heard
	h.Stop = pythonStops[sdk][w.stop]
	if h.Calls == nil && h.Tools == nil {
		h.Calls = []pythonCall{}
	}
	if h.Thoughts == nil && h.Tools == nil {
		h.Thoughts = []pythonThought{}
	}
	if sdk == "gemini" {
		h.Usage.Written = 0 // the format has no such count
	}
	return h
}

var (
	few       = pythonUsage{Prompt: 10, Output: 5}
	reasoning = pythonUsage{Prompt: 94, Read: 64, Output: 90, Reasoning: 80}
	isIt      = []pythonThought{{"Is it?", true}}
	deepArgs  = map[string]any{"path": "docs/水.md", "limit": 40.0, "deep": map[string]any{"b": []any{1.0, 0.5, nil}, "a": "é"}}
	noArgs    = pythonCall{Name: "list_files", Args: map[string]any{}}
)

var pythonWants = map[string]pythonWant{
	"text":         {heard: pythonHeard{Text: "The hold is full.", Usage: few}, stop: "end"},
	"unicode":      {heard: pythonHeard{Text: mixed, Usage: few}, stop: "end"},
	"usage":        {heard: pythonHeard{Text: "Counted.", Usage: pythonUsage{3160, 3000, 40, 75, 25}}, stop: "end"},
	"length":       {heard: pythonHeard{Text: "and then", Usage: few}, stop: "length"},
	"no arguments": {heard: pythonHeard{Calls: []pythonCall{noArgs}, Usage: few}, stop: "tool"},
	"parallel":     {heard: pythonHeard{Text: "Two.", Calls: []pythonCall{{"read_file", deepArgs}, noArgs}, Usage: few}, stop: "tool"},
	"thinking":     {heard: pythonHeard{Text: "It is.", Thoughts: isIt, Usage: reasoning}, stop: "end"},
	"thinking and call": {
		heard: pythonHeard{Thoughts: isIt, Calls: []pythonCall{{"read_file", map[string]any{"path": "a"}}}, Usage: reasoning}, stop: "tool",
	},
	"loop": {heard: pythonHeard{Text: "It is on her side.", Tools: []string{"read_file", "list_files", "read_file"}}},
	"429": {fault: map[string]string{
		"anthropic": `["RateLimitError", 429, "rate_limit_error"]`,
		"chat":      `["RateLimitError", 429, "rate_limit_exceeded"]`,
		"responses": `["RateLimitError", 429, "rate_limit_exceeded"]`,
		"gemini":    `["ClientError", 429, "RESOURCE_EXHAUSTED"]`,
	}},
	"overloaded": {fault: map[string]string{
		"anthropic": `["OverloadedError", 529, "overloaded_error"]`,
		"chat":      `["InternalServerError", 529, "server_is_overloaded"]`,
		"responses": `["InternalServerError", 529, "server_is_overloaded"]`,
		"gemini":    `["ServerError", 529, "UNAVAILABLE"]`,
	}},
	"fail": {fault: map[string]string{}},
}
