package gemini

import (
	"fmt"
	"strings"
	"testing"
)

// The open part may hold so much, however the stream goes on.
func TestOpenPartIsBounded(t *testing.T) {
	part := func(p string) string { return `data: {"candidates":[{"content":{"parts":[` + p + `]}}]}` + "\n\n" }
	long := strings.Repeat("x", 1000)
	text := strings.Repeat(part(`{"text":"`+long+`"}`), 100)
	args := part(`{"functionCall":{"name":"f","willContinue":true}}`)
	gaps := args
	for i := range 100 {
		args += part(fmt.Sprintf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.x","stringValue":"%s","willContinue":true}],"willContinue":true}}`, long))
		gaps += part(fmt.Sprintf(`{"functionCall":{"partialArgs":[{"jsonPath":"$.x[%d]","numberValue":1}],"willContinue":true}}`, 16*i))
	}
	closed := strings.Repeat(part(`{"text":"`+long+`"}`)+part(`{"functionCall":{"name":"f","args":{}}}`), 100)
	for name, stream := range map[string]string{"text": text, "arguments": args, "gaps": gaps, "parts that end": closed} {
		d := newDecoder()
		d.held.Most = 40_000
		_, err := d.Feed([]byte(stream))
		if full := err != nil && strings.Contains(err.Error(), "want at most 40000 bytes"); full != (name != "parts that end") || !full && err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
