package gemini

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func FuzzRequest(f *testing.F) {
	for _, body := range oddBodies() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		r, err := DecodeRequest(body)
		if err != nil {
			return
		}
		got, err := EncodeRequest(r)
		if err != nil || !bytes.Equal(got, before) {
			t.Fatalf("want %q, got %q, %v", before, got, err)
		}
		for v, r := range variants(r) {
			got, err := EncodeRequest(r)
			if err != nil || !json.Valid(got) {
				t.Fatalf("variant %d: got %q, %v", v, got, err)
			}
			if _, err := DecodeRequest(got); err != nil {
				t.Fatalf("variant %d: %v in %q", v, err, got)
			}
		}
		if !bytes.Equal(body, before) {
			t.Fatal("the body was written to")
		}
	})
}

// variants returns r in every other way there is to encode it: edited, without its
// envelopes, as another dialect's, without its frame.
func variants(r llm.Request) []llm.Request {
	all := []llm.Request{r, r, r, r}
	for v := range all {
		all[v].Messages = append([]llm.Message(nil), r.Messages...)
		all[v].Tools = append([]llm.Tool(nil), r.Tools...)
	}
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			switch p.(type) {
			case llm.ToolResult:
				all[0].Messages[i] = with(all[0].Messages[i], j, stubbed)
			case llm.Text:
				all[0].Messages[i] = with(all[0].Messages[i], j, retold("x"))
			case llm.ToolCall:
				all[0].Messages[i] = with(all[0].Messages[i], j, rearmed(`{"y":1}`))
			}
		}
		all[1].Messages[i].Envelope = llm.Envelope{}
		all[2].Messages[i].Dialect = "other"
	}
	all[0].MaxOutput = 12345
	all[0].Settings.Choice = llm.Choice{Mode: llm.ChoiceNone}
	all[1].Tools = append(all[1].Tools, llm.Tool{Name: "n"})
	all[2].Dialect = "other"
	all[3].Frame = llm.Frame{}
	all[3].Messages = append(all[3].Messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "n"}}})
	return all
}

func FuzzResponse(f *testing.F) {
	for _, body := range oddReplies() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		r, err := DecodeResponse(body)
		if err != nil {
			return
		}
		got, err := EncodeResponse(r)
		if err != nil || !bytes.Equal(got, before) {
			t.Fatalf("want %q, got %q, %v", before, got, err)
		}
		edited, foreign := r, r
		edited.ID, edited.Usage.Output, edited.Message.Parts = "new", 77, append(r.Message.Parts[:len(r.Message.Parts):len(r.Message.Parts)], llm.Text{Text: "x"})
		foreign.Dialect, foreign.Message.Dialect = "other", "other"
		for _, r := range []llm.Response{edited, foreign} {
			got, err := EncodeResponse(r)
			if err != nil || !json.Valid(got) {
				t.Fatalf("got %q, %v", got, err)
			}
			if _, err := DecodeResponse(got); err != nil {
				t.Fatalf("%v in %q", err, got)
			}
		}
	})
}

// FuzzStream holds that events do not depend on how a stream is cut, and that what was
// told can be told again.
func FuzzStream(f *testing.F) {
	for _, s := range streams() {
		f.Add([]byte(s), uint(3), uint(40))
	}
	f.Fuzz(func(t *testing.T, stream []byte, a, b uint) {
		n := uint(len(stream) + 1)
		x, y := int(a%n), int(b%n)
		want, wantErr := feed(stream)
		got, err := feed(stream, min(x, y), max(x, y))
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("want %v, got %v", wantErr, err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("cut at %d and %d: %s", x, y, diff(want, got))
		}
		if err != nil {
			return
		}
		check(t, want)
		again, err := feed(encoded(t, want))
		if err != nil {
			t.Fatal(err)
		}
		check(t, again)
	})
}

func FuzzError(f *testing.F) {
	f.Add(400, []byte(errorBody("400", "The input token count (5) exceeds the maximum number of tokens allowed (4).", "INVALID_ARGUMENT", "")))
	f.Add(0, []byte(`[{"error":{"details":[{"@type":"x.RetryInfo","retryDelay":"1s"}],"message":"{\"error\":{\"message\":\"m\"}}"}}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := DecodeError(status, body)
		if e.Used < 0 || e.Window < 0 || e.RetryAfter < 0 || !bytes.Equal(e.Body, body) {
			t.Fatalf("got %+v", e)
		}
		e.Body = nil
		if _, out := EncodeError(e); !json.Valid(out) {
			t.Fatalf("got %q", out)
		}
	})
}
