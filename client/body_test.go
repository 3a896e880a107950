package client_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// mistypes are content types that say little or the wrong thing of a body.
var mistypes = []string{"", "text/plain", "application/json", "text/event-stream", "application/octet-stream", "text/html"}

// What a body is is told by how it begins, not by its content type: streams and whole
// replies are understood in either call, in one attempt.
func TestMistyped(t *testing.T) {
	for _, s := range shapes() {
		for _, kind := range mistypes {
			for form, body := range map[string]string{"whole": s.reply, "stream": s.events, "whole behind white space": "\n \n" + s.reply, "stream behind a mark": "\xef\xbb\xbf" + s.events} {
				c, sc := scriptedShape(t, s, says(200, kind, body))
				reply, err := c.Complete(t.Context(), question())
				if err != nil {
					t.Errorf("%s, %s as %q: complete: %v", s.provider, form, kind, err)
					continue
				}
				wantReply(t, reply, err)
				reply, err = collect(t, t.Context(), c)
				if err != nil {
					t.Errorf("%s, %s as %q: stream: %v", s.provider, form, kind, err)
					continue
				}
				wantReply(t, reply, err)
				if len(sc.times) != 2 || sc.open != 0 {
					t.Errorf("%s, %s as %q: %d attempts for two calls, %d bodies open", s.provider, form, kind, len(sc.times), sc.open)
				}
			}
		}
	}
}

// scriptedShape returns a client whose provider answers as the steps say.
func scriptedShape(t testing.TB, s shape, steps ...step) (*client.Client, *script) {
	t.Helper()
	sc := &script{answers: steps}
	return dial(t, s, "http://model.internal", client.Options{HTTP: &http.Client{Transport: sc}}), sc
}

// A body that comes a byte at a time is told as well.
func TestMistypedSlowly(t *testing.T) {
	for _, s := range shapes() {
		for _, body := range []string{s.reply, s.events} {
			c, _ := scriptedShape(t, s, step{func(r *http.Request) (*http.Response, error) {
				resp, err := says(200, "text/plain", "").do(r)
				resp.Body = io.NopCloser(slowReader{strings.NewReader(body)})
				return resp, err
			}})
			reply, err := collect(t, t.Context(), c)
			wantReply(t, reply, err)
		}
	}
}

type slowReader struct{ r io.Reader }

func (s slowReader) Read(b []byte) (int, error) { return s.r.Read(b[:min(len(b), 1)]) }

// A mistyped stream is given on as it comes.
func TestMistypedStreamIsNotHeldBack(t *testing.T) {
	for _, s := range shapes() {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, s, "http://model.internal", client.Options{HTTP: newMemory(t, slowlyAs("text/plain", time.Second, s.events)), Attempt: 3 * time.Second})
			start, first := time.Now(), time.Duration(0)
			for e, err := range c.Stream(t.Context(), question()) {
				if err != nil {
					t.Fatalf("%s: %v", s.provider, err)
				}
				if e.Kind == llm.EventStart && first == 0 {
					first = time.Since(start)
				}
			}
			if all := time.Since(start); first == 0 || first >= all && len(s.events) > 400 {
				t.Errorf("%s: the first event came after %v of %v", s.provider, first, all)
			}
		})
	}
}

