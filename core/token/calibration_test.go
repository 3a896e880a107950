package token_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

var familyNames = []string{"openai", "claude-old", "claude-new", "gemini", "unknown"}

// The constants of the study: K = first + more x (results - 1) + message x
// messages, + use x calls where the output is not reported.
func TestCost(t *testing.T) {
	g := token.Growth{Tokens: 1000, Results: 3, Messages: 2, Uses: 4}
	tests := []struct {
		family                string
		reported, notReported int
	}{
		{"openai", 1000 + 11 + 2*9 + 2*4, 4 * 30},
		{"claude-old", 1043 + 15 + 2*40 + 2*4, 4 * 45},
		{"claude-new", 1348 + 5 + 2*40 + 2*8, 4 * 45},
		{"gemini", 1060 + 8 + 2*8 + 2*4, 4 * 20},
		{"unknown", 1350 + 15 + 2*40 + 2*8, 4 * 45},
	}
	for _, tt := range tests {
		c := token.NewCalibration(family(t, tt.family))
		if got := c.Cost(g); got != tt.reported {
			t.Errorf("%s: cost = %d, want %d", tt.family, got, tt.reported)
		}
		unknown := g
		unknown.OutputUnknown = true
		if got := c.Cost(unknown) - c.Cost(g); got != tt.notReported {
			t.Errorf("%s: calls of an unreported reply add %d, want %d", tt.family, got, tt.notReported)
		}
	}
	c := token.NewCalibration(family(t, "claude-new"))
	if got := c.Cost(token.Growth{Results: 4, Rounds: 4}); got != 4*5 {
		t.Errorf("four results of four Rounds = %d, want 20", got)
	}
	if got := c.Cost(token.Growth{Messages: 1, MediaTokens: 300}); got != 308 {
		t.Errorf("a message with an image = %d, want 308", got)
	}
	if got := c.Cost(token.Growth{}); got != 0 {
		t.Errorf("nothing costs %d", got)
	}
}

func TestAfter(t *testing.T) {
	c := token.NewCalibration(family(t, "claude-new"))
	g := token.Growth{Tokens: 1000, Results: 1}
	const cost = 1348 + 5
	e := c.After(token.Anchor{Prompt: 50_000, Output: 400}, g)
	if want := (token.Estimate{Point: 50_400 + cost, Bound: 50_400 + cost + cost*15/100 + 600, Kind: token.Calibrated}); e != want {
		t.Errorf("anchored = %+v, want %+v", e, want)
	}
	g.Uses = 2
	e = c.After(token.Anchor{Prompt: 50_000, Output: -1}, g)
	if want := 50_000 + cost + 2*45; e.Point != want {
		t.Errorf("output not reported = %d, want %d", e.Point, want)
	}
	hosted := token.Growth{Hosted: true, MediaTokens: 400}
	e = c.After(token.Anchor{Prompt: 50_000}, hosted)
	if got, want := e.Bound-e.Point, 400*15/100+600+9000+100; got != want {
		t.Errorf("margin with a hosted tool and an image = %d, want %d", got, want)
	}
}

// A reply whose size was reported counts as it is: no ratio, no margin, nothing
// learnt from it.
func TestKnown(t *testing.T) {
	c := token.NewCalibration(family(t, "claude-new"))
	a := token.Anchor{Prompt: 10_000, Output: 50}
	plain, known := token.Growth{Tokens: 1000}, token.Growth{Tokens: 1000, Known: 700}
	without, with := c.After(a, plain), c.After(a, known)
	if with.Point-without.Point != 700 || with.Bound-without.Bound != 700 {
		t.Errorf("700 known tokens: %+v, without them %+v", with, without)
	}
	without, with = c.Scratch(0, plain, plain), c.Scratch(0, known, known)
	if with.Point-without.Point != 700 {
		t.Errorf("700 known tokens from scratch: %+v, without them %+v", with, without)
	}
	twin := c.Clone()
	c.Observe(a, plain, 10_050+1200)
	twin.Observe(a, known, 10_050+1200+700)
	if c.Ratio() != twin.Ratio() {
		t.Errorf("known tokens change the ratio from %d to %d", c.Ratio(), twin.Ratio())
	}
	e := c.Edited(token.Anchor{Prompt: 10_000}, token.Growth{Known: 700}, token.Growth{}, token.Growth{})
	if e.Point != 9_300 {
		t.Errorf("a known reply removed: %d, want 9300", e.Point)
	}
}

