package anthropic

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// bare returns events without their payloads, with parts that do not say what bytes they came
// with.
func bare(events []llm.Event) []llm.Event {
	out := slices.Clone(events)
	for i, e := range out {
		out[i].Raw = nil
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
	wholeStreams(t, func(t *testing.T, stream []byte) { laws.Chunks(t, stream) })
}

func TestStreamHasTheLawsOfEvents(t *testing.T) {
	wholeStreams(t, func(t *testing.T, stream []byte) { laws.InOrder(t, codectest.Events(t, Codec{}, stream)) })
}

// The parts of a stream are those that its blocks would be in a body.
func TestStreamedPartsAreBlocks(t *testing.T) {
	wholeStreams(t, func(t *testing.T, stream []byte) {
		for _, e := range codectest.Events(t, Codec{}, stream) {
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
		want := codectest.Events(t, Codec{}, stream)
		again := codectest.Encoded(t, Codec{}, want)
		got := codectest.Events(t, Codec{}, again)
		if whole, back := codectest.Told(Dialect, want), codectest.Told(Dialect, got); !reflect.DeepEqual(whole, back) {
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
	wholeStreams(t, func(t *testing.T, stream []byte) {
		end := bytes.LastIndex(stream, []byte(`"message_stop"`)) + len(`"message_stop"`)
		laws.CutShort(t, stream, end+1) // it counts with its bracket
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
