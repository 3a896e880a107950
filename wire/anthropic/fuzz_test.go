package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

func FuzzResponse(f *testing.F) {
	codectest.Fuzz(f, laws.AnyReply, slices.Collect(maps.Values(replies))...)
}

func FuzzStream(f *testing.F) {
	for _, stream := range streams {
		f.Add([]byte(stream), uint(100))
	}
	f.Add([]byte(oneText(`"a\ud83d"`, `"\ude00"`)), uint(3))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint) {
		want, again := laws.AnyStream(t, stream, cut)
		parts := 0
		for _, e := range want {
			if e.Kind == llm.EventPartEnd && !json.Valid(e.Part.Bytes()) {
				t.Fatalf("part %d: not JSON: %q", e.Index, e.Part.Bytes())
			}
			if e.Kind == llm.EventPartStart && !formless(e.Part) {
				parts++
			}
		}
		if a, b := codectest.Told(Dialect, want), codectest.Told(Dialect, again); a.Stop != b.Stop || len(b.Message.Parts) != parts {
			t.Fatalf("want %+v, got %+v", a, b)
		}
	})
}
