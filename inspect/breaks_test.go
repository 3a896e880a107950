package inspect_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// twoSteps is a session of two Steps of 20,000 and a little more tokens, of which
// 10,000 are hidden. between happens before the second one, which has the usage u.
func twoSteps(between func(*log), u llm.Usage) *log {
	l := newLog()
	l.human("Read the log.")
	l.reply(cached(0, 10_000), call("c1", "read", "{}"))
	l.result("c1", strings.Repeat("a line of the log\n", 2_000))
	l.reply(cached(10_000, 10_000), text("Read."))
	l.human("And now?")
	between(l)
	l.reply(u, text("Nothing."))
	return l
}

// A Step that reads less than the Step before left warm is a break, and its cause is
// what the file shows.
func TestCacheBreaks(t *testing.T) {
	wait := func(seconds int64) func(*log) {
		return func(l *log) { l.now += seconds * 1000; l.human("Still there?") }
	}
	for _, c := range []struct {
		name    string
		between func(*log)
		usage   llm.Usage
		cause   string // empty: no break
		lost    int
	}{
		{"all is read", func(*log) {}, cached(20_000, 100), "", 0},
		{"within 5 %", func(*log) {}, cached(19_000, 1_100), "", 0},
		{"beyond 5 % and 1,024 tokens", func(*log) {}, cached(18_900, 1_200), inspect.CauseUnknown, 1_100},
		{"nothing read after four minutes", wait(240), cached(0, 20_100), inspect.CauseHidden, 20_000},
		{"nothing read after six minutes", wait(360), cached(0, 20_100), inspect.CauseLapsed, 20_000},
		{"half read after six minutes", wait(360), cached(10_000, 10_100), inspect.CauseLapsed, 10_000},
		{"all read after six minutes", wait(360), cached(20_000, 100), "", 0},
		{"another model", func(l *log) { l.model = drops }, cached(0, 20_100), inspect.CauseModel, 20_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := twoSteps(c.between, c.usage).report(t, withShip(t))
			if c.cause == "" {
				if len(r.CacheBreaks) != 0 || r.Totals.CacheBreaks != 0 {
					t.Fatalf("want no break, got %+v", r.CacheBreaks)
				}
				return
			}
			if len(r.CacheBreaks) != 1 {
				t.Fatalf("want one break, got %+v", r.CacheBreaks)
			}
			b := r.CacheBreaks[0]
			if b.Cause != c.cause || b.Lost != c.lost || b.Read+b.Lost != b.Expected || b.Number != 3 || r.Totals.CacheLost != c.lost {
				t.Errorf("want %d tokens lost, %s, got %+v", c.lost, c.cause, b)
			}
			if want := catalog.Dollars(int64(c.lost) * 3 * million); b.CostUSD != want { // written at 4 instead of read at 1
				t.Errorf("cost: want %v, got %v", want, b.CostUSD)
			}
		})
	}
}

// What was written with the long lifetime outlives what was written with the short
// one.
func TestLongLifetime(t *testing.T) {
	for _, c := range []struct {
		name  string
		first llm.Usage
		cause string
	}{
		{"an hour for all", llm.Usage{CacheRead: 10_000, CacheWrite1h: 10_000, Output: 20}, inspect.CauseHidden},
		{"five minutes for all", llm.Usage{CacheRead: 10_000, CacheWrite5m: 10_000, Output: 20}, inspect.CauseLapsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLog()
			l.human("Read the log.")
			l.reply(cached(0, 10_000), text("Yes?"))
			l.human(strings.Repeat("a line of the log\n", 2_000))
			l.reply(c.first, text("Read."))
			l.now += 1_800_000
			l.human("And now?")
			l.reply(cached(5_000, 15_100), text("Nothing."))
			if r := l.report(t, withShip(t)); len(r.CacheBreaks) != 1 || r.CacheBreaks[0].Cause != c.cause || r.CacheBreaks[0].Idle < 1_800 {
				t.Errorf("after half an hour: want one break, %s, got %+v", c.cause, r.CacheBreaks)
			}
		})
	}
}

