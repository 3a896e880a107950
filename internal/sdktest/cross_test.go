package sdktest

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"google.golang.org/genai"
)

// A listener asks a server with one SDK and returns what it gave.
type listener struct {
	whole  func(t *testing.T, url string) heard
	stream func(t *testing.T, url string) heard
	stops  map[llm.Stop]string
}

func listeners() map[llm.Dialect]listener {
	return map[llm.Dialect]listener{
		"anthropic": {
			func(t *testing.T, url string) heard { return anthropicHeard(t, anthropicAsk(t, url)) },
			func(t *testing.T, url string) heard {
				return anthropicHeard(t, anthropicStream(t, url, anthropicParams()))
			},
			asWords(anthropicStops),
		},
		"openai-chat": {
			func(t *testing.T, url string) heard { return chatHeard(t, chatAsk(t, url)) },
			func(t *testing.T, url string) heard { return chatHeard(t, chatStream(t, url).completion) },
			chatStops,
		},
		"openai-responses": {
			func(t *testing.T, url string) heard { return responsesHeard(t, responsesAsk(t, url)) },
			func(t *testing.T, url string) heard { return responsesHeard(t, responsesStream(t, url).gathered) },
			responsesStops,
		},
		"gemini": {
			func(t *testing.T, url string) heard { return geminiHeard(t, geminiWhole(t, url)) },
			func(t *testing.T, url string) heard { return geminiHeard(t, geminiStream(t, url)) },
			asWords(geminiStops),
		},
	}
}

func asWords[S ~string](stops map[llm.Stop]S) map[llm.Stop]string {
	out := map[llm.Stop]string{}
	for k, v := range stops {
		out[k] = string(v)
	}
	return out
}

func geminiWhole(t *testing.T, url string) []*genai.GenerateContentResponse {
	t.Helper()
	r, err := geminiClient(t, url).Models.GenerateContent(t.Context(), "test-model-1", genai.Text("Go on."), nil)
	if err != nil {
		t.Fatalf("generate: %v", err)
	}
	return []*genai.GenerateContentResponse{r}
}

// TestAcrossDialects: a reply that one provider wrote reaches a program that is built on
// another provider's SDK, streamed and whole.
func TestAcrossDialects(t *testing.T) {
	for from := range listeners() {
		for to, ear := range listeners() {
			if from == to {
				continue
			}
			for _, c := range crossing() {
				t.Run(string(from)+" to "+string(to)+"/"+c.name, func(t *testing.T) {
					p := across(t, codecOf(t, from), codecOf(t, to), c)
					url := p.start()
					want := crossed(t, c, to, from, ear.stops[c.stop])
					same(t, "whole", want, plainly(to, ear.whole(t, url)))
					same(t, "streamed", want, plainly(to, ear.stream(t, url)))
				})
			}
		}
	}
}

// crossing are the replies that go from one dialect to another.
func crossing() []said {
	var out []said
	for _, c := range append(replies(), thinking(func(s string) string { return "c2lnbmVk" + s })...) {
		if c.parts != nil {
			out = append(out, c)
		}
	}
	return out
}

// across writes the reply in one dialect, as its provider would, and then in the other.
func across(t *testing.T, from, to codecs.Full, c said) *provider {
	t.Helper()
	p := &provider{t: t, codec: from, reply: c.response(from.Dialect())}
	body, stream := p.whole(), p.streamed()
	r, err := from.DecodeResponse(body)
	if err != nil {
		t.Fatalf("decode: %v\n%s", err, body)
	}
	out := &provider{t: t, codec: to, reply: r}
	known, err := catalog.Load()
	if err != nil {
		t.Fatalf("catalogue: %v", err)
	}
	dialect, ok := known.Dialect(to.Dialect())
	if !ok {
		t.Fatalf("catalogue, want the dialect %s, got none", to.Dialect())
	}
	if out.stream, _, err = convert.Stream(stream, from.NewDecoder(), to.NewEncoder(), dialect); err != nil {
		t.Fatalf("stream: %v", err)
	}
	return out
}

// crossed returns what must come through: all but thinking, which belongs to its provider,
// and what one of the two formats has no count for.
func crossed(t *testing.T, c said, to, from llm.Dialect, stop string) heard {
	t.Helper()
	h := c.expected(t, stop)
	h.Thoughts = nil
	if to == "gemini" || from == "gemini" {
		h.Usage.Input += h.Usage.CacheWrite5m
		h.Usage.CacheWrite5m = 0
	}
	if to == "gemini" {
		for i, call := range h.Calls {
			h.Calls[i].Args = floats(t, call.Args)
		}
	}
	return h
}

// plainly leaves out the thoughts: TestForeignSignature looks at them.
func plainly(to llm.Dialect, h heard) heard {
	h.Thoughts = nil
	if to == "gemini" {
		return withNoArgs(h)
	}
	return h
}
