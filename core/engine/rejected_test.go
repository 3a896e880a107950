package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// wide is a window that has room for everything, and of which nobody knows a limit of
// bytes.
var wide = budget.Window{Capacity: 10_000_000, MaxBytes: engine.NoLimit, MaxImages: engine.NoLimit}

// sizeInBytes is what the machine takes a request to the preferred target for.
func sizeInBytes(h *host) int {
	n := 256 // what stands around tools and messages
	for _, s := range h.m.MeterStates()[0].Sums {
		n += s.Bytes
	}
	return n
}

// bytesOf returns the limit of bytes of a target.
func bytesOf(t testing.TB, h *host, provider string) int {
	t.Helper()
	for _, target := range h.m.Targets() {
		if target.Provider == provider {
			return target.Window.MaxBytes
		}
	}
	t.Fatalf("target of %q, want one, got %v", provider, h.m.Targets())
	return 0
}

// reject tells of a refusal for the bytes of the request and returns what is sent instead.
func reject(t testing.TB, h *host) *engine.Send {
	t.Helper()
	n := len(h.sent)
	must(t, h.feed(engine.Rejected{Bytes: true}))
	if len(h.sent) == n {
		t.Fatalf("after a refusal, want another request, got none: %v", h.refused)
	}
	return h.sent[len(h.sent)-1]
}

// screens is a session of text outputs and n screenshots of 10,000 bytes, prepared.
func screens(t testing.TB, policyName string, n int, targets ...budget.Target) *host {
	t.Helper()
	p, err := policy.Preset(policyName)
	must(t, err)
	c, err := configured(p, targets...)
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	ask(t, h, llm.Text{Text: "Fill in the form."})
	for i := range n {
		look(t, h, fmt.Sprint("c", i), llm.Text{Text: filler(2000, fmt.Sprint("page", i))}, screenshot(fmt.Sprint("screen ", i), 10_000))
	}
	prepared(t, h)
	return h
}

// TestTooLarge tells of a request that had too many bytes. From then on a tenth less is
// sent; images leave before any word does; and a further refusal takes as much again.
func TestTooLarge(t *testing.T) {
	h := screens(t, "balanced", 20, budget.Target{Provider: "a", Model: "mystery", Window: wide})
	_, was := wireOf(h.sent[0])
	for n := range 3 {
		before := sizeInBytes(h)
		s := reject(t, h)
		limit := bytesOf(t, h, "a")
		if want := before * 9 / 10; limit != want {
			t.Errorf("refusal %d of %d bytes, want a limit of %d, got %d", n, before, want, limit)
		}
		if now := sizeInBytes(h); now > limit {
			t.Errorf("refusal %d, want at most %d bytes sent, got %d", n, limit, now)
		}
		_, images := wireOf(s)
		if images >= was {
			t.Errorf("refusal %d, want fewer than %d images, got %d", n, was, images)
		}
		was = images
	}
	for _, e := range h.m.Journal() {
		if e.Kind != edit.KindMedia {
			t.Errorf("edit %d, want images to go before text, got %s", e.ID, e.Kind)
		}
	}
	must(t, stored(h, h.sent[len(h.sent)-1]))
}

// TestTooLargeIsKept: what was learnt holds for the target that refused alone, for all
// later requests, and after a restart for each of several targets.
func TestTooLargeIsKept(t *testing.T) {
	a, b := budget.Target{Provider: "a", Model: "mystery", Window: wide}, budget.Target{Provider: "b", Model: "mystery", Window: wide}
	h := screens(t, "balanced", 20, a, b)
	reject(t, h)
	ofA := bytesOf(t, h, "a")
	if got := bytesOf(t, h, "b"); got != engine.NoLimit {
		t.Errorf("a target that refused nothing, want its own limit of bytes, got %d", got)
	}
	must(t, h.feed(engine.Prepare{Targets: []budget.Target{b, a}}))
	reject(t, h)
	reject(t, h)
	ofB := bytesOf(t, h, "b")
	if ofB >= ofA || bytesOf(t, h, "a") != ofA {
		t.Errorf("limits of bytes, want %d of a and less of b, got %d and %d", ofA, bytesOf(t, h, "a"), ofB)
	}
	n, err := h.restored()
	must(t, err)
	if gotA, gotB := bytesOf(t, n, "a"), bytesOf(t, n, "b"); gotA != ofA || gotB != ofB {
		t.Errorf("after a restart, want %d and %d bytes of a and b, got %d and %d", ofA, ofB, gotA, gotB)
	}
	must(t, n.feed(engine.Prepare{Targets: []budget.Target{b, a}}))
	look(t, n, "c99", screenshot("one more", 10_000))
	prepared(t, n)
	if got := sizeInBytes(n); got > ofB {
		t.Errorf("a later request after a restart, want at most %d bytes, got %d", ofB, got)
	}
}

