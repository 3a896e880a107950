package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

func FuzzResponse(f *testing.F) {
	for _, body := range replies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		r, err := DecodeResponse(body)
		if err != nil {
			return
		}
		if got, err := EncodeResponse(r); err != nil || !bytes.Equal(got, before) {
			t.Fatalf("want %q, got %q, %v", before, got, err)
		}
		edited, neutral := r, r
		edited.ID, edited.Usage.Input = "other", r.Usage.Input+1
		edited.Message.Parts = append([]llm.Part{llm.Text{Text: "x"}}, r.Message.Parts...)
		neutral.Dialect, neutral.Message.Dialect = "other", "other"
		for _, r := range []llm.Response{edited, neutral} {
			got, err := EncodeResponse(r)
			if err != nil || !json.Valid(got) {
				t.Fatalf("got %q, %v", got, err)
			}
			if _, err := DecodeResponse(got); err != nil {
				t.Fatalf("%v in %q", err, got)
			}
		}
		if !bytes.Equal(body, before) {
			t.Fatal("the body was written to")
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, stream := range streams {
		f.Add([]byte(stream), 100)
	}
	f.Add([]byte(oneText(`"a\ud83d"`, `"\ude00"`)), 3)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		cut = min(max(cut, 0), len(stream))
		want, wantErr := decodeChunks(stream)
		got, gotErr := decodeChunks(stream[:cut], stream[cut:])
		if !reflect.DeepEqual(want, got) || (wantErr == nil) != (gotErr == nil) {
			t.Fatalf("cut at %d: want %v, %v; got %v, %v", cut, want, wantErr, got, gotErr)
		}
		if wantErr != nil && !errors.Is(gotErr, wire.ErrCut) && wantErr.Error() != gotErr.Error() {
			t.Fatalf("cut at %d: want %v, got %v", cut, wantErr, gotErr)
		}
		w := Codec{}.NewEncoder()
		var out []byte
		for _, e := range want {
			var err error
			if out, err = w.Append(out, e); err != nil {
				t.Fatalf("%v: %v", e, err)
			}
		}
		if wantErr != nil {
			return
		}
		checkEvents(t, want)
		again, err := decodeChunks(out)
		if err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		parts := 0
		for _, e := range want {
			if e.Kind == llm.EventPartEnd && !json.Valid(e.Part.Bytes()) {
				t.Fatalf("part %d: not JSON: %q", e.Index, e.Part.Bytes())
			}
			if e.Kind == llm.EventPartStart && !formless(e.Part) {
				parts++
			}
		}
		if a, b := replyOf(want), replyOf(again); a.Stop != b.Stop || len(b.Message.Parts) != parts {
			t.Fatalf("want %+v, got %+v from %q", a, b, out)
		}
	})
}

// BenchmarkDecodeStream reads a long reply of short deltas, as they come.
func BenchmarkDecodeStream(b *testing.B) {
	var deltas []string
	for range 2000 {
		deltas = append(deltas, `"and then, said the \"mate\", we weigh anchor\n"`)
	}
	stream := []byte(oneText(deltas...))
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		d := Codec{}.NewDecoder()
		events = 0
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), 4096)
			got, err := d.Feed(rest[:n])
			if err != nil {
				b.Fatal(err)
			}
			events, rest = events+len(got), rest[n:]
		}
		if _, err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(events), "events")
}

func BenchmarkEncodeStream(b *testing.B) {
	events := []llm.Event{{Kind: llm.EventStart, ID: "m"}, {Kind: llm.EventPartStart, Part: llm.Text{}}}
	for range 2000 {
		events = append(events, llm.Event{Kind: llm.EventDelta, Delta: llm.DeltaText, Text: "and then, said the \"mate\", we weigh anchor\n"})
	}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		w := Codec{}.NewEncoder()
		out = out[:0]
		for _, e := range events {
			var err error
			if out, err = w.Append(out, e); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(int64(len(out)))
}