func TestScratch(t *testing.T) {
	c := token.NewCalibration(family(t, "claude-old"))
	all := token.Growth{Tokens: 10_000, Results: 10, Rounds: 10, Messages: 12, Uses: 10}
	since := token.Growth{Tokens: 1000, Results: 1}
	point := 20_000 + 10_430 + 10*15 + 12*4 + 10*45
	margin := (1043+15)*15/100 + 600
	if got, want := c.Scratch(20_000, all, since), (token.Estimate{Point: point, Bound: point + margin + point/5, Kind: token.Estimated}); got != want {
		t.Errorf("before any usage = %+v, want %+v", got, want)
	}
	c.Observe(token.Anchor{}, token.Growth{}, 30_000)
	if got, want := c.Scratch(20_000, all, since), (token.Estimate{Point: point, Bound: point + margin, Kind: token.Calibrated}); got != want {
		t.Errorf("after the first usage = %+v, want %+v", got, want)
	}
	all.Hosted, all.MediaTokens = true, 4000
	if got := c.Scratch(20_000, all, since); got.Bound-got.Point != margin+9000+1000 {
		t.Errorf("margin with a hosted tool and images = %d, want %d", got.Bound-got.Point, margin+9000+1000)
	}
}

func TestEdited(t *testing.T) {
	c := token.NewCalibration(family(t, "openai"))
	a := token.Anchor{Prompt: 100_000, Output: 1000}
	removed := token.Growth{Tokens: 40_000, Results: 10, Rounds: 10}
	stubs := token.Growth{Tokens: 500, Results: 10, Rounds: 10}
	e := c.Edited(a, removed, stubs, token.Growth{Tokens: 200, Results: 1})
	const cost = 211
	if want := 100_000 - 34_000 + 500 + 1000 + cost; e.Point != want {
		t.Errorf("outputs to stubs: point = %d, want %d", e.Point, want)
	}
	if got, want := e.Bound-e.Point, (cost+500)*15/100+600; got != want {
		t.Errorf("outputs to stubs: margin = %d, want %d", got, want)
	}
	e = c.Edited(a, removed, token.Growth{Tokens: 500, Messages: 50}, token.Growth{})
	if want := 100_000 - 34_000 + 500 + 50*4 - (11 * 10) + 1000; e.Point != want {
		t.Errorf("Rounds to notes: point = %d, want %d: only more constants than went count", e.Point, want)
	}
	if e = c.Edited(a, token.Growth{Tokens: 1 << 30, Known: 1000}, token.Growth{}, token.Growth{}); e.Point != 0 {
		t.Errorf("the reply removed as well: point = %d, want 0", e.Point)
	}
	if e = c.Edited(a, token.Growth{Tokens: 1 << 30}, token.Growth{}, token.Growth{}); e.Point != 1000 {
		t.Errorf("more removed than there was: point = %d, want the reply's 1000", e.Point)
	}
}

// What Edited leaves of removed text is caution; without it the size is the plain sum.
func TestCaution(t *testing.T) {
	c := token.NewCalibration(family(t, "openai"))
	a := token.Anchor{Prompt: 100_000, Output: 1000}
	removed := token.Growth{Tokens: 40_000, Results: 10, Rounds: 10, Uses: 3, Known: 500}
	stubs := token.Growth{Tokens: 500, Results: 2, Rounds: 2}
	if got, want := c.Caution(removed, stubs), 6000+8*11+3*30; got != want {
		t.Errorf("caution = %d, want %d: 15 %% of the text and what stood beside it", got, want)
	}
	plain := a.Prompt + a.Output - 40_000 - 10*11 - 3*30 - 500 + 500 + 2*11
	if e := c.Edited(a, removed, stubs, token.Growth{}); e.Point-c.Caution(removed, stubs) != plain {
		t.Errorf("edited = %d, %d of it caution, want %d without it", e.Point, c.Caution(removed, stubs), plain)
	}
	if got := c.Caution(token.Growth{}, removed); got != 0 {
		t.Errorf("caution about what is put in = %d, want 0", got)
	}
}

// A report that is what was predicted says that the ratio is right. It must not sink by
// what rounding takes off.
func TestObserveAsPredicted(t *testing.T) {
	c := token.NewCalibration(family(t, "claude-new"))
	a := token.Anchor{Prompt: 40_000, Output: 100}
	for range 2000 {
		g := token.Growth{Tokens: 33, Results: 1}
		next := c.After(a, g).Point
		c.Observe(a, g, next)
		a.Prompt = next
	}
	if prior := family(t, "claude-new").Prior; c.Ratio() != prior {
		t.Errorf("ratio = %d, want %d as it was", c.Ratio(), prior)
	}
}

