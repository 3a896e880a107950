package openai

import (
	"fmt"
	"strings"
	"testing"
)

// benchStream returns a long stream of the usual small events.
func benchStream(c streamer) []byte {
	var b strings.Builder
	if c.Dialect() == DialectResponses {
		b.WriteString(framed(`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"m"}}`,
			`{"type":"response.output_item.added","output_index":0,"sequence_number":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`))
		for i := range 20_000 {
			fmt.Fprintf(&b, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_07226f71de51f72b006994e63fe868\",\"output_index\":0,\"content_index\":0,\"delta\":\" word%d\",\"logprobs\":[],\"obfuscation\":\"abcdefgh\"}\n\n", i+2, i)
		}
		b.WriteString(framed(`{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}`))
		return []byte(b.String())
	}
	for i := range 20_000 {
		fmt.Fprintf(&b, "data: {\"id\":\"chatcmpl-DuLdWOILVCVVrpY7aRAWaTdcPyWSy\",\"object\":\"chat.completion.chunk\",\"created\":1782321910,\"model\":\"m-2024-07-18\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_59e007eafa\",\"usage\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"CYlcrz\"}\n\n", i)
	}
	return []byte(b.String() + finished("stop"))
}

func BenchmarkDecodeStream(b *testing.B) {
	for _, c := range codecs() {
		stream := benchStream(c)
		b.Run(string(c.Dialect()), func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				d := c.NewDecoder()
				for rest := stream; len(rest) > 0; {
					n := min(len(rest), 4<<10)
					if _, err := d.Feed(rest[:n]); err != nil {
						b.Fatal(err)
					}
					rest = rest[n:]
				}
				if _, err := d.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncodeStream(b *testing.B) {
	for _, c := range codecs() {
		events, err := decodeIn(c, benchStream(c))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(c.Dialect()), func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				w := c.NewEncoder()
				total := 0
				for _, e := range events {
					if out, err = w.Append(out[:0], e); err != nil {
						b.Fatal(err)
					}
					total += len(out)
				}
				b.SetBytes(int64(total))
			}
		})
	}
}
