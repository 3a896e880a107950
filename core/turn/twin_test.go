package turn_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// The twin answers every question by working it out from all messages again, in
// the plainest way. It shares no code and no idea with Index but the definitions
// of the package comment.

type twinCall struct {
	turn.Call
	hosted bool
	answer *turn.Result
}

type twin struct {
	messages []llm.Message
	calls    []*twinCall
	faults   map[int]int // message → unclean parts
}

func newTwin(messages []llm.Message) *twin {
	w := &twin{messages: messages, faults: map[int]int{}}
	for pos, m := range messages {
		for part, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				if !p.Hosted && w.newest(p.CallID, false) != nil {
					w.faults[pos]++
				}
				w.calls = append(w.calls, &twinCall{Call: turn.Call{Position: pos, Part: part, CallID: p.CallID, Name: p.Name}, hosted: p.Hosted})
			case llm.ToolResult:
				c := w.newest(p.CallID, false)
				if c == nil {
					c = w.newest(p.CallID, true)
				}
				if c == nil {
					w.faults[pos]++
					continue
				}
				c.answer = &turn.Result{Position: pos, Part: part, CallID: p.CallID}
			}
		}
	}
	return w
}

func (w *twin) newest(id string, hosted bool) *twinCall {
	for i := len(w.calls) - 1; i >= 0; i-- {
		if w.calls[i].CallID == id && w.calls[i].hosted == hosted && w.calls[i].answer == nil {
			return w.calls[i]
		}
	}
	return nil
}

func (w *twin) canCut(i int) bool {
	for _, c := range w.calls {
		if c.Position >= i {
			continue
		}
		if c.answer == nil && !c.hosted || c.answer != nil && c.answer.Position >= i {
			return false
		}
	}
	return i >= 0 && i <= len(w.messages)
}

func (w *twin) open() []turn.Call {
	var open []turn.Call
	for _, c := range w.calls {
		if c.answer == nil && !c.hosted {
			open = append(open, c.Call)
		}
	}
	return open
}

// rounds merges the reaches of all calls that share a position.
func (w *twin) rounds() []turn.Round {
	rounds := []turn.Round{}
	for _, c := range w.calls {
		end, open := c.Position+1, 0
		switch {
		case c.answer != nil:
			end = max(end, c.answer.Position+1)
		case !c.hosted:
			end, open = len(w.messages), 1
		}
		if n := len(rounds); n > 0 && c.Position < rounds[n-1].End {
			rounds[n-1].End = max(rounds[n-1].End, end)
			rounds[n-1].Open += open
			continue
		}
		rounds = append(rounds, turn.Round{Call: c.Position, End: end, Open: open})
	}
	return rounds
}

func (w *twin) boundaries() []int {
	var at []int
	for i, m := range w.messages {
		if m.Origin == llm.Human && w.canCut(i) {
			at = append(at, i)
		}
	}
	return at
}

func (w *twin) turns() []turn.Turn {
	var turns []turn.Turn
	if len(w.messages) == 0 {
		return nil
	}
	starts := []int{0}
	for i, b := range w.boundaries() {
		if i > 0 {
			starts = append(starts, b)
		}
	}
	for i, s := range starts {
		end := len(w.messages)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		turns = append(turns, turn.Turn{Start: s, End: end})
	}
	return turns
}

func drawMessages(t *rapid.T) []llm.Message {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Message {
		m := llm.Message{
			Role:   llm.Role(rapid.IntRange(1, 4).Draw(t, "role")),
			Origin: llm.Origin(rapid.IntRange(1, 4).Draw(t, "origin")),
		}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			id := rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "id")
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0, 1:
				m.Parts = append(m.Parts, llm.ToolCall{CallID: id, Name: "tool"})
			case 2:
				m.Parts = append(m.Parts, llm.ToolCall{CallID: id, Name: "search", Hosted: true})
			case 3, 4:
				m.Parts = append(m.Parts, llm.ToolResult{CallID: id})
			default:
				m.Parts = append(m.Parts, llm.Text{Text: "text"})
			}
		}
		return m
	}), 0, 14).Draw(t, "messages")
}

func TestIndexAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		var x turn.Index
		for i, m := range messages {
			checked := x.Check(m)
			err := x.Append(m)
			equal(t, fmt.Sprintf("Check of message %d", i), checked, err)
			w := newTwin(messages[:i+1])
			if got := faultsOf(t, err, i); got != w.faults[i] {
				t.Fatalf("message %d: Append reports %d faults, want %d (%v)", i, got, w.faults[i], err)
			}
			compare(t, &x, w)
		}
		compare(t, x.Clone(), newTwin(messages))
	})
}

