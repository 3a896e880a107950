package gemini

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
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

func BenchmarkRequest(b *testing.B) { codectest.BenchUntouched(b, Codec{}, conversation()) }

// BenchmarkStream measures 1,000 payloads; a payload is one event.
func BenchmarkStream(b *testing.B) {
	payload := partsOf(`{"text":"The quick brown fox jumps over the lazy dog, and then some more.\n"}`)
	codectest.BenchDecode(b, Codec{}, []byte(sseOf(strings.Split(strings.Repeat(payload+"\x00", 1000)+last, "\x00")...)))
}
