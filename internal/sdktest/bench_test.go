package sdktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	ant "github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	oai "github.com/plimsoll-dev/plimsoll/wire/openai"
)

// The request of the benchmarks: an agent's session of 200 messages in one megabyte.
const (
	benchMessages = 200
	benchBytes    = 1 << 20
)

// words makes text that looks like prose and code, the same on every machine.
type words struct{ state uint64 }

func (w *words) next(n int) int {
	w.state = w.state*6364136223846793005 + 1442695040888963407
	return int((w.state >> 33) % uint64(n))
}

func (w *words) prose(size int) string {
	vocabulary := strings.Fields("the hull carries what is safe and no more, so that a ship that lies too deep is seen from the quay; " +
		"load line water salt fresh summer winter tropical cargo hold ballast draught freeboard port master surveyor – Öresund 水線")
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(vocabulary[w.next(len(vocabulary))])
		b.WriteByte(" \n"[w.next(12)/11])
	}
	return b.String()
}

func (w *words) code(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		switch w.next(4) {
		case 0:
			fmt.Fprintf(&b, "%6d\tfunc (h *hold) take%d(c cargo) error {\n", i, w.next(900))
		case 1:
			fmt.Fprintf(&b, "%6d\t\tif c.Mass > h.Left[\"%s\"] {\n", i, w.prose(8))
		case 2:
			fmt.Fprintf(&b, "%6d\t\t\treturn fmt.Errorf(\"hold %%q: want <= %%d, got %%d\", h.Name, h.Left, %d)\n", i, w.next(100000))
		default:
			fmt.Fprintf(&b, "%6d\t\t} // %s\n", i, w.prose(30))
		}
	}
	return b.String()
}

// benchRequest returns a session: a human's words, then rounds of a text, two calls and
// their results, code and prose by turns.
func benchRequest() llm.Request {
	w := &words{state: 1}
	r := llm.Request{
		Model: "test-model-1", MaxOutput: 8192,
		Sections: []llm.Section{{Text: w.prose(8000)}},
		Messages: []llm.Message{{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: w.prose(600)}}}},
	}
	for i := range 12 {
		r.Tools = append(r.Tools, llm.Tool{
			Name: fmt.Sprintf("tool_%d", i), Description: w.prose(300),
			Schema: `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`,
		})
	}
	rounds := (benchMessages - 2) / 2
	each := (benchBytes - 16000) * 100 / 102 / rounds // what is left after escapes
	for i := range rounds {
		r.Messages = append(r.Messages, benchRound(w, i, each)...)
	}
	return r
}

func benchRound(w *words, i, size int) []llm.Message {
	call := func(k int) llm.ToolCall {
		return llm.ToolCall{
			CallID: fmt.Sprintf("toolu_%06d%d", i, k), Name: fmt.Sprintf("tool_%d", w.next(12)),
			Args: fmt.Sprintf(`{"path":"core/hold/%d.go","limit":%d}`, w.next(999), w.next(2000)),
		}
	}
	a, b := call(0), call(1)
	text := llm.Text{Text: w.prose(size / 12)}
	result := func(id, text string) llm.ToolResult {
		return llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: text}}}
	}
	return []llm.Message{
		{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{text, a, b}},
		{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
			result(a.CallID, w.code(size*7/12)), result(b.CallID, w.prose(size*3/12)),
		}},
	}
}

// A geminiParams is the body of a request in the types of the SDK, which has none for the
// whole of it.
type geminiParams struct {
	SystemInstruction *genai.Content   `json:"systemInstruction,omitempty"`
	Tools             []*genai.Tool    `json:"tools,omitempty"`
	Contents          []*genai.Content `json:"contents"`
	GenerationConfig  json.RawMessage  `json:"generationConfig,omitempty"`
}

// A benchDialect is a codec and the parameters of the SDK that it stands beside.
type benchDialect struct {
	name  string
	codec codecs.Full
	sdk   func() any
}

func benchDialects() []benchDialect {
	return []benchDialect{
		{"anthropic", ant.Codec{}, func() any { return new(anthropic.MessageNewParams) }},
		{"chat", oai.Chat{}, func() any { return new(openai.ChatCompletionNewParams) }},
		{"responses", oai.Responses{}, func() any { return new(responses.ResponseNewParams) }},
		{"gemini", gemini.Codec{}, func() any { return new(geminiParams) }},
	}
}

