package transport_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// A teller is a provider that tells the windows of its models, and notes who asked.
type teller struct {
	http.Handler // answers calls
	says         string
	status       int

	mu    sync.Mutex
	asked []string // method, path, key and body
}

func (p *teller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.URL.Path, "models") && r.URL.Path != "/api/show" || strings.Contains(r.URL.Path, ":") {
		p.Handler.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, p.says)
}

// keyed sends a key with each request.
type keyed struct{ http.RoundTripper }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer client-key")
	return k.RoundTripper.RoundTrip(r)
}

// TestAskedWindow: what nobody states is asked for where the client sends its requests, with
// the client's own key, once; only then does the policy refuse.
func TestAskedWindow(t *testing.T) {
	strict, err := policy.Preset("cache-compact")
	if err != nil {
		t.Fatal(err)
	}
	for d, says := range map[llm.Dialect]string{
		"anthropic":        `{"id":"MODEL","max_input_tokens":64000}`,
		"openai-chat":      `{"data":[{"id":"MODEL","context_length":64000}]}`,
		"openai-responses": `{"data":[{"id":"MODEL","max_model_len":64000}]}`,
		"gemini":           `{"name":"models/MODEL","inputTokenLimit":64000}`,
		"ollama":           `{"parameters":"num_ctx 64000"}`,
	} {
		run := func(t *testing.T, status int) (*teller, []gateway.Report, error) {
			t.Helper()
			server, _ := scripted(t, "reply always\n  text \"Done.\"\n")
			var reports []gateway.Report
			g, err := gateway.New(gateway.Options{Policy: strict, AskWindows: true})
			if err != nil {
				t.Fatal(err)
			}
			tr := transport.New(g)
			tr.Done = func(_ *http.Request, r gateway.Report) { reports = append(reports, r) }
			p := &teller{Handler: server, status: status}
			front := httptest.NewServer(p)
			t.Cleanup(front.Close)
			c := testagent.New(front.URL, d, false)
			c.Model = "mystery-9"
			p.says = strings.ReplaceAll(says, "MODEL", c.Model)
			c.HTTP = &http.Client{Transport: keyed{tr}}
			c.Says("Hello.")
			for range 2 {
				c.Says("And?")
				if err := c.Step(t.Context()); err != nil {
					return p, reports, err
				}
			}
			return p, reports, nil
		}
		t.Run("R001-24_"+string(d), func(t *testing.T) {
			p, reports, err := run(t, http.StatusOK)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.asked) != 1 || !strings.Contains(p.asked[0], "Bearer client-key") {
				t.Errorf("asked %q, want once, with the client's key", p.asked)
			}
			if len(reports) != 2 || reports[0].Passed != "" || reports[0].Limit != 64_000 {
				t.Errorf("reports %+v, want a limit of 64,000", reports)
			}
		})
		t.Run("R001-24_"+string(d)+"_does_not_tell", func(t *testing.T) {
			p, reports, _ := run(t, http.StatusNotFound)
			if len(p.asked) != 1 || len(reports) == 0 || !strings.Contains(reports[0].Passed, "unknown context window") {
				t.Errorf("asked %q, reports %+v", p.asked, reports)
			}
		})
	}
}
