package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// callsShell is a reply whose only call the client may not see.
var callsShell = llm.Response{
	ID: "r1", Model: "scripted", Stop: llm.StopTool, Usage: llm.Usage{Input: 90, Output: 10},
	Message: llm.AssistantText("I see.", llm.ToolCall{CallID: "c1", Name: "shell", Args: `{"run":"rm"}`}),
}

// mayNot is what follows it.
var mayNot = llm.Response{ID: "r2", Model: "scripted", Stop: llm.StopEnd, Usage: llm.Usage{Input: 120, Output: 5}, Message: llm.AssistantText("I may not.")}

// provides returns a provider's answer to req.
func provides(t *testing.T, codec codecs.Full, req *http.Request, stream bool, reply llm.Response) *http.Response {
	t.Helper()
	kind, out := "application/json", []byte(nil)
	var err error
	if stream {
		kind = map[bool]string{true: "application/x-ndjson", false: "text/event-stream"}[codec.Dialect() == "ollama"]
		e := codec.NewEncoder()
		for _, event := range wire.Events(reply) {
			out, err = e.Append(out, event)
			must(t, err)
		}
	} else {
		out, err = codec.EncodeResponse(reply)
		must(t, err)
	}
	return &http.Response{StatusCode: 200, Request: req, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(out)), ContentLength: int64(len(out))}
}

// withoutShell returns a client whose model may not be offered its tool shell, behind base.
func withoutShell(t *testing.T, d llm.Dialect, stream bool, base carrier) (*testagent.Agent, *transport.Transport) {
	t.Helper()
	g, err := gateway.New(gateway.Options{Allow: func(_, _, tool string) bool { return tool != "shell" }})
	must(t, err)
	tr := transport.New(g)
	tr.Base = base
	a := testagent.New("http://model.invalid", d, stream)
	a.HTTP, a.Tools, a.History = &http.Client{Transport: tr}, []llm.Tool{{Name: "read", Schema: `{"type":"object"}`}, {Name: "shell", Schema: `{"type":"object"}`}}, nil
	return a.Says("Clean up."), tr
}

// eachWay runs a test in every dialect, of streams and of others.
func eachWay(t *testing.T, test func(t *testing.T, codec codecs.Full, stream bool)) {
	for _, c := range codecs.All() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream %t", c.Dialect(), stream), func(t *testing.T) { test(t, c, stream) })
		}
	}
}

// TestOvertaken: of two identical requests at once the overtaken one, whose reply is nothing
// but calls that the client does not see, gets an error of its dialect, not an empty reply.
func TestOvertaken(t *testing.T) {
	eachWay(t, func(t *testing.T, codec codecs.Full, stream bool) {
		asked, second, first := make(chan struct{}), make(chan struct{}), make(chan struct{})
		n := make(chan int, 3)
		n <- 1
		n <- 2
		n <- 3
		a, tr := withoutShell(t, codec.Dialect(), stream, func(req *http.Request) (*http.Response, error) {
			switch <-n {
			case 1:
				close(asked)
				<-second
				return provides(t, codec, req, stream, callsShell), nil
			case 2:
				close(second)
				<-first
				return provides(t, codec, req, stream, callsShell), nil
			}
			return provides(t, codec, req, stream, mayNot), nil
		})
		used := make(chan gateway.Report, 2)
		tr.Done = func(_ *http.Request, r gateway.Report) { used <- r }
		other := *a
		told := make(chan error)
		go func() { told <- a.Step(context.WithoutCancel(t.Context())) }()
		<-asked
		served := make(chan error)
		go func() { served <- other.Step(context.WithoutCancel(t.Context())) }()
		if e, ok := errors.AsType[*wire.Error](<-told); !ok || e.Class != wire.ServerFault || !strings.Contains(e.Message, "ask again") {
			t.Errorf("want an error of the dialect, got %v: %+v", e, a.History[len(a.History)-1])
		}
		if r := <-used; r.Class != wire.ServerFault || !r.Edited { // without the tool
			t.Errorf("want the error reported, of a body that was changed, got %+v", r)
		}
		close(first)
		if err := <-served; err != nil || !strings.HasSuffix(other.History[len(other.History)-1].Text(), "I may not.") {
			t.Errorf("want the other served, got %v %+v", err, other.History)
		}
		if r := <-used; r.Usage != callsShell.Usage.Add(mayNot.Usage) || r.Rounds != 1 {
			t.Errorf("want what both Rounds used, got %+v", r)
		}
	})
}

// TestHiddenCallCutOff: a first reply that breaks off in a call which the client does not see
// is told to it as an error, and not as a reply that said little.
func TestHiddenCallCutOff(t *testing.T) {
	for _, codec := range codecs.All() {
		t.Run(string(codec.Dialect()), func(t *testing.T) {
			a, _ := withoutShell(t, codec.Dialect(), true, func(req *http.Request) (*http.Response, error) {
				resp := provides(t, codec, req, true, callsShell)
				out, err := io.ReadAll(resp.Body)
				must(t, err)
				at := bytes.Index(out, []byte(`shell`))
				at += bytes.IndexByte(out[at:], '\n') + 2 // behind the event that names it
				resp.Body = io.NopCloser(bytes.NewReader(out[:min(at, len(out))]))
				return resp, nil
			})
			body, err := a.Body()
			must(t, err)
			answer, err := a.Send(t.Context(), body)
			if err == nil {
				err = a.Take(answer)
			}
			if _, ok := errors.AsType[*wire.Error](err); !ok {
				t.Errorf("want an error of the dialect, got %v", err)
			}
		})
	}
}

