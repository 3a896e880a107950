package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// TestResourceFails: whatever is wrong with a resource, the whole request is sent, and an event says why.
func TestResourceFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		refuse func(method, path string, body []byte) int // the status; 0: the server answers
		want   string
	}{
		{"it cannot be made", func(method, path string, _ []byte) int {
			if method == "POST" && strings.HasSuffix(path, "cachedContents") {
				return 400
			}
			return 0
		}, "failed"},
		{"it is gone", func(_, _ string, body []byte) int {
			if bytes.Contains(body, []byte(`"cachedContent":`)) {
				return 404
			}
			return 0
		}, "made failed"},
		{"it is another's", func(_, _ string, body []byte) int {
			if bytes.Contains(body, []byte(`"cachedContent":`)) {
				return 403
			}
			return 0
		}, "made failed"},
		{"requests with it are refused", func(_, _ string, body []byte) int {
			if bytes.Contains(body, []byte(`"cachedContent":`)) {
				return 400
			}
			return 0
		}, "made failed dropped"},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint("R002-26_", c.name, " ", stream), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := newTalk(t, "off")
					k.options.HTTP = newMemory(t, refusing(k.server.ServeHTTP, c.refuse))
					k.restart()
					for range 5 {
						r, use, err := k.turn(1, stream)
						if err != nil || use.Prompt() == 0 {
							t.Fatal(err, use)
						}
						if call := k.last(); len(call.Request.Messages) != len(r.Messages) || call.Status != 200 {
							t.Fatalf("%d messages reached the model of %d", len(call.Request.Messages), len(r.Messages))
						}
						if len(k.events) > 0 {
							break
						}
						k.wait(10 * time.Second)
					}
					if k.whats() != c.want {
						t.Errorf("events %v", k.events)
					}
					for _, e := range k.events {
						if (e.Err == nil) != (e.What != client.CacheFailed) {
							t.Errorf("%s: %v", e.What, e.Err)
						}
					}
				})
			})
		}
	}
}

// TestResourceIsNotMadeForNothing: R002-26. One that the provider does not find although it has just made it
// is not made again with each request, which would pay for its tokens each time.
func TestResourceIsNotMadeForNothing(t *testing.T) {
	for _, status := range []int{403, 404} {
		synctest.Test(t, func(t *testing.T) {
			k := newTalk(t, "off")
			k.options.HTTP = newMemory(t, refusing(k.server.ServeHTTP, func(_, _ string, body []byte) int {
				if bytes.Contains(body, []byte(`"cachedContent":`)) {
					return status
				}
				return 0
			}))
			k.restart()
			for range 10 {
				if _, _, err := k.turn(1, false); err != nil {
					t.Fatal(err)
				}
				k.restart()
				k.wait(10 * time.Second)
			}
			if k.whats() != "made failed" {
				t.Errorf("%d: want one made, got events %q", status, k.whats())
			}
		})
	}
}

// TestResourceThatNobodyWaitedFor: a call that was given up while its resource was made says nothing about
// the next one.
func TestResourceThatNobodyWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, "off")
		ctx, giveUp := context.WithCancel(t.Context())
		asked := 0
		k.options.HTTP = newMemory(t, refusing(k.server.ServeHTTP, func(method, path string, _ []byte) int {
			if asked == 0 && method == "POST" && strings.HasSuffix(path, "cachedContents") {
				asked++
				giveUp()
				return 503
			}
			return 0
		}))
		k.restart()
		for range 3 {
			if _, _, err := k.turn(1, false); err != nil {
				t.Fatal(err)
			}
			k.wait(10 * time.Second)
		}
		k.ctx = ctx
		if _, _, err := k.turn(1, false); !errors.Is(err, context.Canceled) {
			t.Fatalf("want the call given up, got %v", err)
		}
		k.ctx = nil
		if _, use, err := k.turn(0, false); err != nil || use.Made == 0 || k.whats() != "failed made" {
			t.Errorf("%v, %+v, events %q", err, use, k.whats())
		}
	})
}

// TestOtherRefusalsAreTheRequests: what has nothing to do with the resource is not asked again.
func TestOtherRefusalsAreTheRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, "off")
		for len(k.events) == 0 {
			if _, _, err := k.turn(1, false); err != nil {
				t.Fatal(err)
			}
			k.wait(5 * time.Second)
		}
		asked := 0
		k.options.HTTP = newMemory(t, refusing(k.server.ServeHTTP, func(_, path string, _ []byte) int {
			if strings.HasSuffix(path, ":generateContent") {
				asked++
				return 401
			}
			return 0
		}))
		k.restart()
		_, _, err := k.turn(0, false)
		if e, ok := errors.AsType[*wire.Error](err); !ok || e.Class != wire.Auth || asked != 1 {
			t.Errorf("%v after %d requests", err, asked)
		}
	})
}

// refusing is a handler before which some requests are refused.
func refusing(h http.HandlerFunc, refuse func(method, path string, body []byte) int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if status := refuse(r.Method, r.URL.Path, body); status > 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"code":%d,"message":"no","status":"INVALID_ARGUMENT"}}`, status)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(w, r)
	}
}
