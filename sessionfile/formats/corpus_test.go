package formats

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// corpus returns the folder of real session files, or skips the test.
func corpus(t testing.TB) string {
	t.Helper()
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: tests over real session files are skipped")
	}
	return root
}

// files returns the corpus files below some folders.
func files(t testing.TB, root string, folders ...string) []string {
	t.Helper()
	var all []string
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no files in %v", folders)
	}
	return all
}

// A row is what the corpus index says about a file; -1 where it says nothing.
type row struct{ messages, calls, peak int }

func index(t *testing.T, root string) map[string]row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "INDEX.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	for l := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(l, " | ")
		if len(cells) < 9 {
			continue
		}
		var n [3]int
		for i, cell := range cells[5:8] {
			if n[i], err = strconv.Atoi(strings.TrimSpace(cell)); err != nil {
				n[i] = -1
			}
		}
		rows[strings.TrimPrefix(cells[0], "| ")] = row{n[0], n[1], n[2]}
	}
	return rows
}

// The index counts lines of type user and assistant in Claude Code files and
// items in Codex files, calls as blocks and items, and the largest prompt that was
// reported anywhere. counted counts the same things in what was read: the blocks of
// a reply (each is on its own line), the other messages by their line or item, what
// lies on branches, and lines whose uuid was used before. What a segment carries
// over is counted once, where it happened; attachments and local commands, which
// are messages here, are no messages there.
func counted(s *sessionfile.Session, isMessage func(line int) bool) row {
	var r row
	lines := map[int]bool{}
	for _, segment := range s.Segments {
		for _, e := range segment.Entries {
			if e.Message.Flags.Has(llm.FlagInterrupted) || lines[e.Line] || !isMessage(e.Line) {
				continue
			}
			lines[e.Line] = true
			if e.Message.Role == llm.RoleAssistant {
				r.messages += len(e.Message.Parts)
			} else {
				r.messages++
			}
			r.calls += callCount(e.Message)
			if e.Step != nil {
				r.peak = max(r.peak, e.Step.Usage.Prompt())
			}
		}
	}
	for _, b := range s.Abandoned {
		r.messages += b.Messages
	}
	for _, p := range s.Problems {
		if strings.HasPrefix(p.What, "uuid ") {
			r.messages++
		}
	}
	return r
}

func callCount(m llm.Message) int {
	n := 0
	for _, c := range m.Calls() {
		if !c.Hosted {
			n++
		}
	}
	return n
}

// messageLines returns which lines of a file the index counts.
func messageLines(t *testing.T, path string) func(line int) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	return func(line int) bool {
		switch gjson.Get(lines[line-1], "type").String() {
		case "user", "assistant", "response_item":
			return true
		}
		return false
	}
}

func TestCorpusSessions(t *testing.T) {
	root := corpus(t)
	rows := index(t, root)
	for _, path := range files(t, root, "claude-code", "codex") {
		name, _ := filepath.Rel(root, path)
		t.Run(name, func(t *testing.T) {
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			checkSession(t, s)
			want, ok := rows[filepath.ToSlash(name)]
			if !ok {
				t.Fatal("the file is not in the index")
			}
			if got := counted(s, messageLines(t, path)); got != want {
				t.Errorf("messages, calls and peak prompt differ from the index: want %+v, got %+v", want, got)
			}
		})
	}
}

// TestCorpusFindings names what is special about some files of the corpus.
func TestCorpusFindings(t *testing.T) {
	root := corpus(t)
	tests := []struct {
		file     string // its name, whatever folder it is in
		starts   string // of the segments
		problems string // what each must contain, by line
		notRun   bool
	}{
		{"37-995ebed6e4-2-full.jsonl", "root", "not valid JSON", false},
		{"76-62d755ef9f-2-full.jsonl", "resumed microcompaction compaction", "began before it|42 of 42 cleared", false},
		{"b6-f735fbac66-0-full.jsonl", "root compaction compaction", "", false},
		{"c6-44f3afc869-1-full.jsonl", "root compaction", "", false},
		{"10-906611becd-0-full.jsonl", "compaction", "16 of 16 messages", false},
		{"claude_code.jsonl", "root", "already used on line 48", false},
		{"258c7280-agent-a881341.jsonl", "root", "", false},
		{"258c7280-agent-acompact-fffbd0.jsonl", "resumed", "began before it|went on with line 1|went on with line 2", true},
		{"f4-771ece9d37-0-full.jsonl", "root compaction compaction", "", false},
		{"codex-session.jsonl", "root", "", false},
		{"cut-mid-line-short.jsonl", "root", "cut off inside this line", false},
	}
	paths := map[string]string{}
	for _, path := range files(t, root, "claude-code", "codex", "truncated") {
		paths[filepath.Base(path)] = path
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			s, err := Open(paths[test.file])
			if err != nil {
				t.Fatal(err)
			}
			checkSession(t, s)
			var starts []string
			for _, segment := range s.Segments {
				starts = append(starts, string(segment.Start))
				if (segment.NotRun != "") != test.notRun {
					t.Errorf("NotRun is %q", segment.NotRun)
				}
			}
			if got := strings.Join(starts, " "); got != test.starts {
				t.Errorf("segments start with %q, want %q", got, test.starts)
			}
			var want []string
			if test.problems != "" {
				want = strings.Split(test.problems, "|")
			}
			if len(s.Problems) != len(want) {
				t.Fatalf("want %d problems, got %v", len(want), s.Problems)
			}
			for i, p := range s.Problems {
				if !strings.Contains(p.What, want[i]) || p.Line == 0 {
					t.Errorf("problem %d: want %q with a line, got %v", i, want[i], p)
				}
			}
		})
	}
}

func TestCorpusBodies(t *testing.T) {
	root := corpus(t)
	formats := map[string]sessionfile.Format{
		"request-bodies-anthropic":        sessionfile.FormatAnthropicRequest,
		"request-bodies-openai-chat":      sessionfile.FormatChatRequest,
		"request-bodies-openai-responses": sessionfile.FormatResponsesRequest,
	}
	for folder, format := range formats {
		for _, path := range files(t, root, folder) {
			s, err := Open(path)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			checkSession(t, s)
			if s.Format != format || len(s.Segments) != 1 || !s.Segments[0].Final || len(s.Segments[0].Entries) == 0 || len(s.Problems) > 0 {
				t.Errorf("%s: want one final segment of %s without problems, got %s, %d segments, %v", path, format, s.Format, len(s.Segments), s.Problems)
			}
		}
	}
}

// TestCorpusOthers reads files of formats that are not known, which must be said.
func TestCorpusOthers(t *testing.T) {
	root := corpus(t)
	for _, path := range files(t, root, "gemini-api") {
		_, err := Open(path)
		var unknown *sessionfile.FormatError
		if !errors.As(err, &unknown) || unknown.Seen == "" {
			t.Errorf("%s: want a sessionfile.FormatError that says what was seen, got %v", path, err)
		}
	}
}
