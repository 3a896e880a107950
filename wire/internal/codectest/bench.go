package codectest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A Maker makes text that looks like prose and the output of commands, the same on every
// machine.
type Maker struct{ state uint64 }

// NewMaker returns a maker that begins at a state.
func NewMaker(state uint64) *Maker { return &Maker{state} }

// Next returns a number in [0, n).
func (m *Maker) Next(n int) int {
	m.state = m.state*6364136223846793005 + 1442695040888963407
	return int((m.state >> 33) % uint64(n))
}

// Prose returns words of at least size bytes.
func (m *Maker) Prose(size int) string {
	words := strings.Fields("a ship that lies deeper than her mark is sent back to the quay where the cargo – salt, grain, Öl – " +
		"waits until somebody has counted what may go and what must stay under the hatch")
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[m.Next(len(words))])
		b.WriteByte(" \n"[m.Next(14)/13])
	}
	return b.String()
}

// Output returns numbered lines of code of at least size bytes.
func (m *Maker) Output(size int) string {
	lines := []string{"%5d\tfunc (s *ship) load%d(c cargo) error {\n", "%5d\t\tif err := s.holds[\"h%d\"].put(c); err != nil {\n", "%5d\t\t\treturn errors.New(`hold %d is full`)\n", "%5d\t\t} // see issue %d\n"}
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, lines[m.Next(len(lines))], i, m.Next(9000))
	}
	return b.String()
}

// Session returns a session of 200 messages in one megabyte: words of a person, then by
// turns a text with a call and the call's result. thinking, if there is any, stands in front of
// each text, which then is of the dialect.
func Session(model, callID string, d llm.Dialect, thinking ...llm.Part) llm.Request {
	m := NewMaker(7)
	r := llm.Request{Model: model, MaxOutput: 4096, Sections: []llm.Section{{Text: m.Prose(9000)}}}
	r.Messages = append(r.Messages, llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: m.Prose(500)}}})
	for i := range 20 {
		r.Tools = append(r.Tools, llm.Tool{
			Name: fmt.Sprintf("tool_%d", i), Description: m.Prose(400),
			Schema: `{"type":"object","properties":{"path":{"type":"string","description":"a file"},"limit":{"type":"integer"}},"required":["path"]}`,
		})
	}
	for i := range 99 {
		id := fmt.Sprintf("%s_%04d", callID, i)
		call := llm.ToolCall{CallID: id, Name: fmt.Sprintf("tool_%d", i%20), Args: fmt.Sprintf(`{"path":"ship/hold%d.go","limit":%d}`, i, m.Next(2000))}
		result := llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: m.Output(4500) + m.Prose(4500)}}}
		said := append(thinking[:len(thinking):len(thinking)], llm.Text{Text: m.Prose(600)}, call)
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: d, Parts: said},
			llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{result}})
	}
	return r
}

// Body returns the body of r.
func Body(t T, c wire.Codec, r llm.Request) []byte {
	t.Helper()
	body, err := c.EncodeRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// loop measures f, which handles all of body.
func loop(b *testing.B, body []byte, f func()) {
	b.Helper()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
}

// BenchUntouched measures decoding a body and encoding it again, unchanged.
func BenchUntouched(b *testing.B, c wire.Codec, body []byte) {
	b.Helper()
	loop(b, body, func() {
		r, err := c.DecodeRequest(body)
		if err != nil {
			b.Fatal(err)
		}
		if out, err := c.EncodeRequest(r); err != nil || &out[0] != &body[0] {
			b.Fatalf("want the body itself, got %d bytes: %v", len(out), err)
		}
	})
}

// BenchEdited is [BenchUntouched] with the newest result, of some 9 kB, edited.
func BenchEdited(b *testing.B, c wire.Codec, body []byte) {
	b.Helper()
	loop(b, body, func() {
		r, err := c.DecodeRequest(body)
		if err != nil {
			b.Fatal(err)
		}
		last := &r.Messages[len(r.Messages)-1]
		*last = last.WithParts([]llm.Part{last.Results()[0].WithContent(llm.Text{Text: "see r1"})})
		if out, err := c.EncodeRequest(r); err != nil || len(out) > len(body)-8000 {
			b.Fatalf("want the result to be gone, got %d of %d bytes: %v", len(out), len(body), err)
		}
	})
}

// BenchMaps is [BenchUntouched] with encoding/json and maps.
func BenchMaps(b *testing.B, body []byte) {
	b.Helper()
	loop(b, body, func() {
		var v map[string]any
		if err := json.Unmarshal(body, &v); err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(v); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchDecode measures decoding a stream in pieces of 4 KiB, as a connection gives it, and
// returns how many events it has.
func BenchDecode(b *testing.B, c wire.Streamer, stream []byte) (events int) {
	b.Helper()
	loop(b, stream, func() {
		d := c.NewDecoder()
		events = 0
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), 4<<10)
			got, err := d.Feed(rest[:n])
			if err != nil {
				b.Fatal(err)
			}
			events, rest = events+len(got), rest[n:]
		}
		got, err := d.Close()
		if err != nil {
			b.Fatal(err)
		}
		events += len(got)
	})
	return events
}

// BenchEncode measures encoding events one by one.
func BenchEncode(b *testing.B, c wire.Streamer, events []llm.Event) {
	b.Helper()
	b.ReportAllocs()
	var out []byte
	total := 0
	for b.Loop() {
		w := c.NewEncoder()
		total = 0
		for _, e := range events {
			var err error
			if out, err = w.Append(out[:0], e); err != nil {
				b.Fatal(err)
			}
			total += len(out)
		}
	}
	b.SetBytes(int64(total))
}
