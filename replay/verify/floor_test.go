package verify_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

func TestPieces(t *testing.T) {
	c, err := verify.NewCounter("pieces")
	if err != nil {
		t.Fatal(err)
	}
	for s, quarters := range map[string]int{
		"":                0,
		"word":            4,
		"wordle":          4,
		"wordles":         8,
		"Word":            4,
		"HTTP":            4,
		"camelCase":       8,
		"HTTPServer":      8, // HTTPS, erver
		"one two":         8,
		"one  two":        10,
		"one \t two":      10,
		"123":             5,
		"1234":            10,
		"...":             4,
		"....":            8,
		"a\nb":            11,
		"\n\n":            6,
		"日本":              8,
		"é":               5,
		"\xff\xff":        10,
		"x = f(\"y\");\n": 4 + 4 + 4 + 4 + 4 + 4 + 3, // x = f (" y "); and the line break
	} {
		got, err := c.Text(s)
		if want := (quarters + 3) / 4; err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", s, got, err, want)
		}
	}
}

func TestCounters(t *testing.T) {
	for name, tokens := range map[string]int{"o200k": 2, "cl100k": 2} {
		c, err := verify.NewCounter(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time from memory
			if got, err := c.Text("hello world"); err != nil || got != tokens {
				t.Errorf("%s: got %d, %v, want %d", name, got, err, tokens)
			}
		}
	}
	if _, err := verify.NewCounter("words"); err == nil {
		t.Error("words: got no error")
	}
}

func TestFloor(t *testing.T) {
	c, err := verify.NewCounter("pieces")
	if err != nil {
		t.Fatal(err)
	}
	size := func(texts ...string) int {
		n := 0
		for _, s := range texts {
			k, err := c.Text(s)
			if err != nil {
				t.Fatal(err)
			}
			n += k
		}
		return n
	}
	long := strings.Repeat("a long line of output\n", 40)
	turns := append(talk(), calls("c4", "c5"), result("c4", long), result("c5", "ok"))
	stub := "[{tool}: {bytes} bytes, {lines} lines, ref={ref}]"
	filled := "[look: 880 bytes, 41 lines, ref=" + refOf(long) + "]"
	each(t, func(t *testing.T, d string) {
		floor := func(turns []turn, pins ...verify.Pin) verify.Floor {
			t.Helper()
			f, err := verify.FloorOf(d, body(d, turns...), verify.FloorOptions{Counter: c, Pins: pins, Stub: stub})
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		args := size("look", `{"at":"c4"}`, "look", `{"at":"c5"}`)
		f := floor(turns)
		want := verify.Floor{
			System: size(systemText), Tools: size(toolJSON), NewestRound: args + size("ok") + size(filled),
			Messages: 3, Calls: 2, Results: 2, Bytes: f.Bytes,
		}
		if d == responses {
			want.Messages = 4 // every call is an item
		}
		if f != want {
			t.Fatalf("floor: got %+v, want %+v", f, want)
		}
		if whole := len(body(d, turns...)); f.Bytes < len(filled) || f.Bytes > whole-len(long) {
			t.Fatalf("bytes: got %d of %d", f.Bytes, whole)
		}
		if f.Total() != f.System+f.Tools+f.NewestRound {
			t.Fatalf("total: got %d", f.Total())
		}
		t.Run("pins", func(t *testing.T) {
			p := floor(turns, verify.Pin{Prefix: "where is"}, verify.Pin{Message: -1, Prefix: "thanks"})
			if got, want := p.Pins, size("where is the anchor?", "thanks"); got != want || p.NewestRound != f.NewestRound {
				t.Fatalf("pins: got %d, want %d", got, want)
			}
			first := 0
			if d == chat {
				first = 1 // after the system message
			}
			if got, want := floor(turns, verify.Pin{Message: first}).Pins, size("where is the anchor?"); got != want {
				t.Fatalf("pin by index: got %d, want %d", got, want)
			}
		})
		t.Run("nothing counts twice", func(t *testing.T) {
			last := append(append([]turn{}, turns[:10]...), turn{"assistant", []part{{kind: "text", text: "I look."}, {kind: "call", id: "c9", name: "look", text: "{}"}}}, result("c9", "ok"))
			if got := floor(last, verify.Pin{Prefix: "I look"}); d != responses && (got.Pins != 0 || got.NewestRound != size("I look.", "look", "{}", "ok")) {
				t.Fatalf("pin in the newest round: got %+v", got)
			} else if d == responses && got.Total() != size(systemText)+size(toolJSON)+size("I look.", "look", "{}", "ok") {
				t.Fatalf("pin in the newest round: got %+v", got)
			}
		})
		t.Run("nothing of the outputs counts but a line", func(t *testing.T) {
			more := append(append([]turn{}, turns...), human("go on"))
			if got := floor(more); got.NewestRound != f.NewestRound || got.Pins != 0 {
				t.Fatalf("floor: got %+v, want the round of before", got)
			}
		})
		t.Run("open calls", func(t *testing.T) {
			open := append([]turn{human("a"), calls("x1", "x2"), result("x1", "one")}, turns...)
			if got, want := floor(open).OpenCalls, size("look", `{"at":"x1"}`, "look", `{"at":"x2"}`); d == anthropic && got != want {
				t.Fatalf("open calls: got %d, want %d", got, want)
			} else if d == responses && got != size("look", `{"at":"x2"}`) {
				t.Fatalf("open calls: got %d, want the one item", got)
			}
		})
	})
	t.Run("no counter", func(t *testing.T) {
		if _, err := verify.FloorOf(chat, body(chat, talk()...), verify.FloorOptions{}); err == nil {
			t.Fatal("got no error")
		}
	})
}
