package telemetry_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestGuard drives real sessions to where the guard acts. One event is counted for what
// it does, however often a request is prepared after that.
func TestGuard(t *testing.T) {
	by := func(g gathering) map[string]int64 {
		return g.values(t, guardEvents, "provider", "model", "trigger", "outcome")
	}
	t.Run("R000-14_a_forced_final_is_counted_once", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "guard", target("p", "small", 20_000))
		add(t, s, human(tokens(8_000)))
		prepare(t, s)
		add(t, s, reply(tokens(12_000)))
		for range 3 { // a failed call is prepared again
			prepare(t, s)
		}
		g.settled(t, s)
		if diff := cmp.Diff(map[string]int64{"p small turn_preflight forced_final": 1}, by(g)); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
		want := map[string]int64{"none": 1, "context": 3}
		if diff := cmp.Diff(want, g.values(t, "plimsoll.request.sent", "plimsoll.request.final")); diff != "" {
			t.Errorf("requests by their reason: - want, + got\n%s", diff)
		}
	})
	t.Run("R000-13_R000-14_an_output_without_room", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "guard", target("p", "small", 20_000))
		add(t, s, human(tokens(8_000)))
		prepare(t, s)
		add(t, s, calls(1, 30)) // even their handles find no room
		for n := range 30 {
			add(t, s, output(1+n, 150))
		}
		prepare(t, s)
		g.settled(t, s)
		if diff := cmp.Diff(map[string]int64{"p small tool_preflight forced_final": 1}, by(g)); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	})
	t.Run("R000-14_the_next_Turn_may_force_again", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "guard", target("p", "small", 4_000))
		for range 2 {
			add(t, s, human(tokens(2_500)))
			prepare(t, s)
			add(t, s, reply("Yes."))
			if err := s.TurnEnd(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		events := g.settled(t, s)
		var forced int64
		for _, e := range events {
			if e.Notice != nil && e.Notice.Kind == engine.EventFinal {
				forced++
			}
		}
		if got := g.total(t, guardEvents); forced < 2 || got != forced {
			t.Errorf("counted %d of %d forced finals, want all of at least 2", got, forced)
		}
	})
	t.Run("R000-14_a_host_that_ends_has_no_trigger", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "balanced", target("p", "large", 100_000))
		add(t, s, human("Go."))
		if err := s.Finish(t.Context(), engine.ReasonMaxTurns); err != nil {
			t.Fatal(err)
		}
		prepare(t, s)
		g.settled(t, s)
		if diff := cmp.Diff(map[string]int64{"p large none forced_final": 1}, by(g)); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
		if diff := cmp.Diff(map[string]int64{"max_turns": 1}, g.values(t, "plimsoll.request.sent", "plimsoll.request.final")); diff != "" {
			t.Errorf("requests by their reason: - want, + got\n%s", diff)
		}
	})
	t.Run("R000-11_a_skipped_provider_is_counted", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "guard", target("near", "small", 4_000), target("far", "large", 100_000))
		add(t, s, human(tokens(3_000)))
		prepare(t, s)
		g.settled(t, s)
		if diff := cmp.Diff(map[string]int64{"near small turn_preflight skipped_provider": 1}, by(g)); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
		left := g.values(t, remaining, "provider", "model")
		if left["near small"] != 0 || left["far large"] < 94_000 || len(left) != 2 {
			t.Errorf("remaining tokens %v, want 0 near and most of 98,000 far", left)
		}
	})
}

