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
