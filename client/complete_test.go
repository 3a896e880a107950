package client_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Every provider is asked at its own address, with its own key, and understood.
func TestProviders(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.provider, func(t *testing.T) {
			var path, key, body string
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				name, _, _ := strings.Cut(s.keyHeader, ":")
				b, _ := io.ReadAll(r.Body)
				path, key, body = r.URL.RequestURI(), name+": "+r.Header.Get(name), string(b)
				if r.Header.Get("Content-Type") != "application/json" || r.Header.Get("User-Agent") != "plimsoll" {
					t.Errorf("head %v", r.Header)
				}
				if path == s.stream && strings.Contains(body+path, `"stream":true`) || strings.Contains(path, "alt=sse") {
					answer(w, 200, s.eventsType, s.events)
					return
				}
				answer(w, 200, "application/json", s.reply)
			})
			c := dial(t, s, url, client.Options{})
			reply, err := c.Complete(t.Context(), question())
			wantReply(t, reply, err)
			if path != s.complete || key != s.keyHeader {
				t.Errorf("got %s, %s, want %s, %s", path, key, s.complete, s.keyHeader)
			}
			contains(t, body, "Say hello.")
			reply, err = collect(t, t.Context(), c)
			wantReply(t, reply, err)
			if path != s.stream || key != s.keyHeader {
				t.Errorf("got %s, %s, want %s, %s", path, key, s.stream, s.keyHeader)
			}
		})
	}
}

// A provider may stream where a whole reply was asked for, and the other way round.
func TestOtherForm(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.provider, func(t *testing.T) {
			streaming := dial(t, s, serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, s.eventsType, s.events) }), client.Options{})
			reply, err := streaming.Complete(t.Context(), question())
			wantReply(t, reply, err)
			whole := dial(t, s, serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, "application/json", s.reply) }), client.Options{})
			reply, err = collect(t, t.Context(), whole)
			wantReply(t, reply, err)
		})
	}
}

// A content type that says nothing is taken for what was asked for.
func TestNoContentType(t *testing.T) {
	s := chatShape()
	for _, kind := range []string{"", "text/plain", "wrong//type"} {
		c := dial(t, s, serve(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			body := s.reply
			if strings.Contains(string(b), `"stream":true`) {
				body = s.events
			}
			answer(w, 200, kind, body)
		}), client.Options{})
		reply, err := c.Complete(t.Context(), question())
		wantReply(t, reply, err)
		reply, err = collect(t, t.Context(), c)
		wantReply(t, reply, err)
	}
}

func TestCompressed(t *testing.T) {
	s := anthropicShape()
	c := dial(t, s, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("no compression offered")
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(s.reply))
		_ = z.Close()
	}), client.Options{})
	reply, err := c.Complete(t.Context(), question())
	wantReply(t, reply, err)
}

// A prompt that is too long is told with the figures that the provider states, so that
// the engine learns its window.
func TestTooLong(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.provider, func(t *testing.T) {
			tries := 0
			c := dial(t, s, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				tries++
				answer(w, 400, "application/json", s.tooLong)
			}), client.Options{})
			_, err := c.Complete(t.Context(), question())
			used, window, ok := client.TooLong(err)
			if !ok || used != s.used || window != s.window || tries != 1 {
				t.Errorf("too long %v, used %d, window %d after %d attempts, want %d, %d after 1: %v", ok, used, window, tries, s.used, s.window, err)
			}
			e, ok := errors.AsType[*client.Error](err)
			if !ok || e.Provider != s.provider || e.Model != "m-1" || e.Op != "complete" || e.Attempts != 1 {
				t.Errorf("got %+v", e)
			}
			contains(t, err.Error(), "client: complete: "+s.provider+"/m-1: ")
		})
	}
	if _, _, ok := client.TooLong(errors.New("something else")); ok {
		t.Error("anything is too long")
	}
}

