package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// hang waits until the client is gone, and says so.
func hang(gone *int) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		*gone++
	}
}

// An attempt that takes too long is given up, and made again.
func TestAttemptTime(t *testing.T) {
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			gone := 0
			cl := dial(t, anthropicShape(), "http://model.internal", client.Options{
				HTTP: newMemory(t, hang(&gone)), Attempt: 20 * time.Second, Tries: 2,
			})
			start := time.Now()
			_, err := ask(t, cl, stream)
			e, ok := errors.AsType[*client.TimeoutError](err)
			if !ok || e.Limit != "attempt" || e.After != 20*time.Second || !e.Timeout() {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took < 40*time.Second || took > 41*time.Second {
				t.Errorf("two attempts of 20 s took %v", took)
			}
			synctest.Wait()
			if gone != 2 {
				t.Errorf("the server saw the end of %d requests, want 2", gone)
			}
		})
	}
}

// The limit of an attempt counts for the whole of a reply that is not streamed.
func TestAttemptTimeOfBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := dial(t, anthropicShape(), "http://model.internal", client.Options{
			Attempt: 20 * time.Second, Tries: 1, HTTP: newMemory(t, func(w http.ResponseWriter, r *http.Request) {
				answer(w, 200, "application/json", anthropicShape().reply[:20])
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}),
		})
		_, err := cl.Complete(t.Context(), question())
		if e, ok := errors.AsType[*client.TimeoutError](err); !ok || e.Limit != "attempt" {
			t.Errorf("got %v", err)
		}
	})
}

// slowly sends a stream with a pause before each of its lines.
func slowly(pause time.Duration, events string) http.HandlerFunc {
	return slowlyAs("text/event-stream", pause, events)
}

func slowlyAs(contentType string, pause time.Duration, events string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_ = http.NewResponseController(w).Flush()
		for len(events) > 0 {
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
			n := min(len(events), 200)
			_, _ = w.Write([]byte(events[:n]))
			_ = http.NewResponseController(w).Flush()
			events = events[n:]
		}
	}
}

// A stream may take any time as long as it is never silent for long; neither the limit
// of an attempt nor a reader that takes its time ends it.
func TestSlowStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := dial(t, anthropicShape(), "http://model.internal", client.Options{
			HTTP: newMemory(t, slowly(9*time.Second, anthropicShape().events)), Attempt: 5 * time.Second, Idle: 10 * time.Second,
		})
		start := time.Now()
		var reply wire.Reply
		for e, err := range cl.Stream(t.Context(), question()) {
			if err != nil {
				t.Fatal(err)
			}
			reply.Add(e)
			time.Sleep(11 * time.Second) // synthetic: the reader's own work
		}
		wantReply(t, reply.Response(""), nil)
		if took := time.Since(start); took < time.Minute {
			t.Errorf("took only %v", took)
		}
	})
}

// A stream that falls silent is given up; made again only if nothing of it was given.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		name  string
		sent  string
		given int
		tries int
	}{
		{"from the start", "", 0, 3},
		{"after a ping", "event: ping\ndata: {\"type\":\"ping\"}\n\n", 3, 3}, // one each
		{"in the middle", anthropicShape().events[:900], 6, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				cl := dial(t, anthropicShape(), "http://model.internal", client.Options{
					Idle: time.Minute, HTTP: newMemory(t, func(w http.ResponseWriter, r *http.Request) {
						tries++
						answer(w, 200, "text/event-stream", c.sent)
						_ = http.NewResponseController(w).Flush()
						<-r.Context().Done()
					}),
				})
				given := 0
				var last error
				for _, err := range cl.Stream(t.Context(), question()) {
					if err == nil {
						given++
					}
					last = err
				}
				e, ok := errors.AsType[*client.TimeoutError](last)
				if !ok || e.Limit != "idle" || e.After != time.Minute {
					t.Errorf("got %v", last)
				}
				if given != c.given || tries != c.tries {
					t.Errorf("%d events in %d attempts, want %d in %d", given, tries, c.given, c.tries)
				}
			})
		})
	}
}

// The total bounds everything: attempts, waits, and a stream that is never silent.
func TestTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := 0
		cl := dial(t, anthropicShape(), "http://model.internal", client.Options{
			HTTP: newMemory(t, hang(&gone)), Attempt: 40 * time.Second, Total: time.Minute,
		})
		start := time.Now()
		_, err := cl.Complete(t.Context(), question())
		if e, ok := errors.AsType[*client.TimeoutError](err); !ok || e.Limit != "total" || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		cl := dial(t, anthropicShape(), "http://model.internal", client.Options{
			HTTP: newMemory(t, slowly(20*time.Second, anthropicShape().events)), Total: time.Minute,
		})
		_, err := collect(t, t.Context(), cl)
		if e, ok := errors.AsType[*client.TimeoutError](err); !ok || e.Limit != "total" {
			t.Errorf("got %v", err)
		}
	})
}

// No limit is none.
func TestNoLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := dial(t, anthropicShape(), "http://model.internal", client.Options{
			HTTP: newMemory(t, slowly(30*24*time.Hour, anthropicShape().events)), Attempt: -1, Idle: -1, Total: -1,
		})
		reply, err := collect(t, t.Context(), cl)
		wantReply(t, reply, err)
	})
}

// The end of the caller's context ends the request at once, wherever it is.
func TestCancel(t *testing.T) {
	for name, h := range map[string]func(*int) http.HandlerFunc{
		"before the head": hang,
		"in the body": func(gone *int) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				answer(w, 200, "text/event-stream", anthropicShape().events[:500])
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				*gone++
			}
		},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					gone := 0
					cl := dial(t, anthropicShape(), "http://model.internal", client.Options{HTTP: newMemory(t, h(&gone))})
					ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
					defer cancel()
					start := time.Now()
					var err error
					if stream {
						_, err = collect(t, ctx, cl)
					} else {
						_, err = cl.Complete(ctx, question())
					}
					if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
						t.Errorf("after %v: %v", time.Since(start), err)
					}
					if e, ok := errors.AsType[*client.Error](err); !ok || e.Attempts != 1 {
						t.Errorf("got %v", err)
					}
					synctest.Wait()
					if gone != 1 {
						t.Errorf("the server saw the end of %d requests", gone)
					}
				})
			})
		}
	}
}

// Leaving the loop ends the request, and nothing is left running: the test's bubble would
// not end.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := 0
		cl := dial(t, anthropicShape(), "http://model.internal", client.Options{HTTP: newMemory(t, func(w http.ResponseWriter, r *http.Request) {
			answer(w, 200, "text/event-stream", anthropicShape().events[:900])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			gone++
		})})
		for e, err := range cl.Stream(t.Context(), question()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == llm.EventDelta {
				break
			}
		}
		synctest.Wait()
		if gone != 1 {
			t.Error("the request went on")
		}
	})
}

// A stream that is kept open behind the end of its reply does not keep the caller.
func TestOpenEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := 0
		cl := dial(t, anthropicShape(), "http://model.internal", client.Options{HTTP: newMemory(t, func(w http.ResponseWriter, r *http.Request) {
			answer(w, 200, "text/event-stream", anthropicShape().events)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			gone++
		})})
		start := time.Now()
		reply, err := collect(t, t.Context(), cl)
		wantReply(t, reply, err)
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v", took)
		}
		synctest.Wait()
		if gone != 1 {
			t.Error("the request went on")
		}
	})
}
