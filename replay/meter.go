package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A meter divides the prompts of one run into blocks with a place in the prompt, as a
// cache sees them, and says what their tokens are spent on. The place of a block does
// not move while nothing before it changes, though each count is a new estimate.
type meter struct {
	raw    *raw
	items  []edit.Item // of the request before
	front  front
	prompt cache.Prompt
	sum    []token.Contents // of all blocks up to each, unscaled; the first is sections and tools
	edited map[editedItem]token.Contents
}

// An editedItem names how a message is shown.
type editedItem struct {
	id, before llm.MessageID
	edits      llm.Digest
}

func newMeter(raw *raw) *meter {
	return &meter{raw: raw, edited: map[editedItem]token.Contents{}}
}

// request returns the request of total tokens that is sent at Step i as its provider's
// cache sees it, what its tokens are spent on, and how many of them it begins with as
// the client's own request does. The slices are valid until the next call.
func (m *meter) request(i int, send *engine.Send, total int) (req cache.Request, by token.Contents, shared int) {
	kept := m.common(send)
	m.measure(send, kept)
	mark := cache.Short
	if m.raw.long {
		mark = cache.Long
	}
	req = m.prompt.Request(kept, total, mark)
	m.items = send.Items
	if i < len(m.raw.steps) {
		req.At = m.raw.steps[i].At
	}
	return req, fitted(m.sum[len(m.sum)-1], total), m.prompt.Tokens(m.untouched(send))
}

// untouched returns how many blocks are as the client sent them.
func (m *meter) untouched(send *engine.Send) int {
	if len(send.Sections) != len(m.raw.front(0)) || len(send.Tools) != len(m.raw.segment.Tools) {
		return 0
	}
	n := slices.IndexFunc(send.Items, func(it edit.Item) bool { return it.IsNote() || len(it.Edits) > 0 })
	if n < 0 {
		n = len(send.Items)
	}
	return 1 + n
}

// fitted makes parts add up to total. What is hidden was measured and stays as it is;
// the others are estimates, and the difference is theirs.
func fitted(c token.Contents, total int) token.Contents {
	hidden := min(c[token.ContentHidden], max(total, 0))
	c[token.ContentHidden] = 0
	if c.Total() <= 0 {
		hidden = total
	}
	out := c.Scaled(total - hidden)
	out[token.ContentHidden] += hidden
	return out
}

// common returns how many blocks are those of the request before.
func (m *meter) common(send *engine.Send) int {
	if !m.front.same(send) {
		m.front = frontOf(send)
		return 0
	}
	return alike(m.items, send.Items) + 1
}

// alike returns how many items two views begin with that are shown in the same way. A
// view that only grew has the memory of the one before, so most are not looked at.
func alike(a, b []edit.Item) int {
	most := min(len(a), len(b))
	if most > 0 && &a[0] == &b[0] {
		return most
	}
	for n := range most {
		if !sameItem(a[n], b[n]) {
			return n
		}
	}
	return most
}

// measure counts the blocks from number kept on.
func (m *meter) measure(send *engine.Send, kept int) {
	m.prompt.Cut(kept)
	m.sum = m.sum[:kept]
	if kept == 0 {
		m.add(m.front.digest, len(send.Sections)+len(send.Tools), m.front.contents(m.raw.counter))
		kept = 1
	}
	for _, it := range send.Items[kept-1:] {
		key := editedItem{it.Message.ID, it.Before, digestOf(it.Edits)}
		m.add(key.digest(), len(it.Message.Parts), m.contents(it, key))
	}
}

func (m *meter) add(name llm.Digest, positions int, c token.Contents) {
	m.prompt.Add(name, c.Total(), positions)
	if n := len(m.sum); n > 0 {
		c = m.sum[n-1].Add(c)
	}
	m.sum = append(m.sum, c)
}

// contents returns what an item's tokens are spent on, counted once for each form in
// which it is shown.
func (m *meter) contents(it edit.Item, key editedItem) token.Contents {
	if n := int(it.Message.ID); len(it.Edits) == 0 && n > 0 && n <= len(m.raw.contents) {
		return m.raw.contents[n-1]
	}
	c, ok := m.edited[key]
	if !ok {
		c = token.ContentsOf(m.raw.counter, it.Message, len(it.Edits) > 0)
		if n := int(it.Message.ID); n > 0 && n <= len(m.raw.contents) && !it.IsNote() { // what is left of it keeps its share of the size
			c = c.Scaled(portion(c.Total(), m.raw.contents[n-1].Total(), m.raw.counted[n-1]))
		}
		m.edited[key] = c
	}
	return c
}

// A front is what stands before the messages of a request.
type front struct {
	digest   llm.Digest
	sections []llm.Section
	tools    []llm.Tool
}

// frontOf returns the front of a request, named by what it says.
func frontOf(send *engine.Send) front {
	h := sha256.New()
	for _, s := range send.Sections {
		_, _ = fmt.Fprintf(h, "s %d %d %d\n%s", s.Kind, s.Tokens, len(s.Text), s.Text)
	}
	for _, t := range send.Tools {
		_, _ = fmt.Fprintf(h, "t %d %d %d %s\n%s\n%s", len(t.Name), len(t.Description), len(t.Schema), t.Name, t.Description, t.Schema)
	}
	return front{llm.Digest(h.Sum(nil)[:16]), send.Sections, send.Tools}
}

// same reports whether a request begins like that too. Texts that are one and the same
// compare at once.
func (f front) same(send *engine.Send) bool {
	return f.digest != llm.Digest{} &&
		slices.EqualFunc(f.sections, send.Sections, func(a, b llm.Section) bool {
			return a.Kind == b.Kind && a.Tokens == b.Tokens && a.Text == b.Text
		}) &&
		slices.EqualFunc(f.tools, send.Tools, func(a, b llm.Tool) bool {
			return a.Name == b.Name && a.Description == b.Description && a.Schema == b.Schema
		})
}

// size returns the raw count of the front.
func (f front) size(c token.Counter) token.Size {
	size := token.SizeOfTools(c, f.tools)
	for _, s := range f.sections {
		size = size.Add(token.SizeOfSection(c, s))
	}
	return size
}

// contents returns what the front's tokens are spent on.
func (f front) contents(c token.Counter) token.Contents {
	var out token.Contents
	for _, s := range f.sections {
		out[token.ContentOfSection(s)] += token.SizeOfSection(c, s).All()
	}
	out[token.ContentTools] += token.SizeOfTools(c, f.tools).All()
	return out
}

// sameItem reports whether two items are the same message shown in the same way.
func sameItem(a, b edit.Item) bool {
	if a.Message.ID != b.Message.ID || a.Before != b.Before || len(a.Edits) != len(b.Edits) {
		return false
	}
	for i, id := range a.Edits {
		if b.Edits[i] != id {
			return false
		}
	}
	return true
}

// digest names an item: message ids and edits say all about it within one run.
func (k editedItem) digest() llm.Digest {
	d := k.edits
	id, before := binary.LittleEndian.Uint64(d[:8]), binary.LittleEndian.Uint64(d[8:])
	binary.LittleEndian.PutUint64(d[:8], id^uint64(k.id))
	binary.LittleEndian.PutUint64(d[8:], before^uint64(k.before))
	return d
}

func digestOf(edits []edit.ID) llm.Digest {
	var d llm.Digest
	for _, e := range edits {
		var next llm.Digest
		binary.LittleEndian.PutUint64(next[:8], uint64(e))
		d = llm.Chain(d, next)
	}
	return d
}
