package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
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

// A streamed reply tells in another dialect what the whole reply does.
func TestStreamTellsWhatTheReplyDoes(t *testing.T) {
	for _, from := range codecs.All() {
		for _, to := range codecs.All() {
			if from.Dialect() == to.Dialect() {
				continue
			}
			t.Run(string(from.Dialect())+" to "+string(to.Dialect()), func(t *testing.T) {
				source := codectest.Encoded(t, from, wire.Events(rich))
				d := codectest.Known(t, to.Dialect())
				stream, streamLosses, err := convert.Stream(source, from.NewDecoder(), to.NewEncoder(), d)
				if err != nil {
					t.Fatal(err)
				}
				fit := convert.Response(codectest.Told(from.Dialect(), codectest.Events(t, from, source)), d)
				losses := fit.Losses
				body, err := to.EncodeResponse(fit.Response)
				if err != nil {
					t.Fatal(err)
				}
				want, err := to.DecodeResponse(body)
				if err != nil {
					t.Fatal(err)
				}
				got := codectest.Told(to.Dialect(), codectest.Events(t, to, stream))
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