// A cache of which nothing at all is read after a long pause has lapsed, though its prefix was written for an hour, and so has
// one whose provider promises nothing: hidden content is not to blame.
func TestNothingReadAfterALongPause(t *testing.T) {
	for _, c := range []struct {
		name    string
		model   string
		write   llm.Usage
		seconds int64
		read    int
		cause   string
	}{
		{"written for an hour, half an hour, nothing read", ship, llm.Usage{CacheRead: 10_000, CacheWrite1h: 10_000, Output: 20}, 1_800, 0, inspect.CauseLapsed},
		{"written for an hour, two minutes, nothing read", ship, llm.Usage{CacheRead: 10_000, CacheWrite1h: 10_000, Output: 20}, 120, 0, inspect.CauseHidden},
		{"kept up to a day, 14 hours, a little read", "gpt-5.5", llm.Usage{CacheRead: 10_000, Input: 10_000, Output: 20}, 50_000, 2_432, inspect.CauseLapsed},
		{"kept up to a day, a minute, a little read", "gpt-5.5", llm.Usage{CacheRead: 10_000, Input: 10_000, Output: 20}, 60, 2_432, inspect.CauseHidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLog()
			l.model = c.model
			l.human("Read the log.")
			l.reply(llm.Usage{Input: 10_000, Output: 20}, text("Yes?"))
			l.human(strings.Repeat("a line of the log\n", 2_000))
			l.reply(c.write, text("Read."))
			l.now += c.seconds * 1000
			l.human("And now?")
			l.reply(llm.Usage{CacheRead: c.read, Input: 20_100 - c.read, Output: 20}, text("Nothing."))
			r := l.report(t, withShip(t))
			if n := len(r.CacheBreaks); n == 0 || r.CacheBreaks[n-1].Cause != c.cause || r.CacheBreaks[n-1].Number != 3 {
				t.Errorf("want the last step broken, %s, got %+v", c.cause, r.CacheBreaks)
			}
		})
	}
}

// A provider that takes a finished Turn's thinking out breaks its own cache there.
func TestThinkingBreaksTheCache(t *testing.T) {
	l := newLog()
	l.human("Think.")
	l.reply(cached(0, 10_000), llm.Thinking{Text: "Hm."}, call("c1", "read", "{}"))
	l.result("c1", "read")
	l.reply(llm.Usage{CacheRead: 10_000, CacheWrite5m: 30, Output: 5_000}, llm.Thinking{Text: "Hm."}, call("c2", "read", "{}"))
	l.result("c2", strings.Repeat("a line of the log\n", 600))
	l.reply(llm.Usage{CacheRead: 10_030, CacheWrite5m: 8_000, Output: 20}, text("Read."))
	l.human("And now?")
	l.reply(llm.Usage{CacheRead: 10_030, CacheWrite5m: 3_040, Output: 20}, text("Nothing."))
	r := l.report(t, withShip(t))
	if len(r.CacheBreaks) != 1 || r.CacheBreaks[0].Cause != inspect.CauseThinking || r.Thinking[0].Carried != "dropped" {
		t.Errorf("want one break since thinking left, got %+v, %+v", r.CacheBreaks, r.Thinking)
	}
}

