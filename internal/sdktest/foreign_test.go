package sdktest

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// TestForeignSignature: a proof that another provider made is no proof here, and its
// alphabet may be one that the SDK does not read. It must not reach the program, whether
// the reply comes whole or streamed.
func TestForeignSignature(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := said{
		parts: []llm.Part{llm.Thinking{Text: "Is it?", Signature: "gAAAAABn-_x~"}, llm.Text{Text: "It is."}},
		stop:  llm.StopEnd, usage: llm.Usage{Input: 1, Output: 1},
	}
	for to, ear := range listeners() {
		from := codecOf(t, "openai-responses")
		if to == from.Dialect() {
			from = codecOf(t, "anthropic")
		}
		t.Run(string(from.Dialect())+" to "+string(to), func(t *testing.T) {
			p := across(t, from, codecOf(t, to), c)
			dialect, ok := known.Dialect(to)
			if !ok {
				t.Fatalf("catalogue, want the dialect %s, got none", to)
			}
			p.reply = convert.Response(p.reply, dialect).Response
			url := p.start()
			t.Run("whole", func(t *testing.T) { unsigned(t, ear.whole(t, url)) })
			t.Run("streamed", func(t *testing.T) { unsigned(t, ear.stream(t, url)) })
		})
	}
}

func unsigned(t *testing.T, h heard) {
	t.Helper()
	if h.Text != "It is." {
		t.Errorf("text, got %q", h.Text)
	}
	for _, th := range h.Thoughts {
		if th.Signature != "" {
			t.Errorf("thinking, want no foreign signature, got %q", th.Signature)
		}
	}
}
