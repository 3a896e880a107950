package gemini

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
)

// diff compares parts, messages or events without the bytes they came with.
func diff(want, got any) string {
	noRaw := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Raw" }, cmp.Ignore())
	return cmp.Diff(want, got, noRaw)
}

func rawOf(s string) llm.Raw { return llm.Raw{Data: []byte(s)} }

// with returns m with part i changed by edit.
func with(m llm.Message, i int, edit func(llm.Part) llm.Part) llm.Message {
	parts := append([]llm.Part(nil), m.Parts...)
	parts[i] = edit(parts[i])
	return m.WithParts(parts)
}

func stubbed(p llm.Part) llm.Part {
	return p.(llm.ToolResult).WithContent(llm.Stub{Ref: "r", Text: "see <r>"})
}

func retold(text string) func(llm.Part) llm.Part {
	return func(p llm.Part) llm.Part { return llm.Text{Text: text, Raw: p.(llm.Text).Edited()} }
}

func rearmed(args string) func(llm.Part) llm.Part {
	return func(p llm.Part) llm.Part {
		c := p.(llm.ToolCall)
		c.Args, c.Raw = args, c.Edited()
		return c
	}
}

// corpus returns the recorded calls of this dialect.
func corpus(t *testing.T) []recording.Exchange {
	t.Helper()
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set")
	}
	all, err := recording.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	var own []recording.Exchange
	for _, x := range all {
		if x.Dialect == Dialect {
			own = append(own, x)
		}
	}
	if len(own) == 0 {
		t.Fatal("corpus: want calls of this dialect, got none")
	}
	return own
}

// feed decodes a stream that arrives in pieces that end at cuts.
func feed(stream []byte, cuts ...int) ([]llm.Event, error) {
	d := newDecoder()
	var events []llm.Event
	add := func(more []llm.Event) {
		for _, e := range more {
			e.Raw = nil
			events = append(events, e)
		}
	}
	done := 0
	for _, cut := range append(cuts, len(stream)) {
		more, err := d.Feed(stream[done:cut])
		add(more)
		if err != nil {
			return events, err
		}
		done = cut
	}
	more, err := d.Close()
	add(more)
	return events, err
}

// encoded writes events as a stream.
func encoded(t testing.TB, events []llm.Event) []byte {
	t.Helper()
	n := &encoder{}
	var out []byte
	for _, e := range events {
		var err error
		if out, err = n.Append(out, e); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
