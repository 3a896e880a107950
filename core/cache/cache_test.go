package cache

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// marked and automatic are rules like those of the catalogue, whose own figures may change.
var (
	marked    = catalog.CacheRule{Name: "marked", Marked: true, Marks: 4, LookBack: 20, Minimum: 1024, Lifetimes: []int{300, 3600}, Refresh: true}
	automatic = catalog.CacheRule{Name: "automatic", Minimum: 1024, Step: 128, Lifetimes: []int{600}, Refresh: true}
)

// prompt builds a request of blocks with those sizes, named by their letters: "a:2000 b:500!" has two blocks, the second one marked.
func prompt(at int64, blocks ...block) Request {
	r := Request{At: at}
	var prefix llm.Digest
	total := 0
	for _, b := range blocks {
		prefix = llm.Chain(prefix, llm.Digest{byte(b.name)})
		total += b.tokens
		r.Blocks = append(r.Blocks, Block{Prefix: prefix, Tokens: total, Positions: b.positions, Mark: b.mark})
	}
	return r
}

type block struct {
	name      rune
	tokens    int
	mark      Mark
	positions int
}

const second = 1000

func TestMarkedCacheReadsWhatEarlierMarksWrote(t *testing.T) {
	system, ask := block{'s', 5000, Long, 1}, block{'a', 2000, Short, 1}
	for _, c := range []struct {
		name string
		reqs []Request
		want []Use
	}{
		{
			"the first request writes, the next one reads and writes what is new",
			[]Request{prompt(1, system, ask), prompt(2*second, system, ask, block{'b', 300, NoMark, 1}, block{'c', 700, Short, 1})},
			[]Use{
				{Usage: llm.Usage{CacheWrite1h: 5000, CacheWrite5m: 2000}},
				{Usage: llm.Usage{CacheRead: 7000, CacheWrite5m: 1000}},
			},
		},
		{
			"what stands behind the last mark is paid in full",
			[]Request{prompt(1, system, block{'a', 2000, NoMark, 1})},
			[]Use{{Usage: llm.Usage{CacheWrite1h: 5000, Input: 2000}}},
		},
		{
			"a prefix below the minimum is not kept",
			[]Request{prompt(1, block{'s', 1023, Short, 1}), prompt(2, block{'s', 1023, Short, 1})},
			[]Use{{Usage: llm.Usage{Input: 1023}}, {Usage: llm.Usage{Input: 1023}}},
		},
		{
			"the short lifetime lapses, the long one does not",
			[]Request{prompt(1, system, ask), prompt(1+300*second, system, ask)},
			[]Use{
				{Usage: llm.Usage{CacheWrite1h: 5000, CacheWrite5m: 2000}},
				{Usage: llm.Usage{CacheRead: 5000, CacheWrite5m: 2000}},
			},
		},
		{
			"reading renews the lifetime",
			[]Request{prompt(1, system, ask), prompt(200*second, system, ask), prompt(400*second, system, ask)},
			[]Use{
				{Usage: llm.Usage{CacheWrite1h: 5000, CacheWrite5m: 2000}},
				{Usage: llm.Usage{CacheRead: 7000}},
				{Usage: llm.Usage{CacheRead: 7000}},
			},
		},
		{
			"a prefix that is found by looking back lives on too",
			[]Request{
				prompt(1, block{'s', 1500, Short, 1}), prompt(240*second, block{'s', 1500, NoMark, 1}, block{'m', 100, Short, 1}), prompt(480*second, block{'s', 1500, Short, 1}),
			},
			[]Use{{Usage: llm.Usage{CacheWrite5m: 1500}}, {Usage: llm.Usage{CacheRead: 1500, CacheWrite5m: 100}}, {Usage: llm.Usage{CacheRead: 1500}, Lost: 100}},
		},
		{
			"a short mark takes nothing from a long lifetime",
			[]Request{prompt(1, block{'s', 1500, Long, 1}), prompt(120*second, block{'s', 1500, Short, 1}), prompt(1200*second, block{'s', 1500, Short, 1})},
			[]Use{{Usage: llm.Usage{CacheWrite1h: 1500}}, {Usage: llm.Usage{CacheRead: 1500}}, {Usage: llm.Usage{CacheRead: 1500}}},
		},
		{
			"an edit in the middle loses what was warm behind it",
			[]Request{prompt(1, system, ask), prompt(2, system, block{'x', 100, Short, 1})},
			[]Use{
				{Usage: llm.Usage{CacheWrite1h: 5000, CacheWrite5m: 2000}},
				{Usage: llm.Usage{CacheRead: 5000, CacheWrite5m: 100}, Lost: 2000},
			},
		},
		{
			"what has lapsed is not lost",
			[]Request{prompt(1, system, ask), prompt(1+301*second, system, block{'x', 100, Short, 1})},
			[]Use{
				{Usage: llm.Usage{CacheWrite1h: 5000, CacheWrite5m: 2000}},
				{Usage: llm.Usage{CacheRead: 5000, CacheWrite5m: 100}},
			},
		},
		{
			"a mark looks back over twenty blocks only",
			[]Request{prompt(1, block{'s', 5000, Short, 1}), prompt(2, block{'s', 5000, NoMark, 1}, block{'m', 100, NoMark, 19}, block{'n', 100, Short, 1})},
			[]Use{{Usage: llm.Usage{CacheWrite5m: 5000}}, {Usage: llm.Usage{CacheWrite5m: 5200}, Lost: 5000}},
		},
		{
			"of five marks the last four count",
			[]Request{prompt(1, block{'a', 2000, Long, 1}, block{'b', 10, Short, 1}, block{'c', 10, Short, 1}, block{'d', 10, Short, 1}, block{'e', 10, Short, 1})},
			[]Use{{Usage: llm.Usage{CacheWrite5m: 2040}}},
		},
		{
			"where no time is known everything stays warm",
			[]Request{prompt(0, system, ask), prompt(0, system, ask)},
			[]Use{{Usage: llm.Usage{CacheWrite1h: 5000, CacheWrite5m: 2000}}, {Usage: llm.Usage{CacheRead: 7000}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, New(marked, Options{}), c.reqs, c.want) })
	}
}

