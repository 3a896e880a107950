package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// chat writes a chat of aider: what is said, and what a call and the session so far cost.
func chat(calls ...[3]string) string {
	var b strings.Builder
	b.WriteString("# aider chat started at 2026-04-02 09:00:00\n\n> Aider v0.48.1  \n> Main model: beam-2 with diff edit format  \n")
	for i, c := range calls {
		fmt.Fprintf(&b, "\n#### %s  \n\nReply %d.\n\n> Tokens: 1,000 sent, 20 received. Cost: $%s message, $%s session.  \n", c[0], i, c[1], c[2])
	}
	return b.String()
}

// TestStatedByAider: what aider says that a session cost is compared with its calls, and where
// the lines themselves show that they do not add up, the difference says at which.
func TestStatedByAider(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls [][3]string
		want  []string
	}{
		{"equal", [][3]string{{"Dredge.", "0.05", "0.05"}, {"/ask Why?", "0.02", "0.07"}, {"Go on.", "0.03", "0.10"}}, nil},
		{
			"what was paid before a question counts twice",
			[][3]string{{"Dredge.", "0.05", "0.05"}, {"/ask Why?", "0.02", "0.07"}, {"Go on.", "0.03", "0.15"}},
			[]string{
				"line 22: session cost: cost: 150000000000 stated, 100000000000 read: at line 22 aider adds again what was paid before line 12",
			},
		},
		{
			"a call without a line",
			[][3]string{{"Dredge.", "0.05", "0.05"}, {"Go on.", "0.03", "0.19"}},
			[]string{
				"line 16: session cost: cost: 190000000000 stated, 80000000000 read: at line 16 aider adds more than that call cost: " +
					"the file has no line of another one",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range readText(t, chat(c.calls...)).Check() {
				got = append(got, d.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("want the differences\n%q\ngot\n%q", c.want, got)
			}
		})
	}
}

// TestAiderStatesOnlyItsChats: what aider says that a session cost is about the chats up to that
// line. A chat behind it whose calls no line counts is in no such sum.
func TestAiderStatesOnlyItsChats(t *testing.T) {
	begun := "# aider chat started at 2026-04-02 10:00:00\n\n> Main model: beam-2 with diff edit format  \n\n#### Sound the bar.  \n\nTwo fathoms.\n\n"
	counted := chat([3]string{"Dredge.", "0.05", "0.05"})
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"at the end":    {counted + begun, []string{"0-1"}},
		"between":       {counted + begun + counted, []string{"0-1", "2-3"}},
		"before":        {begun + counted, []string{"1-2"}},
		"in the middle": {counted + begun + chat([3]string{"Go on.", "0.02", "0.07"}), []string{"0-3"}},
	} {
		var got []string
		for _, s := range readText(t, c.text).Stated {
			got = append(got, fmt.Sprintf("%d-%d", s.From, s.To))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: want the segments %v, got %v", name, c.want, got)
		}
	}
}
