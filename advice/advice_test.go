package advice_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
)

const dollar = 1_000_000_000_000 // picodollars

func dollars(cents int64) catalog.Money { return catalog.Dollars(cents * dollar / 100) }

func money(cents int64) *catalog.Money {
	m := dollars(cents)
	return &m
}

// session is one of twenty calls that nothing is to be said about.
func session() inspect.Report {
	seg := inspect.Segment{Number: 1, Start: "root", Model: "ship-1", Window: 200_000, Hidden: inspect.Overhead{Tokens: 12_000, Kind: inspect.Measured}}
	for i := range 20 {
		seg.Steps = append(seg.Steps, inspect.Step{Step: i + 1, Number: i + 1, Tokens: 20_000 + 1_000*i, Kind: inspect.Reported, By: map[string]int{"hidden": 12_000, "outputs": 8_000 + 1_000*i}})
	}
	return inspect.Report{
		Session: "logs/quay.jsonl", Identity: inspect.Identity{Format: "claude-code", Client: "claude-code", ID: "quay"},
		End:    inspect.End{How: inspect.EndAnswered, Call: 20},
		Totals: inspect.Totals{Steps: 20, Tokens: 590_000, CostUSD: dollars(400)}, Segments: []inspect.Segment{seg},
		Tools: []inspect.ToolSum{{Tool: "Read", Outputs: 9, Tokens: 8_000, Carried: 100_000, CostUSD: dollars(60)}},
	}
}

// refused ends a session with a refusal.
func refused(class string) func(*inspect.Report, *advice.Replayed) {
	return func(r *inspect.Report, _ *advice.Replayed) {
		r.End = inspect.End{How: inspect.EndRefused, Call: 21, Tokens: 213_462, Kind: inspect.Reported, Window: 200_000, Failed: &inspect.Failed{Class: class, Message: "no"}}
	}
}

// TestSmallPromptWouldNotFit: a prompt that was refused although it is within the limit of the
// policy, by a count of what the file has, would have been sent as it was.
func TestSmallPromptWouldNotFit(t *testing.T) {
	r, re := session(), &advice.Replayed{Policy: "balanced", Sent: true, Peak: 39_000, Limit: 168_000}
	refused("too long")(&r, re)
	r.End.Tokens, r.End.Kind = 39_000, inspect.Estimated
	if i := slices.IndexFunc(advice.Of(r, re), func(f inspect.Finding) bool { return f.Rule == "would-fit" }); i >= 0 {
		t.Error("want no word of a policy that would have sent the same, got one")
	}
}

