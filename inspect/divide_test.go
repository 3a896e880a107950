package inspect_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// summed is a stream of calls whose usage is only in the line that ends it, without a number of calls.
func summed(calls int, u llm.Usage) *log {
	l := newLog()
	l.s.Client, l.s.Format = "gemini-cli", sessionfile.FormatGeminiCLI
	for range calls {
		l.human("Count the ships. " + strings.Repeat("There is a ship at the pier. ", 100))
		l.reply(llm.Usage{}, text("There are a hundred."))
	}
	l.states(0, 1, u)
	return l
}

// states adds what the file says of segments.
func (l *log) states(from, to int, u llm.Usage) {
	l.s.Stated = append(l.s.Stated, sessionfile.Stated{Line: 50, What: "result", From: from, To: to, Figures: []sessionfile.Figure{
		{Name: sessionfile.FigurePrompt, Value: int64(u.Prompt())},
		{Name: sessionfile.FigureInput, Value: int64(u.Input)},
		{Name: sessionfile.FigureCacheRead, Value: int64(u.CacheRead)},
		{Name: sessionfile.FigureOutput, Value: int64(u.Output)},
	}})
}

// The sum of a single call is that call's usage, reported by the provider: in size and in money.
func TestSumOfOneCall(t *testing.T) {
	r := summed(1, llm.Usage{Input: 5_000, CacheRead: 4_000, Output: 10}).report(t, withShip(t))
	step := r.Segments[0].Steps[0]
	if step.Kind != inspect.Reported || step.Tokens != 9_000 || step.Usage == nil || step.Usage.CacheRead != 4_000 || r.Segments[0].Hidden.Kind != inspect.Measured {
		t.Errorf("want a reported prompt of 9,000 tokens, got %+v", step)
	}
	// 5,000 of input at 3, 4,000 read at 1, 10 of output at 10
	if r.Totals.CostUSD != catalog.Dollars(19_100*million) || r.Totals.CostEstimated != 0 {
		t.Errorf("want $0.0191, got %s", r.Totals.CostUSD)
	}
	for _, f := range r.Stated[0].Figures {
		if f.Ours != f.Stated || f.Differs || f.Estimated || f.Why != "" {
			t.Errorf("want what is stated, got %+v", f)
		}
	}
}

// Where a file states the sum of several calls, their sizes, parts and money add up to it, be it more than the file holds or less.
func TestSumOfSeveralCalls(t *testing.T) {
	for name, u := range map[string]llm.Usage{
		"more than the file":  {Input: 21_003, CacheRead: 40_001, Output: 77},
		"less than the file":  {Input: 2_001, CacheRead: 1_000, Output: 77},
		"nothing of a cache":  {Input: 30_001, Output: 77},
		"all of it was there": {CacheRead: 30_001, Output: 77},
	} {
		t.Run(name, func(t *testing.T) {
			r := summed(3, u).report(t, withShip(t))
			want := int64(u.Input)*3*million + int64(u.CacheRead)*million + int64(u.Output)*10*million
			if r.Totals.Tokens != u.Prompt() || r.Totals.CostUSD != catalog.Dollars(want) || r.Totals.CostEstimated != 3 {
				t.Errorf("want %d tokens for %s, got %d for %s", u.Prompt(), catalog.Dollars(want), r.Totals.Tokens, r.Totals.CostUSD)
			}
			last := 0
			for _, s := range r.Segments[0].Steps {
				sum := 0
				for _, n := range s.By {
					sum += n
				}
				if s.Kind != inspect.Estimated || s.Tokens <= last || sum != s.Tokens {
					t.Errorf("want estimates that grow, got %+v", s)
				}
				last = s.Tokens
			}
			for _, f := range r.Stated[0].Figures {
				if f.Ours != f.Stated || f.Differs || !f.Estimated {
					t.Errorf("want what is stated, as an estimate of each call, got %+v", f)
				}
			}
		})
	}
}

