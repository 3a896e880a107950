package openai

import (
	"errors"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// An error that ends a stream is read back as one of the same class, wherever it comes.
func TestAppendError(t *testing.T) {
	events := []llm.Event{
		{Kind: llm.EventStart, ID: "r1", Model: "m"},
		{Kind: llm.EventPartStart, Part: llm.Text{}},
		{Kind: llm.EventDelta, Delta: llm.DeltaText, Text: "a\n"},
		{Kind: llm.EventPartEnd, Part: llm.Text{Text: "a\n"}},
		{Kind: llm.EventPartStart, Index: 1, Part: llm.Text{}},
	}
	came := map[llm.Dialect]string{
		DialectChat:      "{\"error\": {\n\"message\":\"slow\",\"code\":429}}",
		DialectResponses: "{\"type\":\"error\",\n\"code\":\"rate_limit_exceeded\",\"message\":\"slow\",\"param\":null,\"sequence_number\":90}",
	}
	for _, c := range []interface {
		wire.Codec
		wire.Streamer
	}{Chat{}, Responses{}} {
		for _, e := range []wire.Error{
			{Class: wire.Overloaded, Message: "full"},
			{Class: wire.TooLong, Used: 5, Window: 4},
			{Class: wire.RateLimited, Body: []byte(came[c.Dialect()])},
			{Class: wire.ServerFault, Message: "foreign", Body: []byte(`{"type":"other"}`)},
		} {
			for n := range len(events) + 1 {
				w := c.NewEncoder()
				var out []byte
				for _, x := range events[:n] {
					var err error
					if out, err = w.Append(out, x); err != nil {
						t.Fatal(err)
					}
				}
				out = w.AppendError(out, &e)
				_, err := c.NewDecoder().Feed(out)
				var got *wire.Error
				if !errors.As(err, &got) || got.Class != e.Class {
					t.Errorf("%s after %d events: want %v, got %v in %s", c.Dialect(), n, e.Class, err, out)
				}
				if _, err := w.Append(nil, llm.Event{Kind: llm.EventEnd}); err == nil {
					t.Errorf("%s: want nothing to be appended after an error", c.Dialect())
				}
			}
		}
	}
}
