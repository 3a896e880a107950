package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func codecs() []streamer { return []streamer{Chat{}, Responses{}} }

// Whatever reads as a reply is written back byte for byte, and from its fields as JSON.
func FuzzResponse(f *testing.F) {
	for _, body := range []string{chatBody, responsesBody, compactedBody, `{"choices":[{"message":{"content":[{"type":"text","text":"x"}],"audio":{"id":"a","data":"x"}}}]}`, `{"output":[{"role":"user","content":"x"}]}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, c := range codecs() {
			before := bytes.Clone(body)
			r, err := c.DecodeResponse(body)
			if err != nil {
				continue
			}
			if got, err := c.EncodeResponse(r); err != nil || !bytes.Equal(got, before) {
				t.Fatalf("want %q, got %q, %v", before, got, err)
			}
			for v, x := range replyVariants(r) {
				got, err := c.EncodeResponse(x)
				if err != nil || !json.Valid(got) {
					t.Fatalf("variant %d: got %q, %v", v, got, err)
				}
				if _, err := c.DecodeResponse(got); err != nil {
					t.Fatalf("variant %d: %v in %q", v, err, got)
				}
			}
			if !bytes.Equal(body, before) {
				t.Fatal("the body was written to")
			}
		}
	})
}

// replyVariants returns r edited, shortened, without its bytes, and as another dialect's.
func replyVariants(r llm.Response) []llm.Response {
	all := []llm.Response{r, r, r, r, r}
	for v := range all {
		all[v].Message.Parts = slices.Clone(r.Message.Parts)
	}
	for i, p := range r.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			all[0].Message.Parts[i] = llm.Text{Text: "x", Raw: p.Edited()}
		case llm.ToolCall:
			all[0].Message.Parts[i] = rearmed(`{"y":1}`)(p)
		}
	}
	all[1].Message.Parts = all[1].Message.Parts[len(r.Message.Parts)/2:]
	all[2].Raw = nil
	all[3].Dialect, all[3].Raw = "other", nil
	all[4].ID, all[4].Model, all[4].Usage, all[4].Stop, all[4].Reason = "i", "m", llm.Usage{Output: 1}, llm.StopLength, ""
	return all
}

// Events do not depend on how a stream is cut, are well formed, and can be written.
func FuzzStream(f *testing.F) {
	for _, s := range ownStreams() {
		f.Add(s.bytes, uint16(len(s.bytes)/2))
	}
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{}},{\"index\":0,\"id\":\"b\"}]}}]}\n\ndata: [DONE]\n\n"), uint16(9))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		for _, c := range codecs() {
			want, wantErr := decodeIn(c, stream)
			got, err := decodeIn(c, stream, int(cut)%(len(stream)+1))
			if (err == nil) != (wantErr == nil) || !slices.EqualFunc(want, got, sameEvent) {
				t.Fatalf("want %+v, %v\ngot  %+v, %v", want, wantErr, got, err)
			}
			if err != nil {
				continue
			}
			exact := c.Dialect() == DialectChat // in the other format what ends an item may contradict what began it
			checkEvents(t, want, exact)
			again, err := decodeIn(c, encodeStream(t, c, want))
			if err != nil {
				t.Fatal(err)
			}
			nameless := func(p llm.Part) bool { c, ok := p.(llm.ToolCall); return ok && c.Name == "" }
			if d := diff(told(want), told(again)); d != "" && exact && !slices.ContainsFunc(told(want), nameless) {
				t.Fatal(d)
			}
		}
	})
}

// told returns the texts and calls that events tell.
func told(events []llm.Event) []llm.Part {
	var all []llm.Part
	for _, e := range events {
		if e.Kind == llm.EventPartEnd {
			switch p := e.Part.(type) {
			case llm.Text, llm.ToolCall:
				all = append(all, p)
			}
		}
	}
	return all
}

// What another codec of this package writes of a stream tells the same texts and calls.
func TestLawStreamInTheOtherFormat(t *testing.T) {
	eachStream(t, func(t *testing.T, s streamed) {
		other := codecs()[0]
		if s.codec == other {
			other = codecs()[1]
		}
		events := mustEvents(t, s.codec, s.bytes)
		again := mustEvents(t, other, encodeStream(t, other, events))
		wellFormed(t, again)
		if d := diff(gist(events), gist(again)); d != "" {
			t.Error(d)
		}
	})
}

// gist returns the whole text that events tell, and their calls but those of the provider.
// Ids are left out: there are servers that give an item another id at its end.
func gist(events []llm.Event) []string {
	text := ""
	var calls []string
	for _, p := range told(events) {
		switch p := p.(type) {
		case llm.Text:
			text += strings.ReplaceAll(p.Text, "\n", "")
		case llm.ToolCall:
			if !p.Hosted {
				calls = append(calls, p.Name+" "+p.Args)
			}
		}
	}
	return append(calls, text)
}

func FuzzError(f *testing.F) {
	f.Add(400, []byte(fault("maximum context length is 8 tokens (9 in the messages, 1 in the completion). try again in 1s", "x", "5")))
	f.Add(0, []byte(`[{"error":{"metadata":{"raw":"{\"detail\":[{\"msg\":\"x\"}]}"}}}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := DecodeError(status, body)
		if e == nil || e.Used < 0 || e.Window < 0 || e.RetryAfter < 0 || !bytes.Equal(e.Body, body) {
			t.Fatalf("got %+v", e)
		}
		e.Body = nil
		if s, b := EncodeError(e); s < 400 || !json.Valid(b) {
			t.Fatalf("got %d %q", s, b)
		}
	})
}
