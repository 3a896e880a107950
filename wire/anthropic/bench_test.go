package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A benchText makes text that looks like prose and the output of commands, the same on
// every machine.
type benchText struct{ state uint64 }

func (t *benchText) next(n int) int {
	t.state = t.state*6364136223846793005 + 1442695040888963407
	return int((t.state >> 33) % uint64(n))
}

func (t *benchText) prose(size int) string {
	words := strings.Fields("a ship that lies deeper than her mark is sent back to the quay where the cargo – salt, grain, Öl – " +
		"waits until somebody has counted what may go and what must stay under the hatch")
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[t.next(len(words))])
		b.WriteByte(" \n"[t.next(14)/13])
	}
	return b.String()
}

func (t *benchText) output(size int) string {
	lines := []string{"%5d\tfunc (s *ship) load%d(c cargo) error {\n", "%5d\t\tif err := s.holds[\"h%d\"].put(c); err != nil {\n", "%5d\t\t\treturn errors.New(`hold %d is full`)\n", "%5d\t\t} // see issue %d\n"}
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, lines[t.next(len(lines))], i, t.next(9000))
	}
	return b.String()
}

// benchBody returns a session of 200 messages in one megabyte, as a client sends it: words
// of a person, then by turns thinking, a text and a call, and the call's result.
func benchBody(b *testing.B) []byte {
	b.Helper()
	t := &benchText{state: 7}
	r := llm.Request{Model: "claude-sonnet-4-5", MaxOutput: 4096, Sections: []llm.Section{{Text: t.prose(9000)}}}
	r.Messages = append(r.Messages, llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: t.prose(500)}}})
	for i := range 20 {
		r.Tools = append(r.Tools, llm.Tool{
			Name: fmt.Sprintf("tool_%d", i), Description: t.prose(400),
			Schema: `{"type":"object","properties":{"path":{"type":"string","description":"a file"},"limit":{"type":"integer"}},"required":["path"]}`,
		})
	}
	for i := range 99 {
		id := fmt.Sprintf("toolu_%04d", i)
		thinking := llm.Thinking{Raw: llm.Raw{Data: fmt.Appendf(nil, `{"type":"thinking","thinking":"","signature":%q}`, strings.Repeat("QUJD", 100))}}
		call := llm.ToolCall{CallID: id, Name: fmt.Sprintf("tool_%d", i%20), Args: fmt.Sprintf(`{"path":"ship/hold%d.go","limit":%d}`, i, t.next(2000))}
		result := llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: t.output(4500) + t.prose(4500)}}}
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: Dialect, Parts: []llm.Part{thinking, llm.Text{Text: t.prose(600)}, call}},
			llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{result}})
	}
	body, err := EncodeRequest(r)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// BenchmarkRequest decodes a request and encodes it again: unchanged, and with its newest
// result edited; beside it the same with encoding/json and maps.
func BenchmarkRequest(b *testing.B) {
	body := benchBody(b)
	run := func(name string, f func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				f(b)
			}
		})
	}
	run("impl=plimsoll", func(b *testing.B) {
		r, err := DecodeRequest(body)
		if err != nil {
			b.Fatal(err)
		}
		if out, err := EncodeRequest(r); err != nil || &out[0] != &body[0] {
			b.Fatalf("want the body itself, got %d bytes: %v", len(out), err)
		}
	})
	run("impl=plimsoll/edited", func(b *testing.B) {
		r, err := DecodeRequest(body)
		if err != nil {
			b.Fatal(err)
		}
		last := &r.Messages[len(r.Messages)-1]
		*last = last.WithParts([]llm.Part{last.Results()[0].WithContent(llm.Text{Text: "see r1"})})
		if out, err := EncodeRequest(r); err != nil || len(out) > len(body)-8000 {
			b.Fatalf("want the result to be gone, got %d of %d bytes: %v", len(out), len(body), err)
		}
	})
	run("impl=map", func(b *testing.B) {
		var v map[string]any
		if err := json.Unmarshal(body, &v); err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(v); err != nil {
			b.Fatal(err)
		}
	})
}

// benchMarks are those of a request of a program: its tools, its system prompt, and two messages
// at the end.
func benchMarks(r llm.Request) llm.Marks {
	n := len(r.Messages)
	return llm.Marks{
		{On: llm.OnTool, At: len(r.Tools) - 1, Mark: llm.MarkShort},
		{On: llm.OnSection, At: len(r.Sections) - 1, Mark: llm.MarkShort},
		{On: llm.OnMessage, At: n - 3, Mark: llm.MarkShort},
		{On: llm.OnMessage, At: n - 1, Mark: llm.MarkShort},
	}
}

// BenchmarkMarks writes a request of 1,000 messages with cache marks and without: one that a
// program made, and one that came and of which nothing else has changed, beside a copy of its
// bytes. What marks add is at most 50 µs.
func BenchmarkMarks(b *testing.B) {
	t := &benchText{state: 9}
	made := llm.Request{Model: "claude-sonnet-4-5", MaxOutput: 4096, Sections: []llm.Section{{Text: t.prose(9000)}}, Tools: []llm.Tool{{Name: "look", Description: t.prose(400)}}}
	for range 500 {
		made.Messages = append(made.Messages, llm.AssistantText(t.prose(300)), llm.UserText(t.prose(300)))
	}
	body, err := EncodeRequest(made)
	if err != nil {
		b.Fatal(err)
	}
	came, err := DecodeRequest(body)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			_ = bytes.Clone(body)
		}
	})
	for _, c := range []struct {
		name string
		r    llm.Request
	}{{"made", made}, {"came", came}} {
		for _, marks := range []llm.Marks{nil, benchMarks(c.r)} {
			c.r.Marks = marks
			b.Run(fmt.Sprintf("%s/marks=%d", c.name, len(marks)), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if out, err := EncodeRequest(c.r); err != nil || len(out) < len(body) {
						b.Fatalf("%d of %d bytes, %v", len(out), len(body), err)
					}
				}
			})
		}
	}
}