func faultsOf(t *rapid.T, err error, position int) int {
	if err == nil {
		return 0
	}
	var orphan *turn.OrphanError
	if !errors.As(err, &orphan) || orphan.Position != position || orphan.Error() == "" {
		t.Fatalf("Append at %d: got %#v", position, err)
	}
	return 1 + orphan.More
}

func compare(t *rapid.T, x *turn.Index, w *twin) {
	n := len(w.messages)
	equal(t, "Len", x.Len(), n)
	equal(t, "OpenCalls", x.OpenCalls(), w.open())
	equal(t, "Rounds", x.Rounds(), w.rounds())
	equal(t, "Turns", x.Turns(), w.turns())
	for k := -1; k <= n+1; k++ {
		turns, rounds := n, n
		if all := w.turns(); k > 0 {
			turns = 0
			if k < len(all) {
				turns = all[len(all)-k].Start
			}
		}
		if all := w.rounds(); k > 0 {
			rounds = 0
			if k <= len(all) {
				rounds = all[len(all)-k].Call
			}
		}
		equal(t, fmt.Sprintf("LastTurns(%d)", k), x.LastTurns(k), turns)
		equal(t, fmt.Sprintf("LastRounds(%d)", k), x.LastRounds(k), rounds)
	}
	for i := -1; i <= n+1; i++ {
		equal(t, fmt.Sprintf("CanCut(%d)", i), x.CanCut(i), w.canCut(i))
		before, after := 0, -1
		for c := range n + 1 {
			if c <= i && w.canCut(c) {
				before = c
			}
			if c >= i && after < 0 && w.canCut(c) {
				after = c
			}
		}
		equal(t, fmt.Sprintf("CutBefore(%d)", i), x.CutBefore(i), before)
		equal(t, fmt.Sprintf("CutAfter(%d)", i), x.CutAfter(i), after)
		equal(t, fmt.Sprintf("SafeBoundary(%d)", i), x.SafeBoundary(i), twinBoundary(w, i))

		var want turn.Round
		found := false
		for _, r := range w.rounds() {
			if r.Call <= i && i < r.End {
				want, found = r, true
			}
		}
		got, ok := x.RoundAt(i)
		equal(t, fmt.Sprintf("RoundAt(%d)", i), ok, found)
		if found {
			equal(t, fmt.Sprintf("RoundAt(%d)", i), got, want)
		}
	}
	comparePairs(t, x, w)
}

func comparePairs(t *rapid.T, x *turn.Index, w *twin) {
	callOf := map[turn.Result]turn.Call{}
	latest := map[string]turn.Call{}
	for _, c := range w.calls {
		latest[c.CallID] = c.Call
		got, ok := x.ResultFor(c.Position, c.Part)
		equal(t, "ResultFor answered", ok, c.answer != nil)
		if c.answer != nil {
			equal(t, "ResultFor", got, *c.answer)
			callOf[*c.answer] = c.Call
		}
	}
	for _, id := range []string{"a", "b", "c", "", "never"} {
		got, ok := x.CallOf(id)
		want, known := latest[id]
		equal(t, "CallOf known", ok, known)
		equal(t, "CallOf", got, want)
	}
	for pos, m := range w.messages {
		for part := range len(m.Parts) + 1 {
			id := ""
			if part < len(m.Parts) {
				if r, ok := m.Parts[part].(llm.ToolResult); ok {
					id = r.CallID
				}
			}
			want, paired := callOf[turn.Result{Position: pos, Part: part, CallID: id}]
			got, ok := x.CallFor(pos, part)
			equal(t, "CallFor paired", ok, paired)
			equal(t, "CallFor", got, want)
		}
	}
}

// twinBoundary is the table of R003-6, row by row, and then law 3.
func twinBoundary(w *twin, near int) int {
	n := len(w.messages)
	boundaries := w.boundaries()
	want := near
	switch {
	case n == 0 || near <= 0:
		return 0
	case near >= n:
		want = n
	case len(boundaries) > 0:
		for _, b := range slices.Backward(boundaries) {
			if b <= near && b > 0 {
				return b
			}
		}
		for _, b := range boundaries {
			if b > near {
				return b
			}
		}
		return 0
	}
	for c := want; c > 0; c-- {
		if w.canCut(c) {
			return c
		}
	}
	for c := want; c <= n; c++ {
		if w.canCut(c) {
			return c
		}
	}
	return 0
}

func equal[T any](t *rapid.T, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Fatalf("%s: got %s, want %s", what, g, w)
	}
}