func TestObserve(t *testing.T) {
	prior := family(t, "claude-new").Prior
	a := token.Anchor{Prompt: 40_000, Output: 100}
	g := token.Growth{Tokens: 2000, Results: 1}
	next := func(ratio int) int { return a.Prompt + a.Output + 2000*ratio/1000 + 5 }
	tests := []struct {
		name   string
		a      token.Anchor
		g      token.Growth
		next   int
		learns bool
	}{
		{"a pair", a, g, next(1400), true},
		{"the first usage", token.Anchor{}, g, next(1400), false},
		{"zero usage", a, g, 0, false},
		{"little text", a, token.Growth{Tokens: 31}, next(1400), false},
		{"enough text", a, token.Growth{Tokens: 32}, next(1400), true},
		{"an image", a, token.Growth{Tokens: 2000, MediaTokens: 1}, next(1400), false},
		{"a hosted tool", a, token.Growth{Tokens: 2000, Hosted: true}, next(1400), false},
		{"a prompt that shrank", a, g, 10, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := token.NewCalibration(family(t, "claude-new"))
			c.Observe(tt.a, tt.g, tt.next)
			if got := c.Pairs() == 1; got != tt.learns {
				t.Errorf("learns = %v, want %v", got, tt.learns)
			}
		})
	}
	c := token.NewCalibration(family(t, "claude-new"))
	for range 40 {
		c.Observe(a, g, next(1234))
	}
	if c.Ratio() != 1234 || c.Pairs() != 32 {
		t.Errorf("after 40 equal pairs the ratio is %d of %d, want 1234 of 32", c.Ratio(), c.Pairs())
	}
	for range 32 {
		c.Observe(a, g, next(9000))
	}
	if want := prior * 1500 / 1000; c.Ratio() != want {
		t.Errorf("hidden content drives the ratio to %d, want no further than %d", c.Ratio(), want)
	}
	for range 32 {
		c.Observe(a, g, 1)
	}
	if want := prior * 700 / 1000; c.Ratio() != want {
		t.Errorf("dropped content drives the ratio to %d, want no further than %d", c.Ratio(), want)
	}
	one := token.NewCalibration(family(t, "claude-new"))
	one.Observe(a, token.Growth{Tokens: 40, Results: 1}, a.Prompt+a.Output+5+80)
	if one.Ratio() != prior {
		t.Errorf("one small pair moves the ratio from %d to %d", prior, one.Ratio())
	}
}

// The ratio is the weighted median of the prior and the last 32 pairs, as found
// by writing every weight out.
func TestRatioEqualsItsTwin(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(known.Families()).Draw(t, "family")
		c := token.NewCalibration(f)
		type pair struct{ ratio, weight int }
		var pairs []pair
		for range rapid.IntRange(0, 80).Draw(t, "pairs") {
			e := rapid.IntRange(1, 4000).Draw(t, "tokens")
			ratio := rapid.IntRange(0, 4000).Draw(t, "ratio")
			a := token.Anchor{Prompt: 10_000, Output: 50}
			grown := (e*ratio + 999) / 1000
			predicted, was := c.Cost(token.Growth{Tokens: e}), c.Ratio()
			c.Observe(a, token.Growth{Tokens: e}, a.Prompt+a.Output+grown)
			if e >= 32 {
				observed := min(max(grown*1000/e, f.Prior*700/1000), f.Prior*1500/1000)
				if grown == predicted {
					observed = was
				}
				pairs = append(pairs, pair{observed, min(e, 2000)})
			}
		}
		all := append([]pair{{f.Prior, 1500}}, pairs[max(0, len(pairs)-32):]...)
		var written []int
		for _, p := range all {
			written = append(written, slices.Repeat([]int{p.ratio}, p.weight)...)
		}
		slices.Sort(written)
		if got, want := c.Ratio(), written[(len(written)-1)/2]; got != want {
			t.Fatalf("ratio = %d, want %d of %v", got, want, all)
		}
		if twin := c.Clone(); twin.Ratio() != c.Ratio() {
			t.Fatalf("a clone's ratio = %d, want %d", twin.Ratio(), c.Ratio())
		}
	})
}

func TestCloneIsIndependent(t *testing.T) {
	c := token.NewCalibration(family(t, "unknown"))
	twin := c.Clone()
	for range 10 {
		twin.Observe(token.Anchor{Prompt: 1000}, token.Growth{Tokens: 1000}, 3000)
	}
	if c.Pairs() != 0 || c.Ratio() != family(t, "unknown").Prior || twin.Pairs() != 10 {
		t.Errorf("the clone's pairs reached the original: %d, %d", c.Pairs(), c.Ratio())
	}
}

