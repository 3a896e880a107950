package meter

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A Border is where a prompt ended.
type Border struct {
	Messages int     `json:"messages,omitempty"` // of the transcript that came before
	Edit     edit.ID `json:"edit,omitempty"`     // the last edit that it knew
}

// next returns the first message that was not in the prompt.
func (b Border) next() llm.MessageID { return llm.MessageID(b.Messages) + 1 }

// View returns the view that the prompt was made of, of a transcript and all its edits.
func (b Border) View(messages []llm.Message, journal []edit.Edit) (edit.View, error) {
	if b.Messages < 0 || b.Messages > len(messages) {
		return edit.View{}, fmt.Errorf("meter: view at a border: messages before it, want 0 to %d, got %d", len(messages), b.Messages)
	}
	n, _ := slices.BinarySearchFunc(journal, b.Edit+1, func(e edit.Edit, id edit.ID) int { return int(e.ID - id) })
	return edit.Fold(messages[:b.Messages], edit.Holding(journal[:n]))
}

// growth is what became of a prompt: how the view that it was made of differs from the
// one that there is.
type growth struct {
	Border
	reply    llm.MessageID // the reply that the anchor counts with the prompt; 0: none
	was      front         // what stood before its messages
	base     token.Size    // its messages, and that reply
	removed  lot           // of them
	inserted lot           // between them
}

// behind reports whether an item came after the prompt. What stands where it ended was
// in it if it knew the edit.
func (g *growth) behind(it edit.Item) bool {
	switch {
	case it.IsNote() && it.Before == g.next():
		return it.Edits[0] > g.Edit
	case it.IsNote():
		return it.Before > g.next()
	}
	return it.Message.ID >= g.next() && it.Message.ID != g.reply
}

func (g *growth) gone(it placed, size token.Size) {
	if f := it.form(); !g.inserted.take(f, size) && !g.behind(*it.Item) {
		g.removed.add(f, size)
	}
}

func (g *growth) came(it placed, size token.Size) {
	if f := it.form(); !g.removed.take(f, size) && !g.behind(*it.Item) {
		g.inserted.add(f, size)
	}
}

// differ books what two views differ in.
func (g *growth) differ(s *scale, c Change) {
	for _, it := range c.gone {
		g.gone(it, s.item(it).Size)
	}
	for _, it := range c.came {
		g.came(it, s.item(it).Size)
	}
}

// since returns what of the messages of a view came after the prompt.
func (g *growth) since(now token.Size) token.Size {
	return now.Sub(g.base).Add(g.removed.size).Sub(g.inserted.size)
}

// changes returns what was taken out of the prompt and what was put in, with what stands
// before its messages now.
func (g *growth) changes(now front) (removed, inserted token.Size) {
	return g.removed.size.Add(g.was.less(now)), g.inserted.size.Add(now.less(g.was))
}

func (g *growth) clone() growth {
	c := *g
	c.removed.has, c.inserted.has = maps.Clone(g.removed.has), maps.Clone(g.inserted.has)
	return c
}

// A lot is some forms of messages, and what they take together.
type lot struct {
	size token.Size
	has  map[form]bool
}

func (l *lot) add(f form, size token.Size) {
	if l.has == nil {
		l.has = map[form]bool{}
	}
	l.has[f] = true
	l.size = l.size.Add(size)
}

// take takes a form out, if it is there.
func (l *lot) take(f form, size token.Size) bool {
	if !l.has[f] {
		return false
	}
	delete(l.has, f)
	l.size = l.size.Sub(size)
	return true
}
