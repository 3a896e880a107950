package inspect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// What a client sends and does not record is the first prompt less what the file has
// of it, and the same in every Step; the rest is what was recorded.
func TestStepsAddUp(t *testing.T) {
	o, l := withShip(t), newLog()
	ask := "Which ships are in the harbour, and which of them are to leave before noon?"
	l.human(ask)
	l.reply(cached(0, 10_000), text("I look."), call("c1", "list", `{"harbour":"north"}`))
	l.result("c1", strings.Repeat("Anna, Bergen, Clara, Dora\n", 20))
	l.reply(cached(10_000, 300), text("Four."))
	r := l.report(t, o)

	c, err := token.ForFamily(o.Catalog.FamilyOf(ship), o.Encodings)
	if err != nil {
		t.Fatal(err)
	}
	g := r.Segments[0]
	if g.Hidden.Kind != inspect.Measured || abs(g.Hidden.Tokens-(10_000-c.Text(ask))) > 20 {
		t.Errorf("hidden: want about 10,000 less %d tokens, measured, got %+v", c.Text(ask), g.Hidden)
	}
	first, second := g.Steps[0], g.Steps[1]
	if want := map[string]int{"hidden": g.Hidden.Tokens, "human": 10_000 - g.Hidden.Tokens}; cmp.Diff(want, first.By) != "" {
		t.Errorf("first step: want %v, got %v", want, first.By)
	}
	if second.By["hidden"] != g.Hidden.Tokens || second.By["outputs"] <= second.By["calls"] || second.By["model"] == 0 {
		t.Errorf("second step: want what is hidden as before, and more outputs than calls, got %v", second.By)
	}
	if first.Kind != inspect.Reported || first.Line != 2 || second.Line != 4 || second.New != 1 || second.Number != 2 {
		t.Errorf("want reported steps at lines 2 and 4 and one new message, got %+v and %+v", first, second)
	}
	// 10,000 written at 4 and 20 of output at 10; 10,000 read at 1, 300 written, 20 of output; in millionths.
	if first.CostUSD != catalog.Dollars(40_200*million) || second.CostUSD != catalog.Dollars(11_400*million) || r.Totals.CostUSD != catalog.Dollars(51_600*million) {
		t.Errorf("cost: want $0.0402, $0.0114 and their sum, got %v, %v, %v", first.CostUSD, second.CostUSD, r.Totals.CostUSD)
	}
	if r.Totals.Peak != 10_300 || r.Totals.PeakStep != "1.2" || !r.Totals.Reported || r.Totals.Tokens != 20_300 {
		t.Errorf("totals: got %+v", r.Totals)
	}
}

func abs(n int) int { return max(n, -n) }

