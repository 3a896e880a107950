package transport_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/transport"
)

const script = `
window 8000
output 500
reply 40 times when tools
  thinking "Let me look."
  call read {"path": "a.txt"}
reply always
  text "Done."
`

func scripted(t *testing.T, text string) (*scriptmodel.Server, string) {
	t.Helper()
	s, err := scriptmodel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	server := scriptmodel.New(s, scriptmodel.Options{})
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return server, listener.URL
}

// TestGrows: an agent whose task needs several windows ends it, in every dialect,
// streaming or not; the provider refuses nothing, and without the transport it does.
func TestGrows(t *testing.T) {
	for _, d := range testagent.Dialects() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s_stream_%t", d, stream), func(t *testing.T) {
				server, url := scripted(t, script)
				g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window {
					return budget.Window{Capacity: 8000, OutputReserve: 500}
				}})
				if err != nil {
					t.Fatal(err)
				}
				c := testagent.New(url, d, stream)
				c.HTTP = &http.Client{Transport: transport.New(g)}
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				calls := server.Log()
				if len(calls) != 41 {
					t.Errorf("%d calls, want 41", len(calls))
				}
				for i, call := range calls {
					if call.Error != nil || len(call.Faults) > 0 {
						t.Fatalf("call %d: %v %v", i+1, call.Error, call.Faults)
					}
				}
				direct := testagent.New(url, d, stream)
				direct.HTTP = http.DefaultClient
				server.Reset()
				if err := direct.Run(t.Context()); err == nil && d != "ollama" {
					t.Error("without the transport the task ends, want a refusal")
				}
			})
		}
	}
}

// TestClientView: a client is told what was used, or, where the gateway is asked for it,
// what its own history would use.
func TestClientView(t *testing.T) {
	for _, d := range testagent.Dialects() {
		for _, stream := range []bool{false, true} {
			for _, view := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s_stream_%t_view_%t", d, stream, view), func(t *testing.T) {
					_, url := scripted(t, script)
					g, err := gateway.New(gateway.Options{ClientView: view, Window: func(string, string) budget.Window {
						return budget.Window{Capacity: 8000, OutputReserve: 500}
					}})
					must(t, err)
					c := testagent.New(url, d, stream)
					c.HTTP = &http.Client{Transport: transport.New(g)}
					must(t, c.Run(t.Context()))
					if last := c.Prompts[len(c.Prompts)-1]; (last > 3*8000) != view || last == 0 {
						t.Errorf("the client is told a prompt of %d tokens: %v", last, c.Prompts)
					}
				})
			}
		}
	}
}

// TestRefusedWithin: a provider whose window is smaller than anybody knows refuses for
// length; the request is sent again, shorter, before the client hears of it.
func TestRefusedWithin(t *testing.T) {
	for _, d := range testagent.Dialects() {
		if d == "ollama" { // it cuts and says nothing
			continue
		}
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s_stream_%t", d, stream), func(t *testing.T) {
				server, url := scripted(t, script)
				g, err := gateway.New(gateway.Options{})
				must(t, err)
				attempts := 0
				tr := transport.New(g)
				tr.Done = func(_ *http.Request, r gateway.Report) { attempts = max(attempts, r.Attempts) }
				c := testagent.New(url, d, stream)
				c.HTTP = &http.Client{Transport: tr}
				must(t, c.Run(t.Context()))
				refused := 0
				for _, call := range server.Log() {
					if call.Error != nil {
						refused++
					}
				}
				if refused == 0 || refused > 8 || attempts < 2 {
					t.Errorf("%d requests refused, at most %d attempts, want a few and 2", refused, attempts)
				}
			})
		}
	}
}
