package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// decodeChunks returns the events of a stream that comes in chunks, without their raw bytes.
func decodeChunks(chunks ...[]byte) ([]llm.Event, error) {
	var all []llm.Event
	d := Codec{}.NewDecoder()
	take := func(events []llm.Event) {
		for _, e := range events {
			e.Raw = nil
			all = append(all, e)
		}
	}
	for _, c := range chunks {
		events, err := d.Feed(c)
		take(events)
		if err != nil {
			return all, err
		}
	}
	events, err := d.Close()
	take(events)
	return all, err
}

func mustEvents(t *testing.T, stream []byte) []llm.Event {
	t.Helper()
	events, err := decodeChunks(stream)
	if err != nil {
		t.Fatalf("%v after %s", err, kinds(events))
	}
	return events
}

func replyOf(events []llm.Event) llm.Response {
	var a wire.Reply
	for _, e := range events {
		a.Add(e)
	}
	return a.Response(Dialect)
}

// encodeEvents returns events as a stream.
func encodeEvents(t *testing.T, events []llm.Event) []byte {
	t.Helper()
	var out []byte
	var err error
	w := Codec{}.NewEncoder()
	for i, e := range events {
		if out, err = w.Append(out, e); err != nil {
			t.Fatalf("event %d, %v: %v", i, e.Kind, err)
		}
	}
	return out
}

// bare returns events with parts that do not say what bytes they came with.
func bare(events []llm.Event) []llm.Event {
	out := slices.Clone(events)
	for i, e := range out {
		switch p := e.Part.(type) {
		case llm.Text:
			p.Raw = llm.Raw{}
			out[i].Part = p
		case llm.Thinking:
			p.Raw = llm.Raw{}
			out[i].Part = p
		case llm.ToolCall:
			p.Raw = llm.Raw{}
			out[i].Part = p
		case llm.Opaque:
			p.Raw = llm.Raw{}
			out[i].Part = p
		}
	}
	return out
}

// wholeStreams calls f with every stream of one reply. One recording is a splice of two.
func wholeStreams(t *testing.T, f func(t *testing.T, stream []byte)) {
	fixtures(t, streams, recording.Exchange.Events, func(t *testing.T, stream []byte) {
		stream = firstReply(stream)
		if bytes.Count(stream, []byte(`"type":"message_start"`)) > 1 {
			t.Skip("not one reply; see TestPastFailures")
		}
		f(t, stream)
	})
}

