package formats

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// agentFolders are the folders of the scenarios and of the corpus that hold the sessions
// of agents whose files are no wire messages.
var (
	agentFolders  = []string{"geminicli", "copilot", "pi", "cline", "opencode", "qwen", "continue"}
	corpusFolders = []string{"gemini-cli", "copilot-cli", "pi", "cline"}
)

// checkEncoded encodes what was sent before the last Step of each segment in the
// session's dialect and holds it against the provider's rules.
func checkEncoded(t *testing.T, s *sessionfile.Session) {
	t.Helper()
	codec, ok := codecs.For(s.Dialect)
	if !ok {
		t.Fatalf("dialect, want one that has a codec, got %q", s.Dialect)
	}
	for n, segment := range s.Segments {
		last, model := 0, ""
		for i, e := range segment.Entries {
			if e.Step != nil {
				last, model = i, e.Step.Model
			}
		}
		if last == 0 || segment.NotRun != "" {
			continue
		}
		request := llm.Request{Model: model, MaxOutput: 1000, Sections: segment.Sections, Tools: segment.Tools}
		for _, e := range segment.Entries[:last] {
			request.Messages = append(request.Messages, e.Message)
		}
		body, err := codec.EncodeRequest(request)
		if err != nil {
			t.Errorf("segment %d: %v", n, err)
			continue
		}
		for _, fault := range (check.Options{Model: model}).Request(s.Dialect, body) {
			t.Errorf("segment %d: %+v", n, fault)
		}
	}
}

func TestAgentSessionsEncode(t *testing.T) {
	for _, folder := range agentFolders {
		files, err := filepath.Glob("testdata/" + folder + "/*.txt")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no scenarios: %v", folder, err)
		}
		for _, file := range files {
			t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				archive, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				s, err := Read(archive.Files[0].Name, bytes.NewReader(archive.Files[0].Data))
				if err != nil {
					t.Fatal(err)
				}
				checkEncoded(t, s)
			})
		}
	}
}

// TestAgentSignatures: what proves a model's thinking goes back in the dialect that it came in.
func TestAgentSignatures(t *testing.T) {
	tests := []struct {
		file    string
		dialect llm.Dialect
		want    []string
	}{
		{"geminicli/resumed.txt", gemini.Dialect, []string{`"functionCall":{"id":"c1","name":"count","args":{}},"thoughtSignature":"c2ln"`}},
		{"copilot/session.txt", openai.DialectChat, []string{`"reasoning_opaque":"c2VjcmV0"`, `"reasoning_text":"Hens are in the coop."`}},
		{"pi/linear.txt", anthropic.Dialect, []string{`"thinking":"Look.","signature":"c2ln"`}},
		{"pi/dialects.txt", openai.DialectResponses, []string{`"encrypted_content":"c2VjcmV0"`}},
		{"pi/dialects.txt", gemini.Dialect, []string{`"name":"read","args":{"path":"c"}},"thoughtSignature":"c2ln"`, `"thought":true,"thoughtSignature":"c2ln"`}},
		{"cline/session.txt", anthropic.Dialect, []string{`"signature":"c2ln"`}},
		{"opencode/session.txt", anthropic.Dialect, []string{`"thinking":"Look.","signature":"c2ln"`}},
		{"qwen/gemini.txt", gemini.Dialect, []string{`"thoughtSignature":"c2ln"`}},
	}
	for _, test := range tests {
		t.Run(test.file+"/"+string(test.dialect), func(t *testing.T) {
			archive, err := txtar.ParseFile("testdata/" + test.file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Read("file", bytes.NewReader(archive.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			request := llm.Request{Model: "m", MaxOutput: 1000}
			for _, e := range s.Segments[0].Entries {
				request.Messages = append(request.Messages, e.Message)
			}
			codec, _ := codecs.For(test.dialect)
			body, err := codec.EncodeRequest(request)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !bytes.Contains(body, []byte(want)) {
					t.Errorf("body, want %s in it, got %s", want, body)
				}
			}
		})
	}
}

// TestRecorded reads sessions that the clients themselves wrote. testdata/recorded/README.md
// says how.
func TestRecorded(t *testing.T) {
	tests := []struct {
		file         string
		format       sessionfile.Format
		dialect      llm.Dialect
		steps, calls int
		reported     bool
		starts       string // of the segments, if there are more than one
	}{
		{"cline-3.0.65.json", sessionfile.FormatCline, anthropic.Dialect, 3, 3, true, ""},
		{"gemini-cli-0.61.0.jsonl", sessionfile.FormatGeminiCLI, gemini.Dialect, 3, 3, true, ""},
		{"gemini-cli-0.61.0-stream.jsonl", sessionfile.FormatGeminiCLI, gemini.Dialect, 3, 3, false, ""},
		{"opencode-1.18.33.json", sessionfile.FormatOpenCode, anthropic.Dialect, 4, 3, true, ""},
		{"opencode-1.18.33-compacted.json", sessionfile.FormatOpenCode, openai.DialectChat, 5, 1, true, "root resumed compaction"},
		{"pi-0.73.1.jsonl", sessionfile.FormatPi, anthropic.Dialect, 4, 3, true, ""},
		{"pi-1.6.0.jsonl", sessionfile.FormatPi, openai.DialectResponses, 4, 3, true, ""},
		{"qwen-code-0.24.4.jsonl", sessionfile.FormatQwen, anthropic.Dialect, 3, 3, true, ""},
		{"qwen-code-0.15.10.jsonl", sessionfile.FormatQwen, openai.DialectChat, 4, 3, true, ""},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			s, err := Open(filepath.Join("testdata", "recorded", test.file))
			if err != nil {
				t.Fatal(err)
			}
			checkSession(t, s)
			checkEncoded(t, s)
			if s.Format != test.format || s.Dialect != test.dialect || len(s.Problems) > 0 {
				t.Fatalf("want %s in %s without problems, got %s in %s, %v", test.format, test.dialect, s.Format, s.Dialect, s.Problems)
			}
			steps, calls, starts := 0, 0, ""
			for _, segment := range s.Segments {
				steps += segment.Steps()
				starts = strings.TrimSpace(starts + " " + string(segment.Start))
				for _, e := range segment.Entries {
					calls += len(e.Message.Calls())
					if e.Step != nil && (e.Step.Reported != test.reported || e.Step.OutputReported != test.reported || e.Step.Model == "" || e.Step.Time == 0) {
						t.Errorf("line %d: %+v", e.Line, *e.Step)
					}
				}
			}
			if want := cmp.Or(test.starts, "root"); starts != want || steps != test.steps || calls != test.calls {
				t.Errorf("want %d steps and %d calls from %s, got %d and %d from %s", test.steps, test.calls, want, steps, calls, starts)
			}
		})
	}
}

