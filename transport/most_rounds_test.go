package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A tapped body keeps what was read of it.
type tapped struct {
	io.Reader
	io.Closer
}

// TestMostRounds: a model that calls hidden tools on and on, whatever it is told, is asked so
// often and no more. Its client gets an answer that says so, which it can go on from, and is
// told what all of it used.
func TestMostRounds(t *testing.T) {
	eachWay(t, func(t *testing.T, codec codecs.Full, stream bool) {
		asked, tame := 0, false
		provider := carrier(func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			must(t, err)
			if faults := check.Request(codec.Dialect(), body); len(faults) > 0 {
				t.Errorf("request %d: %v", asked, faults)
			}
			asked++
			if tame {
				if !strings.Contains(string(body), "the most that one may take") || strings.Count(string(body), "is not allowed here") < 11 {
					t.Errorf("the model does not see what was said: %s", body)
				}
				return provides(t, codec, req, stream, mayNot), nil
			}
			reply := callsShell
			call := reply.Message.Calls()[0]
			call.CallID = fmt.Sprint("call_", asked)
			reply.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{call}}
			return provides(t, codec, req, stream, reply), nil
		})
		a, _ := withoutShell(t, codec.Dialect(), stream, provider)
		var got bytes.Buffer
		st := &store.Memory{}
		begin := func() { // of a process
			g, err := gateway.New(gateway.Options{Store: st, Allow: func(_, _, tool string) bool { return tool != "shell" }})
			must(t, err)
			tr := transport.New(g)
			tr.Base = provider
			a.HTTP = &http.Client{Transport: carrier(func(req *http.Request) (*http.Response, error) {
				resp, err := tr.RoundTrip(req)
				if err == nil {
					resp.Body = tapped{io.TeeReader(resp.Body, &got), resp.Body}
				}
				return resp, err
			})}
		}
		begin()
		must(t, a.Step(t.Context()))
		said := a.History[len(a.History)-1]
		if !strings.Contains(said.Text(), "12 rounds of tool calls") || len(said.Calls()) > 0 || asked != 13 {
			t.Fatalf("%d requests, the client gets %+v", asked, said)
		}
		if used := a.Prompts[0]; used != 13*callsShell.Usage.Prompt() {
			t.Errorf("the client is told of a prompt of %d tokens, want that of all Rounds, %d", used, 13*callsShell.Usage.Prompt())
		}
		faults := check.Response(codec.Dialect(), got.Bytes())
		if stream {
			faults = check.Stream(codec.Dialect(), got.Bytes())
		}
		if len(faults) > 0 {
			t.Errorf("the reply breaks rules: %v\n%s", faults, got.Bytes())
		}
		tame = true
		begin()
		a.Says("Go on.")
		must(t, a.Step(t.Context()))
		if text := a.History[len(a.History)-1].Text(); text != "I may not." || asked != 14 {
			t.Errorf("%d requests, then %q", asked, text)
		}
	})
}

// TestMostRoundsBesideOwnCalls: where the last of them calls a tool of the client's as well, the
// client goes on with that, and the model has all of its reply, with a result for each call.
func TestMostRoundsBesideOwnCalls(t *testing.T) {
	eachWay(t, func(t *testing.T, codec codecs.Full, stream bool) {
		asked := 0
		a, _ := withoutShell(t, codec.Dialect(), stream, func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			must(t, err)
			if faults := check.Request(codec.Dialect(), body); len(faults) > 0 {
				t.Errorf("request %d: %v", asked, faults)
			}
			if asked++; asked > 13 {
				r, err := codec.DecodeRequest(body)
				must(t, err)
				calls := 0
				for _, m := range r.Messages {
					calls += len(m.Calls())
				}
				if calls != 14 || !strings.Contains(string(body), "file 1.0") {
					t.Errorf("the model sees %d calls of 14: %s", calls, body)
				}
				return provides(t, codec, req, stream, mayNot), nil
			}
			reply := callsShell
			call := reply.Message.Calls()[0]
			call.CallID = fmt.Sprint("call_", asked)
			reply.Message = llm.AssistantText("I see.", call)
			if asked == 13 {
				reply.Message.Parts = append(reply.Message.Parts, llm.ToolCall{CallID: "own", Name: "read", Args: "{}"})
			}
			return provides(t, codec, req, stream, reply), nil
		})
		must(t, a.Step(t.Context()))
		if said := a.History[len(a.History)-1]; len(said.Calls()) != 1 || strings.Contains(said.Text(), "rounds") || !a.Work(1) {
			t.Fatalf("%d requests, the client gets %q and %d calls", asked, said.Text(), len(said.Calls()))
		}
		must(t, a.Step(t.Context()))
	})
}

// TestMostRoundsOfAList: the same for a stream that is one list of replies.
func TestMostRoundsOfAList(t *testing.T) {
	codec, _ := codecs.For("gemini")
	a, _ := withoutShell(t, "gemini", true, func(req *http.Request) (*http.Response, error) {
		return listed(t, provides(t, codec, req, true, callsShell)), nil
	})
	var kind string
	through := a.HTTP.Transport
	a.HTTP = &http.Client{Transport: carrier(func(req *http.Request) (*http.Response, error) {
		req.URL.RawQuery = ""
		resp, err := through.RoundTrip(req)
		if err == nil {
			kind = resp.Header.Get("Content-Type")
		}
		return resp, err
	})}
	must(t, a.Step(t.Context()))
	said := a.History[len(a.History)-1]
	if !strings.HasSuffix(said.Text(), "what was read is kept.") || len(said.Calls()) > 0 || kind != "application/json" {
		t.Errorf("%s: the client gets %q and %d calls", kind, said.Text(), len(said.Calls()))
	}
}

// listed makes one list of an answer that is a stream of events.
func listed(t *testing.T, resp *http.Response) *http.Response {
	t.Helper()
	events, err := io.ReadAll(resp.Body)
	must(t, err)
	var payloads []string
	for event := range strings.SplitSeq(string(events), "\n\n") {
		if data, ok := strings.CutPrefix(event, "data: "); ok {
			payloads = append(payloads, data)
		}
	}
	text := "[" + strings.Join(payloads, "\n,\n") + "]\n"
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	resp.Header.Set("Content-Type", "application/json")
	return resp
}
