package edit_test

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// folded says what a view of so many messages under edits shows, message by message: the plain
// words of what Fold does.
func folded(messages int, edits []edit.Edit) (shown []string, torn bool) {
	for i, e := range edits {
		for _, a := range edits[:i] {
			torn = torn || e.Op == edit.Archive && a.Op == edit.Archive && a.Span.Overlaps(e.Span)
		}
	}
	end := llm.MessageID(messages) + 1
	for id := llm.MessageID(1); id <= end; id++ {
		for _, e := range edits {
			if e.Op == edit.Insert && e.Span.From == id {
				shown = append(shown, fmt.Sprintf("note %d before %d", e.ID, id))
			}
		}
		archived := false
		for _, e := range edits {
			if e.Op == edit.Archive && e.Span.From == id {
				shown = append(shown, fmt.Sprintf("note %d before %d", e.ID, id))
				id, archived = e.Span.To-1, true
				break
			}
		}
		if archived || id == end {
			continue
		}
		text := fmt.Sprintf("message %d", id)
		for _, e := range edits {
			if e.Op == edit.Replace && e.Span.From == id {
				text += fmt.Sprintf(" as of %d", e.ID)
			}
		}
		shown = append(shown, text)
	}
	return shown, torn
}

// TestFoldShowsEachOnce: a fold shows each message once, in the forms that its edits give it, and notes where
// they stand, however many edits there are and in whatever order they came.
func TestFoldShowsEachOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "messages")
		var msgs []llm.Message
		for i := range n {
			m := llm.UserText("x")
			m.ID = llm.MessageID(i + 1)
			msgs = append(msgs, m)
		}
		var edits []edit.Edit
		for i := range rapid.IntRange(0, 8).Draw(t, "edits") {
			e := edit.Edit{ID: edit.ID(i + 1), Notes: []llm.Message{edit.NoteOf(llm.Text{Text: "n"})}}
			from := rapid.IntRange(1, n+1).Draw(t, "from")
			switch op := rapid.SampledFrom([]edit.Op{edit.Insert, edit.Archive, edit.Replace}).Draw(t, "op"); {
			case op == edit.Insert || from > n:
				e.Op, e.Span = edit.Insert, edit.Span{From: llm.MessageID(from), To: llm.MessageID(from)}
			case op == edit.Archive:
				e.Op, e.Span = op, edit.Span{From: llm.MessageID(from), To: llm.MessageID(rapid.IntRange(from+1, n+1).Draw(t, "to"))}
			default:
				e.Op, e.Span, e.Notes, e.Replacement = op, edit.Span{From: llm.MessageID(from), To: llm.MessageID(from + 1)}, nil, llm.Stub{Text: "s"}
			}
			edits = append(edits, e)
		}
		want, torn := folded(n, edits)
		v, err := edit.Fold(msgs, edits)
		if torn || err != nil {
			if torn != (err != nil) {
				t.Fatalf("overlap: %v, got %v", torn, err)
			}
			return
		}
		var got []string
		for _, it := range v.Items {
			text := fmt.Sprintf("message %d", it.Message.ID)
			if it.IsNote() {
				text = fmt.Sprintf("note %d before %d", it.Edits[0], it.Before)
			} else {
				for _, id := range it.Edits {
					text += fmt.Sprintf(" as of %d", id)
				}
			}
			got = append(got, text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q, want %q, of %+v", got, want, edits)
		}
	})
}
