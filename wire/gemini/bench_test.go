package gemini

import (
	"strings"
	"testing"
)

// conversation returns a body of about 1 MB with 200 messages.
func conversation() []byte {
	var b strings.Builder
	b.WriteString(`{"contents":[`)
	for i := range 100 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"` + strings.Repeat(`func f(a int) {\n\treturn \"x\"\n}\n`, 300) + `"}}}]},`)
		b.WriteString(`{"role":"model","parts":[{"text":"next"},{"functionCall":{"name":"f","args":{"path":"a/b.go"}},"thoughtSignature":"` + strings.Repeat("QUJD", 200) + `"}]}`)
	}
	b.WriteString(`],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`)
	return []byte(b.String())
}

func BenchmarkRequest(b *testing.B) {
	body := conversation()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := DecodeRequest(body)
		if err != nil {
			b.Fatal(err)
		}
		if out, err := EncodeRequest(r); err != nil || &out[0] != &body[0] {
			b.Fatal("want the body itself")
		}
	}
}

// BenchmarkStream measures 1,000 payloads; a payload is one event.
func BenchmarkStream(b *testing.B) {
	payload := partsOf(`{"text":"The quick brown fox jumps over the lazy dog, and then some more.\n"}`)
	stream := []byte(sseOf(strings.Split(strings.Repeat(payload+"\x00", 1000)+last, "\x00")...))
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		d := newDecoder()
		for at := 0; at < len(stream); at += 4096 {
			if _, err := d.Feed(stream[at:min(at+4096, len(stream))]); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
