package gateway

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
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

// TestClientViewOfLists: of a stream that is one list every reply has its figures, however
// it is written and wherever it is cut; all else keeps its bytes.
func TestClientViewOfLists(t *testing.T) {
	for name, stream := range map[string]string{
		"many lines": "\r\n[{\r\n  \"candidates\": [{\"content\": {\"parts\": [{\"text\": \"} \\\\\"}]}}],\r\n  \"usageMetadata\": {\r\n" +
			"    \"promptTokenCount\": FIGURE,\r\n    \"candidatesTokenCount\": 7,\r\n    \"totalTokenCount\": FIGURE\r\n  }\r\n}\r\n,\r\n" +
			"{\r\n  \"candidates\": [{\"content\": {\"parts\": [{\"text\": \"]} \\\"usageMetadata\\\": {\\\"promptTokenCount\\\": 7}, [{\"}]}}]\r\n}\r\n,\r\n" +
			"{\r\n  \"usageMetadata\": {\r\n    \"promptTokenCount\": FIGURE\r\n  }\r\n}\r\n]\r\n",
		"one line":   `[{"usageMetadata":{"promptTokenCount":FIGURE}},{"candidates":[]},{"usageMetadata":{"promptTokenCount":FIGURE}}]`,
		"broken off": "[{\n  \"usageMetadata\": {\n    \"promptTokenCount\": FIGURE\n  }\n},\n{\n  \"candidates\": [{\"content\"",
	} {
		sent, want := strings.ReplaceAll(stream, "FIGURE", "7"), strings.ReplaceAll(stream, "FIGURE", "107")
		for _, size := range []int{1, 3, 50, len(sent)} {
			v := &clientView{dialect: gemini.Dialect, add: 100}
			var got []byte
			for chunk := range slices.Chunk([]byte(sent), size) {
				got = append(got, v.lines(chunk)...)
			}
			if got = append(got, v.rest()...); string(got) != want {
				t.Errorf("%s, %d bytes at a time: got %q, want %q", name, size, got, want)
			}
		}
	}
}
