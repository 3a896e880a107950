package edit_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// takesOut is an edit that takes something out, in place of others.
func takesOut(id edit.ID, supersedes ...edit.ID) edit.Edit {
	return edit.Edit{ID: id, Op: edit.Archive, Supersedes: supersedes}
}

// takesBack is one that takes others back.
func takesBack(id edit.ID, old ...edit.ID) edit.Edit {
	return edit.Edit{ID: id, Op: edit.Undo, Supersedes: old}
}

func idsOf(journal []edit.Edit) []edit.ID {
	var out []edit.ID
	for _, e := range journal {
		out = append(out, e.ID)
	}
	return out
}

func TestHolding(t *testing.T) {
	for _, c := range []struct {
		name    string
		journal []edit.Edit
		want    []edit.ID
	}{
		{"law 5: nothing", nil, nil},
		{"law 5: each beside the other", []edit.Edit{takesOut(1), takesOut(2)}, []edit.ID{1, 2}},
		{"law 5: a later one in place of two", []edit.Edit{takesOut(1), takesOut(2), takesOut(3), takesOut(4, 1, 2)}, []edit.ID{3, 4}},
		{"law 5: in place of one that had the place of another", []edit.Edit{takesOut(1), takesOut(2, 1), takesOut(3, 2)}, []edit.ID{3}},
		{"law 2: taken back", []edit.Edit{takesOut(1), takesBack(2, 1)}, []edit.ID{2}},
		{"law 5: what it had superseded holds again", []edit.Edit{takesOut(1), takesOut(2), takesOut(3, 1, 2), takesBack(4, 3)}, []edit.ID{1, 2, 4}},
		{"law 5: but not what that had superseded", []edit.Edit{takesOut(1), takesOut(2, 1), takesOut(3, 2), takesBack(4, 3)}, []edit.ID{2, 4}},
		{"law 5: one step after the other", []edit.Edit{takesOut(1), takesOut(2, 1), takesBack(3, 2), takesBack(4, 1)}, []edit.ID{3, 4}},
		{"law 5: two together", []edit.Edit{takesOut(1), takesOut(2), takesOut(3, 1), takesBack(4, 2, 3)}, []edit.ID{1, 4}},
		{"law 5: done once more", []edit.Edit{takesOut(1), takesOut(2, 1), takesBack(3, 2), takesOut(4, 1)}, []edit.ID{3, 4}},
		{"law 5: the undo is superseded, as by an archive of all", []edit.Edit{takesOut(1), takesOut(2, 1), takesBack(3, 2), takesOut(4, 1, 3)}, []edit.ID{4}},
		{"law 5: and that is taken back", []edit.Edit{takesOut(1), takesOut(2, 1), takesBack(3, 2), takesOut(4, 1, 3), takesBack(5, 4)}, []edit.ID{1, 3, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := slices.Clone(c.journal)
			if got := idsOf(edit.Holding(given)); !slices.Equal(got, c.want) {
				t.Errorf("holding %v, want %v", got, c.want)
			}
			if !slices.Equal(idsOf(given), idsOf(c.journal)) {
				t.Error("the journal was changed")
			}
		})
	}
}

// TestHoldingProperty: what is taken back has not been done (law 5).
func TestHoldingProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var journal []edit.Edit
		for id := edit.ID(1); id <= edit.ID(rapid.IntRange(0, 12).Draw(t, "edits")); id++ {
			holding := edit.Holding(journal)
			some := idsOf(holding)
			some = slices.DeleteFunc(some, func(edit.ID) bool { return rapid.Bool().Draw(t, "leave") })
			if len(some) > 0 && rapid.Bool().Draw(t, "back") {
				some = slices.DeleteFunc(some, func(old edit.ID) bool { return journal[old-1].Op == edit.Undo })
				without := slices.DeleteFunc(slices.Clone(journal), func(e edit.Edit) bool { return slices.Contains(some, e.ID) })
				journal = append(journal, takesBack(id, some...))
				want := append(idsOf(edit.Holding(without)), id)
				if got := idsOf(edit.Holding(journal)); !slices.Equal(got, want) {
					t.Fatalf("%v taken back: holding %v, want %v as if they had not been made", some, got, want)
				}
				continue
			}
			want := slices.DeleteFunc(idsOf(holding), func(old edit.ID) bool { return slices.Contains(some, old) })
			journal = append(journal, takesOut(id, some...))
			if got := idsOf(edit.Holding(journal)); !slices.Equal(got, append(want, id)) {
				t.Fatalf("edit %d in place of %v: holding %v, want %v and itself", id, some, got, want)
			}
		}
	})
}
