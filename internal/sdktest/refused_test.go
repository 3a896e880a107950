package sdktest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A refusedBody is what a provider answers, and what of it a program has to see through the
// SDK's error.
type refusedBody struct {
	name         string
	status       int
	body         string
	class        wire.Class
	used, window int
}

// refusedBodies returns bodies of which every SDK makes an error of its own.
func refusedBodies() []refusedBody {
	const throttled = "Too many tokens, please wait before trying again."
	body := func(code int, message string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"type":"x"}}`, code, message)
	}
	return []refusedBody{
		{"too long", 400, body(400, tooLong), wire.TooLong, 210000, 200000},
		{"too long, a flat body", 400, `{"object":"error","message":"Prompt contains 4250 tokens, too large for model with 4096 maximum context length","type":"x"}`, wire.TooLong, 4250, 4096},
		{"too long, a text", 400, "prompt is too long: 4250 tokens > 4096 maximum", wire.TooLong, 4250, 4096},
		{"too long, a text in chunks", 400, "prompt is too long: 4250 tokens > 4096 maximum" + strings.Repeat(" ", 4096), wire.TooLong, 4250, 4096},
		{"too large", 413, body(413, "Request entity too large"), wire.TooLarge, 0, 0},
		{"throttled", 429, body(429, throttled), wire.RateLimited, 0, 0},
		{"overloaded", 503, body(503, throttled), wire.Overloaded, 0, 0},
		{"the day's quota", 429, `{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"RequestsPerDay-FreeTier"}]}]}}`, wire.Billing, 0, 0},
		{"room for the reply", 400, body(400, "max_tokens is too large: 99999. This model supports at most 8000 completion tokens"), wire.BadRequest, 0, 0},
	}
}

// TestRefusalsThroughSDKs: a program that calls a provider through an SDK hands on the
// error that it got, and a session knows what it says.
func TestRefusalsThroughSDKs(t *testing.T) {
	for name, d := range everyDialect() {
		for _, b := range refusedBodies() {
			t.Run(name+"/"+b.name, func(t *testing.T) {
				for _, stream := range []bool{false, true} {
					e := &wire.Error{Status: b.status, Body: []byte(b.body)}
					p := &provider{t: t, codec: d.codec, refusals: []*wire.Error{e}}
					err := fmt.Errorf("step 7: %w", d.ask(t, p.start(), 0, stream))
					got, ok := wire.ErrorOf(err)
					if !ok || got.Class != b.class || got.Status != b.status || got.Used != b.used || got.Window != b.window {
						t.Errorf("error (stream %v), want %v %d, %d of %d tokens, got %v %+v\n%v", stream, b.class, b.status, b.used, b.window, ok, got, err)
					}
					length := b.class == wire.TooLong || b.class == wire.TooLarge
					if plimsoll.IsTooLong(err) != length {
						t.Errorf("too long (stream %v), want %v, got %v: %v", stream, length, !length, err)
					}
					teach(t, err, length, b.window)
				}
			})
		}
	}
}

// TestRefusalsInsideStreams: the error comes after the answer has begun with a 200. Of
// Responses it is no error of the SDK but an event.
func TestRefusalsInsideStreams(t *testing.T) {
	all := everyDialect()
	delete(all, "responses")
	for name, d := range all {
		t.Run(name, func(t *testing.T) {
			e := &wire.Error{Class: wire.TooLong, Message: tooLong, Used: 210000, Window: 200000}
			p := &provider{t: t, codec: d.codec, stream: d.codec.NewEncoder().AppendError(nil, e)}
			err := d.ask(t, p.start(), 0, true)
			if got, ok := wire.ErrorOf(err); !ok || got.Class != wire.TooLong || got.Used != 210000 || got.Window != 200000 {
				t.Errorf("error, want %v, 210000 of 200000 tokens, got %v %+v\n%v", wire.TooLong, ok, got, err)
			}
		})
	}
}

// teach hands an error to a session, which takes those about the length of a request.
func teach(t *testing.T, err error, length bool, window int) {
	t.Helper()
	session, fault := plimsoll.Open(t.Context(), plimsoll.Options{
		Targets: []budget.Target{{Model: "test-model-1", Window: budget.Window{Capacity: 300_000, OutputReserve: 1000}}},
	})
	if fault != nil {
		t.Fatal(fault)
	}
	defer session.Close()
	if fault := session.Append(t.Context(), llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: strings.Repeat("a word. ", 100)}}}); fault != nil {
		t.Fatal(fault)
	}
	var send *engine.Send
	if send, fault = session.Prepare(t.Context()); fault != nil {
		t.Fatal(fault)
	}
	before := send.Target.Window.Capacity
	_, fault = session.Rejected(t.Context(), err)
	after := session.View().Targets[0].Window.Capacity
	switch {
	case !length && (fault == nil || after != before):
		t.Errorf("what is not about the length, want it refused and the window %d, got %v and %d", before, fault, after)
	case length && window > 0 && after != window:
		t.Errorf("window, want the stated %d, got %d (%v)", window, after, fault)
	}
}
