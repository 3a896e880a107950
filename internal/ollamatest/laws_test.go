package ollamatest

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// departures are the rules of the dialects (package check) that the server does not keep, and the end of
// the path at which it does not. They bind what we send and write anew as well, where it has to be the same.
var departures = []struct {
	dialect    llm.Dialect
	rule, path string
}{
	{anthropic.Dialect, "required", "signature"}, // its thinking is not signed, and is taken back so
	{anthropic.Dialect, "thinking-signature", ""},
	{ollama.Dialect, "stream-end", ""}, // a reply that it has given up on (TestAbandonedReply)
	{openai.DialectChat, "required", "finish_reason"},
	{anthropic.Dialect, "required", "stop_reason"},
}

// hold puts one exchange to the laws of its dialect.
func hold(t *testing.T, c codecs.Full, x *exchange) {
	t.Helper()
	if !speaks(x.path) {
		return
	}
	holdRequest(t, c, x.request)
	body := x.answer.Bytes()
	switch {
	case x.status >= http.StatusBadRequest:
		holdError(t, c, x.status, body)
	case strings.HasPrefix(x.kind, "application/json"):
		holdResponse(t, c, body)
	default:
		holdStream(t, c, body)
	}
}

// speaks reports whether requests to a path are those of a dialect.
func speaks(path string) bool {
	return slices.Contains([]string{"/api/chat", "/v1/chat/completions", "/v1/responses", "/v1/messages"}, path)
}

// faults reports what check finds, but for departures.
func faults(t *testing.T, what string, d llm.Dialect, found []check.Fault) {
	t.Helper()
	for _, f := range found {
		known := false
		for _, x := range departures {
			known = known || x.dialect == d && x.rule == f.Rule && strings.HasSuffix(f.Path, x.path)
		}
		if !known {
			t.Errorf("%s: rule %s at %s: %s", what, f.Rule, f.Path, f.Message)
		}
	}
}

// What we sent keeps all rules, and is read and written again as the same bytes.
func holdRequest(t *testing.T, c codecs.Full, body []byte) {
	t.Helper()
	faults(t, "request", c.Dialect(), check.Request(c.Dialect(), body))
	r, err := c.DecodeRequest(body)
	if err != nil {
		t.Errorf("request: %v", err)
		return
	}
	again, err := c.EncodeRequest(r)
	if err != nil || !bytes.Equal(again, body) {
		t.Errorf("request: want the bytes that it was read from, got %v\n%s\n%s", err, body, again)
	}
}

// A refusal is of a class, and is written again as the same bytes.
func holdError(t *testing.T, c codecs.Full, status int, body []byte) {
	t.Helper()
	e := c.DecodeError(status, body)
	if e.Class == wire.Unclassified || e.Message == "" {
		t.Errorf("error body: want a class and a message, got %v", e)
	}
	if again, bytesAgain := c.EncodeError(e); again != status || !bytes.Equal(bytesAgain, body) {
		t.Errorf("error body: want %d %s, got %d %s", status, body, again, bytesAgain)
	}
}

// A reply that was not streamed keeps its bytes, but for a part that is edited.
func holdResponse(t *testing.T, c codecs.Full, body []byte) {
	t.Helper()
	faults(t, "reply", c.Dialect(), check.Response(c.Dialect(), body))
	r, err := c.DecodeResponse(body)
	if err != nil {
		t.Logf("reply that is none: %v", err) // the test that got it says whether it should be
		return
	}
	again, err := c.EncodeResponse(r)
	if err != nil || !bytes.Equal(again, body) {
		t.Errorf("reply: want the bytes that it was read from, got %v\n%s\n%s", err, body, again)
	}
	holdEdit(t, c, r)
	if r.Stop != llm.StopUnknown { // no dialect has a form for a reply that has not ended
		holdFresh(t, c, r)
	}
}

// holdEdit changes the first text of a reply: nothing outside of it may differ.
func holdEdit(t *testing.T, c codecs.Full, r llm.Response) {
	t.Helper()
	at := slices.IndexFunc(r.Message.Parts, func(p llm.Part) bool { _, ok := p.(llm.Text); return ok })
	if at < 0 {
		return
	}
	old := r.Message.Parts[at].(llm.Text)
	parts := slices.Clone(r.Message.Parts)
	parts[at] = llm.Text{Text: "edited", Raw: old.Edited()}
	edited := r
	edited.Message = r.Message.WithParts(parts)
	body, err := c.EncodeResponse(edited)
	if err != nil {
		t.Errorf("edited reply: %v", err)
		return
	}
	before := common(r.Raw, body)
	after := min(commonEnd(r.Raw, body), len(r.Raw)-before, len(body)-before)
	if changed := len(r.Raw) - before - after; changed > len(old.Bytes()) {
		t.Errorf("edited reply: want at most the %d bytes of the text changed, got %d\n%s\n%s", len(old.Bytes()), changed, r.Raw, body)
	}
	got, err := c.DecodeResponse(body)
	if d := cmp.Diff(said(edited), said(got)); err != nil || d != "" {
		t.Errorf("edited reply: %v (-want +got)\n%s", err, d)
	}
}

