package cache

import (
	"sort"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Mark says that a request asks for the prompt up to a block to be kept.
type Mark = llm.Mark

// The marks. Only providers with marked caches look at them.
const (
	NoMark = llm.NoMark
	Short  = llm.MarkShort // with the rule's first lifetime
	Long   = llm.MarkLong  // with its last
)

// A Block is a piece of a prompt that can end a cached prefix: the tools, a section,
// a message.
type Block struct {
	Prefix    llm.Digest // names everything up to the end of this block, see [llm.Chain]
	Tokens    int        // of the prompt up to the end of this block; never falling
	Positions int        // content blocks in it, which look-back counts; 0 means 1
	Mark      Mark
}

// A Request is one prompt as a cache sees it.
type Request struct {
	Blocks []Block // in the order of the prompt; only read
	At     int64   // when it was sent, Unix milliseconds; 0 if nobody knows
}

// tokens returns the size of the prompt.
func (r Request) tokens() int {
	if len(r.Blocks) == 0 {
		return 0
	}
	return r.Blocks[len(r.Blocks)-1].Tokens
}

// A Use is what one request took from the cache.
type Use struct {
	llm.Usage // without output
	// Lost is how many tokens of the request before were still warm and were not
	// read, since this request does not begin with them. Above 0 it is a cache break.
	Lost int
}

// Options say what differs between models under one rule.
type Options struct {
	Writes bool // what an automatic cache writes is booked as written, since it is priced apart
}

// A Cache is what a provider has warm of one conversation with one model. Make one
// with [New]. It is not safe for concurrent use.
type Cache struct {
	rule   catalog.CacheRule
	writes bool
	at     int64 // of the newest request

	// chain is the newest request of an automatic cache, all of it warm until expires.
	// What it branched off from is in kept.
	chain   []node
	expires int64
	kept    map[llm.Digest]entry

	last warm // the longest prefix that the newest request left warm

	held map[llm.Digest]entry // what is kept as a resource of its own; nil: nothing ever was
}

// A node is a place where a prefix can end.
type node struct {
	prefix  llm.Digest
	tokens  int
	expires int64 // where reading does not renew what is read; else the chain's holds
}

// An entry is a prefix that is kept until expires, or for ever if that is 0. Its lifetime is
// that with which it was written: a mark that asks for another one changes nothing
// while it lasts.
type entry struct {
	tokens  int
	expires int64
	long    bool
}

// A warm is a prefix with its end.
type warm struct {
	node
	expires int64
}

// New returns the empty cache of a model with that rule. The zero rule keeps
// nothing.
func New(rule catalog.CacheRule, o Options) *Cache {
	return &Cache{rule: rule, writes: o.Writes, kept: map[llm.Digest]entry{}}
}

// Send books one request: what it reads, what it writes, and what it pays in full.
// The parts are disjoint and add up to the size of the prompt. Requests come in the
// order in which they were sent; a time before that of an earlier one counts as the
// earlier one's.
func (c *Cache) Send(r Request) Use {
	at := c.now(r.At)
	var use Use
	if c.rule.Marked {
		use = c.marked(r, at)
	} else {
		use = c.automatic(r, at)
	}
	c.forget(at)
	return use
}

// now returns the time of a request that says at, and remembers it. 0 is unknown.
func (c *Cache) now(at int64) int64 {
	if at == 0 {
		return 0
	}
	c.at = max(c.at, at)
	return c.at
}

// lifetime returns when something written or read at that time lapses.
func (c *Cache) lifetime(at int64, long bool) int64 {
	n := len(c.rule.Lifetimes)
	if at == 0 || n == 0 {
		return 0
	}
	seconds := c.rule.Lifetimes[0]
	if long {
		seconds = c.rule.Lifetimes[n-1]
	}
	return at + int64(seconds)*1000
}

// live reports whether something is still warm. Where a time is unknown it is.
func live(expires, at int64) bool { return expires == 0 || at == 0 || at < expires }

// lost returns how much of the last request is warm beyond what was read. Where this
// request begins with all of that, its own figures say how much it is: the sizes of
// two requests may have been estimated apart.
func (c *Cache) lost(r Request, read int, at int64) int {
	if !live(c.last.expires, at) {
		return 0
	}
	warm := c.last.tokens
	for i := len(r.Blocks) - 1; i >= 0; i-- {
		if r.Blocks[i].Prefix == c.last.prefix {
			warm = c.whole(min(warm, r.Blocks[i].Tokens))
			break
		}
	}
	return max(warm-read, 0)
}

// marked books a request to a provider that keeps what marks ask for.
func (c *Cache) marked(r Request, at int64) Use {
	var use Use
	marks := c.marks(r)
	read := 0
	for _, m := range marks {
		if n := c.behind(r, m, at); n >= 0 {
			read = max(read, r.Blocks[n].Tokens)
			c.renew(r.Blocks[n].Prefix, at)
		}
	}
	use.CacheRead, use.Lost = read, c.lost(r, read, at)
	c.last = warm{}
	end := read
	for _, m := range marks {
		b := r.Blocks[m]
		if b.Tokens < c.rule.Minimum {
			continue
		}
		if old, had := c.kept[b.Prefix]; had && live(old.expires, at) {
			c.renew(b.Prefix, at)
		} else {
			c.kept[b.Prefix] = entry{b.Tokens, c.lifetime(at, b.Mark == Long), b.Mark == Long}
		}
		if grown := b.Tokens - end; grown > 0 {
			if b.Mark == Long {
				use.CacheWrite1h += grown
			} else {
				use.CacheWrite5m += grown
			}
			end = b.Tokens
		}
		if b.Tokens >= c.last.tokens {
			c.last = warm{node{prefix: b.Prefix, tokens: b.Tokens}, c.kept[b.Prefix].expires}
		}
	}
	use.Input = r.tokens() - end
	return use
}

// renew gives what was read its lifetime again, where the provider does so.
func (c *Cache) renew(prefix llm.Digest, at int64) {
	if e := c.kept[prefix]; c.rule.Refresh {
		e.expires = c.lifetime(at, e.long)
		c.kept[prefix] = e
	}
}

// marks returns the marked blocks of a request in order. Of more than the provider
// takes the last ones count.
func (c *Cache) marks(r Request) []int {
	var out []int
	for i := len(r.Blocks) - 1; i >= 0 && len(out) < c.rule.Marks; i-- {
		if r.Blocks[i].Mark != NoMark {
			out = append(out, i)
		}
	}
	sort.Ints(out)
	return out
}

// behind returns the longest kept prefix that a mark finds, or -1: it looks at so
// many content blocks, its own included.
func (c *Cache) behind(r Request, mark int, at int64) int {
	seen := 0
	for i := mark; i >= 0 && (seen < c.rule.LookBack || c.rule.LookBack == 0); i-- {
		b := r.Blocks[i]
		if e, ok := c.kept[b.Prefix]; ok && live(e.expires, at) {
			return i
		}
		seen += max(b.Positions, 1)
	}
	return -1
}

// automatic books a request to a provider that keeps every prompt.
func (c *Cache) automatic(r Request, at int64) Use {
	common := sort.Search(min(len(c.chain), len(r.Blocks)), func(i int) bool { return c.chain[i].prefix != r.Blocks[i].Prefix })
	read := 0
	for i := common - 1; i >= 0 && read == 0; i-- {
		if live(c.until(c.chain[i]), at) {
			read = r.Blocks[i].Tokens
		} else if c.rule.Refresh {
			break // all of the chain has one lifetime
		}
	}
	for i := len(r.Blocks) - 1; i >= common; i-- {
		if e, ok := c.kept[r.Blocks[i].Prefix]; ok && live(e.expires, at) {
			read = max(read, r.Blocks[i].Tokens)
			break
		}
	}
	read = c.whole(min(read, r.tokens()))
	use := Use{Lost: c.lost(r, read, at)}
	use.CacheRead = read
	if rest := r.tokens() - read; c.writes && c.rule.Name != "" && r.tokens() >= c.rule.Minimum {
		use.CacheWrite5m = rest
	} else {
		use.Input = rest
	}
	c.branch(r, common, at)
	return use
}

// branch makes a request the newest one. What the one before has beyond their common
// beginning stays for as long as it would have.
func (c *Cache) branch(r Request, common int, at int64) {
	for _, n := range c.chain[common:] {
		c.kept[n.prefix] = entry{tokens: n.tokens, expires: c.until(n)}
	}
	c.chain = c.chain[:common]
	c.expires = c.lifetime(at, true)
	for i := range c.chain {
		if !c.rule.Refresh && !live(c.chain[i].expires, at) {
			c.chain[i].expires = c.expires // it was written anew
		}
	}
	for _, b := range r.Blocks[common:] {
		c.chain = append(c.chain, node{b.Prefix, b.Tokens, c.expires})
	}
	c.last = warm{expires: c.expires}
	if n := len(c.chain); n > 0 {
		c.last.node = c.chain[n-1]
		c.last.tokens = c.whole(c.last.tokens)
	}
}

// until returns when a place of the chain lapses.
func (c *Cache) until(n node) int64 {
	if c.rule.Refresh {
		return c.expires
	}
	return n.expires
}

// whole returns how much of so many tokens an automatic cache can give back.
func (c *Cache) whole(tokens int) int {
	if tokens < c.rule.Minimum || c.rule.Name == "" {
		return 0
	}
	return tokens - tokens%max(c.rule.Step, 1)
}

// manyKept is how many prefixes are kept before lapsed ones are looked for.
const manyKept = 4096

// forget lets go of what has lapsed.
func (c *Cache) forget(at int64) {
	if len(c.kept) < manyKept {
		return
	}
	for prefix, e := range c.kept {
		if !live(e.expires, at) {
			delete(c.kept, prefix)
		}
	}
}
