package plimsoll_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// What the policy guard writes for an output without room (R000-13).
const (
	failedText  = "(tool failed: context window budget exceeded)"
	skippedText = "(tool failed: context window budget exceeded; previous tool overflowed. Session will conclude after this turn.)"
)

// sizeCap is the largest output, in bytes, that the guard shows (R000-21).
const sizeCap = 12_288

// guarded opens a session under the guard, with a tool to read and one to report.
// Without targets its limit is that of target: 20,000 - 8,192 - 2,000 = 9,808 tokens.
func guarded(t *testing.T, targets ...budget.Target) *plimsoll.Session {
	t.Helper()
	s := open(t, plimsoll.Options{Policy: preset(t, "guard"), Targets: targets, WithoutTools: true, StoreLater: true})
	tools := []llm.Tool{{Name: "read"}, {Name: policy.ToolFinalReport}, {Name: policy.ToolOutput, Builtin: true}}
	if err := s.SetTools(t.Context(), tools); err != nil {
		t.Fatal(err)
	}
	return s
}

// window is one with that limit under the guard.
func window(limit int) budget.Window {
	return budget.Window{Capacity: limit + 8_192 + 2_000, OutputReserve: 2_000}
}

// filled is a guarded session with a call made, of whose prompt and reply the provider
// reported used tokens.
func filled(t *testing.T, used int) *plimsoll.Session {
	t.Helper()
	s := guarded(t)
	add(t, s, human("Read the files."))
	prepare(t, s)
	observe(t, s, llm.Usage{Input: used})
	return s
}

func prepare(t *testing.T, s *plimsoll.Session, targets ...budget.Target) *engine.Send {
	t.Helper()
	send, err := s.Prepare(t.Context(), targets...)
	if err != nil {
		t.Fatal(err)
	}
	return send
}

func observe(t *testing.T, s *plimsoll.Session, u llm.Usage) {
	t.Helper()
	if err := s.Observe(t.Context(), u); err != nil {
		t.Fatal(err)
	}
}

func finish(t *testing.T, s *plimsoll.Session, r engine.Reason) {
	t.Helper()
	if err := s.Finish(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// calls is a reply that calls a tool n times: c1, c2, …
func calls(tool string, n int) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
	for i := range n {
		m.Parts = append(m.Parts, llm.ToolCall{CallID: fmt.Sprintf("c%d", i+1), Name: tool, Args: "{}"})
	}
	return m
}

// numbered is a text of n bytes that is some n/3 tokens.
func numbered(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d: nothing\n", i)
	}
	return b.String()[:n]
}

// output is a text of n bytes.
func output(n int) string { return strings.Repeat("all is well ", n/12+1)[:n] }

