package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// TestDeniedTools is R000-28 behind a gateway: a tool that is not allowed is offered to no
// model; one that calls it all the same is told so, and the client never sees the call.
func TestDeniedTools(t *testing.T) {
	for _, c := range codecs.All() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("R000-28_%s_stream_%t", c.Dialect(), stream), func(t *testing.T) {
				denied(t, c, stream)
			})
		}
	}
}

func denied(t *testing.T, codec codecs.Full, stream bool) {
	t.Helper()
	g, err := gateway.New(gateway.Options{Allow: func(_, model, tool string) bool { return model == "scripted" && tool != "shell" }})
	must(t, err)
	tr := transport.New(g)
	asked := 0
	tr.Base = carrier(func(req *http.Request) (*http.Response, error) {
		asked++
		body, err := io.ReadAll(req.Body)
		must(t, err)
		r, err := codec.DecodeRequest(body)
		must(t, err)
		for _, tool := range r.Tools {
			if tool.Name != "read" {
				t.Errorf("%s is offered", tool.Name)
			}
		}
		if strings.Contains(fmt.Sprint(r.Messages[len(r.Messages)-1].Results()), "is not allowed here") {
			return provides(t, codec, req, stream, mayNot), nil
		}
		return provides(t, codec, req, stream, callsShell), nil
	})
	a := testagent.New("http://model.invalid", codec.Dialect(), stream)
	a.HTTP, a.Tools, a.History = &http.Client{Transport: tr}, []llm.Tool{{Name: "read", Schema: `{"type":"object"}`}, {Name: "shell", Schema: `{"type":"object"}`}}, nil
	a.Says("Clean up.")
	for range 2 { // and in the next Turn
		must(t, a.Step(t.Context()))
		said := a.History[len(a.History)-1]
		if len(said.Calls()) > 0 || !strings.HasSuffix(said.Text(), "I may not.") {
			t.Fatalf("the client sees %+v", said)
		}
		a.History = append(a.History, llm.UserText("Try again."))
	}
	if asked != 4 {
		t.Errorf("%d requests, want 4", asked)
	}
}

// TestDeniedWithoutSession is R000-28 for a request that passes without a session: a tool that
// is not allowed is offered there neither, nor demanded.
func TestDeniedWithoutSession(t *testing.T) {
	for name, c := range map[string]struct{ path, body string }{
		"store_fails":  {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read","input_schema":{"type":"object"}},{"name":"shell","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"shell"}}`},
		"conversation": {"/v1/responses", `{"model":"m","conversation":"conv_1","input":"hi","tools":[{"type":"function","name":"read","parameters":{"type":"object"}},{"type":"function","name":"shell","parameters":{"type":"object"}}],"tool_choice":{"type":"function","name":"shell"}}`},
		"no_messages":  {"/v1/chat/completions", `{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"read"}},{"type":"function","function":{"name":"shell"}}],"tool_choice":{"type":"function","function":{"name":"shell"}}}`},
	} {
		t.Run("R000-28_"+name, func(t *testing.T) {
			g, err := gateway.New(gateway.Options{Store: &broken{}, Allow: func(_, model, tool string) bool { return model == "m" && tool != "shell" }})
			must(t, err)
			tr := transport.New(g)
			sent := ""
			tr.Base = carrier(func(req *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(req.Body)
				must(t, err)
				sent = string(body)
				return &http.Response{StatusCode: 200, Request: req, Header: http.Header{}, Body: http.NoBody}, nil
			})
			passed := ""
			tr.Done = func(_ *http.Request, r gateway.Report) { passed = r.Passed }
			_, _, err = ask(t, &http.Client{Transport: tr}, "http://model.invalid"+c.path, c.body)
			must(t, err)
			if passed == "" || strings.Contains(sent, "shell") || strings.Contains(sent, "tool_choice") || !strings.Contains(sent, `"read"`) {
				t.Errorf("passed %q with %s", passed, sent)
			}
		})
	}
}

// TestDeniedUnread is R000-28 for a request that nobody here can read: where tools are not
// allowed it is refused in the client's dialect, and else it goes as it came.
func TestDeniedUnread(t *testing.T) {
	for name, tt := range map[string]struct{ body, coding string }{
		"no_JSON":        {"no JSON", ""},
		"another_kind":   {`{"model":"m","messages":"hi","tools":[{"name":"shell"}]}`, ""},
		"unknown_coding": {"packed somehow", "nonsense"},
		"broken_coding":  {"packed somehow", "gzip"},
	} {
		t.Run("R000-28_"+name, func(t *testing.T) {
			for _, lists := range []bool{true, false} {
				var o gateway.Options
				if lists {
					o.Allow = func(string, string, string) bool { return true }
				}
				g, err := gateway.New(o)
				must(t, err)
				tr := transport.New(g)
				sent := ""
				tr.Base = carrier(func(req *http.Request) (*http.Response, error) {
					body, err := io.ReadAll(req.Body)
					must(t, err)
					sent = string(body)
					return &http.Response{StatusCode: 200, Request: req, Header: http.Header{}, Body: http.NoBody}, nil
				})
				var reports []gateway.Report
				tr.Done = func(_ *http.Request, r gateway.Report) { reports = append(reports, r) }
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://model.invalid/v1/messages", strings.NewReader(tt.body))
				must(t, err)
				if tt.coding != "" {
					req.Header.Set("Content-Encoding", tt.coding)
				}
				resp, err := tr.RoundTrip(req) //nolint:bodyclose // it is read to its end, and there is no connection
				must(t, err)
				answer, err := io.ReadAll(resp.Body)
				must(t, err)
				switch {
				case len(reports) != 1:
					t.Errorf("lists %t: want one report, got %+v", lists, reports)
				case lists && (resp.StatusCode != 400 || sent != "" || reports[0].Refused == "" || !strings.Contains(string(answer), "invalid_request_error")):
					t.Errorf("want it refused, got %d %s, sent %q, %+v", resp.StatusCode, answer, sent, reports[0])
				case !lists && (resp.StatusCode != 200 || sent != tt.body || reports[0].Passed == ""):
					t.Errorf("want it to pass, got %d, sent %q, %+v", resp.StatusCode, sent, reports[0])
				}
			}
		})
	}
}
