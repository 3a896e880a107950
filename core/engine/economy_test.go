package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Of a window of 20,000 tokens a Step takes some 500: a batch is due from Step 11 on, must be
// from Step 38 on.
const (
	economyWindow  = 20_000
	economyOutput  = 2_000 // characters
	economyBatchAt = 275   // permille
)

// economyPolicy has one batch that may wait, and one that does not.
func economyPolicy(horizon int) policy.Policy {
	p := policy.Default()
	p.Name, p.LowWater, p.Tail = "mine", 150, policy.Tail{Unit: policy.TailRounds, N: 3}
	p.MinimumGain = policy.Gain{Tokens: 60, Permille: 150}
	p.Templates = map[string]string{"cap": "\n[whole: {ref}]", "trim": "[{tool}: {ref}]", "drop": "[{n} messages: {ref}]"}
	when := policy.Condition{Measure: policy.MeasureView, Op: ">", Of: policy.OfLimit}
	may, must := when, when
	may.Permille, must.Permille = economyBatchAt, 1000
	p.Rules = []policy.Rule{
		{Name: "may", At: policy.AtPrepare, When: may, Do: policy.DoDemote},
		{Name: "must", At: policy.AtPrepare, When: must, Do: policy.DoDemote, Forced: true},
	}
	if horizon > 0 {
		p.Economy = policy.Economy{Horizon: horizon, Write: 1250, Read: 100}
	}
	return p
}

// An economyRun is a session of equal Steps, up to its first edit.
type economyRun struct {
	step  int // of the first edit, from 1
	rule  string
	from  llm.MessageID // where it begins,
	to    llm.MessageID // and the message behind the last one that edits of this Step are about
	worth *journal.Worth
}

// runEconomy goes through a session. At Step cold and later the host says that nothing is
// cached any more; 0: never.
func runEconomy(t *testing.T, p policy.Policy, cold int) economyRun {
	t.Helper()
	return runSteps(t, p, cold, func(int) int { return economyOutput })
}

// runSteps is the same with outputs of other sizes, in characters.
func runSteps(t *testing.T, p policy.Policy, cold int, size func(step int) int) economyRun {
	t.Helper()
	c, err := configured(p, budget.Target{Model: "mystery", Window: budget.Window{
		Capacity: economyWindow, Buffer: budget.None, OutputReserve: budget.None,
	}})
	must(t, err)
	c.Exactly = "chars/4"
	h, err := newHost(c)
	must(t, err)
	ask(t, h, llm.Text{Text: "Do it all."})
	for step := 1; step <= 60; step++ {
		from, edits := len(h.lines), len(h.m.Journal())
		must(t, h.feed(engine.Prepare{Cold: cold > 0 && step >= cold}))
		to := llm.MessageID(0)
		for _, e := range h.m.Journal()[edits:] {
			to = max(to, e.Span.To)
		}
		for _, line := range h.lines[from:] {
			if r, err := journal.Decode(line); err != nil {
				t.Fatal(err)
			} else if r.Kind == journal.KindEdit {
				return economyRun{step, r.Edit.Rule, r.Edit.Span.From, to, r.Worth}
			}
		}
		look(t, h, fmt.Sprint("c", step), llm.Text{Text: filler(size(step), fmt.Sprint("out", step))})
	}
	t.Fatal("no edit in 60 Steps")
	return economyRun{}
}

