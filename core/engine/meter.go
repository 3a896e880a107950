package engine

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A meter keeps the size of the view by one counter. With a calibration it is
// the count of a target, without one a policy's own estimate.
type meter struct {
	key     string
	counter token.Counter
	cal     *token.Calibration // nil: the counter's figures stand as they are
	taught  bool               // cal is taught by somebody else

	ledger  token.Ledger
	slots   [token.NumComponents]int     // of sections and tools, by component
	newest  int                          // the slot of the newest item
	booked  bool                         // the slots are in use
	front   front                        // what is booked there
	outputs token.Size                   // of the tool outputs in the view, if tells is set
	tells   bool                         // a rule looks at outputs
	sure    token.Size                   // of the view, as of sized
	ahead   token.Size                   // of outputs in the newest message that no rule has looked at yet
	current map[llm.MessageID]token.Size // of each message in the form that the view shows
	cache   map[sizeKey]sized            // messages as they were shown
	known   map[llm.MessageID]int        // replies whose size their usage reported
	parts   map[partKey]token.Size       // of long parts
	anchoring
}

// A front is the size of sections and tools, which stand before all messages.
type front struct {
	sizes  [token.NumComponents]token.Size
	hidden int // tokens of sections of which only the size is known
}

// A sized message is measured.
type sized struct {
	token.Size
	outputs token.Size // of its tool outputs
	sure    token.Size // of what a provider surely counts: text, not thinking or media
}

// A sizeKey names one form of one message: of the transcript by its ID and every edit
// that shapes it, since each result of a message has its own, of a note by its edit and
// place. So two forms never share a size.
type sizeKey struct {
	id   llm.MessageID
	edit edit.ID // the first of them
	more string  // the others, in order
	n    int
}

func newMeter(key string, c token.Counter, cal *token.Calibration) *meter {
	return &meter{key: key, counter: c, cal: cal, cache: map[sizeKey]sized{}, current: map[llm.MessageID]token.Size{}, known: map[llm.MessageID]int{}, anchoring: anchoring{awaited: none}}
}

// key of the n-th item of an edit's notes, or of a message.
func keyOf(it edit.Item, n int) sizeKey {
	k := sizeKey{id: it.Message.ID}
	if it.IsNote() {
		k.n = n
	}
	if len(it.Edits) > 0 {
		k.edit = it.Edits[0]
		var more []byte
		for _, e := range it.Edits[1:] {
			more = binary.AppendUvarint(more, uint64(e))
		}
		k.more = string(more)
	}
	return k
}

// sameForm reports whether two items are the same message in the same form, or the notes
// of the same edit.
func sameForm(a, b edit.Item) bool {
	return a.Message.ID == b.Message.ID && a.Before == b.Before && slices.Equal(a.Edits, b.Edits)
}

// size measures an item, once.
func (t *meter) size(it edit.Item, n int) token.Size { return t.measured(it, n).Size }

func (t *meter) measured(it edit.Item, n int) sized {
	k := keyOf(it, n)
	if s, ok := t.cache[k]; ok {
		return s
	}
	s := sized{Size: token.SizeOf(t.counter, it.Message)}
	s.sure = t.sureOf(it.Message, s.Size)
	if t.tells {
		s.outputs = t.outputsOf(it.Message)
	}
	if known, ok := t.known[it.Message.ID]; ok && t.cal != nil {
		s.Tokens, s.MediaTokens, s.Plain, s.Calls, s.Known = 0, 0, 0, 0, known
	}
	t.cache[k] = s
	return s
}

// append books the newest item.
func (t *meter) append(it edit.Item) {
	id := it.Message.ID
	t.thought(it.Message)
	t.hosted = t.hosted || usesHosted(it.Message)
	if t.awaited > 0 && isReply(it.Message) {
		t.known[id] = t.awaited
		if t.covers {
			t.reply = id
		}
		t.awaited = none
	}
	s := t.measured(it, 0)
	t.newest = t.ledger.Append(token.ComponentOf(it.Message), s.Size)
	t.outputs, t.sure = t.outputs.Add(s.outputs), t.sure.Add(s.sure)
	t.current[id] = s.Size
	if t.reply == id { // the anchor's output is this reply
		t.base = t.base.Add(s.Size)
	}
}

// thought tells the calibration about the thinking in a reply and where a Turn
// begins.
func (t *meter) thought(m llm.Message) {
	switch {
	case t.cal == nil || t.taught:
	case m.Origin == llm.Human:
		t.cal.Turn()
	case usesHosted(m):
		t.cal.Hosted()
	case isReply(m):
		t.cal.Reply(t.thinkingOf(m))
	}
}

// usesHosted reports whether a tool of the provider's own ran in m.
func usesHosted(m llm.Message) bool {
	return slices.ContainsFunc(m.Calls(), func(c llm.ToolCall) bool { return c.Hosted })
}

// thinkingOf returns the tokens of thinking in a reply: as reported, else what the
// reported output has beyond the visible reply, else by its text.
func (t *meter) thinkingOf(m llm.Message) int {
	if t.awaited > 0 && t.reasoning > 0 {
		return t.reasoning
	}
	thinking, visible := 0, 0
	for _, p := range m.Parts {
		if isThinking(p) {
			thinking += t.part(p)
		} else {
			visible += t.part(p)
		}
	}
	if thinking > 0 && t.awaited > 0 {
		return t.awaited - visible
	}
	return thinking
}

