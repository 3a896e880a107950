package inspect_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A person sees, of every call whose provider reports its count, what it was taken for before: by the calibrated count and by
// the counter alone.
func TestEstimateAndReport(t *testing.T) {
	l := newLog()
	l.model = "claude-opus-4-6" // whose tokens are more than its counter has
	l.human("Read the log.")
	l.reply(cached(0, 10_000), call("c1", "read", "{}"))
	l.result("c1", strings.Repeat("a line of the log\n", 2_000))
	l.reply(cached(10_000, 12_000), text("Read."))
	l.human("And now?")
	l.reply(llm.Usage{}, text("Nothing."))
	l.human("And now?")
	l.reply(cached(22_000, 100), text("Nothing."))
	r := l.report(t, withShip(t))
	steps := r.Segments[0].Steps
	t.Run("R000-29_estimate_and_report_side_by_side", func(t *testing.T) {
		p := steps[1].Estimate
		if p == nil || p.Reported != 22_000 || p.Point <= p.Counter || p.Bound <= p.Point || p.Kind != inspect.Calibrated {
			t.Fatalf("want an estimate above the counter's figure beside the report of 22,000, got %+v", p)
		}
		if want := (p.Point - 22_000) * 1_000_000 / 22_000; p.ErrorPPM != want {
			t.Errorf("error: want %d, got %d", want, p.ErrorPPM)
		}
		if want := (p.Counter - 22_000) * 1_000_000 / 22_000; p.CounterErrorPPM != want || p.CounterErrorPPM >= 0 {
			t.Errorf("error of the counter: want %d, got %d", want, p.CounterErrorPPM)
		}
		if p := steps[3].Estimate; p == nil || max(p.ErrorPPM, -p.ErrorPPM) >= max(p.CounterErrorPPM, -p.CounterErrorPPM) {
			t.Errorf("want the calibrated estimate closer than the counter's, got %+v", p)
		}
	})
	t.Run("R000-29_none_where_nothing_is_reported_or_the_report_measured_it", func(t *testing.T) {
		if steps[0].Estimate != nil || steps[2].Estimate != nil {
			t.Errorf("got %+v and %+v", steps[0].Estimate, steps[2].Estimate)
		}
	})
}

// Calls that were copied from another session are shown, and are in no sum: not in tokens, money, the peak or what an output was sent with.
func TestCopiedCalls(t *testing.T) {
	l := newLog()
	l.s.Parent, l.s.Kin = "parent", sessionfile.KinFork
	l.human("Read the log.")
	l.reply(cached(0, 50_000), call("c1", "read", "{}"))
	l.result("c1", strings.Repeat("a line of the log\n", 2_000))
	l.reply(cached(50_000, 12_000), text("Read."))
	l.human("And now?")
	l.reply(cached(0, 10_000), text("Nothing."))
	for _, i := range []int{1, 3} {
		l.seg.Entries[i].Step.Copied, l.seg.Entries[i].Step.MessageID, l.seg.Entries[i].Step.RequestID = "parent", "msg_1", "req_1"
	}
	r := l.report(t, withShip(t))
	got := r.Totals
	if got.Steps != 1 || got.Tokens != 10_000 || got.Peak != 10_000 || got.PeakStep != "1.3" || got.CopiedSteps != 2 || got.CopiedTokens != 112_000 {
		t.Errorf("want the last call alone in the sums, got %+v", got)
	}
	if got.CostUSD != catalog.Dollars(40_200*million) || got.CostSteps != 1 || got.Usage.CacheRead != 0 {
		t.Errorf("want what the last call cost, $0.0402, got %+v", got)
	}
	first := r.Segments[0].Steps[0]
	if r.Parent != "parent" || r.Kin != "fork" || first.Copied != "parent" || first.MessageID != "msg_1" || first.RequestID != "req_1" || first.CostUSD.Known || first.Tokens != 50_000 {
		t.Errorf("want the copied call shown, with its ids and no cost, got %+v", first)
	}
	if o := r.Largest[0]; o.Steps != 1 || o.Carried != o.Tokens || o.Step != 2 {
		t.Errorf("want an output that one own step was sent, got %+v", o)
	}
}