func check(t *testing.T, c *Cache, reqs []Request, want []Use) {
	t.Helper()
	for i, r := range reqs {
		if got := c.Send(r); got != want[i] {
			t.Errorf("request %d: use, want %+v, got %+v", i+1, want[i], got)
		}
	}
}

func TestAutomaticCacheReadsWholeSteps(t *testing.T) {
	a, b := block{'a', 3000, NoMark, 1}, block{'b', 1000, NoMark, 1}
	for _, c := range []struct {
		name    string
		options Options
		reqs    []Request
		want    []Use
	}{
		{
			"read in multiples of 128",
			Options{},
			[]Request{prompt(1, a), prompt(2, a, b)},
			[]Use{{Usage: llm.Usage{Input: 3000}}, {Usage: llm.Usage{CacheRead: 2944, Input: 1056}}},
		},
		{
			"written tokens have a price of their own",
			Options{Writes: true},
			[]Request{prompt(1, a), prompt(2, a, b)},
			[]Use{{Usage: llm.Usage{CacheWrite5m: 3000}}, {Usage: llm.Usage{CacheRead: 2944, CacheWrite5m: 1056}}},
		},
		{
			"an earlier branch is still warm",
			Options{},
			[]Request{prompt(1, a, b), prompt(2, a, block{'c', 50, NoMark, 1}), prompt(3, a, b)},
			[]Use{
				{Usage: llm.Usage{Input: 4000}},
				{Usage: llm.Usage{CacheRead: 2944, Input: 106}, Lost: 1024},
				{Usage: llm.Usage{CacheRead: 3968, Input: 32}},
			},
		},
		{
			"below the minimum nothing is kept",
			Options{Writes: true},
			[]Request{prompt(1, block{'s', 1000, NoMark, 1}), prompt(2, block{'s', 1000, NoMark, 1})},
			[]Use{{Usage: llm.Usage{Input: 1000}}, {Usage: llm.Usage{Input: 1000}}},
		},
		{
			"lapsed",
			Options{},
			[]Request{prompt(1, a), prompt(1+600*second, a)},
			[]Use{{Usage: llm.Usage{Input: 3000}}, {Usage: llm.Usage{Input: 3000}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, New(automatic, c.options), c.reqs, c.want) })
	}
}

// TestOtherEstimatesLoseNothing: the same blocks with another size, as a later estimate gives them, are still the same.
func TestOtherEstimatesLoseNothing(t *testing.T) {
	for _, rule := range []catalog.CacheRule{marked, automatic} {
		c := New(rule, Options{})
		c.Send(prompt(1, block{'s', 5000, Short, 1}, block{'a', 3000, Short, 1}))
		use := c.Send(prompt(2, block{'s', 4900, Short, 1}, block{'a', 2900, Short, 1}, block{'b', 100, Short, 1}))
		if use.Lost > 0 || use.CacheRead < 7800-128 {
			t.Errorf("%s: got %+v", rule.Name, use)
		}
	}
}

