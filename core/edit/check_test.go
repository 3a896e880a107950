package edit_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// refs is what the edits of these tests say they stored.
func refs() []llm.Ref { return []llm.Ref{llm.RefOf([]byte("something"))} }

// orphans is law 3 the slow way: whether a view without the messages of span
// parts a call from its result, or takes away an open call.
func orphans(w *world, span edit.Span) bool {
	for pos, m := range w.messages {
		for n, p := range m.Parts {
			c, ok := p.(llm.ToolCall)
			if !ok {
				continue
			}
			r, answered := w.turns.ResultFor(pos, n)
			gone := span.Contains(m.ID)
			if answered && gone != span.Contains(llm.MessageID(r.Position)+1) || !answered && !c.Hosted && gone {
				return true
			}
		}
	}
	return false
}

func TestCheckRefusesEveryArchiveThatOrphans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(1, 15).Draw(t, "messages") {
			w.say(drawMessage(t, w))
		}
		for from := llm.MessageID(-1); from <= w.next()+1; from++ {
			for to := llm.MessageID(-1); to <= w.next()+1; to++ {
				span := edit.Span{From: from, To: to}
				err := edit.Check(edit.Edit{Op: edit.Archive, Span: span, Refs: refs()}, w.messages, &w.turns)
				var orphan *edit.OrphanError
				switch {
				case from < 1 || to > w.next() || from >= to:
					if err == nil || errors.As(err, &orphan) {
						t.Fatalf("[%d,%d) of %d messages: want an error about the span, got %v", from, to, len(w.messages), err)
					}
				case orphans(w, span):
					if !errors.As(err, &orphan) || orphan.Edit.Span != span || !strings.Contains(orphan.Error(), "inside a Round") {
						t.Fatalf("[%d,%d) orphans: want an *OrphanError, got %v", from, to, err)
					}
				case err != nil && !errors.As(err, &orphan):
					t.Fatalf("[%d,%d): %v", from, to, err)
				case err != nil && w.turns.CanCut(int(from)-1) && w.turns.CanCut(int(to)-1):
					t.Fatalf("[%d,%d) begins and ends at cuts: %v", from, to, err)
				}
			}
		}
	})
}

func TestCheckOfReplacements(t *testing.T) {
	w := newWorld(
		llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "look"}, llm.Media{Type: "image/png"}}},
		llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
			llm.Thinking{Text: "hm", Signature: "s"}, llm.ToolCall{CallID: "c1", Name: "read"}, llm.ToolCall{CallID: "c2", Name: "read"},
		}},
		llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "c1"}, llm.ToolResult{CallID: "c2"}}},
	)
	stub := llm.Stub{Ref: refs()[0], Text: "[stored]"}
	result := func(callID string) llm.Part {
		return llm.ToolResult{CallID: callID, Content: []llm.Part{stub}}
	}
	for _, tt := range []struct {
		name     string
		id       llm.MessageID
		part     int
		now      llm.Part
		to       llm.MessageID
		accepted bool
	}{
		{"a text", 1, 0, stub, 2, true},
		{"an image", 1, 1, stub, 2, true},
		{"a result", 3, 1, result("c2"), 4, true},
		{"a text by nothing", 1, 0, nil, 2, false},
		{"a part that is not there", 1, 2, stub, 2, false},
		{"a part before the first", 1, -1, stub, 2, false},
		{"a message that is not there", 4, 0, stub, 5, false},
		{"a message before the first", 0, 0, stub, 1, false},
		{"two messages", 1, 0, stub, 3, false},
		{"no message", 1, 0, stub, 1, false},
		{"law 6: thinking", 2, 0, llm.Thinking{Text: "changed", Signature: "s"}, 3, false},
		{"law 6: thinking by a stub", 2, 0, stub, 3, false},
		{"a call", 2, 1, llm.ToolCall{CallID: "c1", Name: "read", Args: "less"}, 3, false},
		{"law 3: a call by a stub", 2, 1, stub, 3, false},
		{"law 3: a result by a stub", 3, 0, stub, 4, false},
		{"law 3: a result by that of another call", 3, 0, result("c2"), 4, false},
		{"law 3: a result by nothing", 3, 0, nil, 4, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := edit.Edit{Op: edit.Replace, Span: edit.Span{From: tt.id, To: tt.to}, Part: tt.part, Replacement: tt.now, Refs: refs()}
			if err := edit.Check(e, w.messages, &w.turns); (err == nil) != tt.accepted {
				t.Errorf("accepted: want %v, got %v", tt.accepted, err)
			}
		})
	}
}

func TestCheckOfOthers(t *testing.T) {
	w := newWorld(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "look"}}})
	end := edit.Span{From: 2, To: 2}
	notes := []llm.Message{edit.NoteOf(llm.Text{Text: "mind"})}
	for _, tt := range []struct {
		name     string
		edit     edit.Edit
		accepted bool
	}{
		{"a note at the end", edit.Edit{Op: edit.Insert, Span: end, Notes: notes}, true},
		{"an insert of nothing", edit.Edit{Op: edit.Insert, Span: end}, false},
		{"a note beyond the end", edit.Edit{Op: edit.Insert, Span: edit.Span{From: 3, To: 3}, Notes: notes}, false},
		{"no operation", edit.Edit{Span: end, Notes: notes}, false},
		{"an unknown operation", edit.Edit{Op: "rewrite", Span: end, Notes: notes}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := edit.Check(tt.edit, w.messages, &w.turns); (err == nil) != tt.accepted {
				t.Errorf("accepted: want %v, got %v", tt.accepted, err)
			}
		})
	}
}

func TestFoldRefusesArchivesThatOverlap(t *testing.T) {
	w := newWorld()
	for range 4 {
		w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "words"}}})
	}
	first := edit.Edit{ID: 1, Op: edit.Archive, Span: edit.Span{From: 1, To: 4}, Refs: refs()}
	second := edit.Edit{ID: 2, Op: edit.Archive, Span: edit.Span{From: 3, To: 5}, Refs: refs()}
	v, err := w.view.Apply(first, w.messages)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Apply(second, w.messages); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("want an error about archives that overlap, got %v", err)
	}
	second.Supersedes = []edit.ID{1}
	v, err = v.Apply(second, w.messages)
	if err != nil || len(v.Items) != 2 || v.Items[1].Message.ID != 2 {
		t.Errorf("want messages 1 and 2 back, got %+v (%v)", v.Items, err)
	}
}
