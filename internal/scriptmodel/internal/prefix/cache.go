package prefix

import "time"

// Rules say how a provider caches prompts.
type Rules struct {
	Marked   bool // only what a client marked is written, and at most Lookback blocks before a mark are looked at
	Min      int  // tokens; a shorter prefix is not cached
	Step     int  // tokens; what is read is rounded down to a multiple. 0 and 1 do not round
	Lookback int  // blocks, the marked one included
	Short    time.Duration
	Long     time.Duration
}

// A Use is what one call did with the cache, in tokens.
type Use struct {
	Read       int
	WriteShort int
	WriteLong  int
}

// A Cache holds the prefixes that were written, for each owner apart. Time is what its
// caller says it is. It is not safe for concurrent use. The zero Cache is empty.
type Cache struct {
	entries map[place]entry
}

type place struct {
	owner  string
	digest Digest
}

type entry struct {
	until time.Duration
	life  time.Duration
}

// Call reads the longest prefix of p that is alive at now, prolongs it, and writes what is
// to be written. Owner keeps apart what may not be shared, such as keys and models.
func (c *Cache) Call(owner string, p Prompt, rules Rules, now time.Duration) Use {
	if c.entries == nil {
		c.entries = map[place]entry{}
	}
	t := turn{cache: c, owner: owner, prompt: p, rules: rules, now: now}
	if rules.Marked {
		return t.marked()
	}
	return t.automatic()
}

// A turn is one call.
type turn struct {
	cache  *Cache
	owner  string
	prompt Prompt
	rules  Rules
	now    time.Duration
}

// alive reports whether block i is cached, and prolongs it.
func (t turn) alive(i int) bool {
	at := place{t.owner, t.prompt[i].Digest}
	e, ok := t.cache.entries[at]
	if !ok || e.until <= t.now {
		return false
	}
	e.until = t.now + e.life
	t.cache.entries[at] = e
	return true
}

func (t turn) write(i int, life time.Duration) {
	t.cache.entries[place{t.owner, t.prompt[i].Digest}] = entry{until: t.now + life, life: life}
}

// marked is the cache that clients mark: a read finds only what an earlier call wrote at
// one of its own marks. What is read is used up to each mark in it, and prolonged there.
func (t turn) marked() Use {
	hit := t.lookBack()
	for i := range max(hit, 0) {
		if t.prompt[i].Mark != NoMark {
			t.alive(i)
		}
	}
	var u Use
	counted := 0
	if hit >= 0 {
		u.Read = t.prompt[hit].Tokens
		counted = u.Read
	}
	for i := hit + 1; i < len(t.prompt); i++ {
		b := t.prompt[i]
		if b.Mark == NoMark || b.Tokens < t.rules.Min {
			continue
		}
		if b.Mark == MarkLong {
			t.write(i, t.rules.Long)
			u.WriteLong += b.Tokens - counted
		} else {
			t.write(i, t.rules.Short)
			u.WriteShort += b.Tokens - counted
		}
		counted = b.Tokens
	}
	return u
}

// lookBack returns the last block that is cached and that a mark can see, or -1.
func (t turn) lookBack() int {
	for i := len(t.prompt) - 1; i >= 0; i-- {
		if t.prompt[i].Mark == NoMark {
			continue
		}
		for at := i; at >= 0 && at > i-max(t.rules.Lookback, 1); at-- {
			if t.alive(at) {
				return at
			}
		}
	}
	return -1
}

// automatic is the cache that needs no marks: every prompt is written whole.
func (t turn) automatic() Use {
	var u Use
	for i := len(t.prompt) - 1; i >= 0 && u.Read == 0; i-- {
		if t.prompt[i].Tokens >= t.rules.Min && t.alive(i) {
			u.Read = t.prompt[i].Tokens
		}
	}
	if t.rules.Step > 1 {
		u.Read -= u.Read % t.rules.Step
	}
	for i, b := range t.prompt {
		if b.Tokens >= t.rules.Min {
			t.write(i, t.rules.Short)
		}
	}
	return u
}
