package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A frail store can fail.
type frail struct {
	store.Memory
	fails atomic.Bool
}

var errFull = errors.New("disk full")

func (f *frail) Append(ctx context.Context, session string, at int, records [][]byte) error {
	if f.fails.Load() {
		return errFull
	}
	return f.Memory.Append(ctx, session, at, records)
}

func (f *frail) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	if f.fails.Load() {
		return errFull
	}
	return f.Memory.Put(ctx, session, blobs)
}

func (f *frail) Records(ctx context.Context, session string, from int) iter.Seq2[[]byte, error] {
	if f.fails.Load() {
		return func(yield func([]byte, error) bool) { yield(nil, errFull) }
	}
	return f.Memory.Records(ctx, session, from)
}

// TestStoreFails: where nothing can be stored a request that fits goes as the client made
// it, and the log says so; one that does not fit is refused in the client's dialect. When
// the store is back everything goes on.
func TestStoreFails(t *testing.T) {
	s := &frail{}
	var log bytes.Buffer
	g, err := gateway.New(gateway.Options{
		Store: s, Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Window: func(string, string) budget.Window { return budget.Window{Capacity: window, OutputReserve: 500} },
	})
	must(t, err)
	c := newTalk(t, "Read them.").reads(3)
	ends(t, c.sends(g)) // and nothing is written any more
	s.fails.Store(true)
	x := c.reads(3).sends(g)
	if x.Edited() || x.Report().Passed == "" || !strings.Contains(log.String(), "disk full") {
		t.Errorf("got %+v, log %s", x.Report(), log.String())
	}
	for range 40 {
		c.reads(120)
	}
	_, err = g.Begin(t.Context(), c.call())
	if e := refused(t, err); e.Status != 400 || !errors.Is(err, errFull) {
		t.Errorf("got %v, want a refusal that names the store", err)
	}
	s.fails.Store(false)
	if x := c.sends(g); !x.Edited() || x.Report().Passed != "" {
		t.Errorf("when the store is back: got %+v", x.Report())
	}
}

// TestUnpaired: a history that no session takes, with a result that belongs to no call,
// goes to the provider, who judges it.
func TestUnpaired(t *testing.T) {
	g := begin(t, nil)
	c := newTalk(t, "Read them.").reads(3)
	c.history = append(c.history[:1], c.history[2:]...) // the call is gone
	x := c.sends(g)
	if x.Edited() || x.Report().Passed == "" {
		t.Errorf("got %+v, want it to pass", x.Report())
	}
	whole := c.other().reads(3)
	if x := whole.sends(g); x.Edited() || x.Report().Passed == "" {
		t.Errorf("got %+v, want it to pass again", x.Report())
	}
}

// TestUnread: what is no request of its dialect passes by as it is.
func TestUnread(t *testing.T) {
	g := begin(t, nil)
	for _, body := range []string{"", "{", "[]", `{"model":"m"}`, `{"model":"m","messages":[]}`, `{"messages":[{"role":"user","content":"x"}]}`, `{"model":"m","messages":7}`} {
		x, err := g.Begin(t.Context(), gateway.Call{Provider: "p", Dialect: dialect, Body: []byte(body)})
		must(t, err)
		if string(x.Body()) != body || x.Report().Passed == "" {
			t.Errorf("%q: got %q, %+v", body, x.Body(), x.Report())
		}
		if x.Refused(t.Context(), 400, []byte(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`)) {
			t.Errorf("%q: is sent again", body)
		}
	}
	secret := `{"model":"m","messages":[{"role":"what I said","content":"x"}]}`
	x, err := g.Begin(t.Context(), gateway.Call{Provider: "p", Dialect: dialect, Body: []byte(secret)})
	must(t, err)
	if x.Report().Passed == "" || strings.Contains(x.Report().Passed, "what I said") {
		t.Errorf("got %q, want a reason without a word of the body", x.Report().Passed)
	}
	if x, err := g.Begin(t.Context(), gateway.Call{Dialect: "morse", Body: []byte("x")}); err != nil || x.Report().Passed == "" {
		t.Errorf("got %v", err)
	}
}
