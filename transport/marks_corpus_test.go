package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// markedModel is the model that recorded sessions are driven with, which caches what is marked.
const markedModel = "claude-sonnet-4-5"

// TestCorpusMarks: recorded sessions are driven Step by Step against a server that keeps what is
// marked: by a careful client that marks its system prompt and its last two messages, by one that
// marks nothing, and by that one behind balanced with prompt.clients. Where raw fits, and on half
// of that, ours cost no more than the careful client's raw requests, all together.
func TestCorpusMarks(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no sessions to drive")
	}
	files, err := formats.Find([]string{filepath.Join(dir, "claude-code"), filepath.Join(dir, "codex"), filepath.Join(dir, "pi"), filepath.Join(dir, "gemini-cli")})
	must(t, err)
	var sum struct{ none, careful, ours, half int64 }
	segments, calls := 0, 0
	for _, file := range files {
		s, err := formats.Open(file)
		if err != nil {
			continue // what cannot be read is another test's matter
		}
		for _, segment := range s.Segments {
			none, careful := markedBodies(t, segment, false), markedBodies(t, segment, true)
			if len(none) < 5 {
				continue
			}
			raw, peak := chargeMarked(t, careful, nil)
			if raw == 0 {
				continue // the provider would refuse what the record has of it, such as an image that was taken out
			}
			plain, _ := chargeMarked(t, none, nil)
			ours, _ := chargeMarked(t, none, behind(t, 1_000_000))
			half, _ := chargeMarked(t, none, behind(t, max(peak/2, 8_000)))
			segments, calls = segments+1, calls+len(none)
			sum.none, sum.careful, sum.ours, sum.half = sum.none+plain, sum.careful+raw, sum.ours+ours, sum.half+half
			if ours*100 > raw*105 {
				t.Logf("%s: %d calls: where raw fits ours cost %d %% of raw", filepath.Base(file), len(none), ours*100/raw)
			}
		}
	}
	if segments == 0 || sum.careful == 0 {
		t.Fatal("nothing was driven")
	}
	share := func(n int64) string { return fmt.Sprintf("%.3f", float64(n)/float64(sum.careful)) }
	t.Logf("| %d | %d | %s | %s | %s |", segments, calls, share(sum.none), share(sum.ours), share(sum.half))
	if sum.ours > sum.careful {
		t.Errorf("where raw fits: ours cost %s of the careful client's raw", share(sum.ours))
	}
	if sum.half > sum.careful*7/10 {
		t.Errorf("on half of the window: ours cost %s of the careful client's raw, want 0.7 at most", share(sum.half))
	}
}

// behind returns what carries requests through a gateway whose policy marks for its clients.
func behind(t *testing.T, window int) http.RoundTripper {
	t.Helper()
	p, err := policy.Preset("balanced")
	must(t, err)
	p.Prompt.Clients = true
	g, err := gateway.New(gateway.Options{Policy: p, Window: func(string, string) budget.Window {
		return budget.Window{Capacity: window, OutputReserve: 1000, Buffer: budget.None}
	}})
	must(t, err)
	return transport.New(g)
}

// markedBodies returns the requests of a segment in the Messages format, with the marks of a careful
// client or none.
func markedBodies(t *testing.T, segment sessionfile.Segment, careful bool) (bodies [][]byte) {
	t.Helper()
	known, err := catalog.Load()
	must(t, err)
	d, _ := known.Dialect(anthropic.Dialect)
	var msgs []llm.Message
	for _, e := range segment.Entries {
		if e.Step != nil && len(msgs) > 0 && len(bodies) < mostRecorded {
			r := convert.Request(llm.Request{
				Model: markedModel, Sections: segment.Sections, Tools: segment.Tools, Messages: msgs, MaxOutput: 1000,
			}, d, convert.Options{Foreign: true}).Request
			if careful {
				r = carefully(r)
			}
			body, err := anthropic.EncodeRequest(r)
			must(t, err)
			if len(body) > mostBytes {
				break
			}
			bodies = append(bodies, body)
		}
		msgs = append(msgs, e.Message)
	}
	return bodies
}

// carefully returns a request with marks on its system prompt and its last two messages that are not
// the model's.
func carefully(r llm.Request) llm.Request {
	r.Marks = llm.Marks{{On: llm.OnSection, At: len(r.Sections) - 1, Mark: llm.MarkShort}}
	for i, n := len(r.Messages)-1, 0; i >= 0 && n < 2; i-- {
		if r.Messages[i].Origin != llm.Model && (i == len(r.Messages)-1 || r.Messages[i+1].Origin == llm.Model) {
			r.Marks = append(r.Marks, llm.Place{On: llm.OnMessage, At: i, Mark: llm.MarkShort})
			n++
		}
	}
	return r
}

// chargeMarked returns what requests cost, in picodollars, and the largest prompt; 0 if one was
// refused.
func chargeMarked(t *testing.T, bodies [][]byte, carrier http.RoundTripper) (pico int64, peak int) {
	t.Helper()
	known, err := catalog.Load()
	must(t, err)
	model, _ := known.Lookup(markedModel)
	server, url := scripted(t, "cache min 1024\nsignatures off\nreply always\n  text \"ok\"\n")
	if carrier == nil {
		carrier = http.DefaultTransport
	}
	for _, body := range bodies {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/messages", bytes.NewReader(body))
		must(t, err)
		req.Header.Set("Anthropic-Version", "2023-06-01")
		resp, err := carrier.RoundTrip(req)
		must(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		must(t, err)
		must(t, resp.Body.Close())
	}
	for _, c := range server.Log() {
		if c.Error != nil {
			return 0, 0
		}
		u := c.Reply.Usage
		u.Output = 0 // it is the same for all
		peak = max(peak, u.Prompt())
		prices, ok := model.PricesAt(u.Prompt())
		cost, priced := prices.Cost(u)
		if !ok || !priced {
			t.Fatal("no price")
		}
		pico += cost
	}
	return pico, peak
}