func result(t *testing.T, s *plimsoll.Session, call, text string) plimsoll.Placement {
	t.Helper()
	p, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: call, Body: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// outputs returns what the view shows of all tool outputs.
func outputs(s *plimsoll.Session) []string {
	var out []string
	for _, m := range s.View().Messages() {
		for _, r := range m.Results() {
			out = append(out, r.Text())
		}
	}
	return out
}

// TestCountIsTheLargest is R000-20: what a tool puts out is counted by the tokenizers of
// all targets, and the largest figure holds.
func TestCountIsTheLargest(t *testing.T) {
	gpt := budget.Target{Provider: "openai", Model: "gpt-4o", Window: window(9_808)}
	claude := budget.Target{Provider: "anthropic", Model: "claude-opus-4-5", Window: window(9_808)}
	one := []plimsoll.ToolBudget{guarded(t, gpt).Budget(), guarded(t, claude).Budget()}
	both := guarded(t, gpt, claude).Budget()
	for _, text := range []string{"", "all is well", output(5_000), "函数返回错误", strings.Repeat("\n", 300), `{"a":[1,2,3]}`} {
		most := max(one[0].Count(text), one[1].Count(text))
		if got := both.Count(text); got != most {
			t.Errorf("R000-20 %d bytes are %d tokens for both targets, want the %d of one", len(text), got, most)
		}
		if least := (len([]rune(text)) + 3) / 4; most < least {
			t.Errorf("R000-18 %d bytes are %d tokens, want at least a quarter of the characters, %d", len(text), most, least)
		}
	}
}

// TestForcedFinal is R000-14, R000-15 and R000-16: before a call that has no room leaves,
// the final Step is forced, in the document's order.
func TestForcedFinal(t *testing.T) {
	s := filled(t, 9_700)
	add(t, s, reply("I have."), human("Then tell me all of it, please. "+output(400)))
	was := s.Usage()
	send := prepare(t, s)
	used := s.Usage()
	t.Run("R000-14_the_reason_is_set", func(t *testing.T) {
		if send.Final != engine.ReasonContext || used.Final != engine.ReasonContext {
			t.Errorf("final: %q, want %q", send.Final, engine.ReasonContext)
		}
	})
	t.Run("R000-14_what_waits_is_committed", func(t *testing.T) {
		g := used.Guard
		waited := was.Guard.Current + was.Guard.Pending + was.Guard.Fresh
		if g.Pending != 0 || g.Fresh != 0 || g.Current < waited {
			t.Errorf("counters %+v, want all of %d committed", g, waited)
		}
	})
	t.Run("R000-14_only_the_report_is_offered", func(t *testing.T) {
		if len(send.Tools) != 1 || send.Tools[0].Name != "agent__final_report" {
			t.Errorf("tools %v, want agent__final_report alone", send.Tools)
		}
	})
	t.Run("R000-15_the_model_is_told", func(t *testing.T) {
		last := send.Items[len(send.Items)-1]
		percent := (used.Guard.Current*100 + 10_000) / 20_000
		want := fmt.Sprintf("%d%% full", percent)
		if !last.IsNote() || !strings.Contains(last.Message.Text(), want) {
			t.Errorf("the last message is %q, want a note with %q", last.Message.Text(), want)
		}
	})
	t.Run("R000-16_no_tool_runs_after_it", func(t *testing.T) {
		b := s.Budget()
		if b.CanExecute("read") || !b.CanExecute("agent__final_report") || b.Preview(0) {
			t.Error("want the report tool alone to run, and no output to have room")
		}
	})
	t.Run("R000-14_R000-26_it_is_told", func(t *testing.T) {
		var seen []string
		for _, e := range events(t, s) {
			switch {
			case e.Notice != nil && e.Notice.Kind == engine.EventFinal:
				seen = append(seen, e.Text)
				g := e.Notice.Guard
				if g.Trigger != engine.TurnPreflight || g.Did != engine.ForcedFinal || g.Reason != engine.ReasonContext ||
					g.Target.Name() != "p/mystery" || g.Limit != 9_808 || g.Projected <= g.Limit {
					t.Errorf("the event says %+v", *g)
				}
			case e.Sent != nil && e.Sent.Final != engine.ReasonNone:
				seen = append(seen, "sent")
			}
		}
		if diff := cmp.Diff([]string{"context guard enforced", "sent"}, seen); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	})
}

// TestFinish is R000-14 for the reasons that a host has.
func TestFinish(t *testing.T) {
	reasons := []engine.Reason{
		engine.ReasonContext, engine.ReasonMaxTurns, engine.ReasonTaskCompleted, engine.ReasonRetries, engine.ReasonUserStop,
		"task_status_completed", "task_status_only",
	}
	for _, reason := range reasons {
		t.Run("R000-14_"+string(reason), func(t *testing.T) {
			o := plimsoll.Options{ID: "a", Store: &store.Memory{}, Policy: preset(t, "balanced"), WithoutTools: true}
			s := open(t, o)
			if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read"}, {Name: policy.ToolFinalReport}}); err != nil {
				t.Fatal(err)
			}
			add(t, s, human("Go."))
			finish(t, s, reason)
			finish(t, s, engine.ReasonUserStop) // the first reason stands
			send := prepare(t, s)
			if send.Final != reason || len(send.Tools) != 1 || !send.Items[len(send.Items)-1].IsNote() {
				t.Errorf("final %q with tools %v and last message %q", send.Final, send.Tools, send.Items[len(send.Items)-1].Message.Text())
			}
			again := prepare(t, open(t, o))
			if diff := cmp.Diff(send.Messages(), again.Messages()); diff != "" || again.Final != reason || len(again.Tools) != 1 {
				t.Errorf("after a restart: final %q, tools %v\n%s", again.Final, again.Tools, diff)
			}
			add(t, s, reply("Done."), human("One thing more."))
			if next := prepare(t, s); next.Final != engine.ReasonNone || len(next.Tools) != 2 {
				t.Errorf("the next Turn: final %q, tools %v, want an ordinary one", next.Final, next.Tools)
			}
			for _, e := range notices(t, s) {
				if e.Kind == engine.EventFinal && (e.Text != reason.Sentence() || e.Guard.Reason != reason || e.Guard.Trigger == engine.ToolPreflight) {
					t.Errorf("the event says %q, %+v", e.Text, *e.Guard)
				}
			}
		})
	}
	t.Run("R000-14_the_guard_does_not_take_the_place_of_a_reason", func(t *testing.T) {
		s := filled(t, 9_800)
		add(t, s, reply("So."), human(output(400)))
		finish(t, s, engine.ReasonMaxTurns)
		if send := prepare(t, s); send.Final != engine.ReasonMaxTurns {
			t.Errorf("final %q, want %q", send.Final, engine.ReasonMaxTurns)
		}
	})
	t.Run("R000-14_a_reason_does_not_take_the_guards_place", func(t *testing.T) {
		s := filled(t, 9_800)
		add(t, s, reply("So."), human(output(400)))
		prepare(t, s)
		finish(t, s, engine.ReasonUserStop)
		if send := prepare(t, s); send.Final != engine.ReasonContext || len(send.Items) != 4 {
			t.Errorf("final %q with %d messages, want %q and one note", send.Final, len(send.Items), engine.ReasonContext)
		}
	})
	t.Run("R000-14_a_note_never_stands_inside_a_Round", func(t *testing.T) {
		s := guarded(t)
		add(t, s, human("Go."), calls("read", 1))
		finish(t, s, engine.ReasonUserStop)
		result(t, s, "c1", "nothing")
		send := prepare(t, s)
		if last := send.Items[len(send.Items)-1]; len(send.Items) != 4 || !last.IsNote() {
			t.Errorf("%d messages, the last is %q, want the note behind the result", len(send.Items), last.Message.Text())
		}
	})
}

