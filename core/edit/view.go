package edit

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// An Item is one message of a view.
type Item struct {
	Message llm.Message   // as it is shown; ID 0 for a note of an edit
	Before  llm.MessageID // for a note: the message that it stands before; else the message's own ID
	Edits   []ID          // the edits that made or changed it, none if it is as it came
}

// IsNote reports whether the item was made by an edit.
func (it Item) IsNote() bool { return it.Message.ID == 0 }

// A View is what is sent: messages and the sections that edits added to the
// system prompt. The zero View is empty. A copy of a View is not changed by later
// calls on the original; only one of the two may be appended to.
type View struct {
	Items    []Item
	Sections []llm.Section
	edits    []Edit // those that hold, in order of ID
}

// Append adds the next message of the transcript.
func (v *View) Append(m llm.Message) {
	v.Items = append(v.Items, Item{Message: m, Before: m.ID})
}

// Edits returns the edits that hold, oldest first. The caller must not change them.
func (v *View) Edits() []Edit { return v.edits }

// at returns the items that stand at the messages of span: Items[from:to].
func (v View) at(span Span) (from, to int) {
	before := func(id llm.MessageID) int {
		return sort.Search(len(v.Items), func(i int) bool { return v.Items[i].Before >= id })
	}
	return before(span.From), before(span.To)
}

// Within returns the messages of span as they are shown, and the notes that stand before
// one of them.
func (v View) Within(span Span) []llm.Message {
	from, to := v.at(span)
	if from >= to {
		return nil
	}
	out := make([]llm.Message, 0, to-from)
	for _, it := range v.Items[from:to] {
		out = append(out, it.Message)
	}
	return out
}

// Apply returns the view after e. It does not look at the rules; see [Check].
// It costs O(items); edits are rare.
func (v View) Apply(e Edit, msgs []llm.Message) (View, error) {
	edits := slices.DeleteFunc(slices.Clone(v.edits), func(old Edit) bool { return slices.Contains(e.Supersedes, old.ID) })
	if e.Op == Insert && len(e.Supersedes) == 0 && len(e.Sections) == 0 && int(e.Span.From) == len(msgs)+1 {
		return v.insertLast(e, append(edits, e)), nil
	}
	if v.ReplacesLast(e) {
		return v.replaceLast(e, append(edits, e), msgs), nil
	}
	return Fold(msgs, append(edits, e))
}

// insertLast appends the notes of e; the common case, which leaves every
// earlier item alone.
func (v View) insertLast(e Edit, edits []Edit) View {
	items := slices.Clip(v.Items)
	for _, n := range e.Notes {
		items = append(items, Item{Message: n, Before: e.Span.From, Edits: []ID{e.ID}})
	}
	return View{Items: items, Sections: v.Sections, edits: edits}
}

// ReplacesLast reports whether all that e changes is the newest message, which v shows
// last: as a rule an output that has just come.
func (v View) ReplacesLast(e Edit) bool {
	n := len(v.Items)
	return e.Op == Replace && len(e.Supersedes) == 0 && len(e.Sections) == 0 && n > 0 && v.Items[n-1].Message.ID == e.Span.From
}

// replaceLast shows e in the last item and leaves every other one alone.
func (v View) replaceLast(e Edit, edits []Edit, msgs []llm.Message) View {
	items := slices.Clone(v.Items)
	var own []*Edit
	for i := range edits {
		if o := &edits[i]; o.Op == Replace && o.Span.From == e.Span.From {
			own = append(own, o)
		}
	}
	items[len(items)-1] = show(msgs[e.Span.From-1], own)
	return View{Items: items, Sections: v.Sections, edits: edits}
}

// Fold returns the view of msgs under edits, of which superseded ones have been
// removed. msgs[i].ID is i+1.
func Fold(msgs []llm.Message, edits []Edit) (View, error) {
	f, err := folding(edits)
	if err != nil {
		return View{}, err
	}
	n := f.items(len(msgs))
	v := View{edits: slices.Clone(edits), Items: make([]Item, 0, n+n/spare)}
	end := llm.MessageID(len(msgs)) + 1
	for id := llm.MessageID(1); id <= end; {
		for _, e := range f.inserts.at(id) {
			v.notes(e, id)
		}
		if all := f.archives.at(id); len(all) > 0 && all[len(all)-1].Span.To > id {
			v.notes(all[len(all)-1], id)
			id = all[len(all)-1].Span.To
			continue
		}
		if id < end {
			v.Items = append(v.Items, show(msgs[id-1], f.replaces.at(id)))
		}
		id++
		for next := f.next(end); id < next; id++ {
			v.Append(msgs[id-1])
		}
	}
	for _, last := range []bool{false, true} {
		for _, e := range edits {
			if (e.Op == Insert) == last {
				v.Sections = append(v.Sections, e.Sections...)
			}
		}
	}
	return v, nil
}

