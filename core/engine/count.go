package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// anchoring is what a meter knows of reported usage.
type anchoring struct {
	anchor   token.Anchor
	anchored bool
	reply    llm.MessageID // the reply that the anchor's output stands for; 0: none
	growing                // since the anchor, or, without one, in all
	left     *departure    // the request that left last; nil: it was answered

	awaited   int  // output that was reported of the reply to come; none: nothing was
	reasoning int  // what of it is thinking, where that was reported
	covers    bool // the anchor's output is that reply

	recalled bool // the anchor is one of before a restart
	hosted   bool // a tool of the provider's own was used: its findings are in no message
}

// none stands for a number of tokens that nobody reported.
const none = -1

// A border is where a prompt ended.
type border struct {
	next llm.MessageID // the first message that was not in it
	edit edit.ID       // the last edit that it knew
}

// growing is what became of a prompt.
type growing struct {
	border
	was      front            // what stood before its messages
	since    token.Size       // what came after it
	replies  bool             // among since are replies that no usage reported
	removed  token.Size       // of its messages
	inserted token.Size       // between them
	put      map[sizeKey]bool // what inserted consists of
}

// A departure is a request that left: what had become of the prompt until then,
// and what was sent.
type departure struct {
	growing
	edited bool
	view   edit.View
	front  front
	sure   token.Size // of the messages, as of sized
}

// estimate returns the size of the view.
func (t *meter) estimate(offline bool) token.Estimate {
	if t.cal == nil {
		n := t.total()
		return token.Estimate{Point: n, Bound: n, Kind: t.counter.Kind()}
	}
	all, since := token.GrowthOf(t.ledger.Total().Sub(t.ahead)), t.growth(t.since.Sub(t.ahead))
	all.OutputUnknown = true // replies stand in it as text, but for those that are known
	removed, inserted := t.changes()
	edited := removed != token.Size{} || inserted != token.Size{}
	switch {
	case t.anchored && !edited && t.recalled:
		return t.least(all, t.cal.After(t.anchor, since))
	case t.anchored && !edited:
		return t.cal.After(t.anchor, since)
	case t.anchored && !offline:
		return t.least(all, t.cal.Edited(t.anchor, token.GrowthOf(removed), token.GrowthOf(inserted), since))
	case !t.anchored && offline && t.front.hidden > 0:
		// The known overhead is as good as a report of the empty prompt.
		return t.cal.After(token.Anchor{Prompt: t.front.hidden}, all)
	}
	return t.cal.Scratch(t.front.hidden, all, since)
}

// least raises an estimate to what all there is costs. It is less where a provider
// clears old content by itself, so that what is removed here was not reported, or
// where tools were set between the last usage and a restart.
func (t *meter) least(all token.Growth, e token.Estimate) token.Estimate {
	short := max(t.cal.Cost(all)+t.front.hidden-e.Point, 0)
	e.Point, e.Bound = e.Point+short, e.Bound+short
	return e
}

// changes returns what was taken out of the anchor's prompt and what was put in.
func (t *meter) changes() (removed, inserted token.Size) {
	removed, inserted = t.removed, t.inserted
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
	g.OutputUnknown, g.Hosted = t.replies, t.hosted
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
		growing: t.growing, edited: removed != token.Size{} || inserted != token.Size{}, view: v, front: t.front, sure: t.sure,
	}
	t.left.border = at
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
	t.learn(left, u.Usage.Prompt())
	t.recalled = false
	t.anchor, t.anchored, t.reply = token.Anchor{Prompt: u.Usage.Prompt(), Output: u.Usage.Output}, true, 0
	if u.OutputUnknown {
		t.anchor.Output = none
	}
	t.covers = t.awaited > 0
	was := t.growing
	t.growing = growing{border: left.border, was: left.front, replies: was.replies && was.since != left.since}
	if left.edit == now.edit {
		t.since, t.removed, t.inserted = was.since.Sub(left.since), was.removed.Sub(left.removed), was.inserted.Sub(left.inserted)
		return
	}
	t.differ(left.view, v)
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
		g.OutputUnknown = left.replies
		t.cal.Observe(t.anchor, g, prompt)
	}
}

