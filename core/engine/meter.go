package engine

import (
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
	front   [token.NumComponents]int // slots of sections and tools, by component
	first   int                      // slot of the first item
	outputs int                      // tokens of the tool outputs in the view
	hidden  int                      // tokens of sections of which only the size is known
	cache   map[sizeKey]token.Size   // of messages as they were shown
	known   map[llm.MessageID]int    // replies whose size their usage reported

	anchor   token.Anchor
	anchored bool
	next     llm.MessageID // the first message after the anchor
	edited   bool          // an edit changed what lies before the anchor
	since    token.Size    // what came after the anchor
	replies  bool          // among since are replies that no usage reported
	removed  token.Size    // by edits before the anchor
	inserted token.Size
}

// A sizeKey names one form of one message: of the transcript by its ID and the
// last edit of it, of a note by its edit and place.
type sizeKey struct {
	id   llm.MessageID
	edit edit.ID
	n    int
}

func newMeter(key string, c token.Counter, cal *token.Calibration) *meter {
	return &meter{key: key, counter: c, cal: cal, cache: map[sizeKey]token.Size{}, known: map[llm.MessageID]int{}}
}

// key of the n-th item of an edit's notes, or of a message.
func keyOf(it edit.Item, n int) sizeKey {
	k := sizeKey{id: it.Message.ID}
	if len(it.Edits) > 0 {
		k.edit = it.Edits[len(it.Edits)-1]
	}
	if it.IsNote() {
		k.n = n
	}
	return k
}

// size measures an item, once.
func (t *meter) size(it edit.Item, n int) token.Size {
	k := keyOf(it, n)
	if s, ok := t.cache[k]; ok {
		return s
	}
	s := token.SizeOf(t.counter, it.Message)
	if known, ok := t.known[it.Message.ID]; ok && t.cal != nil {
		s.Tokens, s.MediaTokens, s.Plain, s.Calls, s.Known = 0, 0, 0, 0, known
	}
	t.cache[k] = s
	return s
}

// append books the newest item.
func (t *meter) append(it edit.Item, reported bool) {
	s := t.size(it, 0)
	t.ledger.Append(token.ComponentOf(it.Message), s)
	t.outputs += t.outputsOf(it.Message)
	if reported { // the anchor's output is this reply
		return
	}
	t.since = t.since.Add(s)
	if it.Message.Origin == llm.Model && s.Known == 0 {
		t.replies = true
	}
}

// rebuild books a view that edits changed. Only what changed is measured.
func (t *meter) rebuild(v edit.View) {
	front := t.frontSizes()
	t.ledger, t.outputs = token.Ledger{}, 0
	t.bookFront(front)
	each(v, func(it edit.Item, n int) {
		t.ledger.Append(token.ComponentOf(it.Message), t.size(it, n))
		t.outputs += t.outputsOf(it.Message)
	})
}

func (t *meter) frontSizes() [token.NumComponents]token.Size {
	var out [token.NumComponents]token.Size
	for c := range out {
		if t.first > 0 {
			_, out[c], _ = t.ledger.At(t.front[c])
		}
	}
	return out
}

func (t *meter) bookFront(sizes [token.NumComponents]token.Size) {
	for c, s := range sizes {
		t.front[c] = t.ledger.Append(token.Component(c), s)
	}
	t.first = t.ledger.Slots()
}

// setFront books the system prompt and the tools.
func (t *meter) setFront(sections []llm.Section, tools []llm.Tool) {
	var sizes [token.NumComponents]token.Size
	hidden := 0
	for _, sec := range sections {
		if sec.Tokens > 0 && sec.Text == "" {
			hidden += sec.Tokens
			continue
		}
		c := token.ComponentOfSection(sec)
		sizes[c] = sizes[c].Add(token.SizeOfSection(t.counter, sec))
	}
	if len(tools) > 0 {
		sizes[token.Tools] = sizes[token.Tools].Add(token.SizeOfTools(t.counter, tools))
	}
	if t.first == 0 {
		t.bookFront(sizes)
		t.hidden = hidden
		t.since = t.ledger.Total()
		return
	}
	for c, s := range sizes {
		_, old, _ := t.ledger.At(t.front[c])
		if old != s {
			t.removed, t.inserted = t.removed.Add(old), t.inserted.Add(s)
			t.edited = t.edited || t.anchored
		}
		_ = t.ledger.Replace(t.front[c], s) // the slot is in use since bookFront
	}
	t.hidden = hidden
}