// spare is the part of a view for which more has room in it, before it has to be copied to grow.
const spare = 8

func (v *View) notes(e *Edit, before llm.MessageID) {
	for _, n := range e.Notes {
		v.Items = append(v.Items, Item{Message: n, Before: before, Edits: []ID{e.ID}})
	}
}

// folded are the edits of a view by their places, those of one place in the order of their IDs.
type folded struct{ inserts, archives, replaces places }

// places are edits that stand at one message after the other.
type places []*Edit

// at takes those at message id off the beginning, with all before it.
func (p *places) at(id llm.MessageID) []*Edit {
	for len(*p) > 0 && (*p)[0].Span.From < id {
		*p = (*p)[1:]
	}
	n := 0
	for n < len(*p) && (*p)[n].Span.From == id {
		n++
	}
	here := (*p)[:n]
	*p = (*p)[n:]
	return here
}

// next returns the first message at which an edit stands that was not taken off; end if none does before it.
func (f *folded) next(end llm.MessageID) llm.MessageID {
	next := end
	for _, p := range []places{f.inserts, f.archives, f.replaces} {
		if len(p) > 0 {
			next = min(next, p[0].Span.From)
		}
	}
	return next
}

// items returns how many items a view of so many messages has at most.
func (f *folded) items(messages int) int {
	notes, gone := 0, 0
	for _, e := range f.inserts {
		notes += len(e.Notes)
	}
	for _, e := range f.archives {
		notes += len(e.Notes)
		gone += max(int(min(e.Span.To, llm.MessageID(messages)+1)-max(e.Span.From, 1)), 0)
	}
	return max(messages-gone, 0) + notes
}

func folding(edits []Edit) (*folded, error) {
	f := &folded{}
	for i := range edits {
		switch e := &edits[i]; e.Op {
		case Insert:
			f.inserts = append(f.inserts, e)
		case Replace:
			f.replaces = append(f.replaces, e)
		case Archive:
			f.archives = append(f.archives, e)
		}
	}
	made := slices.Clone(f.archives)
	for _, p := range []places{f.inserts, f.archives, f.replaces} {
		slices.SortStableFunc(p, func(a, b *Edit) int { return cmp.Compare(a.Span.From, b.Span.From) })
	}
	end := llm.MessageID(0)
	for _, e := range f.archives {
		if e.Span.From < end {
			return f, overlap(made)
		}
		end = max(end, e.Span.To)
	}
	return f, nil
}

// overlap says which archive is the first that overlaps one made before it.
func overlap(archives []*Edit) error {
	for i, e := range archives {
		for _, a := range archives[:i] {
			if a.Span.Overlaps(e.Span) {
				return fmt.Errorf("edit: fold: archives %d [%d,%d) and %d [%d,%d) overlap, want the later one to supersede the other",
					a.ID, a.Span.From, a.Span.To, e.ID, e.Span.From, e.Span.To)
			}
		}
	}
	return nil
}

// show returns m with its replacements. Later edits of one part win.
func show(m llm.Message, edits []*Edit) Item {
	it := Item{Message: m, Before: m.ID}
	if len(edits) == 0 {
		return it
	}
	parts := slices.Clone(m.Parts)
	for _, e := range edits {
		if e.Part < 0 || e.Part >= len(parts) {
			continue // [Check] refuses it
		}
		parts[e.Part] = onto(m.Parts[e.Part], e.Replacement)
		it.Edits = append(it.Edits, e.ID)
	}
	it.Message = m.WithParts(parts)
	return it
}

// onto gives a replacement the bytes of the part that it replaces, for a codec to
// write the new content into.
func onto(old, now llm.Part) llm.Part {
	base := llm.Raw{Data: old.Bytes()}.Edited()
	switch now := now.(type) {
	case llm.ToolResult:
		if _, same := old.(llm.ToolResult); same && now.Data == nil {
			now.Raw = base
			return now
		}
	case llm.Text:
		if _, same := old.(llm.Text); same && now.Data == nil {
			now.Raw = base
			return now
		}
	}
	return now
}

// WithoutThinking returns m without its thinking. Where nothing else is in it, it stays as
// it is: a message has to say something.
func WithoutThinking(m llm.Message) llm.Message {
	parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p llm.Part) bool {
		_, thinks := p.(llm.Thinking)
		return thinks
	})
	if len(parts) == 0 || len(parts) == len(m.Parts) {
		return m
	}
	return m.WithParts(parts)
}

// WithoutCompactions returns items without the summaries of a provider in those messages. A message
// that was nothing else goes with it.
func WithoutCompactions(items []Item, of []llm.MessageID) []Item {
	if len(of) == 0 {
		return items
	}
	out := make([]Item, 0, len(items))
	for _, it := range items {
		some := true
		if slices.Contains(of, it.Message.ID) {
			it.Message, some = llm.WithoutCompaction(it.Message)
		}
		if some {
			out = append(out, it)
		}
	}
	return out
}
