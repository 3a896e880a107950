package journal_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// archives is a session of n Rounds, each of which goes into an archive that takes in the one
// before, so that it names all that there is in it.
func archives(n int) []journal.Record {
	records := []journal.Record{human(1)}
	var refs []llm.Ref
	for i := range n {
		at := llm.MessageID(2*i + 2)
		records = append(records, call(int(at)), result(int(at)+1))
		e := edit.Edit{
			ID: edit.ID(i + 1), Op: edit.Archive, Kind: edit.KindDrop, Span: edit.Span{From: 2, To: at + 2},
			Refs: []llm.Ref{llm.RefOf(fmt.Append(nil, "archive ", i))},
		}
		if i > 0 {
			e.Supersedes = []edit.ID{edit.ID(i)}
		}
		refs = append(slices.Concat(e.Refs, refs), llm.RefOf(fmt.Append(nil, "output ", i)))
		e.Refs = slices.Clone(refs)
		records = append(records, journal.Record{Kind: journal.KindEdit, Edit: e})
	}
	return records
}

// TestPageOfArchives: the Refs of an archive that went into a later one stand in the pages
// once, however the records are divided among them, and a restart has them all.
func TestPageOfArchives(t *testing.T) {
	lines := written(t, archives(200)...)
	want, err := journal.Collect(journal.Read(journal.Lines(lines)))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []int{7, 100, len(lines)} {
		var short [][]byte
		for part := range slices.Chunk(lines, page) {
			lean, err := journal.Shorten(part, want.Edits)
			if err != nil {
				t.Fatal(err)
			}
			short = append(short, lean...)
		}
		if n := len(slices.Concat(short...)); n > 400*len(lines) {
			t.Errorf("pages of %d records: %d bytes, want at most 400 for each of %d records", page, n, len(lines))
		}
		got, err := journal.Collect(journal.Whole(journal.Read(journal.Lines(short))))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("pages of %d records: got something else than from the records (%v)", page, err)
		}
		if _, err := journal.Collect(journal.Read(journal.Lines(short))); err == nil || !strings.Contains(err.Error(), "put together") {
			t.Errorf("pages of %d records, not made whole: want an error, got %v", page, err)
		}
	}
	alone, err := journal.Shorten(lines[len(lines)-30:], want.Edits)
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range journal.Whole(journal.Read(journal.Lines(alone))) {
		if err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "want an earlier edit") {
		t.Errorf("refs of an edit that is not there: want an error, got %v", err)
	}
}

// TestPageOfUnknownEdits: what is not known to have been in an earlier edit is written.
func TestPageOfUnknownEdits(t *testing.T) {
	lines := written(t, archives(9)...)
	short, err := journal.Shorten(lines, nil)
	if err != nil || !reflect.DeepEqual(short, lines) {
		t.Errorf("want the lines as they are, got others (%v)", err)
	}
	other := archives(9)
	for i := range other {
		other[i].Edit.Refs = slices.Clone(other[i].Edit.Refs)
		slices.Reverse(other[i].Edit.Refs)
	}
	from, err := journal.Collect(journal.Read(stored(other)))
	if err != nil {
		t.Fatal(err)
	}
	if short, err = journal.Shorten(lines, from.Edits); err != nil || !reflect.DeepEqual(short, lines) {
		t.Errorf("refs in another order: want the lines as they are, got others (%v)", err)
	}
}
