package ollama

import (
	"strings"
	"testing"
)

// BenchmarkStream measures 1,000 lines; a line is one event.
func BenchmarkStream(b *testing.B) {
	line := lineOf(`"content":"The quick brown fox jumps over the lazy dog, and then some more.\n"`) + "\n"
	stream := []byte(strings.Repeat(line, 1000) + last)
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