// TestStillOver is R000-17: what is over after the tools are gone is sent all the same,
// and that is said.
func TestStillOver(t *testing.T) {
	s := guarded(t)
	add(t, s, human(output(60_000)))
	send := prepare(t, s)
	if send.Final != engine.ReasonContext || !send.StillOver || send.Count.Bound <= send.Limit {
		t.Errorf("R000-17: final %q, still over %v, %d of %d", send.Final, send.StillOver, send.Count.Bound, send.Limit)
	}
	var told bool
	for _, e := range events(t, s) {
		told = told || e.Notice != nil && e.Notice.Kind == engine.EventStillOver && strings.HasPrefix(e.Text, "Still over limit after shrink: ")
		if e.Sent != nil && !e.Sent.StillOver {
			t.Error("R000-17: the event of the request does not say it")
		}
	}
	if !told {
		t.Error(`R000-17: want an event "Still over limit after shrink", got none`)
	}
}

// TestSkipProvider is R000-11: a target without room is skipped, the next one is really
// taken, and what it reports is booked on it.
func TestSkipProvider(t *testing.T) {
	small := budget.Target{Provider: "small", Model: "mystery", Window: window(2_000)}
	large := budget.Target{Provider: "large", Model: "mystery", Window: window(50_000)}
	s := guarded(t, small, large)
	add(t, s, human("Go."))
	if got := prepare(t, s).Target; got.Name() != "small/mystery" {
		t.Errorf("R000-11: the first call goes to %s", got.Name())
	}
	add(t, s, calls("read", 1))
	if p := result(t, s, "c1", output(10_000)); p.Shown != plimsoll.ShownWhole {
		t.Errorf("R000-11: placed %+v, want whole, as one target has room", p)
	}
	send := prepare(t, s)
	if send.Target.Name() != "large/mystery" || send.Final != engine.ReasonNone || send.Edited || send.Verdict.Decision != budget.Skip || send.Verdict.Next != 1 {
		t.Errorf("R000-11: sent to %s, final %q, edited %v, verdict %v", send.Target.Name(), send.Final, send.Edited, send.Verdict)
	}
	observe(t, s, llm.Usage{Input: 2_600, Output: 40})
	if lines := s.Bill().Lines; len(lines) != 1 || lines[0].Target != "large/mystery" {
		t.Errorf("R000-11: the bill says %+v", lines)
	}
	all := notices(t, s)
	i := slices.IndexFunc(all, func(e engine.Event) bool { return e.Kind == engine.EventSkip })
	if i < 0 {
		t.Fatal("R000-11: want an event about the skipped target, got none")
	}
	g := all[i].Guard
	if g.Did != engine.SkippedProvider || g.Trigger != engine.TurnPreflight || g.Target.Name() != "small/mystery" || g.Limit != 2_000 || g.Projected <= 2_000 {
		t.Errorf("R000-11: the event says %+v", *g)
	}
}

