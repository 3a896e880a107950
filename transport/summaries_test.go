package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// A writing is a provider that is asked for summaries, too: it holds them back until it may
// write them.
type writing struct {
	calls, summaries http.Handler
	may              chan struct{}
	status           int // of summaries; 0: they come

	mu    sync.Mutex
	asked []string // the keys that they were asked for with
}

func (p *writing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !bytes.Contains(body, []byte("You write summaries of recorded conversations")) {
		p.calls.ServeHTTP(w, r)
		return
	}
	p.mu.Lock()
	p.asked = append(p.asked, r.Header.Get("Authorization"))
	p.mu.Unlock()
	<-p.may
	if p.status != 0 {
		w.WriteHeader(p.status)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"no such key: %s"}}`, r.Header.Get("Authorization"))
		return
	}
	p.summaries.ServeHTTP(w, r)
}

// TestSummariesByTheClient: the conversation's own model writes summaries with the client's key,
// in the background: no request waits, also where none ever comes, and the key is kept nowhere.
func TestSummariesByTheClient(t *testing.T) {
	for _, d := range testagent.Dialects() {
		for name, status := range map[string]int{"written": 0, "refused": http.StatusUnauthorized} {
			t.Run(string(d)+"_"+name, func(t *testing.T) {
				server, _ := scripted(t, script)
				summaries, _ := scripted(t, "reply always\n  text \"<summary>The model has read the files one after the other, and each has lines of numbers. "+
					strings.Repeat("Nothing in them was out of the ordinary, and what comes next is the next file. ", 8)+"</summary>\"\n")
				p := &writing{calls: server, summaries: summaries, may: make(chan struct{}), status: status}
				front := httptest.NewServer(p)
				t.Cleanup(front.Close)
				kept := &store.Memory{}
				g, err := gateway.New(gateway.Options{ClientSummaries: true, Store: kept, Window: func(string, string) budget.Window {
					return budget.Window{Capacity: 8000, OutputReserve: 500}
				}})
				if err != nil {
					t.Fatal(err)
				}
				session := ""
				tr := transport.New(g)
				tr.Done = func(_ *http.Request, r gateway.Report) { session = r.Session }
				c := testagent.New(front.URL, d, true)
				c.HTTP = &http.Client{Transport: keyed{tr}}
				var once sync.Once
				c.Each = func(n int) {
					p.mu.Lock()
					defer p.mu.Unlock()
					if len(p.asked) > 0 && n > 15 { // many Steps were made while the first one was held back
						once.Do(func() { close(p.may) })
					}
				}
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				once.Do(func() { close(p.may) })
				if err := g.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				p.mu.Lock()
				defer p.mu.Unlock()
				if len(p.asked) == 0 || p.asked[0] != "Bearer client-key" {
					t.Errorf("summaries were asked for with %q", p.asked)
				}
				shown := false
				for line, err := range kept.Records(t.Context(), session, 0) {
					if err != nil {
						t.Fatal(err)
					}
					if bytes.Contains(line, []byte("client-key")) {
						t.Errorf("the key is kept: %.300s", line)
					}
					shown = shown || bytes.Contains(line, []byte(`"kind":"edit"`)) && bytes.Contains(line, []byte("one after the other"))
				}
				if shown != (status == 0) {
					t.Errorf("the model's summary is shown: %t", shown)
				}
			})
		}
	}
}

// TestNoClientWaits: what a policy would have a request wait for code writes, whoever else could.
func TestNoClientWaits(t *testing.T) {
	for _, preset := range []string{"layered", "cache-compact", "turn-budget"} {
		t.Run(preset, func(t *testing.T) {
			pol, err := policy.Preset(preset)
			if err != nil {
				t.Fatal(err)
			}
			server, _ := scripted(t, script)
			p := &writing{calls: server, may: make(chan struct{})} // none is ever written
			front := httptest.NewServer(p)
			t.Cleanup(front.Close)
			t.Cleanup(func() { close(p.may) })
			p.status = http.StatusTeapot
			g, err := gateway.New(gateway.Options{ClientSummaries: true, Policy: pol, Window: func(string, string) budget.Window {
				return budget.Window{Capacity: 12_000, OutputReserve: 500}
			}})
			if err != nil {
				t.Fatal(err)
			}
			edited := 0
			tr := transport.New(g)
			tr.Done = func(_ *http.Request, r gateway.Report) {
				if r.Edited {
					edited++
				}
			}
			c := testagent.New(front.URL, "openai-chat", false)
			c.HTTP = &http.Client{Transport: keyed{tr}}
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if edited == 0 {
				t.Error("nothing was taken out")
			}
		})
	}
}
