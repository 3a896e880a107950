package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// BenchmarkRequest decodes a request and encodes it again, unchanged; beside it the same
// with encoding/json and maps.
func BenchmarkRequest(b *testing.B) {
	for _, c := range codecs() {
		body := codectest.Body(b, c, codectest.Session("m", "call", ""))
		b.Run(string(c.Dialect())+"/impl=plimsoll", func(b *testing.B) { codectest.BenchUntouched(b, c.Codec, body) })
		b.Run(string(c.Dialect())+"/impl=map", func(b *testing.B) { codectest.BenchMaps(b, body) })
	}
}

// benchDeltas calls f with the number and the text, as a JSON string, of each of 5,000
// deltas of 4 to 40 letters.
func benchDeltas(f func(i int, lit string)) {
	t := codectest.NewMaker(9)
	runes := []rune(t.Prose(60_000) + t.Output(60_000))
	for i := range 5000 {
		n := 4 + t.Next(37)
		from := t.Next(len(runes) - n)
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

func BenchmarkDecodeStream(b *testing.B) {
	for _, c := range codecs() {
		stream := benchStream(c.Dialect())
		b.Run(string(c.Dialect()), func(b *testing.B) {
			events := codectest.BenchDecode(b, c.Codec, stream)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events*b.N), "ns/event")
		})
	}
}

func BenchmarkEncodeStream(b *testing.B) {
	for _, c := range codecs() {
		events := codectest.Events(b, c, benchStream(c.Dialect()))
		b.Run(string(c.Dialect()), func(b *testing.B) { codectest.BenchEncode(b, c.Codec, events) })
	}
}