// A Step that nobody reported is predicted from the reports before it, and says so.
func TestUnreportedStep(t *testing.T) {
	l := newLog()
	l.human("Count the ships.")
	l.reply(cached(0, 10_000), text("There are four."))
	l.human("And the boats?")
	l.reply(llm.Usage{}, text("None."))
	r := l.report(t, withShip(t))
	got := r.Segments[0].Steps[1]
	if got.Kind != inspect.Calibrated || got.Tokens < 10_020 || got.Tokens > 10_060 || got.Usage != nil || got.Cache != nil {
		t.Errorf("want a calibrated step a little above 10,020 tokens without usage, got %+v", got)
	}
	if !got.CostUSD.Known || got.CostKind != inspect.CostEstimated || r.Segments[0].Steps[0].CostKind != inspect.CostReported {
		t.Errorf("want a cost that is estimated after one that is reported, got %+v", r.Segments[0].Steps)
	}
	if r.Totals.Reported || r.Totals.CostSteps != 2 || r.Totals.CostEstimated != 1 {
		t.Errorf("totals: want two steps with a cost, one of them estimated, not all reported, got %+v", r.Totals)
	}

	t.Run("a client's own count", func(t *testing.T) {
		l := newLog()
		l.human("Count the ships.")
		l.reply(llm.Usage{}, text("There are four."))
		l.seg.Entries[1].Step.Usage, l.seg.Entries[1].Step.ClientCount = llm.Usage{Input: 9_000, Output: 20}, true
		l.human("And the boats?")
		l.reply(llm.Usage{}, text("None."))
		r := l.report(t, withShip(t))
		st := r.Segments[0].Steps
		if st[0].Kind != inspect.ClientCounted || st[0].Tokens != 9_000 || st[0].By["human"] > 40 || st[0].Estimate != nil || st[1].Kind != inspect.Estimated {
			t.Errorf("want 9,000 tokens by the client's count, which calibrates nothing, got %+v", st)
		}
		// 9,000 of input at 3, 20 of output at 10; in millionths
		if st[0].CostUSD != catalog.Dollars(27_200*million) || st[0].CostKind != inspect.CostEstimated {
			t.Errorf("want list prices of that, as an estimate, got %s (%s)", st[0].CostUSD, st[0].CostKind)
		}
		want := []inspect.KindSum{{Kind: inspect.ClientCounted, Steps: 1, Tokens: 9_000}, {Kind: inspect.Estimated, Steps: 1, Tokens: st[1].Tokens}}
		if !slices.Equal(r.Totals.Kinds, want) {
			t.Errorf("kinds: want %+v, got %+v", want, r.Totals.Kinds)
		}
	})

	bare := newLog()
	bare.human("Count the ships.")
	bare.reply(llm.Usage{}, text("There are four."))
	if got := bare.report(t, withShip(t)).Segments[0].Steps[0]; got.Kind != inspect.Estimated {
		t.Errorf("want an estimated step where nothing was ever reported, got %+v", got)
	}
}

// A request body is one Step without a reply, and the whole of it is known.
func TestRequestBody(t *testing.T) {
	s := sessionfile.Session{Format: sessionfile.FormatChatRequest, Segments: []sessionfile.Segment{{
		Start: sessionfile.StartRoot, Final: true, Model: ship, Sections: []llm.Section{{Name: "system", Text: "Be brief."}},
		Tools:   []llm.Tool{{Name: "list", Description: "Lists the ships.", Schema: `{"type":"object"}`}},
		Entries: []sessionfile.Entry{{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{text("Which ships are in?")}}}},
	}}}
	o := withShip(t)
	checkSession(t, &s, o)
	r, err := inspect.Session(&s, o)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Segments[0]
	if len(got.Steps) != 1 || got.Hidden.Kind != inspect.None || got.Steps[0].Kind != inspect.Estimated {
		t.Fatalf("want one estimated step with nothing hidden, got %+v", got)
	}
	for _, name := range []string{"system", "tools", "human"} {
		if got.Steps[0].By[name] == 0 {
			t.Errorf("want some tokens of %s, got %v", name, got.Steps[0].By)
		}
	}
}

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

const shared = "the first of four lines that are the same\nthe second of four lines\nthe third of four\nthe fourth\n"

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

func TestCuts(t *testing.T) {
	start := func() *log {
		l := newLog()
		l.human("Read the log.")
		l.reply(cached(0, 10_000), call("c1", "read", "{}"))
		l.result("c1", strings.Repeat("a line of the log\n", 50))
		l.reply(cached(10_000, 400), text("Read."))
		return l
	}
	t.Run("compaction", func(t *testing.T) {
		l := start()
		l.segment(sessionfile.StartCompaction)
		l.summary("The log was read.")
		l.human("And now?")
		l.reply(cached(0, 10_050), text("Nothing."))
		c := l.report(t, withShip(t)).Cuts[0]
		if c.What != "compaction" || c.Line != 5 || c.Before != 10_400 || c.After != 10_050 || c.MessagesBefore != 4 || c.MessagesAfter != 1 || c.DroppedMessages != 4 {
			t.Errorf("want 4 messages for 1 at line 5, 10,400 tokens for 10,050, got %+v", c)
		}
		if c.Dropped["outputs"] == 0 || c.Dropped["human"] == 0 || len(c.Added) != 1 || c.Added["summary"] == 0 || c.Time == 0 {
			t.Errorf("want outputs and words out and a summary in, got %+v", c)
		}
	})
	t.Run("microcompaction", func(t *testing.T) {
		l := start()
		kept := slices.Clone(l.seg.Entries)
		kept[2].Message.Parts = []llm.Part{llm.ToolResult{CallID: "c1", Content: []llm.Part{text("[cleared]")}}}
		l.segment(sessionfile.StartMicrocompaction, kept...)
		l.human("And now?")
		l.reply(cached(9_000, 1_100), text("Nothing."))
		c := l.report(t, withShip(t)).Cuts[0]
		if c.MessagesBefore != 4 || c.MessagesAfter != 4 || c.ChangedMessages != 1 || c.DroppedMessages != 0 || c.Dropped["outputs"] == 0 || len(c.Added) != 0 {
			t.Errorf("want one changed message with less output, got %+v", c)
		}
	})
	t.Run("rollback", func(t *testing.T) {
		l := start()
		l.segment(sessionfile.StartRollback, l.seg.Entries[:1]...)
		l.human("Rather read the map.")
		l.reply(cached(9_900, 100), text("Read."))
		c := l.report(t, withShip(t)).Cuts[0]
		if c.DroppedMessages != 3 || c.MessagesAfter != 1 || len(c.Added) != 0 {
			t.Errorf("want 3 messages taken back and nothing put in, got %+v", c)
		}
	})
}