// Some gateways answer 200 and an error.
func TestErrorInSuccess(t *testing.T) {
	s := chatShape()
	c := dial(t, s, serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, "application/json", s.tooLong) }), client.Options{})
	_, err := c.Complete(t.Context(), question())
	if used, window, ok := client.TooLong(err); !ok || used != s.used || window != s.window {
		t.Errorf("whole: got %v", err)
	}
	_, err = collect(t, t.Context(), c)
	if _, _, ok := client.TooLong(err); !ok {
		t.Errorf("stream: got %v", err)
	}
}

// What is no reply is an error at once.
func TestNoReply(t *testing.T) {
	tries := 0
	c := dial(t, anthropicShape(), serve(t, func(w http.ResponseWriter, _ *http.Request) {
		tries++
		answer(w, 200, "text/html", "<html>Sign in to the network</html>")
	}), client.Options{})
	if _, err := c.Complete(t.Context(), question()); err == nil || tries != 1 {
		t.Errorf("got %v after %d attempts", err, tries)
	}
}

// What a server sends when the model gave up is not taken for a reply.
func TestReplyWithoutEnd(t *testing.T) {
	tries := 0
	c := dial(t, chatShape(), serve(t, func(w http.ResponseWriter, _ *http.Request) {
		tries++
		answer(w, 200, "application/json", `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"no no"},"finish_reason":null}]}`)
	}), client.Options{})
	if _, err := c.Complete(t.Context(), question()); !errors.Is(err, wire.ErrCut) || tries != 1 {
		t.Errorf("want %v at once, got %v after %d attempts", wire.ErrCut, err, tries)
	}
}

// An error body of any size is bounded, and the request's id is kept.
func TestErrorBody(t *testing.T) {
	c := dial(t, anthropicShape(), serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Request-Id", "req_7")
		w.WriteHeader(400)
		chunk := []byte(strings.Repeat("x", 1<<16))
		for range 32 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}), client.Options{})
	_, err := c.Complete(t.Context(), question())
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || len(e.Body) > 1<<20 || e.RequestID != "req_7" || e.Status != 400 {
		t.Fatalf("got %v", err)
	}
	if len(err.Error()) > 2000 {
		t.Errorf("the message has %d bytes", len(err.Error()))
	}
}

// A reply that does not end is bounded, and not asked for again.
func TestReplyBound(t *testing.T) {
	c, s := scripted(t, client.Options{}, says(200, "application/json", `{"id":"`+strings.Repeat("x", 5000)+`"}`))
	c.BoundReply(4096)
	if _, err := c.Complete(t.Context(), question()); err == nil || !strings.Contains(err.Error(), "want at most 4096 bytes") || len(s.times) != 1 || s.open != 0 {
		t.Errorf("whole: got %v after %d attempts", err, len(s.times))
	}
	if _, err := collect(t, t.Context(), c); err == nil || !strings.Contains(err.Error(), "want at most 4096 bytes") || len(s.times) != 2 || s.open != 0 {
		t.Errorf("stream: got %v after %d attempts", err, len(s.times)-1)
	}
}

// Requests that cannot be made are told without making one.
func TestNotSent(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	c := dial(t, anthropicShape(), url, client.Options{})
	if _, err := c.Complete(t.Context(), llm.Request{}); err == nil || !strings.Contains(err.Error(), "model, want one") {
		t.Errorf("no model: %v", err)
	}
	for _, err := range c.Stream(t.Context(), llm.Request{}) {
		if err == nil || !strings.Contains(err.Error(), "model, want one") {
			t.Errorf("no model: %v", err)
		}
	}
	chat := dial(t, chatShape(), url, client.Options{})
	_, err := chat.CountTokens(t.Context(), question())
	if e, ok := errors.AsType[*client.UnsupportedError](err); !ok || e.What != "count tokens" {
		t.Errorf("count: %v", err)
	}
	_, err = dial(t, responsesShape(), url, client.Options{}).Window(t.Context(), "m-1")
	if _, ok := errors.AsType[*client.UnsupportedError](err); !ok {
		t.Errorf("window: %v", err)
	}
}

