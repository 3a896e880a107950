package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
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

// benchRequest returns a session of 200 messages in one megabyte: words of a person, then
// by turns a text with a call and its result.
func benchRequest() llm.Request {
	t := &benchText{state: 7}
	r := llm.Request{Model: "m", MaxOutput: 4096, Sections: []llm.Section{{Text: t.prose(9000)}}}
	r.Messages = append(r.Messages, llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: t.prose(500)}}})
	for i := range 20 {
		r.Tools = append(r.Tools, llm.Tool{
			Name: fmt.Sprintf("tool_%d", i), Description: t.prose(400),
			Schema: `{"type":"object","properties":{"path":{"type":"string","description":"a file"},"limit":{"type":"integer"}},"required":["path"]}`,
		})
	}
	for i := range 99 {
		id := fmt.Sprintf("call_%04d", i)
		call := llm.ToolCall{CallID: id, Name: fmt.Sprintf("tool_%d", i%20), Args: fmt.Sprintf(`{"path":"ship/hold%d.go","limit":%d}`, i, t.next(2000))}
		result := llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: t.output(4500) + t.prose(4500)}}}
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: t.prose(600)}, call}},
			llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{result}})
	}
	return r
}

// BenchmarkRequest decodes a request and encodes it again, unchanged; beside it the same
// with encoding/json and maps.
func BenchmarkRequest(b *testing.B) {
	for _, c := range codecs() {
		body, err := c.EncodeRequest(benchRequest())
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(c.Dialect())+"/impl=plimsoll", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := c.DecodeRequest(body)
				if err != nil {
					b.Fatal(err)
				}
				if out, err := c.EncodeRequest(r); err != nil || &out[0] != &body[0] {
					b.Fatalf("want the body itself, got %d bytes: %v", len(out), err)
				}
			}
		})
		b.Run(string(c.Dialect())+"/impl=map", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var v map[string]any
				if err := json.Unmarshal(body, &v); err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchDeltas calls f with the number and the text, as a JSON string, of each of 5,000
// deltas of 4 to 40 letters.
func benchDeltas(f func(i int, lit string)) {
	t := &benchText{state: 9}
	runes := []rune(t.prose(60_000) + t.output(60_000))
	for i := range 5000 {
		n := 4 + t.next(37)
		from := t.next(len(runes) - n)
		lit, err := json.Marshal(string(runes[from : from+n]))
		if err == nil {
			f(i, string(lit))
		}
	}
}

// benchStream returns a long stream of the usual small events, with the members that the
// provider sends.
func benchStream(d llm.Dialect) []byte {
	var b strings.Builder
	if d == DialectResponses {
		b.WriteString(framed(`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"m"}}`,
			`{"type":"response.output_item.added","output_index":0,"sequence_number":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`))
		var said literal
		benchDeltas(func(i int, lit string) {
			said.add([]byte(lit))
			fmt.Fprintf(&b, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_0123456789abcdef0123456789abcdef\",\"output_index\":0,\"content_index\":0,\"delta\":%s,\"logprobs\":[],\"obfuscation\":\"abcdefgh\"}\n\n", i+2, lit)
		})
		item := fmt.Sprintf(`{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":%s}]}`, said.bytes())
		b.WriteString(framed(`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
			`{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[`+item+`]}}`))
		return []byte(b.String())
	}
	benchDeltas(func(_ int, lit string) {
		fmt.Fprintf(&b, "data: {\"id\":\"chatcmpl-0123456789abcdefghijklmnopqrs\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m-2024-07-18\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"usage\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"abcdef\"}\n\n", lit)
	})
	return []byte(b.String() + finished("stop"))
}

// readStream feeds stream to d in pieces, as a connection gives it, and returns the
// number of events.
func readStream(d wire.Decoder, stream []byte) (int, error) {
	n := 0
	for len(stream) > 0 {
		k := min(len(stream), 4<<10)
		events, err := d.Feed(stream[:k])
		if err != nil {
			return n, err
		}
		n += len(events)
		stream = stream[k:]
	}
	events, err := d.Close()
	return n + len(events), err
}

func BenchmarkDecodeStream(b *testing.B) {
	for _, c := range codecs() {
		stream := benchStream(c.Dialect())
		b.Run(string(c.Dialect()), func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				n, err := readStream(c.NewDecoder(), stream)
				if err != nil {
					b.Fatal(err)
				}
				events += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}

func BenchmarkEncodeStream(b *testing.B) {
	for _, c := range codecs() {
		events, err := decodeIn(c, benchStream(c.Dialect()))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(c.Dialect()), func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			total := 0
			for b.Loop() {
				w := c.NewEncoder()
				total = 0
				for _, e := range events {
					if out, err = w.Append(out[:0], e); err != nil {
						b.Fatal(err)
					}
					total += len(out)
				}
			}
			b.SetBytes(int64(total))
		})
	}
}