func common(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonEnd(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// holdFresh writes a reply from what it says alone: all rules are kept and the same is said.
func holdFresh(t *testing.T, c codecs.Full, r llm.Response) {
	t.Helper()
	r.Raw = nil
	body, err := c.EncodeResponse(r)
	if err != nil {
		t.Errorf("reply written anew: %v", err)
		return
	}
	faults(t, "reply written anew", c.Dialect(), check.Response(c.Dialect(), body))
	got, err := c.DecodeResponse(body)
	if d := cmp.Diff(said(r), said(got)); err != nil || d != "" {
		t.Errorf("reply written anew: %v (-want +got)\n%s\n%s", err, d, body)
	}
}

// A stream tells the same however it is cut, is not whole without its end, and can be written again.
func holdStream(t *testing.T, c codecs.Full, stream []byte) {
	t.Helper()
	whole, err := events(c, stream, len(stream))
	if err != nil {
		t.Logf("stream that is not whole: %v", err) // the test that got it says whether it should be
	} else {
		faults(t, "stream", c.Dialect(), check.Stream(c.Dialect(), stream))
		holdDeltas(t, whole)
		holdWritten(t, c, whole)
	}
	for _, size := range []int{1, 7, 1000} {
		got, gotErr := events(c, stream, size)
		if d := cmp.Diff(whole, got); d != "" || (err == nil) != (gotErr == nil) {
			t.Errorf("stream in chunks of %d: %v (-whole +chunks)\n%s", size, gotErr, d)
		}
	}
	for i := range 5 { // Chat Completions is whole with its finish_reason, two payloads before the last one
		if _, err := events(c, stream[:len(stream)*i/8], 100); !errors.Is(err, wire.ErrCut) {
			t.Errorf("stream cut at %d of 8: want %v, got %v", i, wire.ErrCut, err)
		}
	}
}

// events returns what a stream tells, without the payloads.
func events(c codecs.Full, stream []byte, size int) ([]llm.Event, error) {
	d := c.NewDecoder()
	var all []llm.Event
	keep := func(events []llm.Event) {
		for _, e := range events {
			e.Raw = nil
			if e.Kind != llm.EventOther {
				all = append(all, e)
			}
		}
	}
	for chunk := range slices.Chunk(stream, max(size, 1)) {
		got, err := d.Feed(chunk)
		keep(got)
		if err != nil {
			return all, err
		}
	}
	got, err := d.Close()
	keep(got)
	return all, err
}

// holdDeltas compares the deltas of each part with the whole of it.
func holdDeltas(t *testing.T, told []llm.Event) {
	t.Helper()
	text := map[int]string{}
	for _, e := range told {
		switch e.Kind {
		case llm.EventDelta:
			if e.Text == "" {
				t.Errorf("delta of part %d: want a text, got none", e.Index)
			}
			if e.Delta != llm.DeltaSignature {
				text[e.Index] += e.Text
			}
		case llm.EventPartEnd:
			want := ""
			switch p := e.Part.(type) {
			case llm.Text:
				want = p.Text
			case llm.Thinking:
				want = p.Text
			case llm.ToolCall:
				want = p.Args
			}
			if text[e.Index] != want {
				t.Errorf("deltas of part %d: want %q, got %q", e.Index, want, text[e.Index])
			}
		}
	}
}

// holdWritten writes a stream of the same events: all rules are kept and the same is told.
func holdWritten(t *testing.T, c codecs.Full, told []llm.Event) {
	t.Helper()
	enc := c.NewEncoder()
	var out []byte
	for _, e := range told {
		var err error
		if out, err = enc.Append(out, e); err != nil {
			t.Errorf("stream written anew: %v", err)
			return
		}
	}
	faults(t, "stream written anew", c.Dialect(), check.Stream(c.Dialect(), out))
	again, err := events(c, out, len(out))
	if d := cmp.Diff(said(reply(c, told)), said(reply(c, again))); err != nil || d != "" {
		t.Errorf("stream written anew: %v (-want +got)\n%s\n%s", err, d, out)
	}
}

func reply(c codecs.Full, told []llm.Event) llm.Response {
	var r wire.Reply
	for _, e := range told {
		r.Add(e)
	}
	return r.Response(c.Dialect())
}

// said is what a reply says, without its bytes.
func said(r llm.Response) llm.Response {
	r.Raw, r.Message.Envelope = nil, llm.Envelope{}
	parts := slices.Clone(r.Message.Parts)
	for i, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			p.Raw = llm.Raw{}
			parts[i] = p
		case llm.Thinking:
			p.Raw = llm.Raw{}
			parts[i] = p
		case llm.ToolCall:
			p.Raw = llm.Raw{}
			parts[i] = p
		}
	}
	r.Message.Parts = parts
	return r
}
