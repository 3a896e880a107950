package frameworktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// script is the work of an agent whose history becomes four windows long.
const (
	steps  = 40
	theEnd = "It is on her side."
	script = `
window 10000
output 2000
secret "k"
reply 40 times
  thinking "Where is it?"
  text "I look."
  call read_file {"path": "docs/ship.md"}
reply
  text "It is on her side."
`
)

// An agentFunc works until it has an answer, with all it has sent and read in every request. Where the
// provider is the environment says, to eino baseURL.
type agentFunc func(ctx context.Context, httpClient *http.Client, baseURL string, stream bool) (last string, err error)

// errEndless says that a task took more Steps than it has.
var errEndless = errors.New("want an end, got none")

// TestTransport: under each framework an agent that knows of no window ends a task that is
// four of them long. The provider refuses nothing and finds no fault; without the transport
// the task goes wrong in its first quarter.
func TestTransport(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	t.Setenv("GEMINI_API_KEY", "key")
	for name, run := range map[string]agentFunc{"eino": einoAgent, "langchaingo": langchainAgent, "adk": adkAgent} {
		for _, stream := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " streamed"}[stream], func(t *testing.T) {
				g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window {
					return budget.Window{Capacity: 10_000, OutputReserve: 2_000}
				}})
				if err != nil {
					t.Fatal(err)
				}
				server, url := scripted(t)
				last, err := run(t.Context(), &http.Client{Transport: transport.New(g)}, url, stream)
				if err != nil || last != theEnd {
					t.Errorf("task, want its end, got %q, %v", last, err)
				}
				calls := server.Log()
				for n, c := range calls {
					if c.Error != nil || len(c.Faults) > 0 {
						t.Errorf("call %d, want it taken, got %v %v\n%.2000s", n+1, c.Error, c.Faults, c.Body)
						break
					}
				}
				if n := len(calls); n != steps+1 {
					t.Errorf("calls, want %d, got %d", steps+1, n)
				}

				server, url = scripted(t)
				last, err = run(t.Context(), &http.Client{}, url, stream)
				if n := len(server.Log()); err == nil && last == theEnd || 4*n > steps {
					t.Errorf("without the transport, want a failure in the first quarter, got %q, %v after %d of %d calls", last, err, n, steps)
				}
			})
		}
	}
}

func scripted(t *testing.T) (*scriptmodel.Server, string) {
	t.Helper()
	s, err := scriptmodel.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(s, scriptmodel.Options{})
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	t.Setenv("OPENAI_BASE_URL", h.URL+"/v1")
	t.Setenv("GOOGLE_GEMINI_BASE_URL", h.URL)
	return server, h.URL
}

// A file is what the tool of the agents reads.
type file struct {
	Path string `json:"path"`
}

// output is what the tool puts out, of some 1,400 tokens.
func output(*file) string {
	var b strings.Builder
	for line := range 200 {
		fmt.Fprintf(&b, "line %d of the file: all is well\n", line)
	}
	return b.String()
}
