package transport_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// An upstream answers with what was recorded, and notes what it was sent.
type upstream struct {
	answer   recording.Exchange
	coding   string
	got      []byte
	gotError error
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.got, u.gotError = io.ReadAll(r.Body)
	kind := "application/json"
	if u.answer.Stream {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	if u.coding != "" {
		w.Header().Set("Content-Encoding", u.coding)
	}
	w.WriteHeader(max(u.answer.Status, 200))
	_, _ = w.Write(u.packed()) // the client looks at what comes
}

func (u *upstream) packed() []byte { return packed(u.coding, u.answer.Response) }

func packed(coding string, plain []byte) []byte {
	var out bytes.Buffer
	switch coding {
	case "gzip":
		w := gzip.NewWriter(&out)
		_, _ = w.Write(plain) // of a buffer
		_ = w.Close()
	case "zstd":
		w, _ := zstd.NewWriter(&out)
		_, _ = w.Write(plain)
		_ = w.Close()
	default:
		return plain
	}
	return out.Bytes()
}

// TestIdleOnRecordings: every recorded request and body of the corpus arrives upstream
// with the bytes that the client sent, and every reply at the client, packed or not. Under
// a policy that edits, those that it edits are counted.
func TestIdleOnRecordings(t *testing.T) {
	for _, preset := range []string{"off", "balanced"} {
		t.Run(preset, func(t *testing.T) { idle(t, preset) })
	}
}

func idle(t *testing.T, preset string) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recordings to send")
	}
	all, err := recording.Load(dir)
	must(t, err)
	bodies, err := recording.Bodies(dir)
	must(t, err)
	p, err := policy.Preset(preset)
	must(t, err)
	g, err := gateway.New(gateway.Options{Policy: p})
	must(t, err)

	u := &upstream{}
	server := httptest.NewServer(u)
	defer server.Close()
	reports, edited := map[string]int{}, false
	base := &http.Transport{DisableCompression: true}
	through := transport.New(g)
	through.Base = base
	through.Done = func(_ *http.Request, r gateway.Report) {
		reports["exchanges"]++
		if edited = r.Edited; edited {
			reports["edited"]++
		}
		if r.Passed != "" {
			reports["passed: "+r.Passed]++
		}
		if !r.Usage.IsZero() {
			reports["with usage"]++
		}
	}
	sent := 0
	for _, e := range append(all, bodies...) {
		path := testagent.Path(e.Dialect, "scripted-model", false)
		if len(e.Request) == 0 || path == "" {
			continue
		}
		if strings.HasPrefix(e.Path, "/") {
			path = e.Path
		}
		for _, coding := range []string{"", "gzip", "zstd"} {
			u.answer, u.coding, u.got = e, coding, nil
			body := packed(coding, e.Request)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, bytes.NewReader(body))
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			req.Header.Set("Content-Type", "application/json")
			if coding != "" {
				req.Header.Set("Content-Encoding", coding)
			}
			resp, err := through.RoundTrip(req)
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			reply, err := io.ReadAll(resp.Body)
			must(t, err)
			must(t, resp.Body.Close())
			must(t, u.gotError)
			sent++
			if !edited && sha(u.got) != sha(body) {
				t.Errorf("%s %q: upstream got %d bytes, want the client's %d", e.Name, coding, len(u.got), len(body))
			}
			if sha(reply) != sha(u.packed()) {
				t.Errorf("%s %q: the client got %d bytes, want the provider's %d", e.Name, coding, len(reply), len(u.packed()))
			}
		}
	}
	t.Logf("%d requests: %v", sent, reports)
	if sent == 0 || reports["edited"] > sent/10 || preset == "off" && reports["edited"] > 0 {
		t.Errorf("%d requests, %d of them edited", sent, reports["edited"])
	}
}

func sha(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