// New refuses what cannot be asked, or what would give a key away.
func TestNew(t *testing.T) {
	good, _ := client.Lookup("openai")
	for name, change := range map[string]func(*client.Provider){
		"dialect":         func(p *client.Provider) { p.Dialect = "telegraph" },
		"header":          func(p *client.Provider) { p.Headers = map[string]string{"authorization": "Bearer x"} },
		"other header":    func(p *client.Provider) { p.Headers = map[string]string{"X-API-Key": "x"} },
		"query parameter": func(p *client.Provider) { p.Query = map[string]string{"key": "x"} },
		"base URL":        func(p *client.Provider) { p.BaseURL = "ftp://host/" },
		"password":        func(p *client.Provider) { p.BaseURL = "https://user:pa55word@host/v1" },
		"fragment":        func(p *client.Provider) { p.BaseURL = "https://host/v1#x" },
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			change(&p)
			_, err := client.New(p, client.Options{Env: env()})
			if err == nil {
				t.Fatal("want an error")
			}
			if strings.Contains(err.Error(), "pa55word") || strings.Contains(err.Error(), "Bearer x") {
				t.Errorf("the error repeats a secret: %v", err)
			}
		})
	}
	for _, name := range []string{"openai-compatible", "azure"} {
		p, _ := client.Lookup(name)
		_, err := client.New(p, client.Options{Env: env()})
		if e, ok := errors.AsType[*client.BaseURLError](err); !ok || len(e.Env) == 0 {
			t.Errorf("%s without a base URL: %v", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		provider string
		env      []string
		model    string
		want     string
	}{
		{"anthropic", []string{"ANTHROPIC_BASE_URL", "http://h/"}, "m", "http://h/v1/messages"},
		{"anthropic", []string{"ANTHROPIC_BASE_URL", "http://h/proxy/v1/"}, "m", "http://h/proxy/v1/messages"},
		{"anthropic", []string{"ANTHROPIC_BASE_URL", "http://h/v1/messages"}, "m", "http://h/v1/messages"},
		{"anthropic", []string{"ANTHROPIC_BASE_URL", "http://h/my-v1"}, "m", "http://h/my-v1/v1/messages"},
		{"anthropic", []string{"ANTHROPIC_BASE_URL", "http://h/?tenant=a%20b"}, "m", "http://h/v1/messages?tenant=a+b"},
		{"openai", []string{"OPENAI_BASE_URL", "http://h/v1"}, "m", "http://h/v1/responses"},
		{"openai-chat", []string{"OPENAI_BASE_URL", "http://h/v1/"}, "m", "http://h/v1/chat/completions"},
		{"gemini", []string{"GOOGLE_GEMINI_BASE_URL", "http://h"}, "models/m 1", "http://h/v1beta/models/m%201:generateContent"},
		{"gemini", []string{"GOOGLE_GEMINI_BASE_URL", "http://h/v1beta"}, "../m", "http://h/v1beta/models/..%2Fm:generateContent"},
		{"ollama", []string{"OLLAMA_HOST", "h:1"}, "m", "http://h:1/api/chat"},
		{"ollama", []string{"OLLAMA_HOST", "0.0.0.0"}, "m", "http://127.0.0.1:11434/api/chat"},
		{"ollama", []string{"OLLAMA_HOST", ":99"}, "m", "http://127.0.0.1:99/api/chat"},
		{"ollama", []string{"OLLAMA_HOST", "https://h/"}, "m", "https://h/api/chat"},
		{"openrouter", []string{"OPENROUTER_BASE_URL", "http://h/api/v1"}, "maker/m", "http://h/api/v1/chat/completions"},
		{"azure", []string{"AZURE_OPENAI_ENDPOINT", "http://h/"}, "d", "http://h/openai/v1/chat/completions"},
		{"azure", []string{"AZURE_OPENAI_ENDPOINT", "http://h/openai/v1/"}, "d", "http://h/openai/v1/chat/completions"},
		{"azure", []string{"AZURE_OPENAI_ENDPOINT", "http://h", "OPENAI_API_VERSION", "2024-10-21"}, "d/e", "http://h/openai/deployments/d%2Fe/chat/completions?api-version=2024-10-21"},
		{"azure", []string{"AZURE_OPENAI_ENDPOINT", "http://h?api-version=v"}, "d", "http://h/openai/deployments/d/chat/completions?api-version=v"},
		{"azure-responses", []string{"AZURE_OPENAI_ENDPOINT", "http://h"}, "d", "http://h/openai/v1/responses"},
		{"azure-responses", []string{"AZURE_OPENAI_ENDPOINT", "http://h", "AZURE_OPENAI_API_VERSION", "v"}, "d", "http://h/openai/responses?api-version=v"},
	} {
		t.Run(fmt.Sprint(c.provider, c.env, c.model), func(t *testing.T) {
			var got string
			s := &script{answers: answers{{func(r *http.Request) (*http.Response, error) {
				got = r.URL.String()
				return says(404, "text/plain", "none").do(r)
			}}}}
			p, _ := client.Lookup(c.provider)
			p.KeyOptional = true
			cl, err := client.New(p, client.Options{Env: env(c.env...), HTTP: &http.Client{Transport: s}})
			if err != nil {
				t.Fatal(err)
			}
			r := question()
			r.Model = c.model
			if _, err := cl.Complete(t.Context(), r); err == nil {
				t.Error("want the error of the answer")
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Headers and query parameters of a provider go out; the key is not theirs to state.
func TestHeaders(t *testing.T) {
	p, _ := client.Lookup("anthropic")
	p.Headers["x-team"], p.Headers["anthropic-beta"] = "blue", "b-1, b-2"
	p.Query = map[string]string{"beta": "true"}
	var head http.Header
	var uri string
	p.BaseURL = serve(t, func(w http.ResponseWriter, r *http.Request) {
		head, uri = r.Header, r.URL.RequestURI()
		answer(w, 200, "application/json", anthropicShape().reply)
	})
	c, err := client.New(p, client.Options{Env: env("ANTHROPIC_API_KEY", " k-123\n", "ANTHROPIC_AUTH_TOKEN", "t-9"), UserAgent: "plimsoll/1"})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := c.Complete(t.Context(), question())
	wantReply(t, reply, err)
	for name, want := range map[string]string{
		"X-Team": "blue", "Anthropic-Beta": "b-1,b-2", "Anthropic-Version": "2023-06-01", "User-Agent": "plimsoll/1",
		"Authorization": "Bearer t-9", "X-Api-Key": "", // one key only: the special one
	} {
		if got := head.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if uri != "/v1/messages?beta=true" {
		t.Errorf("address %s", uri)
	}
	again, _ := client.Lookup("anthropic")
	if again.Headers["x-team"] != "" {
		t.Error("a caller changed the table")
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string][2]string{
		"anthropic/claude-sonnet-4-5":        {"anthropic", "claude-sonnet-4-5"},
		"openrouter/anthropic/claude-opus-5": {"openrouter", "anthropic/claude-opus-5"},
		"gpt-5":                              {"gpt-5", ""},
		"openai/":                            {"openai", ""},
		"/gpt-5":                             {"", "gpt-5"},
	} {
		provider, model, ok := client.Split(name)
		if provider != want[0] || model != want[1] || ok != (want[0] != "" && want[1] != "") {
			t.Errorf("Split(%q) = %q, %q, %v", name, provider, model, ok)
		}
	}
	for _, name := range client.Names() {
		if _, ok := client.Lookup(name); !ok {
			t.Errorf("%s is named and not known", name)
		}
	}
}