// differ books the items that are in only one of two views: before the anchor as
// removed or inserted, after it in what came since.
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

// behind reports whether an item came after the anchor.
func (t *meter) behind(it edit.Item) bool {
	counted := it.Message.ID > 0 && it.Message.ID == t.reply
	if it.IsNote() && it.Before == t.next { // it stood at the end of the prompt, or came after it
		counted = it.Edits[0] <= t.edit
	}
	return !t.anchored || !counted && it.Before >= t.next
}

func (t *meter) gone(k sizeKey, it edit.Item) {
	size := t.size(it, k.n)
	switch {
	case t.behind(it):
		t.since = t.since.Sub(size)
	case t.put[k]:
		t.inserted = t.inserted.Sub(size)
		delete(t.put, k)
	default:
		t.removed = t.removed.Add(size)
	}
}

func (t *meter) came(k sizeKey, it edit.Item) {
	size := t.size(it, k.n)
	if t.behind(it) {
		t.since = t.since.Add(size)
		return
	}
	if t.put == nil {
		t.put = map[sizeKey]bool{}
	}
	t.put[k] = true
	t.inserted = t.inserted.Add(size)
}

// recall takes the count to where it was after the usage reported last: now is the
// view as it has become since.
func (t *meter) recall(s journal.Snapshot, now edit.View) {
	u := s.Usage
	reported := u.Reported && u.Prompt() > 0
	if !t.taught && u.Ratio > 0 && (reported || u.Ratio != t.cal.Ratio()) {
		// One pair that says what all pairs together had taught.
		const raw = 2000
		t.cal.Observe(token.Anchor{Prompt: 1}, token.Growth{Tokens: raw}, 1+raw*u.Ratio/1000)
	}
	then, ok := viewAtUsage(s)
	if !ok || !reported {
		return
	}
	t.anchor, t.anchored, t.recalled = token.Anchor{Prompt: u.Prompt(), Output: none}, true, true
	t.growing = growing{
		border: border{s.UsageAt + 1, s.UsageEdit}, was: t.frontOf(slices.Concat(s.Sections, then.Sections), s.Tools),
	}
	if reply, ok := replyAfter(s); ok && u.Output {
		t.anchor.Output = u.Usage.Output
		if u.Usage.Output > 0 {
			t.reply = reply
		}
	}
	t.differ(then, now)
	if t.reply > 0 { // it came after the anchor, which counts it
		t.forget(now)
	}
	for _, msg := range s.Messages[s.UsageAt:] {
		t.replies = t.replies || msg.Origin == llm.Model && t.known[msg.ID] == 0
	}
}

// forget takes the reply that the anchor counts out of what was inserted.
func (t *meter) forget(now edit.View) {
	each(now.Items, func(it edit.Item, n int) {
		if it.Message.ID == t.reply {
			t.inserted = t.inserted.Sub(t.size(it, n))
			delete(t.put, keyOf(it, n))
		}
	})
}

// replyAfter returns the reply that the usage reported last belongs to.
func replyAfter(s journal.Snapshot) (llm.MessageID, bool) {
	for _, msg := range s.Messages[s.UsageAt:] {
		if isReply(msg) {
			return msg.ID, true
		}
	}
	return 0, false
}

// viewAtUsage returns the view when the usage was reported. It is false where it
// cannot be told.
func viewAtUsage(s journal.Snapshot) (edit.View, bool) {
	then := slices.DeleteFunc(slices.Clone(s.Edits), func(e edit.Edit) bool { return e.ID > s.UsageEdit })
	v, err := edit.Fold(s.Messages[:s.UsageAt], edit.Holding(then))
	return v, err == nil
}