// TestRules has for each rule a session in which it has something to say, and one that is
// next to it in which it has not.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule string
		fire func(*inspect.Report, *advice.Replayed)
		want string // of text, do and command
		not  func(*inspect.Report, *advice.Replayed)
	}{
		{"too-long", refused("too long"), "call 21 was refused for its length: 213,462 tokens of 200,000|to go on in claude-code: Esc twice to go back to an earlier message, then /compact|claude --resume quay", refused("overloaded")},
		{"refused", refused("rate limited"), "the last call was refused: rate limited; nothing of the session is lost|wait until the limit is lifted, then go on in claude-code|claude --resume quay", refused("bad request")},
		{"would-fit", func(r *inspect.Report, re *advice.Replayed) {
			refused("too long")(r, re)
			re.Sent, re.Peak, re.Limit = true, 120_000, 168_000
		}, "under balanced it would have gone on: its largest call would have been 120,000 tokens, of 168,000 that it may have|run the agent through plimsoll proxy, which keeps every call within its window|plimsoll replay logs/quay.jsonl --policy off --policy balanced --window model", refused("too long")},
		{"nearly-full", func(r *inspect.Report, _ *advice.Replayed) {
			r.Segments[0].Window = 42_000
		}, "the last prompt takes 93% of the window of 42,000: about 3 calls are left at this rate|before the next task: /compact|plimsoll inspect logs/quay.jsonl --step 20", func(r *inspect.Report, _ *advice.Replayed) { r.Segments[0].Window = 60_000 }},
		{"cheaper", func(_ *inspect.Report, re *advice.Replayed) {
			re.Sent, re.Paid, re.CostUSD = true, dollars(400), dollars(340)
		}, "under balanced the same calls would have cost $3.40 of the $4.00 that they did|run the agent through plimsoll proxy|plimsoll replay logs/quay.jsonl --policy off --policy balanced --window model", func(_ *inspect.Report, re *advice.Replayed) {
			re.Sent, re.Paid, re.CostUSD = true, dollars(400), dollars(380)
		}},
		{"one-tool", func(r *inspect.Report, _ *advice.Replayed) { r.Tools[0].Carried = 300_000 }, "51% of all tokens sent were outputs of Read: 9 outputs, $0.60|ask for less at a time (fewer files, fewer lines), or cap outputs: balanced does|plimsoll inspect logs/quay.jsonl --top 20", func(r *inspect.Report, _ *advice.Replayed) {
			r.Tools[0].Carried, r.Tools[0].CostUSD = 300_000, dollars(10)
		}},
		{"whole-files", func(r *inspect.Report, _ *advice.Replayed) {
			r.Largest = []inspect.Output{{Tool: "Read", Arguments: `{"file_path":"/w/quay.go"}`, Steps: 18, Carried: 90_000, CostUSD: dollars(30)}}
		}, "1 output of files read without a range cost $0.30, carried through about 18 steps: quay.go|read the lines that matter (offset and limit), or search first|", func(r *inspect.Report, _ *advice.Replayed) {
			r.Largest = []inspect.Output{{Tool: "Read", Arguments: `{"file_path":"/w/quay.go","offset":3}`, Steps: 18, Carried: 90_000, CostUSD: dollars(30)}}
		}},
		{"shown-again", func(r *inspect.Report, _ *advice.Replayed) {
			r.Repeated = []inspect.Repeat{{Output: inspect.Output{Tool: "Read", Line: 9, Carried: 59_000, CostUSD: dollars(12)}, Earlier: inspect.Source{Line: 4}}}
		}, "10% of all tokens sent had been shown before in the same context, $0.12; the most: Read at line 9, shown at line 4|balanced leaves out what is still in view|plimsoll replay logs/quay.jsonl --policy off --policy balanced --window model", func(r *inspect.Report, _ *advice.Replayed) {
			r.Repeated = []inspect.Repeat{{Output: inspect.Output{Tool: "Read", Line: 9, Carried: 20_000, CostUSD: dollars(4)}}}
		}},
		{"went-cold", func(r *inspect.Report, _ *advice.Replayed) {
			r.Causes = []inspect.CauseSum{{Cause: inspect.CauseLapsed, Breaks: 2, Lost: 71_000, CostUSD: dollars(25)}}
		}, "the provider's cache lapsed 2 times between calls: 71,000 tokens were sent at full price again, $0.25|before a longer pause let it finish what it is at, or compact: a smaller prompt costs less to send anew|", func(r *inspect.Report, _ *advice.Replayed) {
			r.Causes = []inspect.CauseSum{{Cause: inspect.CauseUnknown, Breaks: 2, Lost: 71_000, CostUSD: dollars(25)}}
		}},
		{"changed-front", func(r *inspect.Report, _ *advice.Replayed) {
			r.Causes = []inspect.CauseSum{{Cause: inspect.CauseHidden, Breaks: 1, Kept: 300, Lost: 71_000, CostUSD: dollars(25)}}
		}, "once nothing of the conversation was read from the cache, and no pause explains that: $0.25|something before it had changed, or the provider dropped it early: keep tools, MCP servers, memory and settings the same through a session|", func(r *inspect.Report, _ *advice.Replayed) {
			r.Causes = []inspect.CauseSum{{Cause: inspect.CauseHidden, Breaks: 1, Lost: 71_000, CostUSD: dollars(25)}}
		}},
		{"cold-compaction", func(r *inspect.Report, _ *advice.Replayed) {
			r.Segments = append(r.Segments, inspect.Segment{Number: 2, Start: "compaction"})
			r.Cuts = []inspect.Cut{{StepRef: inspect.StepRef{Segment: 2}, Before: 192_000, Cold: 240, ColdUSD: money(41)}}
		}, "compacted at 96% of the window, 4 minutes after the cache went cold: $0.41|compact before a pause, not after it|", func(r *inspect.Report, _ *advice.Replayed) {
			r.Segments = append(r.Segments, inspect.Segment{Number: 2, Start: "compaction"})
			r.Cuts = []inspect.Cut{{StepRef: inspect.StepRef{Segment: 2}, Before: 192_000}}
		}},
		{"own-part", func(r *inspect.Report, _ *advice.Replayed) { r.Segments[0].Hidden.Tokens = 44_000 }, "44,000 tokens or more of every prompt, 22% of the window, are not in the file: the client's system prompt, tools and memory|take out MCP servers and memory files that this work does not need: /context lists them|", func(r *inspect.Report, _ *advice.Replayed) {
			r.Segments[0].Hidden.Tokens, r.Segments[0].Hidden.Kind = 44_000, inspect.Assumed
		}},
		{"pictures", func(r *inspect.Report, _ *advice.Replayed) { r.Segments[0].Steps[19].By["media"] = 9_000 }, "images and files take 23% of the last prompt, 9,000 tokens|smaller pictures cost less: tokens grow with their area|plimsoll inspect logs/quay.jsonl --step 20", func(r *inspect.Report, _ *advice.Replayed) {
			r.Segments[0].Steps[19].Tokens, r.Segments[0].Steps[19].By["media"] = 1_999, 1_999
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := by(c.rule, c.fire); got != c.want {
				t.Errorf("want %s\ngot  %s", c.want, got)
			}
			if got := by(c.rule, c.not); got != "" {
				t.Errorf("want nothing of the other session, got %s", got)
			}
		})
	}
	if got := advice.Of(session(), &advice.Replayed{}); len(got) != 0 {
		t.Errorf("want nothing about a session that nothing is wrong with, got %v", got)
	}
}