// Thinking is followed by what the reported prompts say became of it.
func TestThinking(t *testing.T) {
	think := func(second int) inspect.Thinking {
		l := newLog()
		l.human("Think about the tide, and about the berths.")
		l.reply(llm.Usage{CacheWrite5m: 10_000, Output: 2_000}, llm.Thinking{Text: "Hm.", Signature: "sig"}, llm.Thinking{Redacted: true, Signature: "sig"}, text("I did."))
		l.human("Good.")
		l.reply(cached(10_000, second-10_000), text("Thanks."))
		r := l.report(t, withShip(t))
		if len(r.Thinking) != 1 {
			t.Fatalf("want the thinking of one segment, got %+v", r.Thinking)
		}
		return r.Thinking[0]
	}
	kept, gone := think(12_005), think(10_015)
	if kept.Blocks != 2 || kept.Signed != 2 || kept.Hidden != 1 || abs(kept.Tokens-2_000) > 10 || kept.Carried != "kept" || kept.Turns != 1 || kept.Dropped != 0 {
		t.Errorf("want 2 blocks of nearly 2,000 tokens, kept, got %+v", kept)
	}
	if gone.Carried != "dropped" || abs(gone.Dropped-gone.Tokens) > 0 {
		t.Errorf("want all of it dropped, got %+v", gone)
	}
}

func TestStepNames(t *testing.T) {
	l := newLog()
	for range 3 {
		l.human("Go.")
		l.reply(cached(0, 10_000), text("Gone."))
	}
	l.segment(sessionfile.StartResumed)
	l.segment(sessionfile.StartRollback, l.s.Segments[0].Entries[:2]...)
	l.human("Stay.")
	l.reply(cached(0, 10_000), text("Staid."))
	if ref, err := inspect.StepAt(&l.s, 4); err != nil || ref.Name() != "3.1" {
		t.Errorf("the fourth step: want 3.1, got %v, %v", ref, err)
	}
	if ref, ok := inspect.Before(&l.s, inspect.StepRef{Segment: 3, Step: 1}); !ok || ref.Name() != "1.3" {
		t.Errorf("before 3.1: want 1.3, got %v", ref)
	}
	if ref, ok := inspect.Before(&l.s, inspect.StepRef{Segment: 1, Step: 1}); ok {
		t.Errorf("before the first: want none, got %v", ref)
	}
	for _, n := range []int{-1, 0, 5} {
		if _, err := inspect.StepAt(&l.s, n); err == nil {
			t.Errorf("step %d: want an error", n)
		}
	}
	for _, ref := range []inspect.StepRef{{}, {Segment: 1, Step: 4}, {Segment: 2, Step: 1}, {Segment: 4, Step: 1}, {Segment: -1, Step: 1}, {Segment: 1, Step: -1}} {
		_, err := inspect.Contents(&l.s, ref, withShip(t))
		var no *inspect.NoStepError
		if !errors.As(err, &no) || no.Ref != ref {
			t.Errorf("contents of %v: want a NoStepError, got %v", ref, err)
		}
	}
}

