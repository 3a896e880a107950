package anthropic

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// BenchmarkRequest decodes a request and encodes it again: unchanged, and with its newest
// result edited; beside it the same with encoding/json and maps.
func BenchmarkRequest(b *testing.B) {
	thinking := llm.Thinking{Raw: codectest.RawOf(fmt.Sprintf(`{"type":"thinking","thinking":"","signature":%q}`, strings.Repeat("QUJD", 100)))}
	body := codectest.Body(b, Codec{}, codectest.Session("claude-sonnet-4-5", "toolu", Dialect, thinking))
	b.Run("impl=plimsoll", func(b *testing.B) { codectest.BenchUntouched(b, Codec{}, body) })
	b.Run("impl=plimsoll/edited", func(b *testing.B) { codectest.BenchEdited(b, Codec{}, body) })
	b.Run("impl=map", func(b *testing.B) { codectest.BenchMaps(b, body) })
}

func BenchmarkUntouched(b *testing.B) {
	message := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"` + strings.Repeat(`func f() { return \"x\" }\n`, 160) + `"}]}`
	codectest.BenchUntouched(b, Codec{}, []byte(`{"model":"m","messages":[`+strings.Repeat(message+",", 24)+message+`]}`))
}

// BenchmarkDecodeStream reads a long reply of short deltas, as they come.
func BenchmarkDecodeStream(b *testing.B) {
	var deltas []string
	for range 2000 {
		deltas = append(deltas, `"and then, said the \"mate\", we weigh anchor\n"`)
	}
	events := codectest.BenchDecode(b, Codec{}, []byte(oneText(deltas...)))
	b.ReportMetric(float64(events), "events")
}

func BenchmarkEncodeStream(b *testing.B) {
	events := []llm.Event{{Kind: llm.EventStart, ID: "m"}, {Kind: llm.EventPartStart, Part: llm.Text{}}}
	for range 2000 {
		events = append(events, llm.Event{Kind: llm.EventDelta, Delta: llm.DeltaText, Text: "and then, said the \"mate\", we weigh anchor\n"})
	}
	codectest.BenchEncode(b, Codec{}, events)
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
	t := codectest.NewMaker(9)
	made := llm.Request{Model: "claude-sonnet-4-5", MaxOutput: 4096, Sections: []llm.Section{{Text: t.Prose(9000)}}, Tools: []llm.Tool{{Name: "look", Description: t.Prose(400)}}}
	for range 500 {
		made.Messages = append(made.Messages, llm.AssistantText(t.Prose(300)), llm.UserText(t.Prose(300)))
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
