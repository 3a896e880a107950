package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func rejected(target string, window, bytes int) journal.Record {
	return journal.Record{Kind: journal.KindRejected, Rejected: journal.Rejected{Target: target, Window: window, Bytes: bytes}}
}

// undoes takes edits back.
func undoes(id, from, to int, old ...edit.ID) journal.Record {
	return journal.Record{Kind: journal.KindEdit, Edit: edit.Edit{
		ID: edit.ID(id), Op: edit.Undo, Kind: edit.KindUndo, Span: edit.Span{From: llm.MessageID(from), To: llm.MessageID(to)}, Supersedes: old,
	}}
}

func must(t *testing.T, records ...journal.Record) journal.Snapshot {
	t.Helper()
	s, err := collect(records...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCollectRejected: what refusals said is about a target, not about messages, so that
// a fork before them knows it too; but not what the refused request had.
func TestCollectRejected(t *testing.T) {
	used := rejected("a", 30_000, 0)
	used.Rejected.Used = 31_000
	got := must(t, human(1), call(2), used, rejected("b", 0, 700), forked(1))
	want := []journal.Record{human(1), rejected("a", 30_000, 0), rejected("b", 0, 700), forked(1)}
	if diff := cmp.Diff(want, got.Tail); diff != "" {
		t.Errorf("law 4: - want, + got\n%s", diff)
	}
}

// TestCollectKeepsSuperseded: all edits are in a snapshot, so that what a later one takes
// back can hold again, also in a fork (law 5).
func TestCollectKeepsSuperseded(t *testing.T) {
	records := []journal.Record{
		human(1), call(2), result(3), replace(1, 3, 0), human(4), archive(2, 1, 4, 1), undoes(3, 1, 4, 2),
	}
	s := must(t, records...)
	if diff := cmp.Diff([]edit.ID{1, 2, 3}, ids(s.Edits)); diff != "" {
		t.Errorf("law 2: edits, - want, + got\n%s", diff)
	}
	if diff := cmp.Diff([]edit.ID{1, 3}, ids(edit.Holding(s.Edits))); diff != "" {
		t.Errorf("law 5: in force, - want, + got\n%s", diff)
	}
	view, err := edit.Fold(s.Messages, edit.Holding(s.Edits))
	if err != nil {
		t.Fatal(err)
	}
	if got := view.Items[2].Message.Results()[0].Text(); got != "[stored]" {
		t.Errorf("law 5: the output is %q, want the line that stood there before the archive", got)
	}
	fork := must(t, append(records, forked(3))...)
	if diff := cmp.Diff(ids(s.Edits), ids(fork.Edits)); diff != "" {
		t.Errorf("law 5: edits, - parent, + fork at the end of them\n%s", diff)
	}
	earlier := must(t, append(records, forked(2))...)
	if len(earlier.Edits) != 0 || earlier.LastEdit != 3 {
		t.Errorf("law 5: a fork before them has %d edits, the last number used is %d, want none and 3", len(earlier.Edits), earlier.LastEdit)
	}
}

func ids(edits []edit.Edit) []edit.ID {
	var out []edit.ID
	for _, e := range edits {
		out = append(out, e.ID)
	}
	return out
}