func TestContents(t *testing.T) {
	l := newLog()
	l.human("Read \x1b[31mthe log.")
	l.reply(cached(0, 10_000), llm.Thinking{Text: "Hm.", Signature: "sig"}, call("c1", "read", `{"path":"log"}`))
	long := "first\n\n" + strings.Repeat("line ", 100)
	l.result("c1", long)
	l.reply(cached(10_000, 400), text("Read."))
	got, err := inspect.Contents(&l.s, inspect.StepRef{Segment: 1, Step: 2}, withShip(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Items) != 4 || got.Tokens != 10_400 || got.Items[0].What != inspect.ItemHidden {
		t.Fatalf("want what is hidden and three messages of 10,400 tokens, got %+v", got)
	}
	human, reply, result := got.Items[1], got.Items[2], got.Items[3]
	if p := human.Parts[0]; human.Message != 1 || human.Index != 2 || human.Origin != "human" || human.Line != 1 || p.Preview != `Read \u001b[31mthe log.` || p.Text != "Read \x1b[31mthe log." {
		t.Errorf("want the first message with its escape shown, got %+v", human)
	}
	if len(reply.Parts) != 2 || reply.Parts[0].Kind != "thinking" || reply.Parts[1].Name != "read" || reply.Parts[1].CallID != "c1" {
		t.Errorf("want thinking and a call, got %+v", reply.Parts)
	}
	p := result.Parts[0]
	if p.Kind != "result" || p.Name != "read" || p.Text != long || p.Ref != string(llm.RefOf([]byte(long))) {
		t.Errorf("want the whole output under the Ref of its text, got %+v", p)
	}
	if n := len([]rune(p.Preview)); n != 120 || !strings.HasPrefix(p.Preview, "first line line") || !strings.HasSuffix(p.Preview, "…") {
		t.Errorf("want one line of 120 characters, got %d: %q", n, p.Preview)
	}
}

func TestCompare(t *testing.T) {
	l := newLog()
	l.human("Read the log.")
	l.reply(cached(0, 10_000), call("c1", "read", "{}"))
	l.result("c1", strings.Repeat("a line of the log\n", 50))
	l.reply(cached(10_000, 400), text("Read."))
	kept := slices.Clone(l.seg.Entries)
	kept[2].Message.Parts = []llm.Part{llm.ToolResult{CallID: "c1", Content: []llm.Part{text("[cleared]")}}}
	l.segment(sessionfile.StartMicrocompaction, kept[1:]...)
	l.human("And now?")
	l.reply(cached(9_000, 1_100), text("Nothing."))
	at := func(segment, step int) inspect.StepRef { return inspect.StepRef{Segment: segment, Step: step} }
	compare := func(a, b inspect.StepRef) inspect.Diff {
		t.Helper()
		d, err := inspect.Compare(&l.s, a, b, withShip(t))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	lines := func(items []inspect.Item) string {
		var out []string
		for _, it := range items {
			out = append(out, fmt.Sprint(it.Line))
		}
		return strings.Join(out, " ")
	}
	d := compare(at(1, 1), at(1, 2))
	if d.Prefix != 1 || d.Same != 1 || lines(d.Added) != "2 3" || len(d.Removed)+len(d.Changed) != 0 || d.A.Tokens != 10_000 || d.B.Tokens != 10_400 {
		t.Errorf("1.1 to 1.2: want lines 2 and 3 added, got %+v", d)
	}
	d = compare(at(1, 2), at(2, 1))
	if lines(d.Removed) != "1" || lines(d.Added) != "4 5" || len(d.Changed) != 1 || d.Changed[0].Before.Line != 3 || d.Prefix != 0 || d.Same != 1 {
		t.Errorf("1.2 to 2.1: want line 1 removed, 4 and 5 added, 3 changed, got %+v", d)
	}
	if c := d.Changed[0]; c.Before.Tokens <= c.After.Tokens || c.After.Parts[0].Text != "[cleared]" {
		t.Errorf("1.2 to 2.1: want the cleared output to be smaller, got %+v", c)
	}
	d = compare(at(1, 2), at(1, 1))
	if lines(d.Removed) != "2 3" || len(d.Added) != 0 {
		t.Errorf("1.2 to 1.1: want lines 2 and 3 removed, got %+v", d)
	}
	if _, err := inspect.Compare(&l.s, at(1, 2), at(3, 1), withShip(t)); err == nil {
		t.Error("1.2 to 3.1: want an error")
	}
}

// Whatever a session holds: every Step's contents add up to it and its list of items
// to the same, nothing is negative, and the same session gives the same report.
func TestAnySessionAddsUp(t *testing.T) {
	o := withShip(t)
	rapid.Check(t, func(rt *rapid.T) {
		l := anyLog(rt)
		checkSession(t, &l.s, o)
		if t.Failed() {
			rt.FailNow()
		}
		one, err := inspect.Session(&l.s, o)
		if err != nil {
			rt.Fatal(err)
		}
		two, _ := inspect.Session(&l.s, o)
		if diff := cmp.Diff(asJSON(one), asJSON(two)); diff != "" {
			rt.Fatalf("two reports differ: %s", diff)
		}
		if n := one.Totals.CacheLost; n < 0 {
			rt.Fatalf("lost tokens: got %d", n)
		}
	})
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func anyLog(t *rapid.T) *log {
	l := newLog()
	some := rapid.SampledFrom([]string{"", "a", shared, strings.Repeat("\n", 30), "\x1b[0m\u202e", "tide tables"})
	figure := rapid.SampledFrom([]int{0, 1, 700, 20_000, 1 << 50})
	starts := rapid.SampledFrom([]sessionfile.Start{sessionfile.StartCompaction, sessionfile.StartMicrocompaction, sessionfile.StartRollback, sessionfile.StartResumed})
	for i := range rapid.IntRange(0, 12).Draw(t, "events") {
		id := fmt.Sprint("c", i)
		switch rapid.IntRange(0, 5).Draw(t, "event") {
		case 0:
			l.human(some.Draw(t, "text"))
		case 1:
			u := llm.Usage{Input: figure.Draw(t, "input"), CacheRead: figure.Draw(t, "read"), CacheWrite1h: figure.Draw(t, "write"), Output: figure.Draw(t, "output")}
			l.model = rapid.SampledFrom([]string{ship, drops, "gpt-5", ""}).Draw(t, "model")
			l.reply(u, llm.Thinking{Text: some.Draw(t, "thinking")}, text(some.Draw(t, "text")))
		case 2:
			l.reply(llm.Usage{CacheRead: figure.Draw(t, "read"), Output: 30}, call(id, "read", some.Draw(t, "args")))
			l.result(id, some.Draw(t, "result"))
		case 3:
			l.summary(some.Draw(t, "text"))
		case 4:
			from := rapid.IntRange(0, len(l.seg.Entries)).Draw(t, "from")
			l.segment(starts.Draw(t, "start"), l.seg.Entries[from:]...)
		case 5:
			l.now += int64(rapid.SampledFrom([]int{1, 400, 4000}).Draw(t, "seconds")) * 1000
		}
	}
	return l
}

// Several conversations in one file, all of it on one line and with the same call ids,
// are none of each other's business.
func TestConversationsOfOneLine(t *testing.T) {
	l := newLog()
	talk := func(name string) {
		l.line = 0
		l.seg.Name = name
		l.human("Read the log of " + name + ".")
		l.reply(llm.Usage{}, call("c1", "read", `{"of":"`+name+`"}`))
		l.result("c1", strings.Repeat("a line of the log\n", 20))
		l.reply(llm.Usage{}, call("c1", "sail", "{}")) // the id once more
		for i := range l.seg.Entries {
			l.seg.Entries[i].Line = 1
		}
	}
	talk("Anna")
	l.segment(sessionfile.StartRoot)
	talk("Bergen")
	r := l.report(t, withShip(t))
	if r.Totals.Messages != 8 || r.Totals.Outputs != 2 || len(r.Unanswered) != 2 || len(r.Repeated) != 0 {
		t.Errorf("want 8 messages, 2 outputs, 2 open calls, nothing repeated, got %+v, %+v, %+v", r.Totals, r.Unanswered, r.Repeated)
	}
	for i, name := range []string{"Anna", "Bergen"} {
		if o := r.Largest[i]; o.Steps != 1 || o.Segment != i+1 || o.Arguments != `{"of":"`+name+`"}` {
			t.Errorf("want the output of %s, sent once, got %+v", name, o)
		}
	}
}

// What a file states was paid to the model that it names, not to the one that a reader asks about.
func TestStatedCostOfAnotherModel(t *testing.T) {
	l := newLog()
	l.human("Count the ships.")
	l.reply(cached(0, 10_000), text("There are four."))
	l.seg.Entries[1].Step.Cost = 5 * million
	o := withShip(t)
	if got := l.report(t, o).Totals.CostUSD; got != catalog.Dollars(5*million) {
		t.Errorf("want what the file states, got %s", got)
	}
	o.Model = drops
	if got := l.report(t, o).Totals.CostUSD; got != catalog.Dollars(40_200*million) {
		t.Errorf("want 10,000 tokens written and 20 of output by the other model's prices, got %s", got)
	}
}

// A Step that was not charged by list prices has no cost unless the file states it.
func TestOtherThanListPrices(t *testing.T) {
	l := newLog()
	for range 3 {
		l.human("Count the ships.")
		l.reply(cached(0, 10_000), text("There are four."))
	}
	steps := l.seg.Entries
	steps[3].Step.Unpriced = "a speed other than the standard one"
	steps[5].Step.Unpriced, steps[5].Step.Cost = steps[3].Step.Unpriced, 5*million
	r := l.report(t, withShip(t))
	first, second, third := r.Segments[0].Steps[0], r.Segments[0].Steps[1], r.Segments[0].Steps[2]
	if !first.CostUSD.Known || second.CostUSD.Known || third.CostUSD != catalog.Dollars(5*million) {
		t.Errorf("want a cost, none, and the stated one, got %s, %s, %s", first.CostUSD, second.CostUSD, third.CostUSD)
	}
	if r.Totals.CostUSD.Known || r.Totals.CostSteps != 2 {
		t.Errorf("totals: want two steps with a cost and no sum, got %+v", r.Totals)
	}
}

// What a client attaches again after a compaction is in no message: the segment's requests are rebuilt all the same, however
// much it is. Only a file that begins in the middle, without a summary, lacks a part of the conversation.
func TestAttachedAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		start  sessionfile.Start
		first  func(*log)
		alone  bool // nothing stands before it in the file
		notRun bool
	}{
		{"after a compaction", sessionfile.StartCompaction, func(l *log) { l.summary("The log was read.") }, false, false},
		{"after a compaction that is the file's first line", sessionfile.StartCompaction, func(l *log) { l.summary("The log was read.") }, true, false},
		{"after old outputs were cleared", sessionfile.StartMicrocompaction, func(l *log) { l.human("Read the log.") }, false, false},
		{"from the middle of a session", sessionfile.StartResumed, func(l *log) { l.human("Read the log.") }, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLog()
			l.human("Read the log.")
			l.reply(cached(0, 10_000), text("Read."))
			l.segment(c.start)
			c.first(l)
			l.human("And now?")
			l.reply(cached(10_000, 110_000), text("Nothing.")) // most of it are nowhere in the file
			if c.alone {
				l.s.Segments = l.s.Segments[1:]
			}
			r := l.report(t, withShip(t))
			g := r.Segments[len(r.Segments)-1]
			if (g.NotRun != "") != c.notRun {
				t.Errorf("want a reason: %v, got %q", c.notRun, g.NotRun)
			}
			if sum := g.Hidden.Tokens + g.Hidden.Unrecorded; sum < 119_000 || g.Hidden.Unrecorded < 70_000 || g.Steps[0].By["hidden"] != sum {
				t.Errorf("want what the file does not have as unrecorded, got %+v, %v", g.Hidden, g.Steps[0].By)
			}
		})
	}
}
