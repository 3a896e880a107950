// Package codectest is what the codecs of all dialects are held to, for their tests: the laws
// of bytes and of streams, what any input keeps to, the benchmarks that all have, and what
// tests of codecs need again and again. A dialect's tests bring the bodies and streams, as no
// encoder of ours would write them, and say in [Laws] where the dialect is an exception. It is
// imported by tests alone, and knows no dialect.
package codectest

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A Codec is all that the codec of a dialect can do.
type Codec interface {
	wire.Codec
	wire.Streamer
	wire.Refuser
	wire.Splicer
}

// T is what a test reports to: a [testing.TB] or one run of a property.
type T interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Laws hold a codec to what all keep to. The other fields are its exceptions; the zero of
// each is none.
type Laws struct {
	Codec
	// Cuts returns where the messages of a request and the list in its body can both be
	// cut; nil for [Cuts].
	Cuts func(r llm.Request) []Cut
	// Opens says that a list which would begin with the model gets a message in front.
	Opens bool
	// NewIDs says that calls have ids which follow from their arguments.
	NewIDs bool
	// FewerBytes says that thinking may have no bytes that go back to the provider.
	FewerBytes bool
	// Contradicts says that what ends a part may be something else than its deltas told.
	Contradicts bool
}

// Diff compares parts, messages, replies or events without the bytes that they came with.
func Diff(want, got any) string {
	noRaw := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Raw" }, cmp.Ignore())
	return cmp.Diff(want, got, noRaw)
}

// RawOf returns s as the bytes that a part came with.
func RawOf(s string) llm.Raw { return llm.Raw{Data: []byte(s)} }

// With returns m with part i changed by edit.
func With(m llm.Message, i int, edit func(llm.Part) llm.Part) llm.Message {
	parts := append([]llm.Part(nil), m.Parts...)
	parts[i] = edit(parts[i])
	return m.WithParts(parts)
}

// Stubbed returns a result with a stub in the place of what it said.
func Stubbed(p llm.Part) llm.Part {
	return p.(llm.ToolResult).WithContent(llm.Stub{Ref: "r", Text: "see <r>"})
}

// Retold is the edit that gives a text other words.
func Retold(text string) func(llm.Part) llm.Part {
	return func(p llm.Part) llm.Part { return llm.Text{Text: text, Raw: p.(llm.Text).Edited()} }
}

// Rearmed is the edit that gives a call other arguments.
func Rearmed(args string) func(llm.Part) llm.Part {
	return func(p llm.Part) llm.Part {
		c := p.(llm.ToolCall)
		c.Args, c.Raw = args, c.Edited()
		return c
	}
}

// Decoded returns the request of a body.
func Decoded(t T, c wire.Codec, body []byte) llm.Request {
	t.Helper()
	r, err := c.DecodeRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Reply returns the reply of a body that was not streamed.
func Reply(t T, c wire.Codec, body []byte) llm.Response {
	t.Helper()
	r, err := c.DecodeResponse(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Known returns what the catalogue says of a dialect.
func Known(t T, d llm.Dialect) catalog.Dialect {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	known, ok := c.Dialect(d)
	if !ok {
		t.Fatalf("the catalogue does not know %s", d)
	}
	return known
}

// Fuzz holds any bytes to a law.
func Fuzz(f *testing.F, law func(t T, body []byte), seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) { law(t, body) })
}

// Feed decodes a stream that arrives in pieces that end at cuts, which ascend. The events
// may be kept.
func Feed(c wire.Streamer, stream []byte, cuts ...int) ([]llm.Event, error) {
	d := c.NewDecoder()
	var all []llm.Event
	keep := func(events []llm.Event) {
		for _, e := range events {
			e.Raw = bytes.Clone(e.Raw)
			all = append(all, e)
		}
	}
	done := 0
	for _, cut := range append(cuts, len(stream)) {
		events, err := d.Feed(stream[done:cut])
		keep(events)
		if err != nil {
			return all, err
		}
		done = cut
	}
	events, err := d.Close()
	keep(events)
	return all, err
}

// Events decodes a stream that has no fault.
func Events(t T, c wire.Streamer, stream []byte, cuts ...int) []llm.Event {
	t.Helper()
	events, err := Feed(c, stream, cuts...)
	if err != nil {
		t.Fatalf("%v after %d events in %q", err, len(events), stream)
	}
	return events
}

// Encoded writes events as a stream.
func Encoded(t T, c wire.Streamer, events []llm.Event) []byte {
	t.Helper()
	w := c.NewEncoder()
	var out []byte
	for i, e := range events {
		var err error
		if out, err = w.Append(out, e); err != nil {
			t.Fatalf("event %d, %v: %v", i, e.Kind, err)
		}
	}
	return out
}

// Told returns the reply that events tell.
func Told(d llm.Dialect, events []llm.Event) llm.Response {
	var a wire.Reply
	for _, e := range events {
		a.Add(e)
	}
	return a.Response(d)
}

// place returns where the bytes data lie in body, whose memory they share.
func place(body, data []byte) (llm.Span, bool) {
	for i := range body {
		if len(data) > 0 && &body[i] == &data[0] {
			return llm.Span{Start: i, End: i + len(data)}, true
		}
	}
	return llm.Span{}, false
}

// alone reports whether got is body but for what stands at a place of it.
func alone(body, got []byte, at llm.Span) bool {
	return len(got) >= len(body)-at.Len() && bytes.HasPrefix(got, body[:at.Start]) && bytes.HasSuffix(got, body[at.End:])
}