// TestCorpusAgents reads every real session of these formats and compares it with the
// index of the corpus.
func TestCorpusAgents(t *testing.T) {
	root := corpus(t)
	rows := index(t, root)
	expected := map[string][]string{
		"copilot.jsonl": {"no call in this segment has this id", "no call in this segment has this id"}, // two tools that no reply asked for
	}
	for _, path := range files(t, root, corpusFolders...) {
		name, _ := filepath.Rel(root, path)
		t.Run(name, func(t *testing.T) {
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			checkSession(t, s)
			checkEncoded(t, s)
			want := expected[filepath.Base(path)]
			if len(s.Problems) != len(want) {
				t.Fatalf("want %d problems, got %v", len(want), s.Problems)
			}
			for i, p := range s.Problems {
				if !strings.Contains(p.What, want[i]) {
					t.Errorf("problem, want %q, got %v", want[i], p)
				}
			}
			if got, want := agentRow(t, s, path), rows[filepath.ToSlash(name)]; got != want {
				t.Errorf("messages, calls and peak prompt differ from the index: want %+v, got %+v", want, got)
			}
		})
	}
}

// agentRow counts in a session what the index counts in its file: the messages, also
// those that are no context (only shown, cut off, or replaced by a later line), the calls
// that anybody made, and the largest prompt where it is reported.
func agentRow(t *testing.T, s *sessionfile.Session, path string) row {
	t.Helper()
	lines := map[int]bool{}
	r := row{peak: -1}
	for _, segment := range s.Segments {
		for _, e := range segment.Entries {
			if !e.Message.Flags.Has(llm.FlagInterrupted) && (e.Message.Role != llm.RoleTool || s.Format == sessionfile.FormatPi || s.Format == sessionfile.FormatCline) {
				lines[e.Line] = true
			}
			r.calls += len(e.Message.Calls())
			if e.Step != nil && s.Format == sessionfile.FormatPi {
				r.peak = max(r.peak, e.Step.Usage.Prompt())
			}
		}
	}
	r.messages = len(lines)
	for _, b := range s.Abandoned {
		r.messages += b.Messages
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch s.Format {
	case sessionfile.FormatPi: // calls in replies that were cut off
		for line := range bytes.Lines(text) {
			m := gjson.GetBytes(line, "message")
			if stop := m.Get("stopReason").String(); stop == "aborted" || stop == "error" {
				r.calls += int(m.Get(`content.#(type=="toolCall")#|#`).Int())
			}
		}
	case sessionfile.FormatCopilot: // a notification is no message there; results without a call are calls
		r.messages -= bytes.Count(text, []byte(`"type":"system.notification"`))
		r.calls += len(s.Problems)
	case sessionfile.FormatGeminiCLI:
		r.messages += shownOnly(text)
	}
	return r
}

// shownOnly counts the messages of a Gemini chat that are no context: those that the
// client only shows, and in JSON lines, where the index counts no others, earlier forms.
func shownOnly(text []byte) int {
	n := 0
	if whole := gjson.ParseBytes(text).Get("messages"); whole.IsArray() {
		for _, m := range whole.Array() {
			if kind := m.Get("type").String(); kind != "user" && kind != "gemini" {
				n++
			}
		}
		return n
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		m := gjson.ParseBytes(line)
		if kind := m.Get("type").String(); kind == "user" || kind == "gemini" {
			if seen[m.Get("id").String()] {
				n++
			}
			seen[m.Get("id").String()] = true
		}
	}
	return n
}
