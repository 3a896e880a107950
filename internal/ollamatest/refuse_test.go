package ollamatest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// windowOf returns the window of the model as the server tells it.
func (s server) windowOf(t *testing.T) int {
	t.Helper()
	window, err := s.open(t, "ollama").Window(context.Background(), s.model)
	if err != nil || window <= 0 {
		t.Fatalf("window: want one, got %d, %v", window, err)
	}
	if window > 4096 {
		t.Skipf("the model's window of %d tokens takes too long to fill", window)
	}
	return window
}

// tooMuch returns a text of more tokens than window: a word has one at least.
func tooMuch(window int) string { return strings.Repeat("word ", window+window/4) }

// A request made here is refused if it does not fit, streamed or not; its beginning is not dropped.
func TestPromptTooLong(t *testing.T) {
	s := serverOf(t)
	d := s.open(t, "ollama")
	r := request(s.model, tooMuch(s.windowOf(t)))
	_, whole := d.Complete(context.Background(), r)
	_, streamed := d.listen(r)
	for _, err := range []error{whole, streamed} {
		if _, _, ok := client.TooLong(err); !ok {
			t.Errorf("error: want too long, got %v", err)
		}
	}
}

// Where the dialect cannot say that nothing may be dropped, or a body says otherwise, the server drops
// what does not fit without a word: usage shows the window. Only a count before the call can prevent it.
func TestPromptCutInSilence(t *testing.T) {
	s := serverOf(t)
	window := s.windowOf(t)
	for _, provider := range doors() {
		t.Run(provider, func(t *testing.T) {
			d := s.open(t, provider)
			r := request(s.model, tooMuch(window))
			if provider == "ollama" {
				r = d.read(t, fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}],"truncate":true}`, s.model, tooMuch(window)))
			}
			r.MaxOutput = 2
			if got := d.complete(t, r); got.Usage.Prompt() != window {
				t.Errorf("prompt: want what was left of it, %d, got %d", window, got.Usage.Prompt())
			}
		})
	}
}

// A reply that grows beyond the window: the server drops the middle of the conversation while it writes,
// without a word, unless the body forbids it; then the reply has met its limit.
func TestWindowShiftsInSilence(t *testing.T) {
	s := serverOf(t)
	window := s.windowOf(t)
	d := s.open(t, "ollama")
	body := `{"model":%q,"messages":[{"role":"user","content":%q}],"stream":false,"truncate":false,"shift":%t,` +
		`"options":{"num_predict":40,"temperature":0},"format":{"const":"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22"}}`
	ask := func(shift bool) llm.Response {
		return d.complete(t, d.read(t, fmt.Sprintf(body, s.model, strings.Repeat("word ", window-30), shift)))
	}
	if r := ask(true); r.Usage.Prompt() > window || r.Usage.Total() <= window {
		t.Errorf("with shift: want a prompt within %d and more with the reply, got %+v", window, r.Usage)
	}
	if r := ask(false); r.Stop != llm.StopLength || r.Usage.Total() > window+1 {
		t.Errorf("without shift: want a stop at the window of %d, got %v, %+v", window, r.Stop, r.Usage)
	}
}

// What the server tells about windows and counts.
func TestWindowAndCount(t *testing.T) {
	s := serverOf(t)
	s.windowOf(t)
	ctx := context.Background()
	for _, provider := range []string{"openai-compatible", "anthropic"} {
		if n, err := s.open(t, provider).Window(ctx, s.model); err == nil {
			t.Errorf("%s: window: want an error, since the server does not tell it there, got %d", provider, n)
		}
	}
	_, err := s.open(t, "anthropic").CountTokens(ctx, request(s.model, "Hi."))
	if e := refusal(t, err); e.Class != wire.NotFound {
		t.Errorf("count: want not found, got %v", e)
	}
}

// A model that is not there.
func TestUnknownModel(t *testing.T) {
	s := serverOf(t)
	for _, provider := range doors() {
		t.Run(provider, func(t *testing.T) {
			d := s.open(t, provider)
			_, whole := d.Complete(context.Background(), request("no-such-model", "Hi."))
			_, streamed := d.listen(request("no-such-model", "Hi."))
			for _, err := range []error{whole, streamed} {
				if e := refusal(t, err); e.Class != wire.NotFound || e.Status != http.StatusNotFound {
					t.Errorf("error: want not found, got %v", e)
				}
			}
		})
	}
	t.Run("window", func(t *testing.T) {
		_, err := s.open(t, "ollama").Window(context.Background(), "no-such-model")
		if e := refusal(t, err); e.Class != wire.NotFound {
			t.Errorf("error: want not found, got %v", e)
		}
	})
}

// An image for a model that cannot see: refused with an error of its own, or taken; nothing else.
func TestImageForAModelThatCannotSee(t *testing.T) {
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	s := serverOf(t)
	d := s.open(t, "ollama")
	image := d.read(t, `{"model":"m","messages":[{"role":"user","content":"What is this?","images":["`+dot+`"]}]}`).Messages[0]
	for _, provider := range doors() {
		t.Run(provider, func(t *testing.T) {
			d := s.open(t, provider)
			r := request(s.model, "")
			r.MaxOutput, r.Messages = 2, []llm.Message{image}
			_, err := d.Complete(context.Background(), r)
			t.Logf("image: %v", err)
			if _, typed := errors.AsType[*wire.Error](err); err != nil && !typed {
				t.Errorf("error: want none or the server's own, got %v", err)
			}
		})
	}
}

// Bodies that are wrong, and the class of what the server answers.
func TestWrongBodies(t *testing.T) {
	s := serverOf(t)
	for name, c := range map[string]struct {
		body  string
		class wire.Class
	}{
		"an image that is not base64":    {`{"model":%q,"messages":[{"role":"user","content":"x","images":["!!"]}]}`, wire.BadRequest},
		"thinking of a plain model":      {`{"model":%q,"messages":[{"role":"user","content":"x"}],"think":true}`, wire.BadRequest},
		"an option of a wrong type":      {`{"model":%q,"messages":[{"role":"user","content":"x"}],"options":{"num_ctx":"many"}}`, wire.BadRequest},
		"a form that is no schema":       {`{"model":%q,"messages":[{"role":"user","content":"x"}],"format":"yaml"}`, wire.BadRequest},
		"a grade of thinking it has not": {`{"model":%q,"messages":[{"role":"user","content":"x"}],"think":"high"}`, wire.BadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := s.post(t, "/api/chat", fmt.Sprintf(c.body, s.model))
			e := s.open(t, "ollama").codec.DecodeError(status, body)
			if status < http.StatusBadRequest || e.Class != c.class {
				t.Errorf("answer %d: want an error that is a %v, got %v\n%s", status, c.class, e, body)
			}
		})
	}
}
