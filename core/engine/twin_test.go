package engine_test

import (
	"fmt"
	"maps"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
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
	then    shot          // what the anchor counted
	reply   llm.MessageID // that the anchor's output counts
	left    *shot         // what was sent last
	awaited int           // output reported for the reply to come
	covers  bool
}

// A shot is a view, measured.
type shot struct {
	items map[string]seen
	front [token.NumComponents]token.Size
	next  llm.MessageID

	hidden int  // tokens of sections that nobody can see
	hosted bool // the provider ran a tool of its own, ever
}

type seen struct {
	size   token.Size
	sure   token.Size // without thinking and media, whatever was reported of it
	before llm.MessageID
	id     llm.MessageID
	model  bool
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
				c.reply = id
			}
			c.awaited = 0
		}
	case engine.Usage:
		if in.Reported && in.Usage.Prompt() > 0 && !c.believes(h, in.Usage.Prompt()) {
			in.Reported = false
		}
		c.report(h, in)
	case engine.Rejected:
		if in.Used > c.count(h).Bound {
			c.report(h, engine.Usage{Usage: llm.Usage{Input: in.Used}, Reported: true, OutputUnknown: true})
		}
	}
}

// after is told of every input after it was fed.
func (c *counted) after(h *host, withdrawn, sent bool) {
	if withdrawn {
		c.anchor, c.reply, c.covers, c.left = nil, 0, false, nil
	}
	if !sent {
		return
	}
	if c.covers && c.awaited > 0 {
		c.anchor.Output = 0
	}
	c.awaited, c.covers = 0, false
	now := c.shoot(h)
	now.next = llm.MessageID(len(h.m.Messages())) + 1
	c.left = &now
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
			size.Tokens, size.MediaTokens, size.Plain, size.Calls, size.Known = 0, 0, 0, 0, known
		}
		s.items[key] = seen{size, sure, it.Before, it.Message.ID, it.Message.Origin == llm.Model}
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
	left := c.shoot(h)
	left.next = llm.MessageID(len(h.m.Messages())) + 1
	if c.left != nil {
		left = *c.left
	}
	c.anchor, c.then, c.reply, c.left = &token.Anchor{Prompt: in.Usage.Prompt(), Output: in.Usage.Output}, left, 0, nil
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
	unknown := false
	for i := range now.front {
		if now.front[i] != c.then.front[i] {
			removed, inserted = removed.Add(c.then.front[i]), inserted.Add(now.front[i])
		}
	}
	if now.front != c.then.front || now.hidden != c.then.hidden {
		removed.Known += c.then.hidden
		inserted.Known += now.hidden
	}
	for key, it := range c.then.items {
		if _, ok := now.items[key]; !ok {
			removed = removed.Add(it.size)
		}
	}
	replySeen := c.reply == 0
	for key, it := range now.items {
		_, stood := c.then.items[key]
		replySeen = replySeen || it.id == c.reply
		switch {
		case stood:
		case it.id > 0 && it.id == c.reply:
		case it.before >= c.then.next:
			after = after.Add(it.size)
			unknown = unknown || it.model && it.size.Known == 0
		default:
			inserted = inserted.Add(it.size)
		}
	}
	if !replySeen { // the reply that the anchor counts was archived
		removed.Known += c.known[c.reply]
		removed.Messages++
	}
	since = token.GrowthOf(after)
	since.OutputUnknown, since.Hosted = unknown, now.hosted
	return removed, inserted, since
}

// count returns the size of the view now.
func (c *counted) count(h *host) token.Estimate {
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
		return cal.Scratch(now.hidden, all, since)
	}
	removed, inserted, since := c.differ(now)
	if removed == (token.Size{}) && inserted == (token.Size{}) {
		return cal.After(*c.anchor, since)
	}
	e := cal.Edited(*c.anchor, token.GrowthOf(removed), token.GrowthOf(inserted), since)
	if least := cal.Cost(all) + now.hidden; e.Point < least { // no less than what stands there
		e.Bound += least - e.Point
		e.Point = least
	}
	return e
}

// agrees compares the twin's count with the machine's.
func (c *counted) agrees(h *host) error {
	if got, want := h.m.Count(), c.count(h); got != want {
		return broken("law 9: the machine counts %+v, its twin %+v", got, want)
	}
	return nil
}
