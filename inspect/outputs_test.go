package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// An output costs its tokens in every Step that is sent after it.
func TestLargestOutputs(t *testing.T) {
	l := newLog()
	l.human("Read both.")
	l.reply(cached(0, 10_000), call("c1", "read", "{\"path\":\n \"small.txt\"}"), call("c2", "read", `{"path":"large.txt"}`))
	l.result("c1", strings.Repeat("a short line\n", 10))
	l.result("c2", strings.Repeat("quite another line, which is longer\n", 100))
	l.reply(llm.Usage{CacheRead: 12_000, Output: 20}, text("Read."))
	l.human("Again?")
	l.reply(llm.Usage{CacheRead: 12_100, Output: 20}, text("No."))
	l.reply(llm.Usage{CacheRead: 12_200, Output: 20}, text("Really."))
	r := l.report(t, withShip(t))
	if len(r.Largest) != 2 || r.Totals.Outputs != 2 {
		t.Fatalf("want 2 outputs, got %+v", r.Largest)
	}
	big, small := r.Largest[0], r.Largest[1]
	if big.Line != 4 || big.Tool != "read" || big.Arguments != `{"path":"large.txt"}` || small.Line != 3 || small.Arguments != `{"path":` {
		t.Errorf("want lines 4 and 3 with the first line of their arguments, got %+v and %+v", big, small)
	}
	if big.StepRef != (inspect.StepRef{Segment: 1, Step: 2}) || big.Steps != 3 || big.Carried != 3*big.Tokens {
		t.Errorf("want it sent by three steps from 1.2 on, got %+v", big)
	}
	if want := catalog.Dollars(int64(big.Carried) * 1 * million); big.CostUSD != want {
		t.Errorf("cost: want that of %d tokens read, %v, got %v", big.Carried, want, big.CostUSD)
	}
}

// Repeated is a run of four lines, or the whole of a short output, shown before in
// the same context.
func TestRepeatedContent(t *testing.T) {
	l := newLog()
	l.human("Read.")
	l.reply(cached(0, 10_000), call("a", "read", "A"), call("b", "read", "B"), call("c", "read", "C"), call("d", "read", "D"), call("e", "read", "E"))
	one := "only one line, but one with more than sixty characters in it, so that it counts"
	l.result("a", "head\n"+shared+"tail\n")
	l.result("b", "another head\nand one more\n"+shared+"another tail\n")
	l.result("c", strings.Join(strings.Split(shared, "\n")[:3], "\n")+"\nelse\n") // three lines are no run
	l.result("d", one)
	l.result("e", one)
	l.reply(cached(10_000, 500), text("Read."))
	before := l.seg.Entries
	l.segment(sessionfile.StartMicrocompaction, before...)
	l.human("Go on.")
	l.reply(cached(10_500, 50), text("Done."))
	r := l.report(t, withShip(t))
	if len(r.Repeated) != 2 {
		t.Fatalf("want 2 repeats, got %+v", r.Repeated)
	}
	run, whole := r.Repeated[0], r.Repeated[1]
	if run.Line != 4 || run.Lines != 4 || run.From != 3 || run.Whole || run.Earlier != (inspect.Source{Tool: "read", Arguments: "A", Line: 3, From: 2}) {
		t.Errorf("want lines 3 to 6 of line 4, shown at line 3 from 2 on, got %+v", run)
	}
	if whole.Line != 7 || !whole.Whole || whole.Earlier.Line != 6 {
		t.Errorf("want line 7 to be line 6, got %+v", whole)
	}
	if run.Steps != 2 || run.Carried != 2*run.Tokens || r.Totals.Repeated != run.Tokens+whole.Tokens {
		t.Errorf("want it counted once and sent twice, once in each segment, got %+v of %d in all", run, r.Totals.Repeated)
	}
}

func TestCallsWithoutResults(t *testing.T) {
	l := newLog()
	l.human("Go.")
	l.reply(cached(0, 10_000), call("c1", "sail", "{}"), call("c2", "row", "{}"), llm.ToolCall{CallID: "c3", Name: "search", Hosted: true})
	l.interrupted("c1")
	l.result("c2", "rowed")
	l.reply(cached(10_000, 100), call("c4", "moor", `{"at":"N4"}`))
	r := l.report(t, withShip(t))
	at := func(step int) inspect.StepRef { return inspect.StepRef{Segment: 1, Step: step} }
	want := []inspect.Call{
		{StepRef: at(1), Tool: "sail", CallID: "c1", Arguments: "{}", Line: 2, Why: "interrupted"},
		{StepRef: at(2), Tool: "moor", CallID: "c4", Arguments: `{"at":"N4"}`, Line: 5, Why: "open"},
	}
	if diff := cmp.Diff(want, r.Unanswered); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Outputs are listed by what they cost: a small one that was sent often comes before a large one
// that was sent once.
func TestDearestFirst(t *testing.T) {
	l := newLog()
	l.human("Read the charts.")
	l.reply(cached(0, 1_000), call("c1", "read", `{"path":"tide"}`))
	l.result("c1", strings.Repeat("high water at noon; ", 100))
	for n, read := 2, 1_400; n < 12; n, read = n+1, read+50 {
		id := fmt.Sprintf("c%d", n)
		l.reply(cached(read, 50), call(id, "look", "{}"))
		l.result(id, "calm")
	}
	l.reply(cached(2_000, 50), call("c99", "read", `{"path":"pilot"}`))
	l.result("c99", strings.Repeat("keep the buoy to port; ", 120))
	l.reply(cached(2_100, 700), text("Read."))
	r := l.report(t, withShip(t))
	if len(r.Largest) < 2 || r.Largest[0].CallID != "c1" || r.Largest[0].Tokens >= r.Largest[1].Tokens {
		t.Errorf("want the output that was sent with each step first, though another one is larger, got %+v", r.Largest[:min(2, len(r.Largest))])
	}
	for i, o := range r.Largest[1:] {
		if o.CostUSD.Pico > r.Largest[i].CostUSD.Pico {
			t.Errorf("want the dearest first, got %v before %v", r.Largest[i].CostUSD, o.CostUSD)
		}
	}
}
