package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// said returns a Claude Code line in which someone says something.
func said(uuid, parent, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%s,"sessionId":"s","message":{"role":"user","content":%q}}`, uuid, parent, text)
}

func readText(t *testing.T, text string) *sessionfile.Session {
	t.Helper()
	s, err := Read("file", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	checkSession(t, s)
	return s
}

// texts returns what is said in a session, segment by segment.
func texts(s *sessionfile.Session) []string {
	var all []string
	for _, segment := range s.Segments {
		for _, e := range segment.Entries {
			all = append(all, e.Message.Text())
		}
	}
	return all
}

// wantProblem checks that a session has exactly one problem.
func wantProblem(t *testing.T, s *sessionfile.Session, line int, what string) {
	t.Helper()
	if len(s.Problems) != 1 || s.Problems[0].Line != line || !strings.Contains(s.Problems[0].What, what) {
		t.Errorf("want one problem on line %d with %q, got %v", line, what, s.Problems)
	}
}

func TestReadDamagedLines(t *testing.T) {
	first, last := said("u1", "null", "before"), said("u2", `"u1"`, "after")
	tests := []struct{ name, bad, problem string }{
		{"too deep", `{"type":"user","deep":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", "nested deeper"},
		{"too deep and not closed", strings.Repeat(`{"a":`, 2_000_000), "nested deeper"},
		{"giant", `{"type":"user","big":"` + strings.Repeat("x", read.MaxLineBytes) + `"}`, "more than 64 MiB"},
		{"not JSON", `{"type":"user",`, "not valid JSON"},
		{"not an object", `[1]`, "not a JSON object"},
		{"binary", "\x00\x01\x02", "not valid JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := readText(t, first+"\n"+test.bad+"\n"+last+"\n")
			if got := strings.Join(texts(s), " "); got != "before after" {
				t.Errorf("want the lines around it, got %q", got)
			}
			wantProblem(t, s, 2, test.problem)
		})
	}
}

// TestReadResultOfAnyShape: a result answers its call, whatever its content is.
func TestReadResultOfAnyShape(t *testing.T) {
	deep := strings.Repeat("[", read.MaxDepth-10) + strings.Repeat("]", read.MaxDepth-10)
	for _, content := range []string{`["a","b"]`, `{"a":1}`, `7`, `true`, `[[{"type":"text","text":"a"}]]`, deep} {
		s := readText(t, said("u1", "null", "before")+"\n"+
			`{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}}`+"\n"+
			`{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":`+content+`}]}}`+"\n"+
			said("u4", `"u3"`, "after")+"\n")
		if len(s.Problems) > 0 {
			t.Errorf("%.40s: want no problems, got %v", content, s.Problems)
		}
		var results []llm.ToolResult
		for _, e := range s.Segments[0].Entries {
			for _, p := range e.Message.Parts {
				if r, ok := p.(llm.ToolResult); ok {
					results = append(results, r)
				}
			}
		}
		if len(results) != 1 || results[0].CallID != "t1" || len(results[0].Content) != 1 || string(results[0].Content[0].Bytes()) != content {
			t.Errorf("%.40s: want one result of t1 with this content, got %d results", content, len(results))
		}
	}
}

func TestReadInvalidUTF8(t *testing.T) {
	s := readText(t, strings.Replace(said("u1", "null", "a?b"), "?", "\xff", 1))
	wantProblem(t, s, 1, "invalid UTF-8")
	m := s.Segments[0].Entries[0].Message
	if m.Text() != "a\uFFFDb" || !utf8.Valid(m.Parts[0].Bytes()) {
		t.Errorf("want U+FFFD in the text and in its bytes, got %q and %q", m.Text(), m.Parts[0].Bytes())
	}
}

func TestReadCutLastLine(t *testing.T) {
	whole := said("u1", "null", "before") + "\n" + said("u2", `"u1"`, "after")
	if s := readText(t, whole); len(s.Problems) > 0 || len(texts(s)) != 2 {
		t.Errorf("a whole last line without an end: want two messages, got %q, %v", texts(s), s.Problems)
	}
	s := readText(t, whole[:len(whole)-5])
	wantProblem(t, s, 2, "cut off")
	if got := texts(s); len(got) != 1 {
		t.Errorf("want the whole line only, got %q", got)
	}
}

func TestReadLineEnds(t *testing.T) {
	s := readText(t, "\uFEFF\r\n"+said("u1", "null", "before")+"\r\n\r\n"+said("u2", `"u1"`, "after")+"\r\n")
	if got := strings.Join(texts(s), " "); got != "before after" || len(s.Problems) > 0 {
		t.Errorf("want both lines, got %q, %v", got, s.Problems)
	}
	if got := s.Segments[0].Entries[1].Line; got != 4 {
		t.Errorf("want line 4, got %d", got)
	}
}

// TestReadLongLines reads lines longer than the reader's buffer, in pieces of
// every kind, between lines that fit.
func TestReadLongLines(t *testing.T) {
	long := strings.Repeat("long ", read.ReadBytes)
	text := said("u1", "null", "before") + "\n" + said("u2", `"u1"`, long) + "\n" + said("u3", `"u2"`, "after")
	for _, r := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		s, err := Read("file", r)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(s); len(got) != 3 || got[1] != long || got[2] != "after" {
			t.Errorf("want three messages, got %d", len(got))
		}
	}
}