// TestCounters is R000-1 and R000-2 as a host sees them.
func TestCounters(t *testing.T) {
	t.Run("R000-1_reasoning_is_shown_and_in_no_sum", func(t *testing.T) {
		plain := open(t, plimsoll.Options{Policy: preset(t, "guard")})
		thinks := open(t, plimsoll.Options{Policy: preset(t, "guard"), Reasoning: 5_000})
		for _, s := range []*plimsoll.Session{plain, thinks} {
			add(t, s, human("Go."))
			prepare(t, s)
		}
		a, b := plain.Usage().Guard, thinks.Usage().Guard
		if b.Reasoning != 5_000 || a.Current != b.Current || plain.Usage().Limit != thinks.Usage().Limit {
			t.Errorf("counters %+v and %+v, want them to differ in Reasoning alone", a, b)
		}
	})
	t.Run("R000-2_a_Turn_begins_with_what_is_pending", func(t *testing.T) {
		s := guarded(t)
		add(t, s, human("What is in the log?"))
		if g := s.Usage().Guard; g.Pending == 0 || g.Fresh != 0 {
			t.Errorf("counters %+v, want the question pending", g)
		}
	})
	t.Run("R000-2_taken_up_by_name", func(t *testing.T) {
		o := plimsoll.Options{ID: "a", Store: &store.Memory{}, Policy: preset(t, "guard")}
		s := open(t, o)
		add(t, s, human("Read."), calls("read", 1))
		result(t, s, "c1", output(2_000))
		before := s.Usage()
		after := open(t, o).Usage()
		if got, want := sum(after.Guard), sum(before.Guard); got != want || after.Guard.Schema != before.Guard.Schema {
			t.Errorf("before any usage: %+v became %+v", before.Guard, after.Guard)
		}
		prepare(t, s)
		observe(t, s, llm.Usage{Input: 500, CacheRead: 300, CacheWrite5m: 150, CacheWrite1h: 50, Output: 20})
		if g := s.Usage().Guard; g.Current != 1_020 || g.Pending != 0 || g.Fresh != 0 {
			t.Errorf("counters %+v, want the 1,020 tokens of all parts of the usage", g)
		}
		add(t, s, reply("I see."), human("And then?"))
		if before, after := s.Usage().Guard, open(t, o).Usage().Guard; after.Current != 1_020 || sum(after) != sum(before) {
			t.Errorf("after a usage: %+v became %+v", before, after)
		}
	})
	t.Run("R000-2_retries_count_once", func(t *testing.T) {
		s := guarded(t)
		add(t, s, human("Read."), calls("read", 1))
		result(t, s, "c1", output(2_000))
		first := sum(s.Usage().Guard)
		for range 5 {
			prepare(t, s)
			observe(t, s, llm.Usage{}) // a failed call reports nothing
		}
		if got := sum(s.Usage().Guard); got != first {
			t.Errorf("%d tokens after five failed calls, want %d", got, first)
		}
	})
	t.Run("R000-2_an_output_is_dropped_after_a_success", func(t *testing.T) {
		// The provider reports less than before, because the host sent less.
		s := filled(t, 6_000)
		observe(t, s, llm.Usage{Input: 3_000, Output: 10})
		if g := s.Usage().Guard; g.Current != 3_010 {
			t.Errorf("counters %+v, want current 3,010", g)
		}
	})
	t.Run("R000-5_counters_grow_within_a_Step", func(t *testing.T) {
		s := filled(t, 500)
		last := sum(s.Usage().Guard)
		grown := func(what string) {
			t.Helper()
			now := sum(s.Usage().Guard)
			if now < last {
				t.Errorf("%s: %d tokens became %d", what, last, now)
			}
			last = now
		}
		add(t, s, calls("read", 2))
		grown("a call")
		result(t, s, "c1", output(800))
		grown("an output")
		if err := s.SetTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		grown("fewer tools")
		result(t, s, "c2", output(sizeCap+1))
		grown("an output that is put away")
		prepare(t, s)
		grown("a request")
	})
}

func sum(c budget.Counters) int { return c.Current + c.Pending + c.Fresh }

// TestThresholds is R000-4 through the front door: strictly more than the limit.
func TestThresholds(t *testing.T) {
	for _, tt := range []struct {
		name string
		over int
		want engine.Reason
	}{
		{"below", -1, engine.ReasonNone},
		{"equal", 0, engine.ReasonNone},
		{"above", 1, engine.ReasonContext},
	} {
		t.Run("R000-4_"+tt.name, func(t *testing.T) {
			s := guarded(t)
			add(t, s, human("Go."))
			limit := s.Usage().Limit
			prepare(t, s)
			// Not reported, so that the count, which has a margin, stays below and the guard's
			// own sum decides.
			if err := plimsoll.Feed(t.Context(), s, engine.Usage{Usage: llm.Usage{Input: limit + tt.over}}); err != nil {
				t.Fatal(err)
			}
			if send := prepare(t, s); send.Final != tt.want {
				t.Errorf("%d tokens of %d: final %q, want %q", limit+tt.over, limit, send.Final, tt.want)
			}
		})
	}
	t.Run("R000-6_nothing_left_is_a_mistake", func(t *testing.T) {
		_, err := plimsoll.Open(t.Context(), plimsoll.Options{
			Policy: preset(t, "guard"), Targets: []budget.Target{{Model: "mystery", Window: window(0)}},
		})
		var config *budget.ConfigError
		if !errors.As(err, &config) || config.Got != 0 {
			t.Errorf("got %v, want a *budget.ConfigError about a limit of 0", err)
		}
	})
}
