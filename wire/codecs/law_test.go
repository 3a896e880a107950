package codecs

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// reply is what every dialect can stream: text and two calls.
var reply = llm.Response{
	ID: "id-1", Model: "m", Stop: llm.StopTool, Usage: llm.Usage{Input: 11, Output: 7},
	Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
		llm.Text{Text: "Ich schaue nach: „ja“ 🚢"},
		llm.ToolCall{CallID: "c1", Name: "f", Args: `{"path":"a\\b","n":1}`},
		llm.ToolCall{CallID: "c2", Name: "g", Args: `{}`},
	}},
}

func stream(t *testing.T, c Full, r llm.Response) []byte {
	t.Helper()
	return codectest.Encoded(t, c, wire.Events(r))
}

// heard returns the reply that a stream tells, fed in chunks of size bytes.
func heard(c Full, stream []byte, size int) (llm.Response, error) {
	var cuts []int
	for at := size; at < len(stream); at += size {
		cuts = append(cuts, at)
	}
	events, err := codectest.Feed(c, stream, cuts...)
	return codectest.Told(c.Dialect(), events), err
}

// said is what a reply says, without what only its dialect has.
func said(r llm.Response) llm.Response {
	out := llm.Response{Stop: r.Stop, Usage: r.Usage}
	for _, p := range r.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			out.Message.Parts = append(out.Message.Parts, llm.Text{Text: p.Text})
		case llm.ToolCall:
			out.Message.Parts = append(out.Message.Parts, llm.ToolCall{Name: p.Name, Args: p.Args})
		}
	}
	return out
}

// In every dialect the same reply is told, however its bytes arrive, and in whole.
func TestEveryDialectTellsTheSameReply(t *testing.T) {
	for _, c := range All() {
		t.Run(string(c.Dialect()), func(t *testing.T) {
			bytes := stream(t, c, reply)
			for _, size := range []int{1, 7, 64, len(bytes)} {
				got, err := heard(c, bytes, size)
				if d := cmp.Diff(said(reply), said(got)); err != nil || d != "" {
					t.Fatalf("in chunks of %d: %v (-want +got)\n%s\n%s", size, err, d, bytes)
				}
			}
			body, err := c.EncodeResponse(reply)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.DecodeResponse(body)
			if d := cmp.Diff(said(reply), said(got)); err != nil || d != "" {
				t.Errorf("not streamed: %v (-want +got)\n%s\n%s", err, d, body)
			}
			if d, k, err := Detect(body); d != c.Dialect() || k != KindResponse {
				t.Errorf("its response is detected as %s, %s, %v", d, k, err)
			}
			if d, k, err := Detect(bytes); d != c.Dialect() || k != KindStream {
				t.Errorf("its stream is detected as %s, %s, %v", d, k, err)
			}
		})
	}
}

// A stream that is cut anywhere says so: nobody takes half a reply for a whole one.
func TestEveryCutIsSeen(t *testing.T) {
	for _, c := range All() {
		t.Run(string(c.Dialect()), func(t *testing.T) {
			bytes := stream(t, c, reply)
			whole, err := heard(c, bytes, len(bytes))
			if err != nil {
				t.Fatal(err)
			}
			for n := range len(bytes) {
				got, err := heard(c, bytes[:n], len(bytes))
				got.Usage = whole.Usage // some servers never report it, and not all end their streams
				if err == nil && cmp.Equal(said(whole), said(got)) {
					continue
				}
				if !errors.Is(err, wire.ErrCut) {
					t.Fatalf("cut at %d of %d: want %v, got %v, after %q", n, len(bytes), wire.ErrCut, err, bytes[max(0, n-60):n])
				}
			}
		})
	}
}

// Every error that a codec writes, it reads as the same.
func TestErrorsComeBack(t *testing.T) {
	errs := []wire.Error{
		{Class: wire.TooLong, Status: 400, Used: 250_000, Window: 200_000},
		{Class: wire.RateLimited, Status: 429, Message: "slow down"},
		{Class: wire.Overloaded, Status: 529, Message: "busy"},
		{Class: wire.Auth, Status: 401, Message: "who are you"},
		{Class: wire.NotFound, Status: 404, Message: "no such model"},
		{Class: wire.BadRequest, Status: 400, Message: "that is wrong"},
		{Class: wire.ServerFault, Status: 500, Message: "oh"},
	}
	for _, c := range All() {
		for _, e := range errs {
			t.Run(string(c.Dialect())+"/"+e.Class.String(), func(t *testing.T) {
				status, body := c.EncodeError(&e)
				got := c.DecodeError(status, body)
				if got.Class != e.Class || got.Used != e.Used || got.Window != e.Window || e.Message != "" && got.Message != e.Message {
					t.Errorf("want %+v, got %+v\n%d %s", e, *got, status, body)
				}
				again := *got
				if s, b := c.EncodeError(&again); s != status || string(b) != string(body) {
					t.Errorf("want the body it came as, got %d %s", s, b)
				}
			})
		}
	}
}
