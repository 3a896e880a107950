package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// rich is a reply with all that a dialect may not carry.
var rich = llm.Response{
	ID: "id-1", Model: "m", Stop: llm.StopTool, Usage: llm.Usage{Input: 11, Output: 7},
	Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
		llm.Thinking{Text: "hm", Signature: "c2ln"},
		llm.Text{Text: "I look"},
		llm.ToolCall{CallID: "call/1", Name: "read_file", Args: `{"path":"a"}`},
		llm.ToolCall{CallID: "c2", Name: "list", Args: `{}`},
	}},
}

func read(t *testing.T, c codecs.Full, stream []byte) llm.Response {
	t.Helper()
	var reply wire.Reply
	dec := c.NewDecoder()
	take := func(events []llm.Event, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.Dialect(), err, stream)
		}
		for _, e := range events {
			reply.Add(e)
		}
	}
	take(dec.Feed(stream))
	take(dec.Close())
	return reply.Response(c.Dialect())
}

// A streamed reply tells in another dialect what the whole reply does.
func TestStreamTellsWhatTheReplyDoes(t *testing.T) {
	for _, from := range codecs.All() {
		for _, to := range codecs.All() {
			if from.Dialect() == to.Dialect() {
				continue
			}
			t.Run(string(from.Dialect())+" to "+string(to.Dialect()), func(t *testing.T) {
				var source []byte
				enc := from.NewEncoder()
				for _, e := range wire.Events(rich) {
					var err error
					if source, err = enc.Append(source, e); err != nil {
						t.Fatal(err)
					}
				}
				d := known(t, to.Dialect())
				stream, streamLosses, err := convert.Stream(source, from.NewDecoder(), to.NewEncoder(), d)
				if err != nil {
					t.Fatal(err)
				}
				fit := convert.Response(read(t, from, source), d)
				losses := fit.Losses
				body, err := to.EncodeResponse(fit.Response)
				if err != nil {
					t.Fatal(err)
				}
				want, err := to.DecodeResponse(body)
				if err != nil {
					t.Fatal(err)
				}
				got := read(t, to, stream)
				strip(&want)
				strip(&got)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("(-whole +stream)\n%s\n%s\n%s", d, body, stream)
				}
				if d := cmp.Diff(losses, streamLosses); d != "" {
					t.Errorf("losses (-whole +stream)\n%s", d)
				}
				for _, p := range got.Message.Parts {
					if _, ok := p.(llm.Thinking); ok {
						t.Errorf("another provider's thinking came through: %+v", p)
					}
				}
			})
		}
	}
}

// strip takes out what a stream and a whole reply may spell differently.
func strip(r *llm.Response) {
	r.Raw, r.ID, r.Reason = nil, "", ""
	for i, p := range r.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			r.Message.Parts[i] = llm.Text{Text: p.Text}
		case llm.ToolCall:
			p.Raw = llm.Raw{}
			r.Message.Parts[i] = p
		}
	}
}
