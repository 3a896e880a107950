package meter

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A form names one form of one message: of the transcript by its ID and every edit that
// shapes it, since each result of a message has its own, of a note by its edit and its
// place among the notes of that edit. So two forms never share a size.
type form struct {
	id   llm.MessageID
	edit edit.ID // the first of them
	more string  // the others, in order
	note int
}

// formOf returns the form of an item that is the n-th note of its edit, or a message.
func formOf(it edit.Item, n int) form {
	f := form{id: it.Message.ID}
	if it.IsNote() {
		f.note = n
	}
	if len(it.Edits) > 0 {
		f.edit = it.Edits[0]
		var more []byte
		for _, e := range it.Edits[1:] {
			more = binary.AppendUvarint(more, uint64(e))
		}
		f.more = string(more)
	}
	return f
}

// A placed item is one of a view, which never changes, with its place among the notes of
// its edit.
type placed struct {
	*edit.Item
	note int
}

func (p placed) form() form { return formOf(*p.Item, p.note) }

// place goes through items with their places. The notes of one edit stand together.
func place(items []edit.Item) iter.Seq[placed] {
	return func(yield func(placed) bool) {
		n := 0
		for i := range items {
			it := &items[i]
			if i > 0 && it.IsNote() && items[i-1].IsNote() && it.Edits[0] == items[i-1].Edits[0] {
				n++
			} else {
				n = 0
			}
			if !yield(placed{it, n}) {
				return
			}
		}
	}
}

// A Change is what two views differ in. Make one with [Compare].
type Change struct {
	gone, came []placed
	now        []edit.Item // all that the newer view has
}

// Compare returns what there is in only one of two views. Edits are those that made now
// of old, if they are known: the common ones change only the end.
func Compare(old, now edit.View, edits ...edit.Edit) Change {
	if len(edits) == 1 {
		if e, n := edits[0], len(old.Items); old.ReplacesLast(e) {
			return Change{slices.Collect(place(old.Items[n-1:])), slices.Collect(place(now.Items[n-1:])), now.Items}
		} else if e.Op == edit.Insert && len(e.Supersedes) == 0 && len(now.Items) == n+len(e.Notes) && made(now.Items[n:], e.ID) {
			return Change{came: slices.Collect(place(now.Items[n:])), now: now.Items}
		}
	}
	c := between(apart(old.Items, now.Items))
	c.now = now.Items
	return c
}

// made reports whether all items are notes of an edit.
func made(items []edit.Item, by edit.ID) bool {
	return !slices.ContainsFunc(items, func(it edit.Item) bool { return !it.IsNote() || it.Edits[0] != by })
}

// same reports whether two items are one message in one form, or notes of one edit.
func same(a, b edit.Item) bool {
	return a.Message.ID == b.Message.ID && a.Before == b.Before && slices.Equal(a.Edits, b.Edits)
}

// apart returns what two views have without the items that both begin with, and those
// that both end with. The notes of one edit are in a view together or not at all, so
// that they are not torn apart.
func apart(a, b []edit.Item) (inA, inB []edit.Item) {
	for len(a) > 0 && len(b) > 0 && same(a[0], b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && same(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// between returns what is in only one of two lists. Both are in the order of the
// messages that their items are, or stand before.
func between(a, b []edit.Item) Change {
	old, now := slices.AppendSeq(make([]placed, 0, len(a)), place(a)), slices.AppendSeq(make([]placed, 0, len(b)), place(b))
	c := Change{gone: make([]placed, 0, len(a)), came: make([]placed, 0, len(b))}
	for len(old) > 0 || len(now) > 0 {
		var at llm.MessageID
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Before < now[0].Before:
			at = old[0].Before
		default:
			at = now[0].Before
		}
		was, is := run(&old, at), run(&now, at)
		c.gone, c.came = without(c.gone, was, is), without(c.came, is, was)
	}
	return c
}

// run takes a message, with what stands before it, off the beginning of a list.
func run(list *[]placed, at llm.MessageID) []placed {
	n := 0
	for n < len(*list) && (*list)[n].Before == at {
		n++
	}
	taken := (*list)[:n]
	*list = (*list)[n:]
	return taken
}

// without appends to list what is in a and not in b.
func without(list, a, b []placed) []placed {
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y placed) bool { return x.note == y.note && same(*x.Item, *y.Item) }) {
			list = append(list, x)
		}
	}
	return list
}
