package ollama

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// BenchmarkRequest decodes a request and encodes it again: unchanged, and with its newest
// result edited; beside it the same with encoding/json and maps.
func BenchmarkRequest(b *testing.B) {
	thinking := llm.Thinking{Raw: codectest.RawOf(`"thinking":"the hold may be full"`)}
	body := codectest.Body(b, Codec{}, codectest.Session("m", "call", Dialect, thinking))
	b.Run("impl=plimsoll", func(b *testing.B) { codectest.BenchUntouched(b, Codec{}, body) })
	b.Run("impl=plimsoll/edited", func(b *testing.B) { codectest.BenchEdited(b, Codec{}, body) })
	b.Run("impl=map", func(b *testing.B) { codectest.BenchMaps(b, body) })
}

// BenchmarkStream measures 1,000 lines; a line is one event.
func BenchmarkStream(b *testing.B) {
	line := lineOf(`"content":"The quick brown fox jumps over the lazy dog, and then some more.\n"`) + "\n"
	codectest.BenchDecode(b, Codec{}, []byte(strings.Repeat(line, 1000)+last))
}