// bodyOf is the request that entries make, written by the codec.
func bodyOf(t *testing.T, model string, entries []sessionfile.Entry) []byte {
	t.Helper()
	req := llm.Request{Model: model}
	for _, e := range entries {
		req.Messages = append(req.Messages, e.Message)
	}
	body, err := anthropic.Codec{}.EncodeRequest(req)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Of a context that the client changed, the place is the first byte that differs.
func TestExactPlace(t *testing.T) {
	l := twoSteps(func(*log) {}, cached(20_000, 100))
	old := l.seg.Entries
	kept := append([]sessionfile.Entry(nil), old...)
	kept[2].Message.Parts = []llm.Part{llm.ToolResult{CallID: "c1", Content: []llm.Part{text("a line of the log\n[cleared]")}}}
	l.segment(sessionfile.StartMicrocompaction, kept...)
	l.human("And then?")
	l.reply(cached(10_000, 2_500), text("Nothing."))
	r := l.report(t, withShip(t))
	if len(r.CacheBreaks) != 1 {
		t.Fatalf("want one break, got %+v", r.CacheBreaks)
	}
	b := r.CacheBreaks[0]
	if b.Cause != inspect.CauseCleared || b.At.Kind != inspect.ExactPlace || b.At.What != inspect.ItemMessage || b.At.Message != 3 || b.At.Line != 3 {
		t.Errorf("want the cleared output of line 3, got %+v", b)
	}
	body := bodyOf(t, ship, l.seg.Entries[:len(l.seg.Entries)-1])
	if !bytes.HasPrefix(body[b.At.Byte:], []byte("[cleared]")) {
		t.Errorf("byte %d: want the first one that differs, got %q", b.At.Byte, body[b.At.Byte:])
	}
}

// Else it is estimated by the tokens that were read, and lies in the message that
// they end in.
func TestEstimatedPlace(t *testing.T) {
	l := twoSteps(func(*log) {}, cached(15_000, 5_100))
	r := l.report(t, withShip(t))
	if len(r.CacheBreaks) != 1 {
		t.Fatalf("want one break, got %+v", r.CacheBreaks)
	}
	at := r.CacheBreaks[0].At
	if at.Kind != inspect.EstimatedPlace || at.Message != 3 || at.Line != 3 {
		t.Fatalf("want line 3, which holds tokens 10,000 to 20,000, got %+v", at)
	}
	body := bodyOf(t, ship, l.seg.Entries[:len(l.seg.Entries)-1])
	first, last := bytes.Index(body, []byte("a line of the log")), bytes.LastIndex(body, []byte("a line of the log"))
	if off := at.Byte - (first+last)/2; abs(off)*20 > last-first {
		t.Errorf("want the middle of bytes %d to %d, got %d", first, last, at.Byte)
	}
}

// A shortfall in what the client does not record has no byte to point to.
func TestHiddenPlace(t *testing.T) {
	l := twoSteps(func(*log) {}, cached(5_000, 15_100))
	if at := l.report(t, withShip(t)).CacheBreaks[0].At; at.What != inspect.ItemHidden || at.Message != 0 || at.Byte != 0 {
		t.Errorf("want a place before the first message, got %+v", at)
	}
}

// Compactions are breaks with that cause; what one conversation does is none of the
// other's business.
func TestBreaksAcrossSegments(t *testing.T) {
	l := twoSteps(func(*log) {}, cached(20_000, 100))
	l.segment(sessionfile.StartCompaction)
	l.summary("The log was read.")
	l.reply(cached(0, 9_000), text("Nothing."))
	l.segment(sessionfile.StartRoot)
	l.seg.Name = "another"
	l.human("Who are you?")
	l.reply(cached(0, 9_000), text("Nobody."))
	l.segment(sessionfile.StartCompaction)
	l.seg.Name = "another"
	l.summary("Nobody.")
	l.reply(cached(8_900, 100), text("Nobody."))
	r := l.report(t, withShip(t))
	if len(r.CacheBreaks) != 1 || r.CacheBreaks[0].Cause != inspect.CauseCompacted || r.CacheBreaks[0].Segment != 2 {
		t.Errorf("want the compaction of the first conversation alone, got %+v", r.CacheBreaks)
	}
}

// Only so many breaks are listed, the most expensive ones in the order of Steps; all
// are counted.
func TestMostExpensiveBreaks(t *testing.T) {
	l := newLog()
	l.human("Go.")
	for _, lost := range []int{3_000, 9_000, 2_000, 5_000} {
		l.reply(cached(20_000, 0), text("Gone."))
		l.reply(cached(20_000-lost, lost), text("Gone."))
	}
	o := withShip(t)
	o.Top = 2
	r := l.report(t, o)
	if len(r.CacheBreaks) != 2 || r.CacheBreaks[0].Lost != 9_000 || r.CacheBreaks[1].Lost != 5_000 || r.Totals.CacheBreaks != 4 || r.Totals.CacheLost != 19_000 {
		t.Errorf("want the second and the fourth of four breaks, got %+v, %+v", r.CacheBreaks, r.Totals)
	}
}
