package token_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/token"
)

func TestThinkingOfAFinishedTurn(t *testing.T) {
	for name, c := range map[string]struct {
		known bool
		over  int // of the first prompt after the Turn, were all thinking in it
		first int // expected to be gone at the first Turn
		next  int // at the second one, after 600 tokens more
	}{
		"known to go, and gone":      {true, 400, 400, 600},
		"known to go, but kept":      {true, 3, 400, 0},
		"not known, gone":            {false, 390, 0, 600},
		"not known, kept":            {false, 0, 0, 0},
		"not known, something else":  {false, 150, 0, 0},
		"known, the client did more": {true, 2000, 400, 0},
	} {
		t.Run(name, func(t *testing.T) {
			th := token.NewThinking(c.known)
			th.Reply(250)
			th.Observe(0)
			th.Reply(150)
			th.Turn()
			if got := th.Gone(); got != c.first {
				t.Errorf("gone at the first Turn: want %d, got %d", c.first, got)
			}
			th.Observe(c.over)
			th.Reply(600)
			th.Turn()
			if got := th.Gone(); got != c.next {
				t.Errorf("gone at the second Turn: want %d, got %d", c.next, got)
			}
		})
	}
}

func TestThinkingThatGoesAfterEachCall(t *testing.T) {
	var th token.Thinking
	for i, want := range []int{0, 0, 500, 500} {
		th.Reply(500)
		if got := th.Gone(); got != want {
			t.Errorf("call %d: want %d gone, got %d", i, want, got)
		}
		th.Observe(510)
	}
	th.Reply(500)
	th.Observe(0)
	th.Reply(500)
	if got := th.Gone(); got != 0 {
		t.Errorf("after it was kept once: want 0 gone, got %d", got)
	}
}

func TestLittleThinkingTeachesNothing(t *testing.T) {
	th := token.NewThinking(true)
	th.Reply(100)
	th.Turn()
	th.Observe(0)
	th.Reply(1000)
	th.Turn()
	if got := th.Gone(); got != 1000 {
		t.Errorf("want 1000 gone, got %d", got)
	}
}

// Thinking that is known to be lost with the next call is taken off the point from the first
// report on, never off the bound, until a provider shows that it keeps it.
func TestLosesThinking(t *testing.T) {
	c := token.NewCalibration(family(t, "gemini"))
	plain := token.NewCalibration(family(t, "gemini"))
	c.LosesThinking()
	a, g := token.Anchor{Prompt: 12_000, Output: 500}, token.Growth{Tokens: 20, Results: 1}
	c.Reply(400)
	plain.Reply(400)
	got, kept := c.After(a, g), plain.After(a, g)
	if got.Point != kept.Point-400 || got.Bound != kept.Bound {
		t.Errorf("%+v, want 400 less than %+v in the point alone", got, kept)
	}
	c.Observe(a, g, kept.Point)
	c.Reply(400)
	if got := c.After(a, g).Point; got != kept.Point {
		t.Errorf("after it was kept: %d, want %d", got, kept.Point)
	}
}
