package edit_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// shelfOf draws a session of nothing but outputs: short and long ones, failed ones, with
// and without an image, alone and beside others, some in messages that are pinned.
func shelfOf(t *rapid.T) (w *world, pinned []llm.MessageID) {
	w = newWorld()
	for range rapid.IntRange(1, 12).Draw(t, "rounds") {
		ask := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
		say := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for n := range rapid.IntRange(1, 3).Draw(t, "parallel") {
			id := "c" + strconv.Itoa(n)
			r := llm.ToolResult{CallID: id, IsError: rapid.IntRange(0, 3).Draw(t, "failed") == 0}
			text := strings.Repeat("x", rapid.IntRange(0, 200).Draw(t, "length"))
			r.Content = []llm.Part{llm.Text{Text: text}}
			if rapid.IntRange(0, 4).Draw(t, "image") == 0 {
				r.Content = append(r.Content, drawMedia(t))
				r.Raw = llm.Raw{Data: []byte(fmt.Sprintf("a result with an image and %q", text))}
			}
			ask.Parts = append(ask.Parts, llm.ToolCall{CallID: id, Name: "read", Args: "{}"})
			say.Parts = append(say.Parts, r)
		}
		w.say(ask)
		w.say(say)
		if rapid.IntRange(0, 4).Draw(t, "pinned") == 0 {
			pinned = append(pinned, w.next()-1)
		}
	}
	return w, pinned
}

// TestTrim holds what the budget of all outputs promises, at any size of output and
// whatever was trimmed before: the oldest go first, failed and pinned ones last; only as
// many as have to; a placeholder is never longer than what it replaces, and stays as it
// is.
func TestTrim(t *testing.T) {
	t.Run("R001-6_R001-22_oldest_first_and_never_longer", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w, pinned := shelfOf(t)
			placeholders := map[place]string{}
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				s := w.scene("[tool output trimmed; ref={ref}]")
				s.Pinned = func(m llm.Message) bool { return slices.Contains(pinned, m.ID) }
				need := rapid.IntRange(1, total(w.view)+1).Draw(t, "need")
				p := s.Trim(need)
				trimmedInOrder(t, s, p, need)
				for _, e := range p.Edits {
					at := place{e.Span.From, e.Part}
					if placeholders[at] != "" {
						t.Fatalf("output %v was trimmed twice", at)
					}
					placeholders[at] = e.Replacement.(llm.ToolResult).Text()
				}
				if err := w.adopt(p); err != nil {
					t.Fatal(err)
				}
				if err := w.laws(); err != nil {
					t.Fatal(err)
				}
				s.View = w.view
				for at, text := range placeholders {
					if sp, ok := s.At(at.id, at.part); !ok || sp.Result.Text() != text {
						t.Fatalf("law 5: output %v shows %q, want %q", at, sp.Result.Text(), text)
					}
				}
			}
		})
	})
}

// trimmedInOrder walks all outputs in the order in which they are to go.
func trimmedInOrder(t *rapid.T, s edit.Scene, p edit.Plan, need int) {
	saved, next := 0, 0
	for class := range 3 {
		for _, sp := range s.Outputs() {
			is := 0
			if sp.Result.IsError {
				is = 1
			}
			if s.Pinned(s.Messages[sp.ID-1]) {
				is = 2
			}
			placeholder := len("[tool output trimmed; ref=]") + len(llm.RefOf(nil))
			if _, gone := edit.StubOf(sp.Result); is != class || gone || sp.Tokens <= placeholder {
				continue
			}
			if saved >= need {
				break
			}
			if next == len(p.Edits) {
				t.Fatalf("%d of %d tokens are saved, and output %d.%d stays", saved, need, sp.ID, sp.Part)
			}
			e := p.Edits[next]
			if e.Span.From != sp.ID || e.Part != sp.Part {
				t.Fatalf("edit %d trims output %d.%d, want %d.%d", next, e.Span.From, e.Part, sp.ID, sp.Part)
			}
			if e.After >= e.Before || e.After != placeholder {
				t.Fatalf("a placeholder of %d in place of %d", e.After, e.Before)
			}
			saved += e.Before - e.After
			next++
		}
	}
	if next != len(p.Edits) {
		t.Fatalf("%d outputs are trimmed, want %d", len(p.Edits), next)
	}
}

// TestClearIsNeverLonger is the same for the placeholders of old outputs.
func TestClearIsNeverLonger(t *testing.T) {
	t.Run("R002-11_never_longer", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w, _ := shelfOf(t)
			p := w.scene("[Content cleared. ref={ref}]").Clear(edit.ClearArgs{
				Permille: rapid.IntRange(1, 1000).Draw(t, "permille"), Errors: rapid.Bool().Draw(t, "errors"),
			})
			for _, e := range p.Edits {
				if e.After >= e.Before {
					t.Fatalf("a placeholder of %d in place of %d", e.After, e.Before)
				}
			}
			if err := w.adopt(p); err != nil {
				t.Fatal(err)
			}
			if err := w.laws(); err != nil {
				t.Fatal(err)
			}
		})
	})
}
