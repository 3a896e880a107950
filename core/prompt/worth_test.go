package prompt

import (
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestBreakEven: with the marks that requests have, taking out tokens before a warm suffix pays after as many requests as the algebra of
// cache economics says: ((w − r)/r)·S/dT, the rows of the study of proxies. Prices in permille of the input's.
func TestBreakEven(t *testing.T) {
	for _, c := range []struct {
		name            string
		rule            string
		write, read     int
		removed, suffix int
		want            int
	}{
		{"five minutes, read 0.1", "anthropic", 1250, 100, 1000, 1000, 12}, // 11.5
		{"read 0.05", "anthropic", 1250, 50, 1000, 1000, 24},
		{"read 0.025", "anthropic", 1250, 25, 1000, 1000, 49},
		{"little before much", "anthropic", 1250, 100, 2_000, 50_000, 288}, // 287.5
		{"much before little", "anthropic", 1250, 100, 50_000, 10_000, 3},  // 2.3
		{"no fee for writing, read 0.1", "openai", 1000, 100, 2048, 2048, 9},
		{"no fee for writing, read 0.5", "openai", 1000, 500, 2048, 2048, 1},
		{"a fee for writing, and marks in front", "openai-marks", 1250, 100, 2048, 2048, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bench{rule: ruleNamed(t, c.rule), write: c.write, read: c.read}
			kept, cut := b.conversation(c.removed, c.suffix), b.conversation(c.removed, c.suffix)
			cut.sizes[0] = 0
			got, keeping, cutting := 0, 0, 0
			for more := true; more; more = cutting > keeping {
				got, keeping, cutting = got+1, keeping+kept.next(), cutting+cut.next()
			}
			if got != c.want {
				t.Errorf("pays after %d requests, want %d", got, c.want)
			}
			p := catalog.UnknownPrices()
			p.CacheWrite5m, p.CacheRead = catalog.Price(c.write), catalog.Price(c.read)
			if n, ok := cache.BreakEven(p, c.removed, c.suffix, false); !ok || n != c.want {
				t.Errorf("core/cache says %d, want %d", n, c.want)
			}
		})
	}
}

// bench is a provider with prices.
type bench struct {
	rule        catalog.CacheRule
	write, read int
}

// A conversation is warm: its first request has left.
type conversation struct {
	bench
	cache *cache.Cache
	sizes []int // of its messages
}

// front is the size of what stands before the messages.
const front = 2048

func (b bench) conversation(removed, suffix int) *conversation {
	c := &conversation{b, cache.New(b.rule, cache.Options{Writes: b.write > 1000}), []int{removed, suffix}}
	c.cache.Send(b.request(c.sizes, 0))
	return c
}

// next returns what the next request costs, which has one small message more.
func (c *conversation) next() int {
	before := len(c.sizes)
	c.sizes = append(c.sizes, 1)
	u := c.cache.Send(c.request(c.sizes, before))
	return u.Input*1000 + u.CacheRead*c.read + (u.CacheWrite5m+u.CacheWrite1h)*c.write
}

// request lays out messages of those sizes behind a section, with the marks that it gets. A message of size 0 is not there.
func (b bench) request(sizes []int, before int) cache.Request {
	l := Layout{Sections: []llm.Section{llm.SystemText("front")}}
	var r cache.Request
	var at llm.Digest
	total := 0
	add := func(name string, tokens int) {
		total += tokens
		at = llm.Chain(at, llm.DigestOf(llm.NoteText(name)))
		r.Blocks = append(r.Blocks, cache.Block{Prefix: at, Tokens: total})
	}
	add("front", front)
	for i, n := range sizes {
		if n == 0 {
			continue
		}
		m := llm.UserText(fmt.Sprint(i))
		if i == before && before > 0 {
			m.Origin = llm.Model // it answers the request before
		}
		l.Items = append(l.Items, edit.Item{Message: m})
		add(m.Text(), n)
	}
	for _, p := range Marks(b.rule, MarksMoving, llm.MarkShort, l) {
		at := p.At
		if p.On == llm.OnMessage {
			at++
		}
		r.Blocks[at].Mark = p.Mark
	}
	return r
}
