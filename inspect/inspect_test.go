package inspect_test

import (
	"encoding/json"
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

const shared = "the first of four lines that are the same\nthe second of four lines\nthe third of four\nthe fourth\n"

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
