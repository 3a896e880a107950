package engine_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestANoteTakesNothingOut: the note that tells how full the context is comes where it has
// room. Where it has none nothing is taken out for it.
func TestANoteTakesNothingOut(t *testing.T) {
	for _, c := range []struct {
		name string
		room int // bytes
		note bool
	}{
		{"R002-23_no_room", 20, false},
		{"R002-23_room", 2_000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := opened(t, "layered", budget.Window{Capacity: 104_096})
			ask(t, h, llm.Text{Text: "see"})
			look(t, h, "c1", screenshot("one", 3_000))
			look(t, h, "c2", screenshot("two", 3_000))
			ask(t, h, llm.Text{Text: prose(308_000, "text")})
			if th := thresholdOf(t, h.m, "tell-model"); !th.Reached {
				t.Fatalf("want a context that is filling up, got %+v", th)
			}
			size := 256
			for _, s := range h.m.MeterStates()[0].Sums {
				size += s.Bytes + s.More
			}
			edits := len(h.m.Journal())
			must(t, h.feed(engine.Prepare{Targets: []budget.Target{{Provider: "p", Model: "gpt-4o", Window: budget.Window{Capacity: 104_096, MaxBytes: size + c.room}}}}))
			made := h.m.Journal()[edits:]
			if len(h.sent) != 1 || slices.ContainsFunc(made, func(e edit.Edit) bool { return e.Kind != edit.KindNote }) || (len(made) == 1) != c.note {
				t.Errorf("want a note %v and nothing else, got %d requests, %+v", c.note, len(h.sent), made)
			}
		})
	}
}
