package gateway

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// TestEndlessLine: of a line that does not end no more is kept than of a reply; it passes
// as it is, and the lines behind it have their figures again.
func TestEndlessLine(t *testing.T) {
	v := &clientView{dialect: anthropic.Dialect, add: 100}
	chunk := bytes.Repeat([]byte("a"), 1<<20)
	passed, held := 0, 0
	for range 3 * mostLine / len(chunk) {
		passed += len(v.lines(chunk))
		held = max(held, len(v.line))
	}
	if want := 3 * mostLine; held > mostLine || passed != want {
		t.Errorf("%d bytes were held and %d passed on, want at most %d and %d", held, passed, mostLine, want)
	}
	const usage = "data: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":7}}\n"
	want := "\n" + strings.ReplaceAll(usage, "7", "107")
	if got := string(v.lines([]byte("\n"+usage))) + string(v.rest()); got != want {
		t.Errorf("got %.200q, want %q", got, want)
	}
}
