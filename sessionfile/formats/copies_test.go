package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// taken writes a session of Claude Code with so many calls, which are those of every other
// session written so; its own id alone tells it from them.
func taken(id string, calls int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"user","uuid":"%[1]s-0","parentUuid":null,"sessionId":%[1]q,"message":{"role":"user","content":"Sound the bar."}}`+"\n", id)
	for n := range calls {
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"%[1]s-%[2]da","parentUuid":"%[1]s-%[2]d","sessionId":%[1]q,"requestId":"req_%[2]d","message":{"id":"msg_%[2]d","model":"beam-2","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Fathom %[2]d."}],"usage":{"input_tokens":%[3]d,"output_tokens":9}}}`+"\n", id, n, 1000+n)
		fmt.Fprintf(&b, `{"type":"user","uuid":"%[1]s-%[3]d","parentUuid":"%[1]s-%[2]da","sessionId":%[1]q,"message":{"role":"user","content":"And on."}}`+"\n", id, n, n+1)
	}
	return b.String()
}

// TestCopiesWithoutAMark: a session that begins with another's calls under its own id has
// only those that follow for its own.
func TestCopiesWithoutAMark(t *testing.T) {
	var copies sessionfile.Copies
	for _, c := range []struct {
		id             string
		calls, own, in int // calls of the file, of these its own, and their tokens
	}{
		{"elder", 3, 3, 3003},
		{"younger", 5, 2, 2007},
	} {
		s := readText(t, taken(c.id, c.calls))
		mark, own, in := copies.In(s.ID), 0, 0
		for _, segment := range s.Segments {
			for _, e := range mark(segment).Entries {
				if e.Step != nil && e.Step.Copied == "" {
					own++
					in += e.Step.Usage.Prompt()
				}
			}
		}
		if own != c.own || in != c.in {
			t.Errorf("%s: want %d calls of its own with %d tokens, got %d with %d", c.id, c.own, c.in, own, in)
		}
	}
}