// BenchmarkRequest decodes a request of 1 MB and encodes it again, unchanged.
func BenchmarkRequest(b *testing.B) {
	for _, d := range benchDialects() {
		body, err := d.codec.EncodeRequest(benchRequest())
		if err != nil {
			b.Fatal(err)
		}
		// The SDK reads signatures as standard base64, which the one for calls of other models is not.
		body = bytes.ReplaceAll(body, []byte("skip_thought_signature_validator"), []byte("c2tpcCB0aG91Z2h0IHNpZ25hdHVyZSE="))
		if faults := check.Request(d.codec.Dialect(), body); len(faults) > 0 {
			b.Fatalf("%s: body, want no fault, got %v", d.name, faults)
		}
		b.Run(d.name+"/impl=plimsoll", func(b *testing.B) { benchOurs(b, d.codec, body) })
		b.Run(d.name+"/impl=sdk", func(b *testing.B) { benchJSON(b, body, d.sdk) })
		b.Run(d.name+"/impl=map", func(b *testing.B) { benchJSON(b, body, func() any { return new(map[string]any) }) })
	}
}

func benchOurs(b *testing.B, c codecs.Full, body []byte) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := c.DecodeRequest(body)
		if err != nil {
			b.Fatal(err)
		}
		out, err := c.EncodeRequest(r)
		if err != nil || len(out) != len(body) {
			b.Fatalf("encode, want %d bytes, got %d: %v", len(body), len(out), err)
		}
	}
}

func benchJSON(b *testing.B, body []byte, target func() any) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		v := target()
		if err := json.Unmarshal(body, v); err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(v); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStream reads a streamed reply of 1 MB: thinking, text and a call, in deltas of
// some twenty letters.
func BenchmarkStream(b *testing.B) {
	for _, d := range benchDialects() {
		stream := encodeStream(b, d.codec, benchEvents(d.codec.Dialect()))
		b.Run(d.name+"/impl=plimsoll", func(b *testing.B) {
			perEvent(b, stream, func() int { return readOurs(b, d.codec, stream) })
		})
		b.Run(d.name+"/impl=sdk", func(b *testing.B) {
			read := sdkReader(b, d.name, stream)
			perEvent(b, stream, read)
		})
	}
}

// benchEvents returns a long reply in small pieces.
func benchEvents(d llm.Dialect) []llm.Event {
	w := &words{state: 2}
	args, err := json.Marshal(map[string]string{"content": w.code(40_000)})
	if err != nil {
		return nil
	}
	parts := []llm.Part{
		llm.Thinking{Text: w.prose(60_000), Signature: "c2ln"},
		llm.Text{Text: w.prose(60_000)},
		llm.ToolCall{CallID: "toolu_1", Name: "tool_1", Args: string(args)},
	}
	if d == oai.DialectChat {
		parts = parts[1:]
	}
	whole := wire.Events(said{parts: parts, stop: llm.StopTool, usage: counted}.response(d))
	var events []llm.Event
	for _, e := range whole {
		if e.Kind != llm.EventDelta || e.Delta == llm.DeltaSignature {
			events = append(events, e)
			continue
		}
		runes := []rune(e.Text)
		for len(runes) > 0 {
			n := min(len(runes), 12+w.next(16))
			e.Text, runes = string(runes[:n]), runes[n:]
			events = append(events, e)
		}
	}
	return events
}

// perEvent runs read, which returns how many events it read, and reports the allocations
// of one.
func perEvent(b *testing.B, stream []byte, read func() int) {
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	var before, after runtime.MemStats
	events := 0
	runtime.ReadMemStats(&before)
	for b.Loop() {
		events += read()
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(events), "allocs/event")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}

// readOurs feeds a stream in pieces as a connection gives them.
func readOurs(b *testing.B, c codecs.Full, stream []byte) int {
	d := c.NewDecoder()
	n := 0
	for len(stream) > 0 {
		k := min(len(stream), 16<<10)
		events, err := d.Feed(stream[:k])
		if err != nil {
			b.Fatal(err)
		}
		n += len(events)
		stream = stream[k:]
	}
	events, err := d.Close()
	if err != nil {
		b.Fatal(err)
	}
	return n + len(events)
}
