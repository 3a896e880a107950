package client_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Mistakes of programs before this one that concern a client, by repository and number.
func TestPastFailures(t *testing.T) {
	t.Run("claude-relay-service-1027_compressed_stream", func(t *testing.T) {
		for _, s := range shapes() {
			t.Run(s.provider, func(t *testing.T) {
				c := dial(t, s, serve(t, compressed(200, s.eventsType, s.events)), client.Options{})
				reply, err := collect(t, t.Context(), c)
				wantReply(t, reply, err)
			})
		}
	})
	t.Run("claude-relay-service-1030_compressed_events_come_one_by_one", compressedEvents)
	t.Run("vm0-PR8903_usage_of_a_compressed_stream", func(t *testing.T) {
		s := anthropicShape()
		with := strings.NewReplacer(`"cache_read_input_tokens":0`, `"cache_read_input_tokens":4000`, `"usage":{"output_tokens":3}`, `"usage":{"output_tokens":77}`)
		c := dial(t, s, serve(t, compressed(200, s.eventsType, with.Replace(s.events))), client.Options{})
		reply, err := collect(t, t.Context(), c)
		if want := (llm.Usage{Input: replyInput, CacheRead: 4000, Output: 77}); err != nil || reply.Usage != want {
			t.Errorf("want %+v, got %+v, %v", want, reply.Usage, err)
		}
	})
	t.Run("superlocalmemory-PR79_compressed_error_is_passed_on_in_clear", func(t *testing.T) {
		for _, s := range shapes() {
			c := dial(t, s, serve(t, compressed(400, "application/json", s.tooLong)), client.Options{})
			_, err := c.Complete(t.Context(), question())
			e, ok := errors.AsType[*wire.Error](err)
			if !ok || e.Class != wire.TooLong || string(e.Body) != s.tooLong {
				t.Errorf("%s: want the body in clear, as no header goes with it any more, got %v", s.provider, err)
			}
		}
	})
	t.Run("new-api-4184_the_caller's_context_ends_the_request", func(t *testing.T) {
		for _, stream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				gone := false
				c := dial(t, anthropicShape(), "http://localhost", client.Options{HTTP: newMemory(t, func(_ http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					gone = true
				})})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() {
					_, err := reply(ctx, c, question(), stream)
					done <- err
				}()
				synctest.Wait() // the server has the request now
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("want the end of the context, got %v", err)
				}
				synctest.Wait()
				if !gone {
					t.Error("the provider goes on, and is paid for it")
				}
			})
		}
	})
	t.Run("bifrost-3357_usage_of_a_stream_that_was_left", func(t *testing.T) {
		for _, s := range []shape{anthropicShape(), geminiShape()} { // the others report at the end only
			c := dial(t, s, serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, s.eventsType, s.events) }), client.Options{})
			var got wire.Reply
			for e, err := range c.Stream(t.Context(), question()) {
				if err != nil {
					t.Fatal(err)
				}
				if got.Add(e); e.Kind == llm.EventDelta {
					break
				}
			}
			if usage := got.Response("").Usage; got.Ended() || usage.Input != replyInput {
				t.Errorf("%s: want the %d tokens of the prompt to be known, got %+v", s.provider, replyInput, usage)
			}
		}
	})
	t.Run("litellm-12854_a_whole_reply_where_a_stream_was_asked_for", func(t *testing.T) {
		for _, s := range shapes() {
			c := dial(t, s, serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, "application/json", s.reply) }), client.Options{})
			var kinds []string
			for e, err := range c.Stream(t.Context(), question()) {
				if err != nil {
					t.Fatalf("%s: %v", s.provider, err)
				}
				kinds = append(kinds, e.Kind.String())
			}
			if got := strings.Join(kinds, ", "); got != "start, part start, delta, part end, end" {
				t.Errorf("%s: want the events of a stream, got %s", s.provider, got)
			}
		}
	})
	t.Run("bifrost-2048_beta_headers_reach_the_provider", func(t *testing.T) {
		p, _ := client.Lookup("anthropic")
		p.Headers["anthropic-beta"] = "fine-grained-tool-streaming-2025-05-14"
		var got string
		p.BaseURL = serve(t, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Get("Anthropic-Beta")
			answer(w, 200, anthropicShape().eventsType, anthropicShape().events)
		})
		c, err := client.New(p, client.Options{Env: env("ANTHROPIC_API_KEY", "k-123")})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := collect(t, t.Context(), c)
		wantReply(t, reply, err)
		if got != "fine-grained-tool-streaming-2025-05-14" {
			t.Errorf("got %q", got)
		}
	})
}

// compressed answers in gzip, as is asked for by default.
func compressed(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			answer(w, 500, "text/plain", "no compression offered")
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, body)
		_ = z.Close()
	}
}

// The server sends the rest only when the client has had the first delta: whoever reads
// compressed streams to their end first would wait for ever.
func compressedEvents(t *testing.T) {
	s := anthropicShape()
	at := strings.Index(s.events, "event: content_block_stop")
	heard := make(chan struct{})
	c := dial(t, s, serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", s.eventsType)
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, s.events[:at])
		_ = z.Flush()
		_ = http.NewResponseController(w).Flush()
		select {
		case <-heard:
			_, _ = io.WriteString(z, s.events[at:])
			_ = z.Close()
		case <-r.Context().Done():
		}
	}), client.Options{})
	var got wire.Reply
	first := true
	for e, err := range c.Stream(t.Context(), question()) {
		if err != nil {
			t.Fatal(err)
		}
		if got.Add(e); e.Kind == llm.EventDelta && first {
			first = false
			close(heard)
		}
	}
	wantReply(t, got.Response(""), nil)
}
