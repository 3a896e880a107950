package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

type answers = []step

const overloaded = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`

// scripted returns a client of Anthropic whose attempts a script answers.
func scripted(t testing.TB, o client.Options, all ...step) (*client.Client, *script) {
	t.Helper()
	s := &script{answers: all}
	o.HTTP = &http.Client{Transport: s}
	return dial(t, anthropicShape(), "http://model.internal", o), s
}

// good answers with the reply, in the form that was asked for.
func good() step {
	return step{func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(body), `"stream":true`) {
			return says(200, anthropicShape().eventsType, anthropicShape().events).do(r)
		}
		return says(200, "application/json", anthropicShape().reply).do(r)
	}}
}

// How long the client waits before it tries again, and whether it does.
func TestRetries(t *testing.T) {
	near := func(d time.Duration) [2]time.Duration { return [2]time.Duration{d * 3 / 4, d * 5 / 4} }
	exactly := func(d time.Duration) [2]time.Duration { return [2]time.Duration{d, d} }
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, c := range []struct {
		name  string
		o     client.Options
		first answers // before the good one
		waits [][2]time.Duration
		fails bool
	}{
		{name: "overloaded", first: answers{says(529, "application/json", overloaded)}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "twice", first: answers{says(500, "text/plain", ""), says(503, "text/html", "<html>")}, waits: [][2]time.Duration{near(500 * time.Millisecond), near(time.Second)}},
		{name: "too often", first: answers{says(500, "", ""), says(500, "", ""), says(500, "", "")}, waits: [][2]time.Duration{near(500 * time.Millisecond), near(time.Second)}, fails: true},
		{name: "no more tries", o: client.Options{Tries: 1}, first: answers{says(500, "", "")}, fails: true},
		{name: "retry-after", first: answers{says(429, "", "", "Retry-After", "7")}, waits: [][2]time.Duration{exactly(7 * time.Second)}},
		{name: "retry-after with a fraction", first: answers{says(429, "", "", "Retry-After", "1.5")}, waits: [][2]time.Duration{exactly(1500 * time.Millisecond)}},
		{name: "retry-after-ms", first: answers{says(429, "", "", "Retry-After-Ms", "250", "Retry-After", "9")}, waits: [][2]time.Duration{exactly(250 * time.Millisecond)}},
		{name: "retry-after of nonsense", first: answers{says(429, "", "", "Retry-After", "soon")}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "retry-after too long", first: answers{says(429, "", "", "Retry-After", "61")}, fails: true},
		{name: "retry-after allowed to be long", o: client.Options{Wait: 2 * time.Minute}, first: answers{says(429, "", "", "Retry-After", "61")}, waits: [][2]time.Duration{exactly(61 * time.Second)}},
		{name: "retry-after beyond the total", o: client.Options{Total: 5 * time.Second}, first: answers{says(429, "", "", "Retry-After", "6")}, fails: true},
		{name: "not told to", first: answers{says(429, "", "", "X-Should-Retry", "false")}, fails: true},
		{name: "told to", first: answers{says(409, "", "", "X-Should-Retry", "true")}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "a plan that is used up", first: answers{says(429, "application/json", `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached"}}`, "X-Should-Retry", "true")}, fails: true},
		{name: "the day's quota", first: answers{says(400, "application/json", `{"message":"ThrottlingException: Too many tokens per day, please wait before trying again."}`)}, fails: true},
		{name: "the month's requests", first: answers{says(429, "application/json", `{"error":{"message":"no","code":"quota_exceeded"}}`)}, fails: true},
		{name: "the day's free requests", first: answers{says(429, "application/json", `{"error":{"message":"Rate limit exceeded: free-models-per-day-high-balance.","code":429}}`)}, fails: true},
		{name: "no money, by a number", first: answers{says(429, "application/json", `{"error":{"code":"1113","message":"no"}}`)}, fails: true},
		{name: "no money, told with success", first: answers{says(200, "application/json", `{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`)}, fails: true},
		{name: "the rate, told with success", first: answers{says(200, "application/json", `{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`)}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "a fault, told with success", first: answers{says(200, "application/json", `{"base_resp":{"status_code":1033,"status_msg":"system error"}}`)}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "the model behind Bedrock", first: answers{says(424, "application/json", `{"message":"Try your request again.","originalStatusCode":500}`)}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "above the rate by itself", first: answers{says(429, "application/json", `{"error":{"message":"Request too large for m-1 on tokens per minute (TPM): Limit 4000, Requested 5000","code":"rate_limit_exceeded"}}`)}, fails: true},
		{name: "bad request", first: answers{says(400, "", "")}, fails: true},
		{name: "no such model", first: answers{says(404, "", "")}, fails: true},
		{name: "no money", first: answers{says(402, "", "")}, fails: true},
		{name: "wrong key", first: answers{says(401, "", "")}, fails: true},
		{name: "connection refused", first: answers{breaks(refused)}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "connection closed", first: answers{breaks(io.EOF)}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "no such host", first: answers{breaks(&net.DNSError{Err: "no such host", IsNotFound: true})}, fails: true},
		{name: "name server down", first: answers{breaks(&net.DNSError{Err: "timeout", IsTimeout: true})}, waits: [][2]time.Duration{near(500 * time.Millisecond)}},
		{name: "certificate", first: answers{breaks(&tls.CertificateVerificationError{Err: errors.New("expired")})}, fails: true},
	} {
		for _, stream := range []bool{false, true} {
			name := c.name
			if stream {
				name += ", streamed"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cl, s := scripted(t, c.o, append(append(answers{}, c.first...), good())...)
					reply, err := ask(t, cl, stream)
					if !c.fails {
						wantReply(t, reply, err)
					} else if err == nil {
						t.Error("want an error")
					}
					waits := s.waits()
					if len(waits) != len(c.waits) {
						t.Fatalf("%d waits, want %d: %v", len(waits), len(c.waits), err)
					}
					for i, w := range waits {
						if w < c.waits[i][0] || w > c.waits[i][1] {
							t.Errorf("wait %d is %v, want %v", i+1, w, c.waits[i])
						}
					}
					if s.open != 0 {
						t.Errorf("%d bodies were left open", s.open)
					}
				})
			})
		}
	}
}

