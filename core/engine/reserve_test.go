package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// guarded returns a host under guard, whose target leaves 14,000 tokens, with that much
// said by a person.
func guarded(t testing.TB, bytes int) *host {
	t.Helper()
	p, err := policy.Preset("guard")
	must(t, err)
	c, err := configured(p, budget.Target{Model: "gpt-4o", Window: budget.Window{Capacity: 20_000, Buffer: 5_000, OutputReserve: 1_000}})
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	ask(t, h, llm.Text{Text: filler(bytes, "q")})
	return h
}

// reserved feeds a Reserve and returns the answers to it.
func reserved(t testing.TB, h *host, tokens int) []engine.Grant {
	t.Helper()
	var out []engine.Grant
	h.ready = func(r engine.Ready, _ string) { out = append(out, r.Grant) }
	must(t, h.feed(engine.Reserve{Tokens: tokens}))
	h.ready = func(engine.Ready, string) {}
	return out
}

func TestReserveIsAnswered(t *testing.T) {
	h := guarded(t, 20_000)
	room := 14_000 - h.m.Projected()
	for _, tt := range []struct {
		name     string
		tokens   int
		want     engine.Grant
		reserved int // then
	}{
		{"R000-22_all_there_is", room, engine.GrantHeld, room},
		{"R000-22_one_more", 1, engine.GrantNoRoom, room},
		{"R000-22_none", 0, engine.GrantHeld, room},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := reserved(t, h, tt.tokens); !slices.Equal(got, []engine.Grant{tt.want}) || h.m.Reserved() != tt.reserved {
				t.Errorf("answers %q, %d reserved, want one %q and %d", got, h.m.Reserved(), tt.want, tt.reserved)
			}
		})
	}
	must(t, h.feed(engine.Release{Tokens: room}))
	if h.m.Reserved() != 0 || h.m.HasReady() {
		t.Errorf("%d reserved after the release, want 0 and nothing to do", h.m.Reserved())
	}
	for _, in := range []engine.Input{engine.Reserve{Tokens: -1}, engine.Release{Tokens: -1}} {
		if err := h.feed(in); err == nil || h.m.Reserved() != 0 {
			t.Errorf("R000-22 %T of less than nothing: got %v, %d reserved, want an error and 0", in, err, h.m.Reserved())
		}
	}
	must(t, h.m.Feed(engine.Reserve{Tokens: 7}))
	if err := h.m.Feed(engine.Reserve{Tokens: 8}); err == nil || h.m.Reserved() != 7 {
		t.Errorf("R000-22 two at once: got %v, %d reserved, want an error and 7", err, h.m.Reserved())
	}
}

// TestReservedRoomIsTaken: an output has the room that was held for it, whatever others
// hold by then.
func TestReservedRoomIsTaken(t *testing.T) {
	h := guarded(t, 20_000)
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
		llm.ToolCall{CallID: "c1", Name: "read", Args: `{}`},
	}}}))
	room := 14_000 - h.m.Projected()
	reserved(t, h, room)
	var placed []engine.Placement
	h.ready = func(r engine.Ready, _ string) { placed = append(placed, r.Placements...) }
	must(t, h.feed(engine.Append{Reserved: room, Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "c1", Content: []llm.Part{llm.Text{Text: filler(2_000, "out")}}},
	}}}))
	if len(placed) != 1 || placed[0].Shown != engine.ShownWhole || h.m.Reserved() != 0 {
		t.Errorf("R000-22 placed %+v, %d reserved, want the output whole and 0", placed, h.m.Reserved())
	}
}

// TestInputsWaitForAdvance: between Ready and Advance nothing changes a machine, so that
// nothing it has to say falls between two Readies.
func TestInputsWaitForAdvance(t *testing.T) {
	message := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Well?"}}}
	for _, in := range []engine.Input{
		engine.Append{Message: message},
		engine.Stored{CallID: "c"},
		engine.SetTools{Tools: []llm.Tool{{Name: "read"}}},
		engine.SetSections{Sections: []llm.Section{{Text: "Be brief."}}},
		engine.Prepare{},
		engine.Usage{Usage: llm.Usage{Input: 9}, Reported: true},
		engine.Rejected{Window: 100},
		engine.Reserve{Tokens: 100_000},
		engine.Reserve{Tokens: 10},
		engine.Release{Tokens: 300},
		engine.Answer{Ask: 1},
		engine.TurnEnd{},
		engine.Force{Reason: engine.ReasonMaxTurns},
		engine.Compact{},
		engine.Undo{},
		engine.SetPolicy{},
		engine.Fork{},
	} {
		t.Run(fmt.Sprintf("R000-23_%T_%+v", in, in), func(t *testing.T) {
			h := guarded(t, 43_000) // not even a handle has room beside it
			must(t, h.m.Feed(engine.TurnEnd{}))
			h.m.Ready()
			state := func() string {
				return fmt.Sprint(h.m.Guard(), h.m.Reserved(), h.m.CanExecute("read"), len(h.m.Messages()), len(h.m.Journal()), h.m.Policy().Name, h.m.Final(), h.m.Targets())
			}
			was := state()
			if err := h.m.Feed(in); err == nil || errors.Is(err, engine.ErrStopped) {
				t.Errorf("got %v, want Advance first", err)
			}
			h.m.Advance(engine.Outcome{})
			if now := state(); now != was || h.m.HasReady() {
				t.Errorf("was %s\nnow %s; to do: %v, want no change and nothing to do", was, now, h.m.HasReady())
			}
		})
	}
}