// TestCloseInHiddenRound: whoever closes a reply while the provider is asked for a hidden Round
// has that request given up, and no other one is made. The race detector judges the rest.
func TestCloseInHiddenRound(t *testing.T) {
	codec, _ := codecs.For("anthropic")
	asked, inside := 0, make(chan struct{})
	a, tr := withoutShell(t, codec.Dialect(), true, func(req *http.Request) (*http.Response, error) {
		if asked++; asked == 1 {
			return provides(t, codec, req, true, callsShell), nil
		}
		close(inside)
		<-req.Context().Done()
		status, text := codec.EncodeError(&wire.Error{Class: wire.TooLong})
		return &http.Response{StatusCode: status, Request: req, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(text))}, nil
	})
	body, err := a.Body()
	must(t, err)
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, a.Address(), bytes.NewReader(body))
	must(t, err)
	resp, err := tr.RoundTrip(req) //nolint:bodyclose // it is, below, while it is read
	must(t, err)
	ended := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, resp.Body)
		ended <- err
	}()
	<-inside
	must(t, resp.Body.Close())
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("want that it is closed, got %v", err)
	}
	if _, err := resp.Body.Read(make([]byte, 1)); err == nil || asked != 2 {
		t.Errorf("want no more, got %v after %d requests", err, asked)
	}
}

// TestCloseBeforeHiddenRound: behind Close no Round is asked for.
func TestCloseBeforeHiddenRound(t *testing.T) {
	codec, _ := codecs.For("anthropic")
	asked := 0
	a, tr := withoutShell(t, codec.Dialect(), true, func(req *http.Request) (*http.Response, error) {
		asked++
		resp := provides(t, codec, req, true, callsShell)
		out, err := io.ReadAll(resp.Body)
		must(t, err)
		resp.Body = io.NopCloser(&atOnce{out})
		return resp, nil
	})
	body, err := a.Body()
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.Address(), bytes.NewReader(body))
	must(t, err)
	resp, err := tr.RoundTrip(req)
	must(t, err)
	_, err = resp.Body.Read(make([]byte, 64<<10)) // all of the first Round, which has come at once
	must(t, err)
	must(t, resp.Body.Close())
	if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, net.ErrClosed) || asked != 1 {
		t.Errorf("want that it is closed, got %v after %d requests", err, asked)
	}
}

// TestWholeReplyCutOff: an answer that is no stream and breaks off is an error alone, as
// net/http wants it of a RoundTripper.
func TestWholeReplyCutOff(t *testing.T) {
	codec, _ := codecs.For("anthropic")
	a, tr := withoutShell(t, codec.Dialect(), false, func(req *http.Request) (*http.Response, error) {
		resp := provides(t, codec, req, false, callsShell)
		resp.Body = io.NopCloser(io.MultiReader(io.LimitReader(resp.Body, 100), iotest.ErrReader(io.ErrUnexpectedEOF)))
		return resp, nil
	})
	ended := 0
	tr.Done = func(*http.Request, gateway.Report) { ended++ }
	body, err := a.Body()
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.Address(), bytes.NewReader(body))
	must(t, err)
	resp, err := tr.RoundTrip(req) //nolint:bodyclose // there is none
	if resp != nil || !errors.Is(err, io.ErrUnexpectedEOF) || ended != 1 {
		t.Errorf("want the error, got %v, %v, %d ends", resp, err, ended)
	}
}

// TestHiddenRoundsEnd: a model that calls what the client may not see again and again is asked
// thirteen times. Its client gets what it said meanwhile, and goes on in the same conversation.
func TestHiddenRoundsEnd(t *testing.T) {
	eachWay(t, func(t *testing.T, codec codecs.Full, stream bool) {
		const most = 13
		n := 0
		a, tr := withoutShell(t, codec.Dialect(), stream, func(req *http.Request) (*http.Response, error) {
			if n++; n > most {
				return provides(t, codec, req, stream, mayNot), nil
			}
			again := callsShell
			again.Message = llm.AssistantText(fmt.Sprintf("I try %d. ", n), llm.ToolCall{CallID: fmt.Sprint("c", n), Name: "shell", Args: `{"run":"rm"}`})
			return provides(t, codec, req, stream, again), nil
		})
		var used gateway.Report
		tr.Done = func(_ *http.Request, r gateway.Report) { used = r }
		must(t, a.Step(t.Context()))
		if last := a.History[len(a.History)-1]; n != most || used.Rounds != most-1 || len(last.Calls()) > 0 || !strings.Contains(last.Text(), "I try 13.") {
			t.Errorf("want %d requests and what was said, got %d, %+v, %+v", most, n, used, last)
		}
		a = a.Says("Leave it.")
		must(t, a.Step(t.Context()))
		if last := a.History[len(a.History)-1]; n != most+1 || used.Match != gateway.MatchNext || !strings.HasSuffix(last.Text(), "I may not.") {
			t.Errorf("want the conversation gone on with, got %d requests, %+v, %+v", n, used, last)
		}
	})
}