func ask(t testing.TB, c *client.Client, stream bool) (llm.Response, error) {
	t.Helper()
	if stream {
		return collect(t, t.Context(), c)
	}
	return c.Complete(t.Context(), question())
}

// A date counts from now on.
func TestRetryAfterDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
		cl, s := scripted(t, client.Options{}, says(503, "", "", "Retry-After", at), good())
		reply, err := cl.Complete(t.Context(), question())
		wantReply(t, reply, err)
		if w := s.waits(); len(w) != 1 || w[0] != 20*time.Second {
			t.Errorf("waits %v", w)
		}
	})
}

// What a body says about when to come back counts where the head says nothing.
func TestRetryAfterBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: answers{
			says(429, "application/json", `{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"13s"}]}}`),
			says(200, "application/json", geminiShape().reply),
		}}
		c := dial(t, geminiShape(), "http://model.internal", client.Options{HTTP: &http.Client{Transport: s}})
		reply, err := c.Complete(t.Context(), question())
		wantReply(t, reply, err)
		if w := s.waits(); len(w) != 1 || w[0] != 13*time.Second {
			t.Errorf("waits %v", w)
		}
	})
}

// Each attempt that is made again is told, with its reason and the wait.
func TestOnRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []client.Attempt
		cl, s := scripted(t, client.Options{OnRetry: func(a client.Attempt) { told = append(told, a) }},
			says(529, "application/json", overloaded), says(429, "", "", "Retry-After", "3"), says(500, "", ""))
		_, err := cl.Complete(t.Context(), question())
		e, ok := errors.AsType[*client.Error](err)
		if !ok || e.Attempts != 3 || !strings.Contains(err.Error(), "(attempt 3)") {
			t.Errorf("got %v", err)
		}
		waits := s.waits()
		if len(told) != 2 {
			t.Fatalf("told of %d attempts", len(told))
		}
		for i, a := range told {
			refused, ok := errors.AsType[*wire.Error](a.Err)
			if a.Number != i+1 || a.Wait != waits[i] || a.Provider != "anthropic" || a.Model != "m-1" || !ok || refused.Status != []int{529, 429}[i] {
				t.Errorf("attempt %d: %+v", i+1, a)
			}
		}
		if last, ok := errors.AsType[*wire.Error](err); !ok || last.Status != 500 {
			t.Errorf("the error is not that of the last attempt: %v", err)
		}
	})
}

// A caller that gives up while the client waits is not kept.
func TestCancelWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl, s := scripted(t, client.Options{}, says(429, "", "", "Retry-After", "50"))
		gone := errors.New("gone home")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		start := time.Now()
		_, err := cl.Complete(ctx, question())
		refused, ok := errors.AsType[*wire.Error](err)
		if !errors.Is(err, gone) || !ok || refused.Status != 429 || time.Since(start) != time.Second || len(s.times) != 1 {
			t.Errorf("after %v and %d attempts: %v", time.Since(start), len(s.times), err)
		}
	})
}