// What a file states of the thinking in all outputs is divided among them, whether these are known one by one or not; what is more
// than the outputs is a difference.
func TestSumOfThinking(t *testing.T) {
	for _, c := range []struct {
		name         string
		output       int // of each call, if that is in the file
		stated, ours int64
	}{
		{"outputs that are shared", 0, 50, 50},
		{"outputs that are known", 20, 50, 50},
		{"more than all outputs", 20, 61, 0},
	} {
		l := newLog()
		l.s.Client, l.s.Format = "copilot-cli", sessionfile.FormatCopilot
		for range 3 {
			l.human("Sound the bar.")
			l.reply(llm.Usage{Output: c.output}, text("Two fathoms."))
		}
		l.states(0, 1, llm.Usage{Input: 30_000, Output: 60})
		l.s.Stated[0].Figures = append(l.s.Stated[0].Figures, sessionfile.Figure{Name: sessionfile.FigureReasoning, Value: c.stated})
		r := l.report(t, withShip(t))
		f := r.Stated[0].Figures[4]
		if f.Ours != c.ours || f.Estimated != (c.ours > 0) || f.Differs != (c.ours == 0) {
			t.Errorf("%s: want %d of %d tokens of thinking divided, got %+v", c.name, c.ours, c.stated, f)
		}
		if r.Totals.CostUSD != catalog.Dollars((30_000*3+60*10)*million) {
			t.Errorf("%s: want thinking paid for as a part of the output, got %s", c.name, r.Totals.CostUSD)
		}
	}
}

// Where a file states a sum for each model, the calls of each add up to its own.
func TestSumsOfModels(t *testing.T) {
	l := newLog()
	l.s.Client, l.s.Format = "copilot-cli", sessionfile.FormatCopilot
	for _, model := range []string{ship, ship, drops} {
		l.model = model
		l.human("Sound the bar.")
		l.reply(llm.Usage{Output: 20}, text("Two fathoms."))
	}
	sums := map[string]llm.Usage{ship: {Input: 10_000, CacheRead: 10_001, Output: 40}, drops: {Input: 90_000, Output: 20}}
	for _, model := range []string{ship, drops} {
		l.states(0, 1, sums[model])
		l.s.Stated[len(l.s.Stated)-1].Model = model
	}
	r := l.report(t, withShip(t))
	for _, st := range r.Stated {
		for _, f := range st.Figures {
			if f.Ours != f.Stated || f.Differs {
				t.Errorf("%s: want what is stated, got %+v", st.Model, f)
			}
		}
	}
	if got := r.Segments[0].Steps[2].Tokens; got != 90_000 || r.Totals.CostUSD != catalog.Dollars((100_000*3+10_001+60*10)*million) {
		t.Errorf("want 90,000 tokens of the other model's only call, got %d, %s", got, r.Totals.CostUSD)
	}
	l.s.Stated[1].Model = "beam-2" // which no call is of: the sums are divided together
	r = l.report(t, withShip(t))
	if r.Totals.Tokens != 110_001 || r.Segments[0].Steps[2].Tokens == 90_000 {
		t.Errorf("want one sum of 110,001 tokens over all calls, got %+v", r.Totals)
	}
}

// Each conversation of a file has the sum that is stated of it; a sum of more than one is of none.
func TestSumsOfConversations(t *testing.T) {
	l := summed(2, llm.Usage{Input: 20_001})
	l.segment(sessionfile.StartRoot)
	for range 2 {
		l.human("Count the boats.")
		l.reply(llm.Usage{}, text("None."))
	}
	l.states(1, 2, llm.Usage{Input: 30_001})
	r := l.report(t, withShip(t))
	for i, want := range []int{20_001, 30_001} {
		sum := 0
		for _, s := range r.Segments[i].Steps {
			sum += s.Tokens
		}
		if sum != want {
			t.Errorf("conversation %d: want %d tokens, got %d", i+1, want, sum)
		}
	}
	l.s.Stated = nil
	l.states(0, 2, llm.Usage{Input: 50_001})
	r = l.report(t, withShip(t))
	if r.Segments[0].Hidden.Kind == inspect.Measured || r.Totals.Tokens == 50_001 {
		t.Errorf("want no sum of two conversations in either, got %+v", r.Segments[0].Hidden)
	}
	if f := r.Stated[0].Figures[0]; f.Ours != int64(r.Totals.Tokens) || !f.Estimated || !f.Differs || f.Why == "" {
		t.Errorf("want the %d tokens of the steps beside the sum, got %+v", r.Totals.Tokens, f)
	}
}

