package openai

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// Whatever reads as a reply is written back byte for byte, and from its fields as JSON.
func FuzzResponse(f *testing.F) {
	codectest.Fuzz(f, func(t codectest.T, body []byte) {
		for _, c := range codecs() {
			c.AnyReply(t, body)
		}
	}, chatBody, responsesBody, compactedBody, `{"choices":[{"message":{"content":[{"type":"text","text":"x"}],"audio":{"id":"a","data":"x"}}}]}`, `{"output":[{"role":"user","content":"x"}]}`)
}

// Events do not depend on how a stream is cut, are well formed, and can be written.
func FuzzStream(f *testing.F) {
	for _, s := range ownStreams() {
		f.Add(s.bytes, uint(len(s.bytes)/2))
	}
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{}},{\"index\":0,\"id\":\"b\"}]}}]}\n\ndata: [DONE]\n\n"), uint(9))
	nameless := func(p llm.Part) bool { c, ok := p.(llm.ToolCall); return ok && c.Name == "" }
	f.Fuzz(func(t *testing.T, stream []byte, cut uint) {
		for _, c := range codecs() {
			c.Contradicts = c.Dialect() == DialectResponses // what ends an item may contradict what began it
			want, again := c.AnyStream(t, stream, cut)
			if d := codectest.Diff(told(want), told(again)); d != "" && !c.Contradicts && !slices.ContainsFunc(told(want), nameless) {
				t.Fatal(d)
			}
		}
	})
}

// told returns the texts and calls that events tell.
func told(events []llm.Event) []llm.Part {
	var all []llm.Part
	for _, e := range events {
		if e.Kind == llm.EventPartEnd {
			switch p := e.Part.(type) {
			case llm.Text, llm.ToolCall:
				all = append(all, p)
			}
		}
	}
	return all
}

// What another codec of this package writes of a stream tells the same texts and calls.
func TestLawStreamInTheOtherFormat(t *testing.T) {
	eachStream(t, func(t *testing.T, s streamed) {
		other := codecs()[0]
		if s.codec.Dialect() == other.Dialect() {
			other = codecs()[1]
		}
		events := codectest.Events(t, s.codec, s.bytes)
		again := codectest.Events(t, other, codectest.Encoded(t, other, events))
		other.InOrder(t, again)
		if d := codectest.Diff(gist(events), gist(again)); d != "" {
			t.Error(d)
		}
	})
}

// gist returns the whole text that events tell, and their calls but those of the provider.
// Ids are left out: there are servers that give an item another id at its end.
func gist(events []llm.Event) []string {
	text := ""
	var calls []string
	for _, p := range told(events) {
		switch p := p.(type) {
		case llm.Text:
			text += strings.ReplaceAll(p.Text, "\n", "")
		case llm.ToolCall:
			if !p.Hosted {
				calls = append(calls, p.Name+" "+p.Args)
			}
		}
	}
	return append(calls, text)
}

func FuzzError(f *testing.F) {
	f.Add(400, []byte(fault("maximum context length is 8 tokens (9 in the messages, 1 in the completion). try again in 1s", "x", "5")))
	f.Add(0, []byte(`[{"error":{"metadata":{"raw":"{\"detail\":[{\"msg\":\"x\"}]}"}}}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if s := codectest.AnyError(t, Chat{}, status, body); s < 400 {
			t.Fatalf("got status %d", s)
		}
	})
}
