package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// changing are the methods that change a machine. All others only look.
var changing = []string{"Feed", "Ready", "Advance"}

// lookAt calls every method that only looks, so that the machine of a pair which is looked
// at can be compared with the one that is not.
func lookAt(m *engine.Machine) {
	_ = m.CountText("a text that is counted")
	_ = m.CanExecute("read")
	_ = m.PreviewOutput(1_000)
	_ = m.Acceptable(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "nobody's"}}})
	v := reflect.ValueOf(m)
	for i := range v.NumMethod() {
		if f := v.Method(i); f.Type().NumIn() == 0 && !slices.Contains(changing, v.Type().Method(i).Name) {
			f.Call(nil)
		}
	}
}

// TestLookingChangesNothing: whatever a machine is asked, it does and says the same
// afterwards, and in the same words. The property tests look before every input.
func TestLookingChangesNothing(t *testing.T) {
	h := guarded(t, 30_000)
	must(t, h.m.Feed(engine.TurnEnd{}))
	before := fmt.Sprintf("%+v", h.m.Guard())
	lookAt(h.m)
	if after := fmt.Sprintf("%+v", h.m.Guard()); after != before || !h.m.HasReady() {
		t.Errorf("the guard counts %s, after it was looked at %s; to do: %v, want what waits to be done", before, after, h.m.HasReady())
	}
	v := reflect.TypeOf(h.m)
	for i := range v.NumMethod() {
		m := v.Method(i)
		if m.Type.NumOut() == 0 && m.Name != "Advance" {
			t.Errorf("%s returns nothing, want a method that looks, or an input", m.Name)
		}
	}
}
