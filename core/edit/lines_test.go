package edit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestLinesAreThoseShown: what is known of lines depends on the outputs that are shown, not
// on which were shown before. So a machine that reads them anew after a restart finds the
// same repeats as the one that saw them come and go.
func TestLinesAreThoseShown(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	text := func() string {
		var b strings.Builder
		from := r.IntN(12)
		for line := range 4 + r.IntN(8) {
			fmt.Fprintf(&b, "line %d of a file that many outputs show in part\n", from+line)
		}
		return b.String()
	}
	for range 200 {
		live, shown := edit.NewLines(4), map[int]string{}
		for id := 1; id <= 12; id++ {
			shown[id] = text()
			live.Add(llm.MessageID(id), 0, shown[id])
			if gone := 1 + r.IntN(id); r.IntN(2) == 0 {
				live.Forget(llm.MessageID(gone), 0)
				delete(shown, gone)
			}
		}
		anew := edit.NewLines(4)
		for id := 1; id <= 12; id++ {
			if s, ok := shown[id]; ok {
				anew.Add(llm.MessageID(id), 0, s)
			}
		}
		probe := text()
		if a, b := edit.RunsOf(live, probe), edit.RunsOf(anew, probe); a != b {
			t.Fatalf("runs, live %s, anew %s", a, b)
		}
	}
}