// No input makes a figure negative, a bound smaller than its point, or more
// content cheaper.
func TestEstimatesAreSane(t *testing.T) {
	number := rapid.OneOf(rapid.IntRange(-5, 100_000), rapid.SampledFrom([]int{math.MinInt, -1, 0, 1, math.MaxInt}))
	growth := rapid.Custom(func(t *rapid.T) token.Growth {
		n := func(name string) int { return number.Draw(t, name) }
		return token.Growth{
			Tokens: n("tokens"), Results: n("results"), Rounds: n("rounds"), Messages: n("messages"), Uses: n("uses"),
			MediaTokens: n("media"), Known: n("known"), OutputUnknown: rapid.Bool().Draw(t, "unknown"), Hosted: rapid.Bool().Draw(t, "hosted"),
		}
	})
	names := rapid.SampledFrom(familyNames)
	rapid.Check(t, func(rt *rapid.T) {
		c := token.NewCalibration(family(t, names.Draw(rt, "family")))
		a := token.Anchor{Prompt: number.Draw(rt, "prompt"), Output: number.Draw(rt, "output")}
		g, h, k := growth.Draw(rt, "g"), growth.Draw(rt, "h"), growth.Draw(rt, "k")
		c.Observe(a, g, number.Draw(rt, "next"))
		for _, e := range []token.Estimate{c.After(a, g), c.Scratch(number.Draw(rt, "overhead"), g, h), c.Edited(a, g, h, k)} {
			if e.Point < 0 || e.Bound < e.Point+600 {
				rt.Fatalf("estimate %+v", e)
			}
		}
		more := g
		more.Tokens = min(max(more.Tokens, 0), 1<<30) + 10_000
		less := more
		less.Tokens -= 5000
		if c.Cost(more) <= c.Cost(less) {
			rt.Fatalf("5000 tokens more cost %d, less %d", c.Cost(more), c.Cost(less))
		}
		if got := c.Edited(a, token.Growth{}, token.Growth{}, g); got != c.After(a, g) {
			rt.Fatalf("no edit: %+v, want %+v", got, c.After(a, g))
		}
	})
}

func TestGrowthOf(t *testing.T) {
	c := familyCounter(t, "claude-old")
	call := llm.Message{Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "a", Name: "read", Args: "{}"}, llm.ToolCall{CallID: "b", Name: "read", Args: "{}"}}}
	results := llm.Message{Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "a"}, llm.ToolResult{CallID: "b", Content: []llm.Part{llm.Text{Text: "body"}}}}}
	s := token.SizeOf(c, call).Add(token.SizeOf(c, results)).Add(token.SizeOf(c, text("go on")))
	g := token.GrowthOf(s)
	if want := (token.Growth{Tokens: s.Tokens, Results: 2, Rounds: 1, Messages: 2, Uses: 2}); g != want {
		t.Errorf("growth = %+v, want %+v", g, want)
	}
}

// A prompt above its bound raises the bounds after it by half as much again, by no more
// than 300 tokens; as prompts keep below their bounds that goes again. The point stays.
func TestShortBound(t *testing.T) {
	c := token.NewCalibration(family(t, "claude-new"))
	a, g := token.Anchor{Prompt: 40_000, Output: 100}, token.Growth{Tokens: 20, Results: 1} // too little to teach a ratio
	first := c.After(a, g)
	margin := first.Bound - first.Point
	more := func() int {
		e := c.After(a, g)
		if e.Point != first.Point {
			t.Errorf("the point is %d, want %d as before", e.Point, first.Point)
		}
		return e.Bound - e.Point - margin
	}
	c.Observe(a, g, first.Bound)
	if got := more(); got != 0 {
		t.Errorf("a prompt at its bound: %d more, want none", got)
	}
	c.Observe(a, g, first.Bound+100)
	if got := more(); got != 150 {
		t.Errorf("a prompt 100 above its bound: %d more, want 150", got)
	}
	twin := token.NewCalibration(family(t, "claude-new"))
	twin.Restore(c.State())
	if got, want := twin.After(a, g), c.After(a, g); got != want {
		t.Errorf("taken up: %+v, want %+v", got, want)
	}
	c.Observe(a, g, first.Bound+100) // covered now, and still as far above what is usual
	if got := more(); got != 150 {
		t.Errorf("the same again: %d more, want 150", got)
	}
	c.Observe(a, g, first.Bound+9_000)
	if got := more(); got != 300 {
		t.Errorf("a prompt far above its bound: %d more, want 300", got)
	}
	for range 16 {
		c.Observe(a, g, first.Point)
	}
	if got := more(); got <= 0 || got > 110 {
		t.Errorf("after 16 prompts below their bounds: %d more, want about a third", got)
	}
	for range 60 {
		c.Observe(a, g, first.Point)
	}
	if got := more(); got != 0 {
		t.Errorf("long after: %d more, want none", got)
	}
}