// estimate returns the size of the view.
func (t *meter) estimate(offline bool) token.Estimate {
	if t.cal == nil {
		n := t.total()
		return token.Estimate{Point: n, Bound: n, Kind: t.counter.Kind()}
	}
	since := t.growth(t.since)
	switch {
	case t.anchored && !t.edited:
		return t.cal.After(t.anchor, since)
	case t.anchored && !offline:
		return t.cal.Edited(t.anchor, t.growth(t.removed), t.growth(t.inserted), since)
	case !t.edited && offline && t.hidden > 0:
		// The known overhead is as good as a report of the empty prompt.
		return t.cal.After(token.Anchor{Prompt: t.hidden}, t.growth(t.ledger.Total()))
	}
	return t.cal.Scratch(t.hidden, t.growth(t.ledger.Total()), since)
}

func (t *meter) growth(s token.Size) token.Growth {
	g := token.GrowthOf(s)
	g.OutputUnknown = t.replies
	return g
}

// total returns the view in the counter's own tokens.
func (t *meter) total() int { return t.hidden + t.scaled(t.ledger.Total()) }

// scaled returns a size in tokens: calibrated where the meter is.
func (t *meter) scaled(s token.Size) int {
	if t.cal == nil {
		return s.All()
	}
	return s.Tokens*t.cal.Ratio()/1000 + s.MediaTokens + s.Known
}

// part, message and text return the size of one thing in tokens.
func (t *meter) part(p llm.Part) int { return t.scaled(token.SizeOfPart(t.counter, p)) }

func (t *meter) message(m llm.Message) int {
	if n, ok := t.known[m.ID]; ok && m.ID > 0 && t.cal != nil {
		return n
	}
	return t.scaled(token.SizeOf(t.counter, m))
}

func (t *meter) text(s string) int { return t.scaled(token.Size{Tokens: t.counter.Text(s)}) }

func (t *meter) outputsOf(m llm.Message) int {
	n := 0
	for _, p := range m.Parts {
		if r, ok := p.(llm.ToolResult); ok {
			n += t.part(r)
		}
	}
	return n
}

// wire returns the bytes and images of the request.
func (t *meter) wire() (bytes, images int) {
	s := t.ledger.Total()
	return s.Bytes, s.Media
}

// components returns the view by component.
func (t *meter) components() budget.Components {
	c := func(k token.Component) int { return t.scaled(t.ledger.Sum(k)) }
	return budget.Components{
		System: c(token.System) + t.hidden, Skills: c(token.Skills), Tools: c(token.Tools),
		Summary: c(token.Summary), History: c(token.History), Notes: c(token.Notes),
	}
}

// report takes the usage of the request that was last sent. first is the next
// message to be appended.
func (t *meter) report(u Usage, first llm.MessageID) {
	if t.cal == nil {
		return
	}
	if !u.OutputUnknown && u.Usage.Output > 0 {
		t.known[first] = u.Usage.Output
	}
	if !u.Reported || u.Usage.Prompt() == 0 {
		return
	}
	next := u.Usage.Prompt()
	if !t.taught && !t.edited {
		if t.anchored {
			t.cal.Observe(t.anchor, t.growth(t.since), next)
		} else {
			t.cal.Observe(token.Anchor{}, token.Growth{}, next)
		}
	}
	t.anchor = token.Anchor{Prompt: next, Output: u.Usage.Output}
	if u.OutputUnknown {
		t.anchor.Output = -1
	}
	t.anchored, t.edited, t.replies = true, false, false
	t.since, t.removed, t.inserted = token.Size{}, token.Size{}, token.Size{}
	t.next = first
}

// differ books the items that are in only one of two views: before the anchor as
// removed or inserted, after it in what came since.
func (t *meter) differ(old, now edit.View) {
	was, is := keysOf(old), keysOf(now)
	for k, it := range was {
		if _, stays := is[k]; !stays {
			t.changed(it, token.Size{}.Sub(t.size(it, k.n)))
		}
	}
	for k, it := range is {
		if _, stood := was[k]; !stood {
			t.changed(it, t.size(it, k.n))
		}
	}
}

func (t *meter) changed(it edit.Item, by token.Size) {
	switch {
	case !t.anchored || it.Before >= t.next:
		t.since = t.since.Add(by)
		return
	case by.Messages < 0:
		t.removed = t.removed.Sub(by)
	default:
		t.inserted = t.inserted.Add(by)
	}
	t.edited = true
}

// keysOf returns the items of a view by what they are.
func keysOf(v edit.View) map[sizeKey]edit.Item {
	keys := make(map[sizeKey]edit.Item, len(v.Items))
	each(v, func(it edit.Item, n int) { keys[keyOf(it, n)] = it })
	return keys
}

// each calls f with every item and, for a note, its place among the notes of one edit.
func each(v edit.View, f func(it edit.Item, n int)) {
	n := 0
	for i, it := range v.Items {
		if i > 0 && it.IsNote() && v.Items[i-1].IsNote() && it.Edits[0] == v.Items[i-1].Edits[0] {
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
	c.cache = map[sizeKey]token.Size{} // filled with forms that will never be
	for k, v := range t.cache {
		c.cache[k] = v
	}
	return &c
}