// TestABatchWaitsUntilItPays is law 11: what may wait does so until it pays, until nothing is
// cached, or until it must; without an economy nobody waits.
func TestABatchWaitsUntilItPays(t *testing.T) {
	forced := economyPolicy(20)
	forced.Rules[0].Forced = true
	due := runEconomy(t, economyPolicy(0), 0)
	if due.rule != "may" || due.worth != nil {
		t.Fatalf("without an economy: want the batch when it is due, and nothing reckoned, got %+v", due)
	}
	for _, c := range []struct {
		name string
		got  economyRun
		when func(step int) bool
		want string
		pays bool
	}{
		{"one that is forced does not wait", runEconomy(t, forced, 0), func(s int) bool { return s == due.step }, "may", false},
		{"nobody knows a price", runEconomy(t, func() policy.Policy { p := economyPolicy(20); p.Economy.Read = 0; return p }(), 0), func(s int) bool { return s == due.step }, "may", false},
		{"one call is reckoned with: it waits until it must", runEconomy(t, economyPolicy(1), 0), func(s int) bool { return s > due.step+20 }, "must", false},
		{"many calls are reckoned with: it pays before it must", runEconomy(t, economyPolicy(40), 0), func(s int) bool { return s >= due.step && s < due.step+20 }, "may", true},
		{"nothing is cached when it is due", runEconomy(t, economyPolicy(2), 1), func(s int) bool { return s == due.step }, "may", true},
		{"nothing is cached some Steps later", runEconomy(t, economyPolicy(2), due.step+5), func(s int) bool { return s == due.step+5 }, "may", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.when(c.got.step) || c.got.rule != c.want {
				t.Errorf("due at Step %d: got an edit by %s at Step %d", due.step, c.got.rule, c.got.step)
			}
			if c.pays && (c.got.worth == nil || c.got.worth.Gain <= 0) {
				t.Errorf("want a gain beside the edits, got %+v", c.got.worth)
			}
		})
	}
}

// TestABatchThatMayWaitKeepsItsTail: a batch that does not pay waits; it does not take out some
// of the newest Rounds so that it does.
func TestABatchThatMayWaitKeepsItsTail(t *testing.T) {
	const few, tail = 10, 3 // small outputs before large ones; Rounds
	for horizon := range 14 {
		got := runSteps(t, economyPolicy(1+horizon), 0, func(step int) int {
			if step > few {
				return 9_000
			}
			return 1_200
		})
		newest := llm.MessageID(2*(got.step-tail)) + 1 // of a question and two messages a Step, of which the last has not begun
		if got.rule == "may" && got.to > newest-1 {
			t.Errorf("horizon %d: at Step %d the batch goes up to message %d, want to %d at most", 1+horizon, got.step, got.to-1, newest-2)
		}
	}
}

// TestWorthIsWhatTheCacheCosts works a batch's gain out anew: what it takes out is not read
// any more by so many calls, and what stands behind it is written once more.
func TestWorthIsWhatTheCacheCosts(t *testing.T) {
	for _, horizon := range []int{2, 10, 40} {
		for _, cold := range []int{0, 1} {
			got := runEconomy(t, economyPolicy(horizon), cold)
			w := got.worth
			if w == nil || w.Removed <= 0 || w.Requests < 1 || w.Requests > horizon {
				t.Fatalf("horizon %d: got %+v", horizon, w)
			}
			read, write := 100, 1250
			want := w.Removed*read*w.Requests - (write-read)*w.Suffix
			if cold > 0 { // all is written anew either way, what is left less of it
				want = w.Removed * (write + read*(w.Requests-1))
			}
			if want/1000 != w.Gain {
				t.Errorf("horizon %d, cold from Step %d: want a gain of %d, got %+v", horizon, cold, want/1000, w)
			}
		}
	}
}

// TestWorthBetweenRequests: what a person has compacted between two requests is reckoned with what
// the provider has cached by then, whatever the request before found, and as well after a restart.
func TestWorthBetweenRequests(t *testing.T) {
	for _, c := range []struct {
		name  string
		cold  bool // the last request found nothing
		tools bool // others are set since
		warm  int
	}{
		{"the last request is cached", false, false, 1000},
		{"and it is where it found nothing itself", true, false, 1000},
		{"the tools have changed", false, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newThinker(t, catalog.Model{ID: "model-of-mine"})
			for range 12 {
				k.feed(engine.Prepare{})
				k.round(false)
			}
			k.feed(engine.Prepare{Cold: c.cold})
			if c.tools {
				k.feed(engine.SetTools{Tools: []llm.Tool{{Name: "read", Schema: "{}"}}})
			}
			must(t, k.m.Feed(engine.Compact{}))
			var worth *journal.Worth
			for k.m.HasReady() {
				r := k.m.Ready()
				for _, rec := range r.Records {
					if rec.Worth != nil {
						worth = rec.Worth
					}
				}
				k.m.Advance(engine.Outcome{})
				if r.Ask != nil {
					must(t, k.m.Feed(engine.Answer{Ask: r.Ask.ID, Text: "They read pages, line after line, and found nothing so far that would be worth a word. " + strings.Repeat("Go on. ", 30)}))
				}
			}
			if worth == nil || worth.Warm != c.warm {
				t.Errorf("want an edit with %d of 1000 cached, got %+v", c.warm, worth)
			}
		})
	}
}