// by returns what a rule finds in a session.
func by(rule string, change func(*inspect.Report, *advice.Replayed)) string {
	r, re := session(), &advice.Replayed{Policy: "balanced"}
	change(&r, re)
	for _, f := range advice.Of(r, re) {
		if f.Rule == rule {
			return strings.Join([]string{f.Text, f.Do, f.Command}, "|")
		}
	}
	return ""
}

// TestFewest: there are five findings at most; how it ended stands first, then what cost most.
func TestFewest(t *testing.T) {
	r, re := session(), &advice.Replayed{Policy: "balanced", Sent: true, Paid: dollars(400), CostUSD: dollars(340)}
	refused("too long")(&r, re)
	r.Tools[0].Carried, r.Tools[0].CostUSD = 300_000, dollars(90)
	r.Causes = []inspect.CauseSum{{Cause: inspect.CauseLapsed, Breaks: 2, Lost: 71_000, CostUSD: dollars(25)}}
	r.Segments[0].Steps[19].By["media"] = 9_000
	var got []string
	for _, f := range advice.Of(r, re) {
		got = append(got, f.Rule)
	}
	if want := []string{"too-long", "would-fit", "one-tool", "cheaper", "went-cold"}; !slices.Equal(got, want) {
		t.Errorf("want %v, got %v", want, got)
	}
}

// TestQuotedPath: a command can be pasted into a shell whatever the file is called.
func TestQuotedPath(t *testing.T) {
	r := session()
	r.Session = "my logs/quay's.jsonl"
	r.Segments[0].Window = 42_000
	if f := advice.Of(r, nil); len(f) == 0 || f[0].Command != `plimsoll inspect 'my logs/quay'\''s.jsonl' --step 20` {
		t.Errorf("want a command that a shell takes, got %v", f)
	}
}