func TestReadStops(t *testing.T) {
	broken := errors.New("disk on fire")
	r := io.MultiReader(strings.NewReader(said("u1", "null", "before")+"\n"), iotest.ErrReader(broken))
	s, err := Read("file", r)
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, s, 2, "disk on fire")
	if got := texts(s); len(got) != 1 {
		t.Errorf("want what was read before, got %q", got)
	}
	if _, err := Read("file", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("nothing read: want the error itself, got %v", err)
	}
}

func TestReadUnknown(t *testing.T) {
	tests := map[string]struct{ text, seen string }{
		"empty":         {"", "an empty file"},
		"blank":         {" \n\n", "an empty file"},
		"gzip":          {"\x1f\x8b\x08\x00", "gzip data"},
		"zstd":          {"\x28\xb5\x2f\xfd", "zstd data"},
		"zip":           {"PK\x03\x04", "a zip archive"},
		"UTF-16":        {"\xff\xfe{\x00", "UTF-16 text"},
		"binary":        {"\x7fELF\x00", "binary data"},
		"prose":         {"We dug a well.", "text that is not JSON"},
		"array":         {"[{}]", "no object"},
		"other lines":   {strings.Repeat(`{"kind":"note","n":1}`+"\n", 100), "JSON lines with the fields kind, n"},
		"other object":  {"{\n\"kind\": \"note\"\n}", "a JSON object with the fields kind"},
		"deep":          {strings.Repeat("[", 1_000_000), "nested too deep"},
		"not a request": {`{"model":"m","messages":[{"role":"nobody"}],"system":"s"}`, "what looks like anthropic-request but"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Read("file", strings.NewReader(test.text))
			var unknown *sessionfile.FormatError
			if !errors.As(err, &unknown) {
				t.Fatalf("want a sessionfile.FormatError, got %v", err)
			}
			if !strings.Contains(unknown.Seen, test.seen) || len(unknown.Known) != len(Formats()) || unknown.File != "file" {
				t.Errorf("want %q and the known formats, got %+v", test.seen, unknown)
			}
			if !strings.Contains(err.Error(), unknown.Seen) || !strings.Contains(err.Error(), "claude-code, codex") {
				t.Errorf("the error does not say it: %v", err)
			}
		})
	}
}

// TestReadFindsFormatLate finds the format behind lines that say nothing.
func TestReadFindsFormatLate(t *testing.T) {
	s := readText(t, "{\"cut\n{}\n"+said("u1", "null", "hello"))
	if s.Format != sessionfile.FormatClaudeCode || len(texts(s)) != 1 {
		t.Errorf("want one message, got %s, %q", s.Format, texts(s))
	}
	wantProblem(t, s, 1, "not valid JSON")
}

// TestReadKeepsOnlyMessages: what a session holds on to is copies of the messages'
// content, not the lines around them.
func TestReadKeepsOnlyMessages(t *testing.T) {
	screen := strings.Repeat("a copy for the screen ", 10_000)
	var b strings.Builder
	for i := range 20 {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"u%d"`, i-1)
		}
		line := said(fmt.Sprintf("u%d", i), parent, "short")
		b.WriteString(line[:len(line)-1] + `,"toolUseResult":"` + screen + "\"}\n")
	}
	for _, segment := range readText(t, b.String()).Segments {
		for _, e := range segment.Entries {
			if data := e.Message.Parts[0].Bytes(); cap(data) > 100 || string(data) != `"short"` {
				t.Errorf("a part of 5 characters holds %d bytes: %.40q", cap(data), data)
			}
		}
	}
}

func TestReadListsNoMoreThanMaxProblems(t *testing.T) {
	s := readText(t, said("u1", "null", "hello")+"\n"+strings.Repeat("{\n", 2*read.MaxProblems))
	if len(s.Problems) != read.MaxProblems+1 || !strings.Contains(s.Problems[0].What, "not listed") {
		t.Errorf("want %d problems and a last word, got %d: %v", read.MaxProblems, len(s.Problems), s.Problems[0])
	}
}

// TestCorpusBytes: every part of every real session has bytes that are whole JSON
// values, as the codecs need them.
func TestCorpusBytes(t *testing.T) {
	root := corpus(t)
	for _, path := range files(t, root, "claude-code", "codex") {
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, segment := range s.Segments {
			for _, e := range segment.Entries {
				for _, p := range e.Message.Parts {
					if data := p.Bytes(); data != nil && !json.Valid(data) {
						t.Errorf("%s:%d: bytes are not JSON: %.80q", path, e.Line, data)
					}
					if (p.Bytes() != nil) && e.Message.Dialect != s.Dialect {
						t.Errorf("%s:%d: bytes of dialect %q in a session of %q", path, e.Line, e.Message.Dialect, s.Dialect)
					}
				}
			}
		}
	}
}

// TestReadNeedsOneLine: reading must not hold more than a line at a time.
func TestReadNeedsOneLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	bookkeeping := `{"type":"progress","sessionId":"s","data":"` + strings.Repeat("x", 1<<20) + "\"}\n"
	_, err = io.WriteString(out, said("u1", "null", "hello")+"\n"+strings.Repeat(bookkeeping, 40))
	if closed := out.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := Open(path)
	runtime.ReadMemStats(&after)
	if err != nil || len(texts(s)) != 1 {
		t.Fatalf("want one message, got %v, %v", s, err)
	}
	if held := after.TotalAlloc - before.TotalAlloc; held > 16<<20 {
		t.Errorf("40 MiB of bookkeeping took %d bytes of memory", held)
	}
}
