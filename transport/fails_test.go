package transport_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// What docs/transport.md says of failures, seen from the client of an SDK.

// through returns a client whose requests go through a transport, with a window of tokens
// for every model.
func through(t *testing.T, o gateway.Options, tokens int) *http.Client {
	t.Helper()
	o.Window = func(string, string) budget.Window { return budget.Window{Capacity: tokens, OutputReserve: 500} }
	g, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: transport.New(g)}
}

// ask posts a body and returns the answer, as far as it comes.
func ask(t *testing.T, c *http.Client, url, body string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

const small = `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Go on."}]}`

// long is a request of several Rounds, of some 9,000 tokens.
func long() string {
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":100,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Go on."}`)
	for _, id := range []string{"toolu_1", "toolu_2", "toolu_3", "toolu_4", "toolu_5", "toolu_6"} {
		b.WriteString(`,{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"f","input":{}}]}`)
		b.WriteString(`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + strings.Repeat(id+" is well; ", 400) + `"}]}`)
	}
	return b.String() + `]}`
}

func TestFailures(t *testing.T) {
	t.Run("a_refusal_for_length_is_not_heard", func(t *testing.T) {
		server, url := scripted(t, "window 6000\noutput 500\nreply\n  text \"Done.\"\n")
		status, answer, err := ask(t, through(t, gateway.Options{}, 100_000), url+"/v1/messages", long())
		if err != nil || status != http.StatusOK || !strings.Contains(answer, "Done.") {
			t.Errorf("want a reply, got %d, %v: %s", status, err, answer)
		}
		if calls := server.Log(); len(calls) < 2 || calls[0].Error == nil || calls[len(calls)-1].Error != nil || string(calls[0].Body) != long() {
			t.Errorf("want a refusal of the client's own body and then a shorter one, got %d calls", len(calls))
		}
	})
	t.Run("what_cannot_be_made_to_fit_is_refused_in_the_dialect", func(t *testing.T) {
		server, url := scripted(t, "reply always\n  text \"no\"\n")
		body := strings.Replace(small, `{"model"`, `{"system":"`+strings.Repeat("a line of a rule; ", 4000)+`","model"`, 1)
		status, answer, _ := ask(t, through(t, gateway.Options{}, 8000), url+"/v1/messages", body)
		if status != http.StatusBadRequest || !strings.Contains(answer, "prompt is too long") || len(server.Log()) != 0 {
			t.Errorf("want the provider's refusal and no call of it, got %d, %d calls: %s", status, len(server.Log()), answer)
		}
	})
	for name, script := range map[string]string{
		"another_error": "reply always\n  status 529 retry-after 3 \"full\"\n", "a_cut": "reply always\n  words 50\n  cut after 3 events\n",
		"an_error_inside": "reply always\n  words 50\n  fail after 3 events\n", "nonsense": "reply always\n  words 50\n  malformed after 2 events\n",
	} {
		t.Run(name+"_passes_byte_for_byte", func(t *testing.T) {
			body := strings.Replace(small, `{"model"`, `{"stream":true,"model"`, 1)
			server, url := scripted(t, script)
			status, answer, err := ask(t, through(t, gateway.Options{}, 8000), url+"/v1/messages", body)
			if call := server.Log()[0]; status != call.Status || answer != string(call.Answer) || err != nil {
				t.Errorf("want %d and what was sent, got %d, %v\n%s\n%s", call.Status, status, err, call.Answer, answer)
			}
		})
	}
	t.Run("a_break_is_one_at_the_same_byte", func(t *testing.T) {
		server, url := scripted(t, "reply always\n  words 50\n  drop after 300 bytes\n")
		_, answer, err := ask(t, through(t, gateway.Options{}, 8000), url+"/v1/messages", strings.Replace(small, `{"model"`, `{"stream":true,"model"`, 1))
		if whole := string(server.Log()[0].Answer); err == nil || answer == "" || !strings.HasPrefix(whole, answer) {
			t.Errorf("want an error behind the first bytes, got %v: %s", err, answer)
		}
	})
	t.Run("a_body_that_is_not_read_is_sent", func(t *testing.T) {
		for _, body := range []string{"no JSON", `{"model":"m"}`, `[]`} {
			server, url := scripted(t, "reply always\n  text \"no\"\n")
			_, answer, _ := ask(t, through(t, gateway.Options{}, 8000), url+"/v1/messages", body)
			if call := server.Log()[0]; string(call.Body) != body || answer != string(call.Answer) {
				t.Errorf("%s: want it sent and the answer to it, got %s: %s", body, call.Body, answer)
			}
		}
	})
	t.Run("a_bomb_is_refused", func(t *testing.T) {
		server, url := scripted(t, "reply always\n  text \"no\"\n")
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = io.Copy(w, io.LimitReader(zeros{}, transport.MostBody+1))
		_ = w.Close()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/messages", &packed)
		req.Header.Set("Content-Encoding", "gzip")
		resp, err := through(t, gateway.Options{}, 8000).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(answer), "request_too_large") || len(server.Log()) != 0 {
			t.Errorf("want the provider's 413, got %d: %s", resp.StatusCode, answer)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A broken store takes nothing.
type broken struct{ store.Memory }

var errBroken = errors.New("the disk is full")

func (*broken) Append(context.Context, string, int, [][]byte) error { return errBroken }

// TestStoreFails: a request that fits goes as it is, and the log says so; one that does not
// is refused in the dialect.
func TestStoreFails(t *testing.T) {
	var told bytes.Buffer
	o := gateway.Options{Store: &broken{}, Log: slog.New(slog.NewTextHandler(&told, nil))}
	server, url := scripted(t, "reply always\n  text \"Done.\"\n")
	status, answer, _ := ask(t, through(t, o, 8000), url+"/v1/messages", small)
	if status != http.StatusOK || !strings.Contains(answer, "Done.") || string(server.Log()[0].Body) != small {
		t.Errorf("want a reply to the client's own body, got %d: %s", status, answer)
	}
	if !strings.Contains(told.String(), errBroken.Error()) || strings.Contains(told.String(), "Go on.") {
		t.Errorf("want a warning without a word of the conversation, got %q", told.String())
	}
	if status, answer, _ = ask(t, through(t, o, 4000), url+"/v1/messages", long()); status != http.StatusBadRequest || len(server.Log()) != 1 {
		t.Errorf("want a refusal and no call, got %d after %d: %s", status, len(server.Log()), answer)
	}
}

// TestGone: who gives up ends the call of the provider, too.
func TestGone(t *testing.T) {
	began, gone := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		close(began)
		<-r.Context().Done()
		close(gone)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/messages", strings.NewReader(small))
	resp, err := through(t, gateway.Options{}, 8000).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	<-began
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("want the context's error, got %v", err)
	}
	_ = resp.Body.Close()
	<-gone
}