// rebuild books a view that edits changed. Only what changed is measured.
func (t *meter) rebuild(v edit.View) {
	t.ledger, t.outputs, t.sure = token.Ledger{}, token.Size{}, token.Size{}
	t.bookFront()
	clear(t.current)
	each(v.Items, func(it edit.Item, n int) {
		s := t.measured(it, n)
		if !it.IsNote() {
			t.current[it.Message.ID] = s.Size
		}
		t.newest = t.ledger.Append(token.ComponentOf(it.Message), s.Size)
		t.outputs, t.sure = t.outputs.Add(s.outputs), t.sure.Add(s.sure)
	})
}

// changeNewest books another form of the newest message, in place of differ and
// rebuild, which look at the whole view.
func (t *meter) changeNewest(old, now edit.Item) {
	was, is := t.measured(old, 0), t.measured(now, 0)
	t.gone(keyOf(old, 0), old)
	t.came(keyOf(now, 0), now)
	_ = t.ledger.Replace(t.newest, is.Size) // the slot is in use since append or rebuild
	t.outputs = t.outputs.Sub(was.outputs).Add(is.outputs)
	t.sure = t.sure.Sub(was.sure).Add(is.sure)
	t.current[now.Message.ID] = is.Size
}

func (t *meter) bookFront() {
	for c, s := range t.front.sizes {
		t.slots[c] = t.ledger.Append(token.Component(c), s)
	}
	t.booked = true
}

// setFront books the system prompt and the tools.
func (t *meter) setFront(sections []llm.Section, tools []llm.Tool) {
	t.front = t.frontOf(sections, tools)
	if !t.booked {
		t.bookFront()
		return
	}
	for c, now := range t.front.sizes {
		_ = t.ledger.Replace(t.slots[c], now) // the slot is in use since bookFront
	}
}

func (t *meter) frontOf(sections []llm.Section, tools []llm.Tool) front {
	var f front
	for _, sec := range sections {
		if sec.Tokens > 0 && sec.Text == "" {
			f.hidden += sec.Tokens
			continue
		}
		c := token.ComponentOfSection(sec)
		f.sizes[c] = f.sizes[c].Add(token.SizeOfSection(t.counter, sec))
	}
	if len(tools) > 0 {
		f.sizes[token.Tools] = f.sizes[token.Tools].Add(token.SizeOfTools(t.counter, tools))
	}
	return f
}

// prompt returns the system prompt in the counter's own tokens.
func (t *meter) prompt() int {
	n := t.front.hidden
	for c, s := range t.front.sizes {
		if token.Component(c) != token.Tools {
			n += t.scaled(s)
		}
	}
	return n
}

// total returns the view in the counter's own tokens.
func (t *meter) total() int { return t.front.hidden + t.scaled(t.ledger.Total()) }

// scaled returns a size in tokens: calibrated where the meter is.
func (t *meter) scaled(s token.Size) int {
	if t.cal == nil {
		return s.All()
	}
	return s.Tokens*t.cal.Ratio()/1000 + s.MediaTokens + s.Known
}

// message and text return the size of one thing in tokens, as part does. A message of
// the transcript is taken in the form that the view shows.
func (t *meter) message(m llm.Message) int {
	if s, ok := t.current[m.ID]; ok && m.ID > 0 {
		return t.scaled(s)
	}
	return t.scaled(token.SizeOf(t.counter, m))
}

func (t *meter) text(s string) int { return t.scaled(token.Size{Tokens: t.counter.Text(s)}) }

// sureOf returns of a message's size what a provider surely counts. Thinking may leave
// the prompt by itself, and an image may cost next to nothing.
func (t *meter) sureOf(m llm.Message, size token.Size) token.Size {
	for _, p := range m.Parts {
		if isThinking(p) {
			size = size.Sub(token.SizeOfPart(t.counter, p))
		}
	}
	size.MediaTokens = 0
	return size
}

// outputsOf measures the tool outputs of m.
func (t *meter) outputsOf(m llm.Message) token.Size {
	var s token.Size
	for _, p := range m.Parts {
		if r, ok := p.(llm.ToolResult); ok {
			s = s.Add(t.partSize(r))
		}
	}
	return s
}

// wire returns the bytes and images of the request.
func (t *meter) wire() (bytes, images int) {
	s := t.ledger.Total()
	return s.Bytes + s.More, s.Media
}

// components returns the view by component.
func (t *meter) components() budget.Components {
	c := func(k token.Component) int { return t.scaled(t.ledger.Sum(k)) }
	return budget.Components{
		System: c(token.System) + t.front.hidden, Skills: c(token.Skills), Tools: c(token.Tools),
		Summary: c(token.Summary), History: c(token.History), Notes: c(token.Notes),
	}
}

// keysOf returns items by what they are.
func keysOf(items []edit.Item) map[sizeKey]edit.Item {
	keys := make(map[sizeKey]edit.Item, len(items))
	each(items, func(it edit.Item, n int) { keys[keyOf(it, n)] = it })
	return keys
}

// apart returns what two views have without the items that both begin with, and
// those that both end with. The notes of one edit are in a view together or not at
// all, so that they are not torn apart.
func apart(a, b []edit.Item) (inA, inB []edit.Item) {
	for len(a) > 0 && len(b) > 0 && sameForm(a[0], b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && sameForm(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// each calls f with every item and, for a note, its place among the notes of one edit.
func each(items []edit.Item, f func(it edit.Item, n int)) {
	n := 0
	for i, it := range items {
		if i > 0 && it.IsNote() && items[i-1].IsNote() && it.Edits[0] == items[i-1].Edits[0] {
			n++
		} else {
			n = 0
		}
		f(it, n)
	}
}

func (t *meter) clone() *meter {
	c := *t
	c.ledger = *t.ledger.Clone()
	c.cache = maps.Clone(t.cache) // filled with forms that will never be
	c.current = maps.Clone(t.current)
	c.removed, c.inserted = t.removed.clone(), t.inserted.clone()
	c.parts = nil
	return &c
}