// earlyPolicy makes previews of old outputs of 800 bytes and more.
func earlyPolicy(horizon, permille int) policy.Policy {
	p := economyPolicy(horizon)
	p.Rules[0] = policy.Rule{
		Name: "old", At: policy.AtPrepare, Do: policy.DoPreview,
		Args: policy.Args{Template: "cap", Permille: permille, Bytes: 800, Min: 5},
	}
	return p
}

// TestOldOutputsBecomePreviewsWhereThatPays: when the session has gone on for long enough,
// and never where it does not pay.
func TestOldOutputsBecomePreviewsWhereThatPays(t *testing.T) {
	if got := runEconomy(t, earlyPolicy(20, 150), 0); got.rule != "old" || got.worth == nil || got.worth.Gain <= 0 {
		t.Errorf("want old outputs to become previews, for a gain, got %+v", got)
	}
	for name, p := range map[string]policy.Policy{"few calls are to come": earlyPolicy(2, 150), "little is saved": earlyPolicy(20, 900)} {
		if got := runEconomy(t, p, 0); got.rule != "must" {
			t.Errorf("%s: want outputs left alone, for it does not pay, got %+v", name, got)
		}
	}
}

// TestPreviewsBeginWhereThatSavesMost: an output before others that stay whole is left alone
// where writing those once more costs more than shortening it saves.
func TestPreviewsBeginWhereThatSavesMost(t *testing.T) {
	huge := func(at int) func(int) int {
		return func(step int) int {
			switch step {
			case at:
				return 16_000
			case 1:
				return 1_000 // just large enough
			}
			return 700
		}
	}
	for _, at := range []int{2, 8} {
		got := runSteps(t, earlyPolicy(20, 150), 0, huge(at))
		output := func(step int) llm.MessageID { return llm.MessageID(2*step + 1) } // behind the question, and calls
		want := output(at)
		if at == 2 { // the one before it stands so near that it goes along
			want = output(1)
		}
		if got.rule != "old" || got.from != want {
			t.Errorf("a huge output at Step %d: want previews from message %d on, got %+v", at, want, got)
		}
	}
}

// TestNothingIsShortenedEarlyWhereABatchIsToCome: while the session is expected to fill its
// window a huge output is left alone, although shortening it would pay until then; once the
// rest is expected to fit it is shortened.
func TestNothingIsShortenedEarlyWhereABatchIsToCome(t *testing.T) {
	p := earlyPolicy(20, 150)
	p.Rules[0].Args.Bytes = 2_000
	huge, slow := 17, 40
	got := runSteps(t, p, 0, func(step int) int {
		switch {
		case step == huge:
			return 24_000
		case step > huge:
			return 40
		}
		return 1_900
	})
	if got.rule != "old" || got.step < slow {
		t.Errorf("want the huge output shortened when the last twenty Steps have added little, got %+v", got)
	}
}

// TestWhatCallsReferToIsNotShortened: under a policy that goes by references, an old output is
// left alone as long as calls quote what it says.
func TestWhatCallsReferToIsNotShortened(t *testing.T) {
	for _, quoted := range []bool{true, false} {
		p := earlyPolicy(20, 150)
		p.Order = policy.OrderReference
		c, err := configured(p, budget.Target{Model: "mystery", Window: budget.Window{
			Capacity: economyWindow, Buffer: budget.None, OutputReserve: budget.None,
		}})
		must(t, err)
		c.Exactly = "chars/4"
		h, err := newHost(c)
		must(t, err)
		ask(t, h, llm.Text{Text: "Do it all."})
		look(t, h, "c0", llm.Text{Text: "see pilot/ledger_42.go\n" + filler(12_000, "huge")})
		for step := 1; step < 30; step++ {
			must(t, h.feed(engine.Prepare{}))
			args := `{}`
			if quoted {
				args = `{"path":"pilot/ledger_42.go"}`
			}
			id := fmt.Sprint("c", step)
			must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
				llm.ToolCall{CallID: id, Name: "look", Args: args},
			}}}))
			must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
				llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: filler(300, id)}}},
			}}}))
		}
		if shortened := len(h.m.Journal()) > 0; shortened == quoted {
			t.Errorf("quoted %v: shortened %v", quoted, shortened)
		}
	}
}