// What a file states of its sums stands beside ours; a difference is told, and what is known to be missing.
func TestStatedSums(t *testing.T) {
	l := newLog()
	l.human("Count the ships.")
	l.reply(cached(0, 10_000), text("There are four."))
	l.human("And the boats?")
	l.reply(cached(10_000, 300), text("None."))
	l.human("And the buoys?")
	l.reply(cached(10_300, 300), text("One."))
	l.seg.Entries[5].Step.Copied = "parent"
	l.s.Stated = []sessionfile.Stated{{Line: 9, What: "result line", From: 0, To: 1, Figures: []sessionfile.Figure{
		{Name: sessionfile.FigureCalls, Value: 2},
		{Name: sessionfile.FigureCacheRead, Value: 10_000},
		{Name: sessionfile.FigurePrompt, Value: 20_000, Round: 1_000},
		{Name: sessionfile.FigureOutput, Value: 99},
		{Name: sessionfile.FigureCost, Value: 51_600 * million},
	}}}
	r := l.report(t, withShip(t))
	if len(r.Stated) != 1 || r.Stated[0].Line != 9 || r.Stated[0].From != 1 || r.Stated[0].To != 1 {
		t.Fatalf("want one statement about segment 1, got %+v", r.Stated)
	}
	for i, want := range []inspect.StatedFigure{
		{Name: "calls", Stated: 2, Ours: 2},
		{Name: "cache_read", Stated: 10_000, Ours: 10_000},
		{Name: "prompt", Stated: 20_000, Ours: 20_300}, // as it was rounded
		{Name: "output", Stated: 99, Ours: 40, Differs: true},
	} {
		if got := r.Stated[0].Figures[i]; got != want {
			t.Errorf("want %+v, got %+v", want, got)
		}
	}
	if cost := r.Stated[0].Figures[4]; cost.Differs || *cost.StatedUSD != r.Totals.CostUSD || *cost.OursUSD != r.Totals.CostUSD {
		t.Errorf("want the cost that was stated, got %+v", cost)
	}
}

// A stated cost that is not the sum of the calls' comes with what the file shows to be wrong with it.
func TestStatedCostSaysWhy(t *testing.T) {
	l := newLog()
	l.human("Sound the bar.")
	l.reply(cached(0, 10_000), text("Two fathoms."))
	of := func(pico int64) []sessionfile.Stated {
		return []sessionfile.Stated{{
			Line: 9, What: "session cost", To: 1, Why: "at line 9 what was paid is added again",
			Figures: []sessionfile.Figure{{Name: sessionfile.FigureCost, Value: pico}},
		}}
	}
	for _, c := range []struct {
		pico int64
		why  string
	}{{40_200 * million, ""}, {80_400 * million, "at line 9 what was paid is added again"}} {
		l.s.Stated = of(c.pico)
		if f := l.report(t, withShip(t)).Stated[0].Figures[0]; f.Differs != (c.why != "") || f.Why != c.why {
			t.Errorf("%d stated, want %q, got %+v", c.pico, c.why, f)
		}
	}
}

// Where ours is an estimate, a stated cost that is another one says of how many calls.
func TestStatedCostOfCallsWithoutUsage(t *testing.T) {
	l := newLog()
	l.human("Sound the bar.")
	l.reply(cached(0, 10_000), text("Two fathoms."))
	l.human("And the pier?")
	l.reply(llm.Usage{}, text("Three."))
	l.s.Stated = []sessionfile.Stated{{Line: 9, What: "session cost", To: 1, Figures: []sessionfile.Figure{
		{Name: sessionfile.FigureCost, Value: 40_200 * million},
	}}}
	f := l.report(t, withShip(t)).Stated[0].Figures[0]
	if want := "what 1 of 2 calls cost is estimated"; !f.Differs || f.Why != want {
		t.Errorf("want a difference because %s, got %+v", want, f)
	}
}

// What a run cost may have what its sub-agents cost whose lines are in the file: then that is why.
func TestStatedCostWithSubAgents(t *testing.T) {
	l := newLog()
	l.human("Sound the bar.")
	l.reply(cached(0, 10_000), text("Two fathoms."))
	l.s.Abandoned = []sessionfile.Branch{{First: 2, Last: 2, Messages: 1, Why: sessionfile.WhySubAgent, Calls: []sessionfile.Step{
		{Model: ship, Usage: cached(0, 5_000)},
	}}}
	for pico, want := range map[int64]string{60_400 * million: "it is the sum with the calls of sub-agents in the file", 90_000 * million: ""} {
		l.s.Stated = []sessionfile.Stated{{Line: 9, What: "result line", To: 1, Figures: []sessionfile.Figure{{Name: sessionfile.FigureCost, Value: pico}}}}
		if f := l.report(t, withShip(t)).Stated[0].Figures[0]; !f.Differs || f.Why != want {
			t.Errorf("%d stated, want a difference that says %q, got %+v", pico, want, f)
		}
	}
}

