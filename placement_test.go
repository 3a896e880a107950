package plimsoll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// streamed is more than a session looks at as a whole.
const streamed = 5 << 20

// placing opens a session under a preset, in which a call waits for its output.
func placing(t *testing.T, name string) *plimsoll.Session {
	t.Helper()
	s := open(t, plimsoll.Options{
		Policy:  preset(t, name),
		Targets: []budget.Target{{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 100_000, OutputReserve: 1_000}}},
	})
	add(t, s, human("go"), calls("bash", 1))
	return s
}

// TestPlacementIsWhatTheModelSees is R000-13, R001-5 and R002-6 for outputs that are not
// held in memory: the policy's own figures hold, and what is said to be shown is what the
// next request shows, whatever the output begins with.
func TestPlacementIsWhatTheModelSees(t *testing.T) {
	for _, tt := range []struct {
		policy      string
		shown       plimsoll.Shown
		least, most int // bytes of the output that the model sees
	}{
		{"guard", plimsoll.ShownHandle, 0, 0},
		{"layered", plimsoll.ShownPart, 200, 200},
		{"cache-compact", plimsoll.ShownPart, 50_000, 51_200},
		{"balanced", plimsoll.ShownPart, 40_000, 80_000}, // a quarter of 90,808 tokens
		{"turn-budget", plimsoll.ShownPart, 2_000, 3_100},
	} {
		for _, first := range []string{"output\n", "zebra\n"} {
			t.Run("R000-13_"+tt.policy+"_"+strings.TrimSpace(first), func(t *testing.T) {
				s := placing(t, tt.policy)
				line := "all is well, and 2 and 2 make 4\n"
				text := first + strings.Repeat(line, streamed/len(line))
				p := result(t, s, "c1", text)
				want := plimsoll.Placement{Shown: tt.shown, Reason: plimsoll.ReasonSizeCap, Ref: llm.RefOf([]byte(text)), Bytes: int64(len(text)), Lines: int64(strings.Count(text, "\n"))}
				if diff := cmp.Diff(want, p); diff != "" {
					t.Errorf("- want, + got\n%s", diff)
				}
				sent := prepare(t, s).Messages()
				seen := sent[len(sent)-1].Results()[0].Text()
				of := strings.Count(seen, line)*len(line) + strings.Count(seen, first)*len(first)
				if of < tt.least-2*len(line) || of > tt.most || strings.Contains(seen, first) != (tt.shown == plimsoll.ShownPart) {
					t.Errorf("the model sees %d bytes of the output: %.300q", of, seen)
				}
			})
		}
	}
}

// TestLinesOfAnOutput is R000-21: how many lines an output has does not depend on how it is
// held, nor whether its last line ends.
func TestLinesOfAnOutput(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{strings.Repeat("x\n", 20_000), 20_000},
		{strings.Repeat("x\n", 20_000) + "y", 20_001},
		{strings.Repeat("x\n", 3<<20), 3 << 20},
		{strings.Repeat("x\n", 3<<20) + "y", 3<<20 + 1},
		{strings.Repeat("x", streamed), 1},
		{strings.Repeat("x", streamed) + "\n", 1},
		{strings.Repeat("\n", streamed), streamed},
	} {
		t.Run(fmt.Sprintf("R000-21_%d_bytes", len(tt.text)), func(t *testing.T) {
			s := placing(t, "guard")
			result(t, s, "c1", tt.text)
			if shown := outputs(s)[0]; !strings.Contains(shown, fmt.Sprintf(" %d lines,", tt.want)) {
				t.Errorf("the model sees %q, want %d lines", shown, tt.want)
			}
		})
	}
}
