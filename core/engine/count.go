package engine

import (
	"maps"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// anchoring is what a meter knows of reported usage.
type anchoring struct {
	anchor   token.Anchor
	anchored bool
	doubt    int           // of the anchor's prompt: what only the caution of this meter put there
	reply    llm.MessageID // the reply that the anchor's output stands for; 0: none
	growing                // since the anchor
	left     *departure    // the request that left last; nil: it was answered

	awaited   int  // output that was reported of the reply to come; none: nothing was
	reasoning int  // what of it is thinking, where that was reported
	covers    bool // the anchor's output is that reply

	hosted bool // a tool of the provider's own was used: its findings are in no message
}

// none stands for a number of tokens that nobody reported.
const none = -1

// A border is where a prompt ended.
type border struct {
	next llm.MessageID // the first message that was not in it
	edit edit.ID       // the last edit that it knew
}

// growing is what became of a prompt: how the view that it was made of differs from the
// one that there is. What came after it follows, so that nothing can be left over.
type growing struct {
	border
	was      front      // what stood before its messages
	base     token.Size // its messages, and the reply that the anchor counts
	removed  lot        // of them
	inserted lot        // between them
}

// A lot is some forms of messages, and what they take together.
type lot struct {
	size token.Size
	has  map[sizeKey]bool
}

func (l *lot) add(k sizeKey, size token.Size) {
	if l.has == nil {
		l.has = map[sizeKey]bool{}
	}
	l.has[k] = true
	l.size = l.size.Add(size)
}

// take takes a form out, if it is there.
func (l *lot) take(k sizeKey, size token.Size) bool {
	if !l.has[k] {
		return false
	}
	delete(l.has, k)
	l.size = l.size.Sub(size)
	return true
}

func (l lot) clone() lot { return lot{l.size, maps.Clone(l.has)} }

// A departure is a request that left: what it was, and what it was counted as.
type departure struct {
	border
	view     edit.View
	front    front
	messages token.Size
	sure     token.Size // of the messages, as of sized
	since    token.Size // what came to the prompt reported before it
	edited   bool       // and something else became of that
	count    token.Estimate
	doubt    int // of the count's point: what only caution put there
}

// estimate returns the size of the view.
func (t *meter) estimate(offline bool) token.Estimate {
	if t.cal == nil {
		n := t.total()
		return token.Estimate{Point: n, Bound: n, Kind: t.counter.Kind()}
	}
	all, since := t.all(), t.growth(t.since().Sub(t.ahead))
	removed, inserted := t.changes()
	edited := removed != token.Size{} || inserted != token.Size{}
	switch {
	case t.anchored && !edited:
		return t.cal.After(t.anchor, since)
	case t.anchored && !offline:
		sure := token.Anchor{Prompt: t.anchor.Prompt - t.doubt, Output: t.anchor.Output}
		return t.least(all, t.cal.Edited(sure, token.GrowthOf(removed), token.GrowthOf(inserted), since))
	case !t.anchored && offline && t.front.hidden > 0:
		// The known overhead is as good as a report of the empty prompt.
		return t.cal.After(token.Anchor{Prompt: t.front.hidden}, all)
	}
	return t.cal.Scratch(t.front.hidden, all, since)
}

// all returns all there is. Replies stand in it as text, but for those that are known.
func (t *meter) all() token.Growth {
	g := token.GrowthOf(t.ledger.Total().Sub(t.ahead))
	g.OutputUnknown = true
	return g
}

// messages returns what the messages of the view take.
func (t *meter) messages() token.Size {
	all := t.ledger.Total()
	for _, s := range t.front.sizes {
		all = all.Sub(s)
	}
	return all
}

// since returns what came after the anchor, or, without one, all there is.
func (t *meter) since() token.Size {
	if !t.anchored {
		return t.ledger.Total()
	}
	return t.messages().Sub(t.base).Add(t.removed.size).Sub(t.inserted.size)
}

// least raises an estimate to what all there is costs. It is less where a provider
// clears old content by itself, so that what is removed here was not reported, or
// where tools were set between the last usage and a restart.
func (t *meter) least(all token.Growth, e token.Estimate) token.Estimate {
	short := max(t.floor(all)-e.Point, 0)
	e.Point, e.Bound = e.Point+short, e.Bound+short
	return e
}

// floor returns what all there is costs.
func (t *meter) floor(all token.Growth) int { return t.cal.Cost(all) + t.front.hidden }

// changes returns what was taken out of the anchor's prompt and what was put in.
func (t *meter) changes() (removed, inserted token.Size) {
	removed, inserted = t.removed.size, t.inserted.size
	if !t.anchored || t.was == t.front {
		return removed, inserted
	}
	for c, now := range t.front.sizes {
		if was := t.was.sizes[c]; was != now {
			removed, inserted = removed.Add(was), inserted.Add(now)
		}
	}
	removed.Known += t.was.hidden
	inserted.Known += t.front.hidden
	return removed, inserted
}

func (t *meter) growth(s token.Size) token.Growth {
	g := token.GrowthOf(s)
	g.OutputUnknown, g.Hosted = true, t.hosted // replies that are known have no calls to count
	return g
}

// leave notes that a request with all that is booked leaves.
func (t *meter) leave(at border, v edit.View) {
	if t.covers && t.awaited > 0 { // that reply never came
		t.anchor.Output = 0
	}
	t.awaited, t.covers = none, false
	removed, inserted := t.changes()
	t.left = &departure{
		border: at, view: v, front: t.front, messages: t.messages(), sure: t.sure, since: t.since(),
		edited: removed != token.Size{} || inserted != token.Size{}, count: t.estimate(false), doubt: t.doubt,
	}
	if t.left.edited && t.cal != nil {
		t.left.doubt = min(t.cal.Caution(token.GrowthOf(removed), token.GrowthOf(inserted)), max(t.left.count.Point-t.floor(t.all()), 0))
	}
}

// report takes the usage of the request that left last. Without one it is about
// all there is: v, up to now.
func (t *meter) report(u Usage, now border, v edit.View) {
	if t.cal == nil {
		return
	}
	if t.left == nil {
		t.leave(now, v)
	}
	t.awaited, t.covers = none, false
	if !u.OutputUnknown && u.Usage.Output > 0 {
		t.awaited, t.reasoning = u.Usage.Output, u.Usage.Reasoning
	}
	if !u.Reported || u.Usage.Prompt() == 0 {
		return
	}
	left := *t.left
	t.left = nil
	prompt, doubt := u.Usage.Prompt(), 0
	if prompt == left.count.Point || prompt == left.count.Bound {
		prompt, doubt = left.count.Point, left.doubt // our own count comes back: nothing more is known
	}
	t.learn(left, prompt)
	t.anchor, t.anchored, t.doubt, t.reply = token.Anchor{Prompt: prompt, Output: u.Usage.Output}, true, doubt, 0
	if u.OutputUnknown {
		t.anchor.Output = none
	}
	t.covers = t.awaited > 0
	t.growing = growing{border: left.border, was: left.front, base: left.messages}
	if left.edit != now.edit {
		t.differ(left.view, v)
	}
}

// learn teaches the calibration what a reported prompt tells about what came to
// the one before it.
func (t *meter) learn(left departure, prompt int) {
	switch {
	case t.taught || left.edited:
	case !t.anchored:
		t.cal.Observe(token.Anchor{}, token.Growth{}, prompt)
	default:
		g := token.GrowthOf(left.since)
		g.OutputUnknown = true
		t.cal.Observe(t.anchor, g, prompt)
	}
}

// differ books the items that are in only one of two views.
func (t *meter) differ(old, now edit.View) {
	removed, added := apart(old.Items, now.Items)
	was, is := keysOf(removed), keysOf(added)
	for k, it := range was {
		if _, stays := is[k]; !stays {
			t.gone(k, it)
		}
	}
	for k, it := range is {
		if _, stood := was[k]; !stood {
			t.came(k, it)
		}
	}
}

// behind reports whether an item came after the anchor. What stands where the prompt
// ended was in it if the prompt knew its edit.
func (t *meter) behind(it edit.Item) bool {
	switch {
	case !t.anchored:
		return true
	case it.IsNote() && it.Before == t.next:
		return it.Edits[0] > t.edit
	case it.IsNote():
		return it.Before > t.next
	}
	return it.Message.ID >= t.next && it.Message.ID != t.reply
}

func (t *meter) gone(k sizeKey, it edit.Item) {
	if size := t.size(it, k.n); !t.inserted.take(k, size) && !t.behind(it) {
		t.removed.add(k, size)
	}
}

func (t *meter) came(k sizeKey, it edit.Item) {
	if size := t.size(it, k.n); !t.removed.take(k, size) && !t.behind(it) {
		t.inserted.add(k, size)
	}
}
