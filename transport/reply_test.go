package transport_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A carrier is a base of the program's own.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// TestBareAnswer: what stands in for a provider in a program's tests need not say what it
// answers.
func TestBareAnswer(t *testing.T) {
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	through := transport.New(g)
	through.Base = carrier(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"id":"msg"}`))}, nil
	})
	status, answer, err := ask(t, &http.Client{Transport: through}, "http://provider.invalid/v1/messages", small)
	if err != nil || status != http.StatusOK || answer != `{"id":"msg"}` {
		t.Errorf("want the answer, got %d %q, %v", status, answer, err)
	}
}

// TestCloseWhileRead: a program closes a stream while another of its goroutines reads it,
// as it may with the bodies of net/http. The race detector judges.
func TestCloseWhileRead(t *testing.T) {
	const event = "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	src, provider := io.Pipe()
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	through := transport.New(g)
	through.Base = carrier(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: src, Request: r}, nil
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider.invalid/v1/messages", strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := through.RoundTrip(req) //nolint:bodyclose // it is, below, while it is read
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			if _, err := io.WriteString(provider, event); err != nil {
				return // it was closed
			}
		}
	}()
	started, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.ReadFull(resp.Body, make([]byte, len(event)))
		close(started)
		_, _ = io.Copy(io.Discard, resp.Body)
	}()
	<-started
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}

// TestRefusalReported: what is refused here is reported as what it is, with the figures.
func TestRefusalReported(t *testing.T) {
	_, url := scripted(t, "reply always\n  text \"no\"\n")
	for name, tt := range map[string]struct {
		path, body string
		class      wire.Class
		figures    bool
	}{
		"too long":        {"/v1/messages", strings.Replace(small, `{"model"`, `{"system":"`+strings.Repeat("a line of a rule; ", 4000)+`","model"`, 1), wire.TooLong, true},
		"unknown history": {"/v1/responses", `{"model":"m","input":"Go on.","previous_response_id":"resp_x"}`, wire.BadRequest, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := through(t, gateway.Options{}, 8000)
			var got gateway.Report
			c.Transport.(*transport.Transport).Done = func(_ *http.Request, r gateway.Report) { got = r }
			if status, answer, err := ask(t, c, url+tt.path, tt.body); err != nil || status != http.StatusBadRequest {
				t.Fatalf("want a refusal, got %d %s, %v", status, answer, err)
			}
			if got.Class != tt.class || got.Model != "m" || (got.Limit > 0) != tt.figures || tt.figures && got.Tokens <= got.Limit {
				t.Errorf("want the class %v of model m, with figures: %v, got %+v", tt.class, tt.figures, got)
			}
		})
	}
}

// TestOwnHeadersStay: headers that are for the transport alone go to no provider, also of a
// request that asks no model, and the program's request keeps them.
func TestOwnHeadersStay(t *testing.T) {
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	through := transport.New(g)
	var got http.Header
	through.Base = carrier(func(r *http.Request) (*http.Response, error) {
		got = r.Header
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	for _, path := range []string{"/v1/messages", "/v1/models", "/v1/files"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider.invalid"+path, strings.NewReader(small))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Plimsoll-Session", "mine")
		req.Header.Set("X-Other", "theirs")
		resp, err := through.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if got.Get("X-Plimsoll-Session") != "" || got.Get("X-Other") != "theirs" || req.Header.Get("X-Plimsoll-Session") != "mine" {
			t.Errorf("%s: sent %v, the program's own now %v", path, got, req.Header)
		}
	}
}