// An error body is one whatever its content type and its status of success, also in a
// shape that is not the dialect's.
func TestHiddenError(t *testing.T) {
	bodies := map[string]struct {
		body    string
		class   wire.Class
		message string
	}{
		"its own":        {`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, wire.Overloaded, "Overloaded"},
		"without a type": {`{"error":{"message":"Overloaded","type":"overloaded_error"}}`, wire.Overloaded, "Overloaded"},
		"unknown type":   {`{"error":{"message":"the moon is full","type":"lunar"}}`, wire.Unclassified, "the moon is full"},
		"a number":       {`{"error":{"message":"slow down","code":429}}`, wire.RateLimited, "slow down"},
		"a text":         {`{"error":"no such tenant"}`, wire.Unclassified, "no such tenant"},
		"in a list":      {`[{"error":{"code":503,"message":"try later","status":"UNAVAILABLE"}}]`, wire.Overloaded, "try later"},
	}
	for name, c := range bodies {
		t.Run(name, func(t *testing.T) {
			for _, kind := range mistypes {
				for _, stream := range []bool{false, true} {
					cl := newScripted(t, says(200, kind, c.body))
					_, err := ask(t, cl, stream)
					if e, ok := errors.AsType[*wire.Error](err); !ok || e.Class != c.class || e.Message != c.message {
						t.Errorf("as %q, stream %v: got %v", kind, stream, err)
					}
				}
			}
			if name == "in a list" {
				return // no payload of a stream
			}
			cl := newScripted(t, says(200, "text/event-stream", sse("", c.body)))
			_, err := ask(t, cl, true)
			if e, ok := errors.AsType[*wire.Error](err); !ok || e.Class != c.class || e.Message != c.message {
				t.Errorf("as a payload: got %v", err)
			}
		})
	}
}

// newScripted returns a client of Anthropic that makes one attempt.
func newScripted(t testing.TB, steps ...step) *client.Client {
	t.Helper()
	return dial(t, anthropicShape(), "http://model.internal", client.Options{Tries: 1, HTTP: &http.Client{Transport: &script{answers: steps}}})
}

// A gateway's error in the middle of a stream is told behind what was given.
func TestHiddenErrorInTheMiddle(t *testing.T) {
	events := anthropicShape().events
	cut := events[:strings.Index(events, "event: content_block_stop")]
	c, sc := scriptedShape(t, anthropicShape(), says(200, "text/event-stream", cut+sse("", `{"error":{"message":"upstream is gone","type":"overloaded_error"}}`)))
	text := ""
	var last error
	for e, err := range c.Stream(t.Context(), question()) {
		text, last = text+e.Text, err
	}
	e, ok := errors.AsType[*wire.Error](last)
	if !ok || e.Message != "upstream is gone" || text != replyText || len(sc.times) != 1 {
		t.Errorf("got %q and %v in %d attempts", text, last, len(sc.times))
	}
}

// What is no reply is told at once, with its start, and is not taken for a cut reply.
func TestNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		kind, body string
		want       string
	}{
		"a page":              {200, "text/html", "<html>\n<body>Sign in to the network", "200 text/html: <html> <body>Sign in"},
		"a page as a stream":  {200, "text/event-stream", "<html>Sign in</html>", "<html>Sign in</html>"},
		"words as a stream":   {200, "text/event-stream", "upstream connect error", "upstream connect error"},
		"nothing":             {204, "", "", "got 204: nothing"},
		"no body":             {200, "", "", "got 200: nothing"},
		"another service":     {200, "application/json", `{"status":"up"}`, `{"status":"up"} (`},
		"another as a stream": {200, "text/event-stream", `{"status":"up"}`, `{"status":"up"} (`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				cl, sc := scriptedShape(t, anthropicShape(), says(c.status, c.kind, c.body))
				_, err := ask(t, cl, stream)
				e, ok := errors.AsType[*client.AnswerError](err)
				if !ok || e.Status != c.status || errors.Is(err, wire.ErrCut) || len(sc.times) != 1 || sc.open != 0 {
					t.Fatalf("stream %v: got %v in %d attempts, %d bodies open", stream, err, len(sc.times), sc.open)
				}
				contains(t, err.Error(), c.want)
			}
		})
	}
	long := newScripted(t, says(200, "text/html", "<html>"+strings.Repeat("words ", 10000)))
	if _, err := ask(t, long, true); err == nil || len(err.Error()) > 400 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

// A stream that is whole is whole at once, also if its connection stays open.
func TestOpenConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, anthropicShape(), "http://model.internal", client.Options{HTTP: newMemory(t, func(w http.ResponseWriter, r *http.Request) {
			answer(w, 200, "text/event-stream", anthropicShape().events)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})})
		start := time.Now() // in synthetic time
		reply, err := collect(t, t.Context(), c)
		wantReply(t, reply, err)
		if took := time.Since(start); took > 10*time.Millisecond {
			t.Errorf("waited %v behind the end of the reply", took)
		}
	})
}