func TestEventsDoNotDependOnChunks(t *testing.T) {
	const most = 2 << 20 // bytes to read of one stream, so that it takes no seconds
	wholeStreams(t, func(t *testing.T, stream []byte) {
		want := mustEvents(t, stream)
		for cut := 1; cut < len(stream); cut += 1 + len(stream)*len(stream)/most {
			got, err := decodeChunks(stream[:cut], stream[cut:])
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("cut at %d: %s", cut, cmp.Diff(want, got))
			}
		}
		var bytewise [][]byte
		for i := range stream {
			bytewise = append(bytewise, stream[i:i+1])
		}
		got, err := decodeChunks(bytewise...)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

func TestStreamHasTheLawsOfEvents(t *testing.T) {
	wholeStreams(t, func(t *testing.T, stream []byte) {
		checkEvents(t, mustEvents(t, stream))
	})
}

// checkEvents checks order and completeness of events, as package llm states them.
func checkEvents(t *testing.T, events []llm.Event) {
	t.Helper()
	type state struct {
		text, signature, args string
		open                  bool
	}
	parts := map[int]*state{}
	starts, ends := 0, 0
	for i, e := range events {
		if e.Kind == llm.EventOther {
			continue
		}
		if starts == 0 && e.Kind != llm.EventStart || ends > 0 {
			t.Fatalf("event %d: %v out of order", i, e.Kind)
		}
		switch e.Kind {
		case llm.EventStart:
			starts++
		case llm.EventEnd:
			ends++
		case llm.EventPartStart:
			if e.Index != len(parts) {
				t.Fatalf("event %d: part %d begins, want %d", i, e.Index, len(parts))
			}
			parts[e.Index] = &state{open: true}
		case llm.EventDelta:
			p := parts[e.Index]
			if p == nil || !p.open || e.Text == "" {
				t.Fatalf("event %d: delta of part %d that is not open, or empty", i, e.Index)
			}
			switch e.Delta {
			case llm.DeltaText:
				p.text += e.Text
			case llm.DeltaSignature:
				p.signature += e.Text
			case llm.DeltaArgs:
				p.args += e.Text
			}
		case llm.EventPartEnd:
			p := parts[e.Index]
			p.open = false
			var want state
			switch part := e.Part.(type) {
			case llm.Text:
				want = state{text: part.Text}
			case llm.Thinking:
				if !part.Redacted {
					want = state{text: part.Text, signature: part.Signature}
				}
			case llm.ToolCall:
				want = state{args: part.Args}
			}
			if want != *p {
				t.Fatalf("part %d: deltas %+v, part %+v", e.Index, *p, want)
			}
		}
	}
	if starts != 1 || ends != 1 {
		t.Fatalf("%d starts, %d ends", starts, ends)
	}
}

// The parts of a stream are those that its blocks would be in a body.
func TestStreamedPartsAreBlocks(t *testing.T) {
	wholeStreams(t, func(t *testing.T, stream []byte) {
		for _, e := range mustEvents(t, stream) {
			if e.Kind != llm.EventPartEnd {
				continue
			}
			again, err := DecodeBlock(e.Part.Bytes()) // which are JSON
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(e.Part, again) {
				t.Error(cmp.Diff(e.Part, again))
			}
		}
	})
}

func TestReencodedStreamHasTheSameEvents(t *testing.T) {
	wholeStreams(t, func(t *testing.T, stream []byte) {
		want := mustEvents(t, stream)
		again := encodeEvents(t, want)
		got := mustEvents(t, again)
		if whole, back := replyOf(want), replyOf(got); !reflect.DeepEqual(whole, back) {
			t.Fatalf("%s\n%s", cmp.Diff(whole, back), again)
		}
		for i := 1; i < len(want); i++ {
			if want[i].Kind == llm.EventPartStart && want[i-1].Kind == llm.EventPartStart {
				return // parts overlap: they are written one after the other
			}
		}
		if want, got = bare(want), bare(got); !reflect.DeepEqual(want, got) {
			t.Fatalf("%s\n%s", cmp.Diff(want, got), again)
		}
	})
}

func TestCutStreamIsAnError(t *testing.T) {
	const most = 2 << 20
	wholeStreams(t, func(t *testing.T, stream []byte) {
		end := bytes.LastIndex(stream, []byte(`"message_stop"`)) + len(`"message_stop"`) // and its bracket
		for cut := 0; cut <= end; cut += 1 + end*end/most {
			if _, err := decodeChunks(stream[:cut]); !errors.Is(err, wire.ErrCut) {
				t.Fatalf("cut at %d of %d: got %v", cut, end, err)
			}
		}
		if _, err := decodeChunks(stream[:end]); !errors.Is(err, wire.ErrCut) {
			t.Fatalf("cut before the last bracket: got %v", err)
		}
	})
}

// A payload's bytes come with its first event and are good until the next call.
func TestEventsHaveTheirPayload(t *testing.T) {
	d := Codec{}.NewDecoder()
	events, err := d.Feed([]byte(streams["everything"]))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.Raw == nil {
			if e.Kind != llm.EventDelta && e.Kind != llm.EventPartEnd {
				t.Errorf("event %d, %v: no payload", i, e.Kind)
			}
			continue
		}
		if !json.Valid(e.Raw) {
			t.Errorf("event %d: got %s", i, e.Raw)
		}
	}
	if string(events[0].Raw) != startPayload {
		t.Errorf("got %s", events[0].Raw)
	}
}
