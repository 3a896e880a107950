package ollama

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
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

func mustDecode(t testing.TB, body string) llm.Request {
	t.Helper()
	r, err := DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
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
