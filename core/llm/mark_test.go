package llm_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A list of marks that is shared is never written to, and a mark that is put anew on a piece
// does not shorten what is kept.
func TestMarks(t *testing.T) {
	on := func(p llm.Piece, at int, m llm.Mark) llm.Place { return llm.Place{On: p, At: at, Mark: m} }
	shared := make(llm.Marks, 0, 8)
	shared = shared.With(on(llm.OnTool, 1, llm.MarkLong)).With(on(llm.OnMessage, 1, llm.MarkShort))
	a := shared.With(on(llm.OnMessage, 2, llm.MarkShort))
	b := shared.With(on(llm.OnMessage, 3, llm.MarkShort))
	if a.On(llm.OnMessage, 2) != llm.MarkShort || b.On(llm.OnMessage, 2) != llm.NoMark || len(shared) != 2 {
		t.Errorf("got %v and %v of %v", a, b, shared)
	}
	if got := shared.With(on(llm.OnTool, 1, llm.MarkShort)).With(on(llm.OnMessage, 1, llm.MarkLong)); got.On(llm.OnTool, 1) != llm.MarkLong || got.On(llm.OnMessage, 1) != llm.MarkLong {
		t.Errorf("want both long, got %v", got)
	}
	if got := shared.With(on(llm.OnMessage, -1, llm.MarkLong)).With(on(llm.OnMessage, 5, llm.NoMark)); len(got) != 2 {
		t.Errorf("want no more than before, got %v", got)
	}
	if got := (llm.Marks{on(llm.OnSection, 0, llm.MarkLong), on(llm.OnSection, 0, llm.NoMark)}).On(llm.OnSection, 0); got != llm.NoMark {
		t.Errorf("want the last of two, got %v", got)
	}
}
