package ollama

import (
	"strings"
	"testing"
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
		d.held.Most = 40_000
		_, err := d.Feed([]byte(stream))
		if full := err != nil && strings.Contains(err.Error(), "want at most 40000 bytes"); full != (name != "parts that end") || !full && err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