// TestAMarkedCacheIsReadFromItsFront is law 11 where a provider reads its cache only at marks: an
// old output costs more to shorten, since what stands before it is written once more, too.
func TestAMarkedCacheIsReadFromItsFront(t *testing.T) {
	suffix := map[string]int{}
	for _, rule := range []string{"anthropic", "openai"} {
		c, err := configured(earlyPolicy(40, 100), budget.Target{Model: "harbour-1", Window: budget.Window{
			Capacity: 4 * economyWindow, Buffer: budget.None, OutputReserve: budget.None,
		}})
		must(t, err)
		prices := catalog.Prices{Input: 1_000_000, Output: 10_000_000, CacheRead: 100_000, CacheWrite5m: 1_250_000, CacheWrite1h: 2_000_000}
		c.Catalog = c.Catalog.With(catalog.Model{
			ID: "harbour-1", Window: 200_000, MaxOutput: 8000, Family: "unknown", Cache: rule, Tiers: []catalog.Tier{{Prices: prices}},
		})
		h, err := newHost(c)
		must(t, err)
		ask(t, h, llm.Text{Text: filler(12_000, "question")})
		for step := 1; step <= 40 && suffix[rule] == 0; step++ {
			from := len(h.lines)
			must(t, h.feed(engine.Prepare{}))
			for _, line := range h.lines[from:] {
				if r, err := journal.Decode(line); err != nil {
					t.Fatal(err)
				} else if r.Worth != nil && r.Edit.Rule == "old" {
					suffix[rule] = r.Worth.Suffix + r.Worth.Removed
				}
			}
			look(t, h, fmt.Sprint("c", step), llm.Text{Text: filler(economyOutput, fmt.Sprint("out", step))})
		}
	}
	if a, b := suffix["anthropic"], suffix["openai"]; b == 0 || a < b+2_500 {
		t.Errorf("want the question of some 3,000 tokens to be written once more where a cache has marks, and not else, got %d and %d", a, b)
	}
}

// TestAnotherTargetHasNothingCached: a batch that waits is made at once for a target that no request has gone to yet, also
// after a restart; one that has answered before keeps what it was sent.
func TestAnotherTargetHasNothingCached(t *testing.T) {
	window := budget.Window{Capacity: economyWindow, Buffer: budget.None, OutputReserve: budget.None}
	one, other := budget.Target{Provider: "a", Model: "mystery", Window: window}, budget.Target{Provider: "b", Model: "riddle", Window: window}
	waits := func(t *testing.T) (*host, int) {
		c, err := configured(economyPolicy(1), one)
		must(t, err)
		h, err := newHost(c)
		must(t, err)
		ask(t, h, llm.Text{Text: "Do it all."})
		for step := range 13 {
			must(t, h.feed(engine.Prepare{Targets: []budget.Target{one}}))
			must(t, h.feed(engine.Usage{Usage: llm.Usage{Input: h.m.Count().Point, Output: 10}, Reported: true}))
			look(t, h, fmt.Sprint("c", step), llm.Text{Text: filler(economyOutput, fmt.Sprint("out", step))})
		}
		return h, len(h.m.Journal())
	}
	h, made := waits(t)
	if made != 0 {
		t.Fatalf("want a batch that is due and waits, got %+v: the test tests nothing", h.m.Journal()[0].Rule)
	}
	again, err := h.restored()
	must(t, err)
	if must(t, h.feed(engine.Prepare{Targets: []budget.Target{one}})); len(h.m.Journal()) > 0 {
		t.Errorf("the target that has it cached: %d edits, want none yet", len(h.m.Journal()))
	}
	h, _ = waits(t)
	if must(t, h.feed(engine.Prepare{Targets: []budget.Target{other}})); len(h.m.Journal()) == 0 {
		t.Error("a target that has nothing cached: no edit, want the batch")
	}
	if must(t, again.feed(engine.Prepare{Targets: []budget.Target{other}})); len(again.m.Journal()) == 0 {
		t.Error("after a restart: no edit, want the batch")
	}
}
