package sdktest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/gateway"
)

// TestIdlePython: where nothing is due the provider gets the very bytes that the Python SDKs
// send, whole and streamed, replies and errors, and they get those that it answers with.
func TestIdlePython(t *testing.T) {
	python := pythonSDKs(t)
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	without, want := idlePython(t, python, http.DefaultTransport)
	through, kept := counting(g)
	with, got := idlePython(t, python, through)
	if diff := cmp.Diff(without, with); diff != "" {
		t.Errorf("requests, want the same, got (-without +with):\n%s", diff)
	}
	cut := 0
	for i := range min(len(want), len(got)) {
		if want[i] == cutOff || got[i] == cutOff {
			want[i], got[i] = cutOff, cutOff
			cut++
		}
	}
	if cut > 4 {
		t.Errorf("%d replies were not read to their ends, want the few streams that the cases leave", cut)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replies, want the same, got (-without +with):\n%s", diff)
	}
	if n := int(kept.Load()); n < 80 || n != len(with) || n != len(got) {
		t.Errorf("calls, want 80 and more, got %d of which %d went through a session", len(with), n)
	}
}

// idlePython runs the cases of the Python SDKs through a reverse proxy whose requests base
// carries, and returns the hashes of what the provider got and of what the SDKs got.
func idlePython(t *testing.T, python string, base http.RoundTripper) (sent, heard []string) {
	t.Helper()
	server, upstream := scripted(t, pythonScript, true)
	to, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	ears := &ears{base: base}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: ears,
	})
	t.Cleanup(proxy.Close)
	runPython(t, python, proxy.URL)
	return hashes(server.Log()), ears.wholes()
}

// cutOff stands for a reply whose reader went before its end: how much had come is chance.
const cutOff = "cut off by its reader"

// wholes returns the hashes of what was heard to its end.
func (e *ears) wholes() []string {
	out := e.hashes()
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, h := range e.heard {
		if !h.whole {
			out[i] = cutOff
		}
	}
	return out
}
