package setting

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

var form = Form{Stream: "s", Temperature: "t", TopP: "p", Stop: "stop"}

// read reads what an object says.
func read(obj []byte) llm.Settings {
	v := raw.Values(obj, "s", "t", "p", "stop")
	return llm.Settings{Stream: string(v[0]) == "true", Temperature: raw.Number(v[1]), TopP: raw.Number(v[2]), Stop: raw.Texts(v[3])}
}

func settings(t *rapid.T, label string) llm.Settings {
	number := rapid.SampledFrom([]string{"", "0", "0.50", "1e0"})
	return llm.Settings{
		Stream: rapid.Bool().Draw(t, label), Temperature: number.Draw(t, label), TopP: number.Draw(t, label),
		Stop: rapid.SampledFrom([][]string{nil, {"a"}, {"a", "b\n"}}).Draw(t, label),
	}
}

// Whatever an object says, it then says what it should, and what said so already is not touched.
func TestChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was, is := settings(t, "was"), settings(t, "is")
		obj := raw.SetFields([]byte(`{"x":1}`), form.Changes(llm.Settings{}, was)...)
		if d := cmp.Diff(was, read(obj)); d != "" {
			t.Fatalf("written from the start: %s", d)
		}
		if again := form.Changes(was, was); len(again) > 0 {
			t.Fatalf("want no changes, got %v", again)
		}
		if d := cmp.Diff(is, read(raw.SetFields(obj, form.Changes(was, is)...))); d != "" {
			t.Fatal(d)
		}
	})
}

func TestChangesLeaveAlone(t *testing.T) {
	if got := form.Changes(llm.Settings{Temperature: "1"}, llm.Settings{Temperature: `1,"x":2`}); len(got) > 0 {
		t.Errorf("no number: got %v", got)
	}
	if got := (Form{}).Changes(llm.Settings{}, llm.Settings{Stream: true, Temperature: "1", Stop: []string{"x"}}); len(got) > 0 {
		t.Errorf("no names: got %v", got)
	}
}

func TestChoice(t *testing.T) {
	auto, other := llm.Choice{Mode: llm.ChoiceAuto}, llm.Choice{Mode: llm.ChoiceOther}
	tests := []struct {
		name    string
		was, is llm.Choice
		value   string
		want    []raw.Field
	}{
		{"the same", auto, auto, "v", nil},
		{"one that only the body has", other, other, "", nil},
		{"another", llm.Choice{}, auto, "v", []raw.Field{{Name: "c", Value: []byte("v")}}},
		{"none", other, llm.Choice{}, "", []raw.Field{{Name: "c"}}},
		{"one without a form", auto, other, "", nil},
	}
	for _, test := range tests {
		if d := cmp.Diff(test.want, Choice("c", test.was, test.is, []byte(test.value))); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
	}
}