// TestTooLargeNeverRaises: the policy guard sends what it cannot make fit. A refusal of
// that does not allow more than the one before it did.
func TestTooLargeNeverRaises(t *testing.T) {
	h := screens(t, "guard", 3, budget.Target{Provider: "a", Model: "mystery", Window: wide})
	reject(t, h)
	limit := bytesOf(t, h, "a")
	ask(t, h, llm.Text{Text: filler(4*limit, "pasted")})
	prepared(t, h)
	if got := sizeInBytes(h); got*9/10 <= limit {
		t.Fatalf("the request, want more than %d bytes, got %d", limit*10/9, got)
	}
	must(t, h.feed(engine.Rejected{Bytes: true}))
	if got := bytesOf(t, h, "a"); got > limit {
		t.Errorf("a second refusal, want a limit of at most %d bytes, got %d", limit, got)
	}
	n, err := h.restored()
	must(t, err)
	if was, got := bytesOf(t, h, "a"), bytesOf(t, n, "a"); got != was {
		t.Errorf("after a restart, want %d bytes, got %d", was, got)
	}
}

// TestLimitIsExact is law 1 at its edge, with models whose tokenizer is known: a request
// of which the count is the limit is sent as it is; with one token less of room it is not.
func TestLimitIsExact(t *testing.T) {
	for _, model := range []string{"gpt-5", "gpt-4"} {
		for _, name := range []string{"summary-ahead", "guard"} {
			t.Run("R000-4/"+name+"/"+model, func(t *testing.T) { limitIsExact(t, name, model) })
		}
	}
}

func limitIsExact(t *testing.T, name, model string) {
	t.Helper()
	words := strings.Repeat("a keel and a mast ", 400)
	// at prepares a person's words alone, which no policy here shortens, for a limit.
	at := func(limit int) *host {
		p, err := named(name)
		must(t, err)
		c, err := configured(p, budget.Target{Model: model, Window: budget.Window{Capacity: limit + 2, Buffer: 1, OutputReserve: 1}})
		must(t, err)
		h, err := newHost(c)
		must(t, err)
		must(t, h.feed(engine.SetTools{Tools: []llm.Tool{{Name: "read", Description: words}}}))
		ask(t, h, llm.Text{Text: words})
		must(t, h.feed(engine.Prepare{}))
		return h
	}
	count := at(100_000).sent[0].Count.Bound
	if s := at(count).sent; len(s) != 1 || s[0].Edited || s[0].StillOver || s[0].Final != engine.ReasonNone || s[0].Verdict.Decision != budget.OK || s[0].Limit != count {
		t.Errorf("a count of %d for a limit of %d, want it sent as it is, got %+v", count, count, s)
	}
	h := at(count - 1)
	for _, s := range h.sent {
		if s.Verdict.Decision == budget.OK && !s.StillOver && s.Final == engine.ReasonNone {
			t.Errorf("a count of %d for a limit of %d, want no ordinary request, got one", s.Count.Bound, s.Limit)
		}
	}
	for _, over := range h.refused {
		if over.Used != count || over.Limit != count-1 {
			t.Errorf("the refusal, want %d tokens of %d, got %d of %d", count, count-1, over.Used, over.Limit)
		}
	}
	if len(h.sent)+len(h.refused) == 0 {
		t.Errorf("a count of %d for a limit of %d, want a request or a refusal, got neither", count, count-1)
	}
}

// TestOverIsAboutThePreferredTarget: also where the call went to another one.
func TestOverIsAboutThePreferredTarget(t *testing.T) {
	p, err := policy.Preset("guard")
	must(t, err)
	c, err := configured(p,
		budget.Target{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 50_000, OutputReserve: 1000}},
		budget.Target{Provider: "b", Model: "gpt-4o", Window: budget.Window{Capacity: 400_000, OutputReserve: 1000}})
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	ask(t, h, llm.Text{Text: filler(240_000, "q")})
	if s := prepared(t, h); s.Target.Provider != "b" {
		t.Fatalf("sent to %s, want b", s.Target.Name())
	}
	over := h.m.Over()
	if over == nil || over.Target.Provider != "a" || over.Limit != h.m.Targets()[0].Window.Limit() {
		t.Errorf("over, want an error about a and its limit, got %v", over)
	}
}
