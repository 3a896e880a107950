package gemini

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
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
		d.held.Most = codectest.Most
		_, err := d.Feed([]byte(stream))
		codectest.Holds(t, name, err, name != "parts that end")
	}
}