// Sub-agents are shown with their session, and the sums over all stand beside those of the session alone.
func TestAttach(t *testing.T) {
	make := func(id string, prompts ...int) inspect.Report {
		l := newLog()
		l.s.ID = id
		for _, n := range prompts {
			l.human("Count the ships.")
			l.reply(cached(0, n), text("There are four."))
		}
		return l.report(t, withShip(t))
	}
	r := make("whole", 10_000)
	r.Attach(nil)
	if r.WithAgents != nil || len(r.Agents) != 0 {
		t.Errorf("without sub-agents: got %+v, %+v", r.Agents, r.WithAgents)
	}
	r.Attach([]inspect.Report{make("one", 5_000, 6_000), make("two", 7_000), make("none")})
	if len(r.Agents) != 3 || r.Agents[0].ID != "one" || r.Agents[0].Steps != 2 || r.Agents[0].Peak != 6_000 || r.Totals.Steps != 1 {
		t.Errorf("want three sub-agents, and the session's own sums as they were, got %+v, %+v", r.Agents, r.Totals)
	}
	// 28,000 tokens written at 4, four times 20 of output at 10
	if all := r.WithAgents; all == nil || all.Steps != 4 || all.Tokens != 28_000 || all.CostUSD != catalog.Dollars(112_800*million) || all.CostSteps != 4 {
		t.Errorf("want four steps of 28,000 tokens for $0.1128, got %+v", all)
	}
}

// Sub-agents inside the file are listed as one each, with those beside it; what is not known of them is not taken for nothing. Calls
// on other lines are in no sum, and copied ones nowhere.
func TestAgentsInsideTheFile(t *testing.T) {
	made := func(in int) sessionfile.Step {
		return sessionfile.Step{Model: ship, Usage: cached(0, in), OutputReported: true}
	}
	copied := made(9_000)
	copied.Copied = "elder"
	l := newLog()
	l.human("Count the ships.")
	l.reply(cached(0, 10_000), text("There are four."))
	l.s.Abandoned = []sessionfile.Branch{
		{First: 2, Last: 3, Messages: 2, Why: sessionfile.WhySubAgent, Agent: "one", Calls: []sessionfile.Step{made(5_000), copied}},
		{First: 4, Last: 4, Messages: 1, Why: sessionfile.WhySubAgent, Agent: "two", Calls: []sessionfile.Step{made(1_000)}},
		{First: 5, Last: 5, Messages: 1, Why: sessionfile.WhySubAgent, Agent: "one", Calls: []sessionfile.Step{made(6_000)}},
		{First: 6, Last: 6, Messages: 1, Why: sessionfile.WhyAbandoned, Calls: []sessionfile.Step{made(3_000)}},
	}
	r := l.report(t, withShip(t))
	one := inspect.Agent{
		Session: "log.jsonl", Line: 2, ID: "one", Steps: 2, Tokens: 11_000, Peak: 6_000, Usage: inspect.Usage{CacheWrite5m: 11_000, Output: 40},
		CostUSD: catalog.Dollars(44_400 * million), CostSteps: 2,
	}
	if len(r.Agents) != 2 || r.Agents[0] != one || r.Agents[1].ID != "two" || r.Totals.Steps != 1 || r.Totals.Tokens != 10_000 {
		t.Errorf("want two sub-agents beside the session's own sums, got %+v, %+v", r.Agents, r.Totals)
	}
	// 22,000 tokens written at 4, four times 20 of output at 10
	if all := r.WithAgents; all == nil || *all != (inspect.Family{Steps: 4, Tokens: 22_000, CostUSD: catalog.Dollars(88_800 * million), CostSteps: 4}) {
		t.Errorf("want four steps of 22,000 tokens, got %+v", all)
	}
	if took := r.Abandoned[3].Took; took == nil || took.Tokens != 3_000 || took.CostUSD != catalog.Dollars(12_200*million) {
		t.Errorf("want what the branch that was left took, got %+v", took)
	}
	r.Attach([]inspect.Report{{Session: "agent.jsonl", Totals: inspect.Totals{Steps: 1, Tokens: 500, CostUSD: catalog.Dollars(0), CostSteps: 1}}})
	if all := r.WithAgents; len(r.Agents) != 3 || all.Steps != 5 || all.Tokens != 22_500 {
		t.Errorf("want those inside the file and the one beside it, got %+v, %+v", r.Agents, all)
	}
	l.s.Abandoned[1].Calls[0].Usage = llm.Usage{Output: 20}
	if all := l.report(t, withShip(t)).WithAgents; all.Steps != 4 || all.Unsized != 1 || all.Tokens != 21_000 || all.CostUSD.Known {
		t.Errorf("want a step of no known size, and no cost, got %+v", all)
	}
}

