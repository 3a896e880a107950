package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A shelf is a Source with contents in memory.
type shelf struct {
	contents map[llm.Ref]builtin.Content
	broken   error // of every call
}

func newShelf() *shelf { return &shelf{contents: map[llm.Ref]builtin.Content{}} }

// put keeps a text and returns its Ref.
func (s *shelf) put(text string) string {
	ref := llm.RefOf([]byte(text))
	s.contents[ref] = newContent(text)
	return string(ref)
}

// keep keeps any content under a name.
func (s *shelf) keep(name string, c builtin.Content) string {
	ref := llm.RefOf([]byte(name))
	s.contents[ref] = c
	return string(ref)
}

func (s *shelf) Open(_ context.Context, ref llm.Ref) (builtin.Content, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	if c, ok := s.contents[ref]; ok {
		return c, nil
	}
	return nil, fmt.Errorf("shelf: %s: %w", ref, builtin.ErrNotFound)
}

// Search finds the lines that have a word of the query.
func (s *shelf) Search(_ context.Context, query string, limit int) ([]builtin.Hit, error) {
	var hits []builtin.Hit
	for ref, c := range s.contents {
		text, _ := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
		for i, line := range strings.Split(string(text), "\n") {
			if len(hits) < limit && strings.Contains(line, query) {
				at, _ := c.Line(int64(i))
				hits = append(hits, builtin.Hit{Ref: ref, Offset: at, Line: int64(i), Text: line})
			}
		}
	}
	return hits, s.broken
}

// A content is one in memory.
type content struct {
	*bytes.Reader
	starts []int64 // of its lines
}

func newContent(text string) *content {
	c := &content{Reader: bytes.NewReader([]byte(text))}
	for at := 0; at < len(text); {
		c.starts = append(c.starts, int64(at))
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return c
}

func (c *content) Close() error { return nil }
func (c *content) Lines() int64 { return int64(len(c.starts)) }

func (c *content) Line(n int64) (int64, error) {
	if n < 0 || n > c.Lines() {
		return 0, errors.New("no such line")
	}
	if n == c.Lines() {
		return c.Size(), nil
	}
	return c.starts[n], nil
}

// A repeated is a large content that takes no memory: the same lines, or a part of one line,
// again and again. It knows how much of it was read.
type repeated struct {
	text string // at most one line break, at its end
	n    int64
	read int64
	fail int64 // what ends behind this place is damaged; 0: nothing is
}

func (c *repeated) Size() int64  { return int64(len(c.text)) * c.n }
func (c *repeated) Close() error { return nil }

func (c *repeated) Lines() int64 {
	if strings.HasSuffix(c.text, "\n") {
		return c.n
	}
	return 1
}

func (c *repeated) Line(n int64) (int64, error) { return n * (c.Size() / c.Lines()), nil }

func (c *repeated) ReadAt(b []byte, at int64) (int, error) {
	if c.fail > 0 && at+int64(len(b)) > c.fail {
		return 0, fmt.Errorf("piece 7: %w", builtin.ErrDamaged)
	}
	done := 0
	for done < len(b) && at < c.Size() {
		i := copy(b[done:], c.text[at%int64(len(c.text)):])
		done, at = done+i, at+int64(i)
	}
	c.read += int64(done)
	if done < len(b) {
		return done, io.EOF
	}
	return done, nil
}

// all are the names of all tools that there are.
var all = []string{
	policy.ToolOutputCache, policy.ToolOutputCacheGrep, policy.ToolOutputCacheLine, policy.ToolReadResult,
	policy.ToolOutput, policy.ToolSearchContext,
}

func kitOf(t testing.TB, names ...string) builtin.Kit {
	t.Helper()
	k, err := builtin.New(names)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ask calls a tool with arguments "name", value, ... and checks what holds for any answer.
func ask(t testing.TB, k builtin.Kit, s builtin.Source, tool string, pairs ...any) builtin.Answer {
	t.Helper()
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return call(t, k, s, tool, string(b))
}

func call(t testing.TB, k builtin.Kit, s builtin.Source, tool, args string) builtin.Answer {
	t.Helper()
	a := k.Call(t.Context(), s, nil, llm.ToolCall{CallID: "1", Name: tool, Args: args})
	if a.Text == "" || !utf8.ValidString(a.Text) || len(a.Text) > 64<<10 {
		t.Fatalf("%s %.200s: want an answer in UTF-8 within 64 KiB, got %d bytes: %.200q", tool, args, len(a.Text), a.Text)
	}
	return a
}

// want compares an answer with a text.
func want(t testing.TB, a builtin.Answer, text string) {
	t.Helper()
	if a.Text != text {
		t.Errorf("answer:\n got %q\nwant %q", a.Text, text)
	}
}

// contains checks that an answer has texts in it.
func contains(t testing.TB, a builtin.Answer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.Text, text) {
			t.Errorf("answer: want %q in it, got %.2000q", text, a.Text)
		}
	}
}