// TestFixedLifetime: where reading renews nothing, what is written lapses in its own time, and is then written anew.
func TestFixedLifetime(t *testing.T) {
	fixed := automatic
	fixed.Refresh, fixed.Step, fixed.Lifetimes = false, 1, []int{1800}
	a, b, x := block{'a', 2000, NoMark, 1}, block{'b', 1000, NoMark, 1}, block{'c', 500, NoMark, 1}
	check(t, New(fixed, Options{}), []Request{prompt(1, a), prompt(1200*second, a, b), prompt(2700*second, a, x), prompt(2760*second, a, x)}, []Use{
		{Usage: llm.Usage{Input: 2000}}, {Usage: llm.Usage{CacheRead: 2000, Input: 1000}}, {Usage: llm.Usage{Input: 2500}, Lost: 3000}, {Usage: llm.Usage{CacheRead: 2500}},
	})
}

func TestNoRuleKeepsNothing(t *testing.T) {
	c := New(catalog.CacheRule{}, Options{Writes: true})
	r := prompt(1, block{'a', 50_000, Short, 1})
	check(t, c, []Request{r, r}, []Use{{Usage: llm.Usage{Input: 50_000}}, {Usage: llm.Usage{Input: 50_000}}})
}

// requests draws requests that share beginnings, in the order of their times.
func requests(t *rapid.T) []Request {
	at := int64(1)
	var out []Request
	for range rapid.IntRange(1, 12).Draw(t, "requests") {
		at += int64(rapid.SampledFrom([]int{0, 1, 200, 290, 400, 3500, 4000}).Draw(t, "seconds")) * second
		var blocks []block
		for range rapid.IntRange(0, 9).Draw(t, "blocks") {
			blocks = append(blocks, block{
				rapid.SampledFrom([]rune("ab")).Draw(t, "name"), 700, Mark(rapid.IntRange(0, 2).Draw(t, "mark")), rapid.IntRange(0, 12).Draw(t, "positions"),
			})
		}
		out = append(out, prompt(at, blocks...))
	}
	return out
}

// TestAgainstTwins compares with models that keep every request and look at each of them.
func TestAgainstTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, a := New(marked, Options{}), New(automatic, Options{})
		reqs := requests(t)
		for i, r := range reqs {
			um, ua := m.Send(r), a.Send(r)
			for _, u := range []Use{um, ua} {
				if u.Prompt() != r.tokens() || u.Lost < 0 || u.Input < 0 || u.CacheWrite5m < 0 || u.CacheWrite1h < 0 {
					t.Fatalf("request %d: parts %+v do not add up to %d", i, u, r.tokens())
				}
			}
			if want := markedTwin(reqs[:i], r); um.CacheRead != want {
				t.Fatalf("request %d: marked cache read, want %d, got %d", i, want, um.CacheRead)
			}
			if want := automaticTwin(reqs[:i], r); ua.CacheRead != want {
				t.Fatalf("request %d: automatic cache read, want %d, got %d", i, want, ua.CacheRead)
			}
		}
	})
}

// wrote returns the marks of a request that are obeyed.
func wrote(r Request) []Block {
	var out []Block
	for _, b := range r.Blocks {
		if b.Mark != NoMark {
			out = append(out, b)
		}
	}
	return out[max(len(out)-4, 0):]
}

// written is an entry of the marked twin.
type written struct {
	prefix  llm.Digest
	long    bool
	expires int64
}

// markedTwin goes through all requests with nothing but a list of what was written.
func markedTwin(before []Request, r Request) int {
	var kept []*written
	read := 0
	for _, req := range append(before[:len(before):len(before)], r) {
		read = 0
		find := func(prefix llm.Digest) *written {
			for _, w := range kept {
				if w.prefix == prefix && req.At < w.expires {
					return w
				}
			}
			return nil
		}
		life := func(long bool) int64 {
			if long {
				return req.At + 3600*second
			}
			return req.At + 300*second
		}
		for _, mark := range wrote(req) {
			positions := 0
			for i := len(req.Blocks) - 1; i >= 0 && positions < 20; i-- {
				b := req.Blocks[i]
				if b.Tokens > mark.Tokens {
					continue
				}
				if w := find(b.Prefix); w != nil {
					read = max(read, b.Tokens)
					w.expires = life(w.long)
					break
				}
				positions += max(b.Positions, 1)
			}
		}
		for _, mark := range wrote(req) {
			if w := find(mark.Prefix); w != nil {
				w.expires = life(w.long)
			} else if mark.Tokens >= 1024 {
				kept = append(kept, &written{mark.Prefix, mark.Mark == Long, life(mark.Mark == Long)})
			}
		}
	}
	return read
}

func automaticTwin(before []Request, r Request) int {
	read := 0
	for _, old := range before {
		if r.At >= old.At+600*second {
			continue
		}
		for i := range min(len(old.Blocks), len(r.Blocks)) {
			if old.Blocks[i].Prefix != r.Blocks[i].Prefix {
				break
			}
			read = max(read, old.Blocks[i].Tokens)
		}
	}
	if read < 1024 {
		return 0
	}
	return read - read%128
}