// A message has one size: in the content of every request that was sent it, and in the list of outputs. What each Step was sent
// adds up to its reported prompt all the same.
func TestOneSizeForOneMessage(t *testing.T) {
	l := newLog()
	l.human("Read the log, and then tell me which ships are in.")
	for i := range 6 {
		id := string(rune('a' + i))
		l.reply(cached(10_000+i*1_700, 1_700), text("I look."), call(id, "read", `{"part":`+id+`}`))
		l.result(id, strings.Repeat("Anna, Bergen, Clara, Dora\n", 100+i))
	}
	l.reply(cached(20_000, 2_000), text("Four."))
	o := withShip(t)
	r := l.report(t, o)
	sizes := map[int]int{} // by line
	for step := 1; step <= 7; step++ {
		listing, err := inspect.Contents(&l.s, inspect.StepRef{Segment: 1, Step: step}, o)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, it := range listing.Items {
			sum += it.Tokens
			if it.What != inspect.ItemMessage {
				continue
			}
			if was, ok := sizes[it.Line]; ok && was != it.Tokens {
				t.Errorf("line %d has %d tokens at step %d, and %d before", it.Line, it.Tokens, step, was)
			}
			sizes[it.Line] = it.Tokens
		}
		if sum != listing.Tokens {
			t.Errorf("step %d: its items have %d tokens, its prompt %d", step, sum, listing.Tokens)
		}
	}
	for _, out := range r.Largest {
		if out.Tokens != sizes[out.Line] || out.Carried != out.Tokens*out.Steps {
			t.Errorf("line %d has %d tokens among the outputs, %d in its requests", out.Line, out.Tokens, sizes[out.Line])
		}
	}
	// each Round makes a prompt grow by 1,700 tokens, 20 of them the reply's
	if got := sizes[3]; got != 1_680 {
		t.Errorf("want an output of what its prompt grew by less the reply, 1,680, got %d", got)
	}
}

// Where a file states the sum of all prompts and none of them by itself, what the client hides is what the sum has beyond the
// file: the Steps add up to it.
func TestHiddenByTheStatedSum(t *testing.T) {
	l := newLog()
	l.s.Client, l.s.Format = "copilot-cli", sessionfile.FormatCopilot
	for range 3 {
		l.human("Count the ships.")
		l.reply(llm.Usage{Output: 20}, text("There are four."))
	}
	l.s.Stated = []sessionfile.Stated{{Line: 7, What: "session.shutdown", Model: ship, From: 0, To: 1, Figures: []sessionfile.Figure{
		{Name: sessionfile.FigureCalls, Value: 3}, {Name: sessionfile.FigurePrompt, Value: 60_000},
	}}}
	r := l.report(t, withShip(t))
	if g := r.Segments[0]; g.Hidden.Kind != inspect.Measured || g.Hidden.Tokens < 19_000 || r.Totals.Tokens != 60_000 {
		t.Errorf("want three prompts of 60,000 tokens together, most of them hidden, got %d, %+v", r.Totals.Tokens, g.Hidden)
	}
	l.s.Stated[0].Figures[0].Value = 4 // the sum is of something else
	if g := l.report(t, withShip(t)).Segments[0]; g.Hidden.Kind != inspect.Assumed {
		t.Errorf("of a sum over other calls, want what is assumed, got %+v", g.Hidden)
	}
}
