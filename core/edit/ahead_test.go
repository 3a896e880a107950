package edit_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// change is a message more, a transform, or an undo.
func change(t *rapid.T, w *world) {
	var plan edit.Plan
	switch rapid.IntRange(0, 3).Draw(t, "change") {
	case 0, 1:
		w.say(drawMessage(t, w))
		return
	case 2:
		plan = drawPlan(t, w, drawScene(t, w))
	default:
		held := slices.DeleteFunc(w.holding(), func(e edit.Edit) bool { return e.Op == edit.Undo })
		if len(held) == 0 {
			return
		}
		e := rapid.SampledFrom(held).Draw(t, "undone")
		plan = edit.Plan{Edits: []edit.Edit{{Op: edit.Undo, Kind: edit.KindUndo, Span: e.Span, Supersedes: []edit.ID{e.ID}}}}
	}
	if err := w.adopt(plan); err != nil {
		t.Fatal(err)
	}
	if !plan.Empty() && plan.Edits[0].Op == edit.Undo {
		w.view, _ = edit.Fold(w.messages, edit.Holding(w.journal))
	}
}

// TestWrittenBeforehand: an archive that was written beforehand, whatever has happened since, is
// the one that would be written now, or is not taken (laws 2 and 4).
func TestWrittenBeforehand(t *testing.T) {
	taken, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(3, 30).Draw(t, "events") {
			if len(w.messages) < 3 {
				w.say(drawMessage(t, w))
				continue
			}
			change(t, w)
		}
		own := func(tool string) bool { return tool == "read" }
		scene := func() edit.Scene {
			s := w.scene("[{ref}]")
			s.Own = own
			return s
		}
		all := edit.Span{From: 1, To: w.next()}
		ahead := scene().Ahead(scene().Unpinned(all))
		for range rapid.IntRange(0, 6).Draw(t, "later") {
			change(t, w)
		}
		if rapid.IntRange(0, 5).Draw(t, "other tools") == 0 {
			own = func(tool string) bool { return tool == "bash" }
		}
		written := ahead.Write() // as it was then, although the conversation has gone on
		for _, span := range scene().Unpinned(all) {
			now, s := scene(), scene()
			s.Written = written
			want, got := now.Archive(span, edit.KindSummarise, nil, nil), s.Archive(span, edit.KindSummarise, nil, nil)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("laws 2 and 4: archived\n%+v\n%s\nwant\n%+v\n%s", got.Edits, got.Blobs[0].Data, want.Edits, want.Blobs[0].Data)
			}
			if slices.ContainsFunc(written, func(w edit.Written) bool { return &w.Blob.Data[0] == &got.Blobs[0].Data[0] }) {
				taken++
			} else {
				left++
			}
		}
	})
	if taken == 0 || left == 0 {
		t.Errorf("%d archives were taken as they were written, and %d were not: want both", taken, left)
	}
}

// TestWrittenOfAnother: what was written from other messages with the same numbers is not taken.
func TestWrittenOfAnother(t *testing.T) {
	of := func(text string) (*world, edit.Span) {
		w := newWorld(llm.UserText(text), llm.AssistantText("Yes."), llm.UserText("And?"))
		return w, edit.Span{From: 1, To: 3}
	}
	one, span := of("Is it so?")
	s := one.scene("")
	s.Written = s.Ahead([]edit.Span{span}).Write()
	taken := s.Archive(span, edit.KindSummarise, nil, nil).Blobs[0]
	if &taken.Data[0] != &s.Written[0].Blob.Data[0] {
		t.Error("it was written again")
	}
	other, _ := of("Was it so?")
	written := s.Written
	s = other.scene("")
	want := s.Archive(span, edit.KindSummarise, nil, nil)
	s.Written = written
	if got := s.Archive(span, edit.KindSummarise, nil, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("archived %s, want %s", got.Blobs[0].Data, want.Blobs[0].Data)
	}
}
