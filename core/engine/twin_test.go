package engine_test

import (
	"fmt"
	"maps"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A counted is the dumb twin of the count: it keeps the view as it was when usage
// was reported about it, and works out anew what that says about the view now. What
// the calibration has learnt it takes from the machine; package token tests that.
type counted struct {
	counter token.Counter
	known   map[llm.MessageID]int

	anchor  *token.Anchor
	doubt   int           // of its prompt: what only our own caution put there
	then    shot          // what the anchor counted
	reply   llm.MessageID // that the anchor's output counts
	replied token.Size    // what that takes
	left    *shot         // what was sent last
	awaited int           // output reported for the reply to come
	covers  bool
}

// A shot is a view, measured.
type shot struct {
	items map[string]seen
	front [token.NumComponents]token.Size
	next  llm.MessageID
	edit  edit.ID        // the last one so far
	count token.Estimate // as it was when the request left
	doubt int

	hidden int  // tokens of sections that nobody can see
	hosted bool // the provider ran a tool of its own, ever
}

type seen struct {
	size   token.Size
	sure   token.Size // without thinking and media, whatever was reported of it
	before llm.MessageID
	id     llm.MessageID
	edits  []edit.ID
}

// reported is a size with a reported figure in place of what was measured.
func reported(size token.Size, known int) token.Size {
	size.Tokens, size.MediaTokens, size.Plain, size.Calls, size.Known = 0, 0, 0, 0, known
	return size
}

func newCounted(f catalog.Family) (*counted, error) {
	c, err := token.ForFamily(f, vocabularies.load)
	return &counted{counter: c, known: map[llm.MessageID]int{}}, err
}

func (c *counted) clone() *counted {
	twin := *c
	twin.known = maps.Clone(c.known)
	if c.anchor != nil {
		anchor := *c.anchor
		twin.anchor = &anchor
	}
	return &twin
}

// before is told of every input before it is fed.
func (c *counted) before(h *host, in engine.Input) {
	switch in := in.(type) {
	case engine.Append:
		if m := in.Message; c.awaited > 0 && m.Origin == llm.Model && !m.Flags.Has(llm.FlagSynthetic) {
			id := llm.MessageID(len(h.m.Messages())) + 1
			c.known[id] = c.awaited
			if c.covers {
				c.reply, c.replied = id, reported(token.SizeOf(c.counter, m), c.awaited)
			}
			c.awaited = 0
		}
	case engine.Usage:
		if in.Reported && in.Usage.Prompt() > 0 && !c.believes(h, in.Usage.Prompt()) {
			in.Reported = false
		}
		c.report(h, in)
	case engine.Rejected:
		if e, _ := c.count(h); in.Used > e.Bound {
			c.report(h, engine.Usage{Usage: llm.Usage{Input: in.Used}, Reported: true, OutputUnknown: true})
		}
	}
}

// after is told of every input after it was fed.
func (c *counted) after(h *host, sent bool) {
	if !sent {
		return
	}
	if c.covers && c.awaited > 0 {
		c.anchor.Output = 0
	}
	c.awaited, c.covers = 0, false
	now := c.sent(h)
	c.left = &now
}

// sent is what leaves now.
func (c *counted) sent(h *host) shot {
	now := c.shoot(h)
	now.next = llm.MessageID(len(h.m.Messages())) + 1
	if n := len(h.m.Journal()); n > 0 {
		now.edit = h.m.Journal()[n-1].ID
	}
	now.count, now.doubt = c.count(h)
	return now
}

func (c *counted) shoot(h *host) shot {
	s := shot{items: map[string]seen{}}
	for _, sec := range h.m.Sections() {
		if sec.Text == "" && sec.Tokens > 0 {
			s.hidden += sec.Tokens
			continue
		}
		k := token.ComponentOfSection(sec)
		s.front[k] = s.front[k].Add(token.SizeOfSection(c.counter, sec))
	}
	if tools := h.m.Tools(); len(tools) > 0 {
		s.front[token.Tools] = s.front[token.Tools].Add(token.SizeOfTools(c.counter, tools))
	}
	for _, m := range h.m.Messages() {
		for _, call := range m.Calls() {
			s.hosted = s.hosted || call.Hosted
		}
	}
	items := h.m.View().Items
	for i, it := range items {
		key := fmt.Sprint(keyOf(it, items[:i]), " in the form of edits ", it.Edits)
		size := h.size(c.counter, it, items[:i])
		sure := size
		for _, p := range it.Message.Parts {
			if _, ok := p.(llm.Thinking); ok {
				sure = sure.Sub(token.SizeOfPart(c.counter, p))
			}
		}
		if known, ok := c.known[it.Message.ID]; ok {
			size = reported(size, known)
		}
		s.items[key] = seen{size, sure, it.Before, it.Message.ID, it.Edits}
	}
	return s
}

func (c *counted) report(h *host, in engine.Usage) {
	if in.Usage.IsZero() {
		return
	}
	c.awaited, c.covers = 0, false
	if !in.OutputUnknown {
		c.awaited = in.Usage.Output
	}
	if !in.Reported || in.Usage.Prompt() == 0 {
		return
	}
	left := c.sent(h)
	if c.left != nil {
		left = *c.left
	}
	prompt, doubt := in.Usage.Prompt(), 0
	if prompt == left.count.Point || prompt == left.count.Bound { // it is our own count
		prompt, doubt = left.count.Point, left.doubt
	}
	c.anchor, c.doubt, c.then, c.reply, c.left = &token.Anchor{Prompt: prompt, Output: in.Usage.Output}, doubt, left, 0, nil
	if in.OutputUnknown {
		c.anchor.Output = -1
	}
	c.covers = c.awaited > 0
}

// believes reports whether a prompt of so many tokens can have been sent: it is more
// than a quarter of what the text of the request costs, without thinking and media, but
// for 2,000 tokens, and no more than the window or four times what all of it costs and
// 20,000 tokens.
func (c *counted) believes(h *host, prompt int) bool {
	now := c.shoot(h)
	sent := now
	if c.left != nil {
		sent = *c.left
	}
	var all, sure token.Size
	for _, it := range now.items {
		all = all.Add(it.size)
	}
	for _, s := range now.front {
		all = all.Add(s)
	}
	for _, it := range sent.items {
		sure = sure.Add(it.sure)
	}
	for _, s := range sent.front {
		sure = sure.Add(s)
	}
	cal := h.m.Calibration()
	least := sure.Tokens*cal.Ratio()/1000 + sure.Known + sent.hidden
	most := cal.Cost(token.GrowthOf(all)) + now.hidden
	target := h.m.Targets()[0]
	if n := len(h.sent); n > 0 {
		for _, t := range h.m.Targets() {
			if t.Name() == h.sent[n-1].Target.Name() {
				target = t
			}
		}
	}
	return prompt*4 >= least-2_000 && (prompt <= target.Window.Capacity || prompt <= 4*most+20_000)
}

// differ returns how a view differs from what the anchor counted.
func (c *counted) differ(now shot) (removed, inserted token.Size, since token.Growth) {
	var after token.Size
	other := now.hidden != c.then.hidden
	for i := range now.front {
		if now.front[i].Tokens != c.then.front[i].Tokens { // a text of other bytes and as many tokens costs the same
			other = true
			removed, inserted = removed.Add(c.then.front[i]), inserted.Add(now.front[i])
		}
	}
	if other {
		removed.Known += c.then.hidden
		inserted.Known += now.hidden
	}
	for key, it := range c.then.items {
		if _, ok := now.items[key]; !ok {
			removed = removed.Add(it.size)
		}
	}
	replyStands := c.reply == 0
	for key, it := range now.items {
		_, stood := c.then.items[key]
		late := it.before >= c.then.next
		if it.id == 0 && it.before == c.then.next {
			late = it.edits[0] > c.then.edit
		}
		switch {
		case stood:
		case it.id > 0 && it.id == c.reply && len(it.edits) == 0:
			replyStands = true
		case late && (it.id == 0 || it.id != c.reply):
			after = after.Add(it.size)
		default:
			inserted = inserted.Add(it.size)
		}
	}
	if !replyStands { // the reply that the anchor counts was archived, or is shown in another form
		removed = removed.Add(c.replied)
	}
	since = token.GrowthOf(after)
	since.OutputUnknown, since.Hosted = true, now.hosted
	return removed, inserted, since
}

// count returns the size of the view now, and how much of it is caution.
func (c *counted) count(h *host) (e token.Estimate, doubt int) {
	now, cal := c.shoot(h), h.m.Calibration()
	var total token.Size
	for _, it := range now.items {
		total = total.Add(it.size)
	}
	for _, s := range now.front {
		total = total.Add(s)
	}
	all := token.GrowthOf(total)
	all.OutputUnknown = true
	if c.anchor == nil {
		since := all
		since.Hosted = now.hosted
		return cal.Scratch(now.hidden, all, since), 0
	}
	removed, inserted, since := c.differ(now)
	if removed == (token.Size{}) && inserted == (token.Size{}) {
		return cal.After(*c.anchor, since), c.doubt
	}
	sure := *c.anchor
	sure.Prompt -= c.doubt
	out, in := token.GrowthOf(removed), token.GrowthOf(inserted)
	e = cal.Edited(sure, out, in, since)
	least := cal.Cost(all) + now.hidden
	if e.Point < least { // no less than what stands there
		e.Bound += least - e.Point
		e.Point = least
	}
	return e, min(cal.Caution(out, in), e.Point-least)
}

// agrees compares the twin's count with the machine's.
func (c *counted) agrees(h *host) error {
	if want, _ := c.count(h); h.m.Count() != want {
		got := h.m.Count()
		return broken("law 9: the machine counts %+v, its twin %+v", got, want)
	}
	return nil
}
