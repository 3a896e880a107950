package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A cut stream is an error that says so, in every dialect and wherever it is cut; it is
// asked for again only if nothing of the reply was given.
func TestCut(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.provider, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for n := 0; n < len(s.events); n += 41 {
					for _, why := range []error{io.EOF, io.ErrUnexpectedEOF} {
						cutAt(t, s, n, why)
					}
				}
			})
		})
	}
}

func cutAt(t *testing.T, s shape, n int, why error) {
	t.Helper()
	sc := &script{answers: answers{saysCut(s.eventsType, s.events[:n], why), says(200, s.eventsType, s.events)}}
	c := dial(t, s, "http://model.internal", client.Options{HTTP: &http.Client{Transport: sc}})
	starts, ends := 0, 0
	var last error
	for e, err := range c.Stream(t.Context(), question()) {
		last = err
		switch e.Kind {
		case llm.EventStart:
			starts++
		case llm.EventEnd:
			ends++
		}
	}
	switch {
	case starts != 1:
		t.Errorf("cut at %d: the reply began %d times", n, starts)
	case ends == 1 && last != nil:
		t.Errorf("cut at %d: the reply was whole, and then: %v", n, last)
	case ends == 0 && !errors.Is(last, wire.ErrCut):
		t.Errorf("cut at %d: got %v", n, last)
	case ends == 0 && len(sc.times) != 1:
		t.Errorf("cut at %d: %d attempts though a part was given", n, len(sc.times))
	}
	if sc.open != 0 {
		t.Errorf("cut at %d: %d bodies were left open", n, sc.open)
	}
}

// A whole reply that is cut is asked for again.
func TestCutReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := scripted(t, client.Options{}, saysCut("application/json", anthropicShape().reply[:50], io.ErrUnexpectedEOF), good())
		reply, err := c.Complete(t.Context(), question())
		wantReply(t, reply, err)
		if len(s.times) != 2 || s.open != 0 {
			t.Errorf("%d attempts, %d bodies open", len(s.times), s.open)
		}
	})
}

// An error inside a stream counts as one in its place: before anything was given it may
// pass, behind it is the end.
func TestErrorInStream(t *testing.T) {
	const failure = "event: error\ndata: " + overloaded + "\n\n"
	synctest.Test(t, func(t *testing.T) {
		c, s := scripted(t, client.Options{}, says(200, "text/event-stream", failure), good())
		reply, err := collect(t, t.Context(), c)
		wantReply(t, reply, err)
		if len(s.times) != 2 {
			t.Errorf("%d attempts", len(s.times))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		events := anthropicShape().events
		c, s := scripted(t, client.Options{}, says(200, "text/event-stream", events[:strings.Index(events, "event: content_block_stop")]+failure), good())
		text := ""
		var last error
		for e, err := range c.Stream(t.Context(), question()) {
			text, last = text+e.Text, err
		}
		refused, ok := errors.AsType[*wire.Error](last)
		if !ok || refused.Class != wire.Overloaded || text != replyText || len(s.times) != 1 {
			t.Errorf("got %q and %v in %d attempts", text, last, len(s.times))
		}
	})
}

// A stream that is none is told at once.
func TestNoStream(t *testing.T) {
	c, s := scripted(t, client.Options{}, says(200, "text/event-stream", "data: {nonsense\n\n"))
	if _, err := collect(t, t.Context(), c); err == nil || len(s.times) != 1 {
		t.Errorf("got %v after %d attempts", err, len(s.times))
	}
	c, s = scripted(t, client.Options{}, says(200, "application/json", `{"nonsense":true}`))
	if _, err := collect(t, t.Context(), c); err == nil || len(s.times) != 1 {
		t.Errorf("got %v after %d attempts", err, len(s.times))
	}
}

// A stream that comes as one list of its events is read.
func TestListStream(t *testing.T) {
	var events []string
	for line := range strings.Lines(geminiShape().events) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			events = append(events, strings.TrimSpace(data))
		}
	}
	c := dial(t, geminiShape(), serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, "application/json", "["+strings.Join(events, ",\n")+"]")
	}), client.Options{})
	reply, err := collect(t, t.Context(), c)
	wantReply(t, reply, err)
}

// Each loop over a stream is a call of its own.
func TestLoopTwice(t *testing.T) {
	c, s := scripted(t, client.Options{}, good())
	stream := c.Stream(t.Context(), question())
	for range 2 {
		n := 0
		for _, err := range stream {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n == 0 {
			t.Error("no events")
		}
	}
	if len(s.times) != 2 {
		t.Errorf("%d requests, want 2", len(s.times))
	}
}

// The connection of a stream that was read to its end is used again.
func TestReuse(t *testing.T) {
	c := dial(t, chatShape(), serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, "text/event-stream", chatShape().events)
	}), client.Options{})
	reused := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		if i.Reused {
			reused++
		}
	}})
	for range 3 {
		reply, err := collect(t, ctx, c)
		wantReply(t, reply, err)
	}
	if reused != 2 {
		t.Errorf("of three requests %d used the connection of the one before", reused)
	}
}

// A redirect to another origin is not followed: key and prompt would go there.
func TestRedirects(t *testing.T) {
	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("followed to %s with %v", r.URL, r.Header) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, stream := range []bool{false, true} {
			c := dial(t, anthropicShape(), serve(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere+"/v1/messages", status)
			}), client.Options{})
			_, err := ask(t, c, stream)
			if e, ok := errors.AsType[*client.RedirectError](err); !ok || e.To != elsewhere || e.Status != status {
				t.Errorf("%d: got %v", status, err)
			}
		}
	}
	// Within the origin a request is repeated where it is sent to, but never without its body.
	for status, ok := range map[int]bool{302: false, 307: true, 308: true} {
		c := dial(t, anthropicShape(), serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/messages" {
				http.Redirect(w, r, "/new", status)
				return
			}
			body, _ := io.ReadAll(r.Body)
			if r.Header.Get("X-Api-Key") != "k-123" || !strings.Contains(string(body), "Say hello.") {
				t.Errorf("%d: arrived with %v and %s", status, r.Header, body)
			}
			answer(w, 200, "application/json", anthropicShape().reply)
		}), client.Options{})
		_, err := c.Complete(t.Context(), question())
		if (err == nil) != ok {
			t.Errorf("%d within the origin: %v", status, err)
		}
	}
	// Nor is one followed for ever.
	c := dial(t, anthropicShape(), serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v1/messages", http.StatusTemporaryRedirect)
	}), client.Options{})
	_, err := c.Complete(t.Context(), question())
	if _, ok := errors.AsType[*client.RedirectError](err); !ok {
		t.Errorf("in a circle: %v", err)
	}
}

// The http.Client of the caller is not changed.
func TestOwnHTTP(t *testing.T) {
	h := &http.Client{Transport: &script{answers: answers{good()}}}
	c := dial(t, anthropicShape(), "http://model.internal", client.Options{HTTP: h})
	reply, err := c.Complete(context.Background(), question())
	wantReply(t, reply, err)
	if h.CheckRedirect != nil {
		t.Error("the caller's client has another redirect policy now")
	}
}