// Each run of a conversation has the sum that is stated of it: of one call it is that call's usage, as reported, of several it is
// divided among them, and the calls of a run of which nothing is stated are estimates.
func TestSumsOfRuns(t *testing.T) {
	runs := func(calls int, sums ...sessionfile.Stated) *log {
		l := summed(calls, llm.Usage{})
		l.s.Stated = nil
		for _, st := range sums {
			l.states(0, 1, llm.Usage{Input: int(st.Figures[0].Value), Output: 10})
			last := &l.s.Stated[len(l.s.Stated)-1]
			last.FromStep, last.ToStep, last.Line = st.FromStep, st.ToStep, 50+len(l.s.Stated)
		}
		return l
	}
	sum := func(from, to int, prompt int64) sessionfile.Stated {
		return sessionfile.Stated{FromStep: from, ToStep: to, Figures: []sessionfile.Figure{{Value: prompt}}}
	}
	t.Run("of one call each", func(t *testing.T) {
		r := runs(2, sum(0, 1, 1_000), sum(1, 2, 3_000)).report(t, withShip(t))
		for i, want := range []int{1_000, 3_000} {
			if s := r.Segments[0].Steps[i]; s.Tokens != want || s.Kind != inspect.Reported {
				t.Errorf("step %d: want %d tokens, reported, got %d, %s", i+1, want, s.Tokens, s.Kind)
			}
		}
		if r.Totals.CostUSD != catalog.Dollars((4_000*3+20*10)*million) || r.Totals.CostEstimated != 0 {
			t.Errorf("want what both cost, none of it an estimate, got %s, %d estimated", r.Totals.CostUSD, r.Totals.CostEstimated)
		}
		for _, st := range r.Stated {
			if f := st.Figures[0]; f.Ours != f.Stated || f.Differs || f.Estimated {
				t.Errorf("line %d: want what is stated, got %+v", st.Line, f)
			}
		}
		if st := r.Stated[1]; st.FromStep != 2 || st.ToStep != 2 {
			t.Errorf("want the sum of step 2 alone, got %d to %d", st.FromStep, st.ToStep)
		}
	})
	t.Run("of several calls, of one and of none", func(t *testing.T) {
		r := runs(4, sum(0, 2, 20_001), sum(2, 3, 9_000)).report(t, withShip(t))
		steps := r.Segments[0].Steps
		if n := steps[0].Tokens + steps[1].Tokens; n != 20_001 || steps[0].Kind != inspect.Estimated || steps[0].Tokens >= steps[1].Tokens {
			t.Errorf("want 20,001 tokens divided between the first two, got %+v", steps[:2])
		}
		if steps[2].Tokens != 9_000 || steps[2].Kind != inspect.Reported {
			t.Errorf("want 9,000 tokens, reported, got %+v", steps[2])
		}
		if steps[3].Kind == inspect.Reported || steps[3].Tokens <= 9_000 || steps[3].CostUSD.Pico == 0 {
			t.Errorf("want an estimate, larger than the call before, with its cost, got %+v", steps[3])
		}
	})
	t.Run("that share calls", func(t *testing.T) {
		r := runs(3, sum(0, 2, 20_001), sum(1, 3, 30_001)).report(t, withShip(t))
		if r.Totals.Tokens == 50_002 || r.Segments[0].Hidden.Kind == inspect.Measured {
			t.Errorf("want no sums of calls that two are of, got %+v", r.Totals)
		}
	})
}