// TestGrantBesideAFailingBlob: the answer comes also where the store takes no blobs.
func TestGrantBesideAFailingBlob(t *testing.T) {
	h := guarded(t, 400)
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c1", Name: "read"}}}}))
	var got []engine.Grant
	h.ready = func(r engine.Ready, failed string) {
		if failed == "" {
			got = append(got, r.Grant)
		}
	}
	must(t, h.m.Feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "c1", Content: []llm.Part{llm.Text{Text: filler(13_000, "out")}}}, // above the size cap
	}}}))
	must(t, h.m.Feed(engine.Reserve{Tokens: 100}))
	h.failBlobs = 1
	must(t, h.drain())
	if h.failBlobs != 0 || !slices.Equal(got, []engine.Grant{engine.GrantHeld}) || h.m.Reserved() != 100 {
		t.Errorf("R000-22 answers %q, %d reserved, want one and 100", got, h.m.Reserved())
	}
}

// TestReservationEndsWithItsProcess: after a restart nobody would give it back.
func TestReservationEndsWithItsProcess(t *testing.T) {
	h := guarded(t, 400)
	prepared(t, h)
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c1", Name: "read"}}}}))
	before := h.m.Projected()
	reserved(t, h, 3_000)
	again, err := h.restored()
	must(t, err)
	if again.m.Reserved() != 0 || again.m.Projected() != before {
		t.Errorf("R000-22 %d reserved, %d projected after a restart, want 0 and %d", again.m.Reserved(), again.m.Projected(), before)
	}
}

// TestExceededIsNeverLost: however inputs, Readies and failing blobs alternate, that no
// more tools may run is in the records once all that was asked for is done (law 4).
func TestExceededIsNeverLost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := guarded(t, rapid.SampledFrom([]int{36_000, 43_000}).Draw(r, "said"))
		calls := 0
		act := func(in engine.Input) { _ = h.m.Feed(in) } // what is refused changes nothing
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			switch rapid.IntRange(0, 5).Draw(r, "step") {
			case 0, 1:
				act(engine.Reserve{Tokens: rapid.SampledFrom([]int{10, 900, 100_000}).Draw(r, "room")})
			case 2:
				act(engine.Release{Tokens: rapid.IntRange(0, h.m.Reserved()).Draw(r, "given back")})
			case 3:
				calls++
				act(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
					llm.ToolCall{CallID: fmt.Sprint("c", calls), Name: "read", Args: "{}"},
				}}})
			case 4:
				act(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
					llm.ToolResult{CallID: fmt.Sprint("c", calls), Content: []llm.Part{llm.Text{Text: filler(14_000, "out")}}},
				}}})
			case 5:
				h.failBlobs = rapid.IntRange(0, 1).Draw(r, "puts that fail")
				if h.m.HasReady() {
					ready := h.m.Ready()
					act(engine.Reserve{Tokens: 100_000}) // between the two
					must(r, h.carryOut(ready))
				}
			}
		}
		must(r, h.drain())
		s, err := h.snapshot(journal.Record{Kind: journal.KindTurnEnd})
		must(r, err)
		again, err := h.continued(engine.Restore{Snapshot: s})
		must(r, err)
		if live, restarted := h.m.CanExecute("read"), again.m.CanExecute("read"); live != restarted {
			r.Fatalf("R000-23: a tool may run: %v, after a restart %v", live, restarted)
		}
	})
}

// withRoom reserves for an output, now and then, and gives what it got to the output or
// back.
func (s *pair) withRoom(in engine.Input) engine.Input {
	if !s.maybe(20, "reserves") {
		return in
	}
	before, n := s.h.m.Reserved(), s.draw(3_000, "tokens")
	s.must(s.feed(engine.Reserve{Tokens: n}))
	if s.h.m.Reserved() == before {
		return in // there is no room
	}
	switch in := in.(type) {
	case engine.Append:
		if s.maybe(70, "used") {
			in.Reserved = n
			return in
		}
	case engine.Stored:
		in.Reserved = n
		return in
	}
	s.must(s.feed(engine.Release{Tokens: n}))
	return in
}
