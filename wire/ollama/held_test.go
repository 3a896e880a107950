package ollama

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// The open part may hold so much, however the stream goes on.
func TestOpenPartIsBounded(t *testing.T) {
	line := func(member string) string {
		return `{"model":"m","message":{"role":"assistant","` + member + `":"` + strings.Repeat("x", 1000) + `"},"done":false}` + "\n"
	}
	for name, stream := range map[string]string{
		"text": strings.Repeat(line("content"), 100), "thinking": strings.Repeat(line("thinking"), 100),
		"parts that end": strings.Repeat(line("content")+line("thinking"), 100),
	} {
		d := newDecoder()
		d.held.Most = codectest.Most
		_, err := d.Feed([]byte(stream))
		codectest.Holds(t, name, err, name != "parts that end")
	}
}