// TestRemaining holds the gauge against the session's own figures.
func TestRemaining(t *testing.T) {
	t.Run("R000-3_is_the_limit_less_what_is_projected", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "balanced", target("p", "m", 20_000))
		add(t, s, human(tokens(700)))
		prepare(t, s)
		events := g.settled(t, s)
		sent := events[len(events)-1].Sent
		if sent == nil || sent.Projected < 700 || sent.Limit != 18_000 {
			t.Fatalf("the last event is %+v, want a request below a limit of 18,000", events[len(events)-1])
		}
		want := map[string]int64{"p m": int64(18_000 - sent.Projected)}
		if diff := cmp.Diff(want, g.values(t, remaining, "provider", "model")); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	})
	t.Run("R000-3_is_never_negative", func(t *testing.T) {
		g, s := gather(t, zero), open(t, "guard", target("p", "m", 4_000))
		add(t, s, human(tokens(9_000))) // sent all the same: the guard document wants its report
		prepare(t, s)
		g.settled(t, s)
		if diff := cmp.Diff(map[string]int64{"p m": 0}, g.values(t, remaining, "provider", "model")); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	})
}

// TestContext holds size and limit of the requests against law 1.
func TestContext(t *testing.T) {
	g, s := gather(t, zero), open(t, "balanced", target("p", "m", 16_000))
	add(t, s, human("Read."))
	for n := range 8 {
		prepare(t, s)
		add(t, s, calls(n, 1), output(n, 200))
	}
	events := g.settled(t, s)
	var sizes, edits, edited int64
	moved := map[string]int64{}
	for _, e := range events {
		switch {
		case e.Sent != nil:
			sizes += int64(e.Sent.Count.Bound)
			if e.Sent.Edited {
				edited++
			}
		case e.Edit != nil:
			edits++
			if by := int64(e.Edit.Before - e.Edit.After); by > 0 {
				moved["out"] += by
			} else {
				moved["in"] -= by
			}
		}
	}
	if edits == 0 || edited == 0 || moved["out"] == 0 {
		t.Fatalf("%d edits, %d requests edited, %v moved: want a session that is edited", edits, edited, moved)
	}
	used := points(t, g.metrics(t)["plimsoll.context.used"])
	var count uint64
	for _, p := range used {
		count += p.count
		if p.value > 14_000*int64(p.count) {
			t.Errorf("%d requests of %d tokens, want each below the limit of 14,000", p.count, p.value)
		}
	}
	if got := g.total(t, "plimsoll.context.used"); got != sizes || count != 8 {
		t.Errorf("%d requests of %d tokens, want 8 of %d", count, got, sizes)
	}
	for name, want := range map[string]int64{"plimsoll.context.limit": 14_000, "plimsoll.edit.made": edits, "plimsoll.event.missed": 0} {
		if got := g.total(t, name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if got := g.values(t, "plimsoll.edit.tokens", "plimsoll.edit.direction"); got["out"] != moved["out"] || got["in"] != moved["in"] {
		t.Errorf("edits moved %v, want %v", got, moved)
	}
	if got := g.values(t, "plimsoll.request.sent", "plimsoll.request.edited"); got["true"] != edited || got["false"] != 8-edited {
		t.Errorf("requests by whether edited %v, want %d of 8", got, edited)
	}
}

// TestUndo: what is put back is counted as that, so that the difference of both
// directions is what is out now.
func TestUndo(t *testing.T) {
	g, s := gather(t, zero), open(t, "balanced", target("p", "m", 16_000))
	add(t, s, human("Read."))
	for n := range 8 {
		prepare(t, s)
		add(t, s, calls(n, 1), output(n, 200))
	}
	last := s.Edits()[len(s.Edits())-1]
	if err := s.Undo(t.Context(), last.ID); err != nil {
		t.Fatal(err)
	}
	g.settled(t, s)
	if got, want := g.values(t, "plimsoll.edit.tokens", "plimsoll.edit.direction")["in"], int64(last.Before-last.After); got != want {
		t.Errorf("put back %d tokens, want %d", got, want)
	}
	if got := g.values(t, "plimsoll.edit.made", "plimsoll.edit.kind")["undo"]; got != 1 {
		t.Errorf("%d edits of kind undo, want 1", got)
	}
}

func TestRefused(t *testing.T) {
	g, s := gather(t, zero), open(t, "balanced", target("p", "m", 12_000))
	if err := s.SetSections(t.Context(), []llm.Section{{Text: tokens(20_000)}}); err != nil {
		t.Fatal(err)
	}
	add(t, s, human("Go on."))
	if _, err := s.Prepare(t.Context()); err == nil {
		t.Fatal("want a request that cannot be made to fit")
	}
	g.settled(t, s)
	want := map[string]int64{"p m tokens": 1}
	if diff := cmp.Diff(want, g.values(t, "plimsoll.request.refused", "gen_ai.provider.name", "gen_ai.request.model", "plimsoll.request.quantity")); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	if got := g.total(t, "plimsoll.request.sent"); got != 0 {
		t.Errorf("%d requests sent, want none", got)
	}
}

// TestUsage: the GenAI conventions count cached tokens as input, our parts do not
// overlap, and both add up to what was reported.
func TestUsage(t *testing.T) {
	reported := []llm.Usage{
		{Input: 100, CacheRead: 900, CacheWrite5m: 40, CacheWrite1h: 2, Output: 70, Reasoning: 50},
		{Input: 30, CacheRead: 1_100, Output: 8},
		{Input: 1_500}, // the provider did not report the output
		{},             // a failed call
	}
	g, s := gather(t, zero), open(t, "balanced", target("google", "gemini-2.5-pro", 100_000))
	add(t, s, human(tokens(1_000)))
	var sum llm.Usage
	for _, u := range reported {
		prepare(t, s)
		if err := s.Observe(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		sum = sum.Add(u)
	}
	g.settled(t, s)
	t.Run("GenAI conventions", func(t *testing.T) {
		want := map[string]int64{
			"chat gcp.gemini gemini-2.5-pro input":  int64(sum.Prompt()),
			"chat gcp.gemini gemini-2.5-pro output": int64(sum.Output),
		}
		got := g.values(t, "gen_ai.client.token.usage", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.token.type")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
		for _, p := range points(t, g.metrics(t)["gen_ai.client.token.usage"]) {
			kind, _ := p.attributes.Value("gen_ai.token.type")
			if want := map[string]uint64{"input": 3, "output": 2}[kind.AsString()]; p.count != want {
				t.Errorf("%d measurements of %s, want %d", p.count, kind.AsString(), want)
			}
		}
	})
	t.Run("R001-12_parts_add_up", func(t *testing.T) {
		want := map[string]int64{"input": 1_630, "cache_read": 2_000, "cache_write": 42, "output": 78}
		if diff := cmp.Diff(want, g.values(t, "plimsoll.usage.tokens", "plimsoll.usage.part")); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
		if got := g.total(t, "plimsoll.usage.tokens"); got != int64(sum.Total()) || got != int64(s.Bill().Usage.Total()) {
			t.Errorf("parts add up to %d, want %d, the bill's %d", got, sum.Total(), s.Bill().Usage.Total())
		}
	})
}

// TestNotices: what the engine tells is counted by its kind, the guard's too.
func TestNotices(t *testing.T) {
	g, s := gather(t, zero), open(t, "guard", target("p", "m", 4_000))
	add(t, s, human(tokens(9_000)))
	prepare(t, s)
	want := map[string]int64{}
	for _, e := range g.settled(t, s) {
		if e.Kind == plimsoll.EventNotice {
			want[string(e.Notice.Kind)]++
		}
	}
	if want["final"] != 1 || want["still_over"] != 1 {
		t.Fatalf("told %v, want a final Step that is still over", want)
	}
	if diff := cmp.Diff(want, g.values(t, "plimsoll.notice.told", "plimsoll.notice.kind")); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
}

// TestRecord: an event without anything, as of a host's own making, is nothing.
func TestRecord(t *testing.T) {
	g := gather(t, zero)
	g.Record(context.Background(), plimsoll.Event{})
	for name := range g.metrics(t) {
		if name != "plimsoll.event.missed" {
			t.Errorf("%s was measured", name)
		}
	}
}
