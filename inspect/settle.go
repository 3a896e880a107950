package inspect

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A settling gives each message its size, once: what the prompts grew by when it came.
// The size is the same in every list, and that of a Step is the sum of what it was sent.
// What the messages do not explain is hidden.
type settling struct {
	g    *segment
	done int            // entries that have a size
	sum  token.Contents // of these, and of what stands before all messages
	last int            // size of the prompt before
}

// doubtful is by how many tokens the growth of a prompt may be off what its new messages
// are counted as, and still be theirs: as many again, or this many.
const doubtful = 200

// step settles what is new in the prompt of a Step, which ends before entry n, by a ratio
// in permille where the growth of the prompt is not that of its messages. gone are the
// tokens of thinking that left.
func (t *settling) step(s *step, n, ratio int) {
	grown := s.tokens - t.last + s.gone
	if t.last == 0 {
		grown = s.tokens - min(t.g.hidden.all()+s.unseen(), s.tokens)
		expected := t.counted(t.done, n, ratio) + share(t.g.front.Total(), ratio)
		scale := ratio
		if all := t.raw(t.done, n) + t.g.front.Total(); all > 0 && near(grown, expected) {
			scale = grown * 1000 / all
		}
		t.g.frontSize = scaledBy(t.g.front, scale)
		t.sum = t.sum.Add(t.g.frontSize)
		grown -= t.g.frontSize.Total()
	}
	t.settle(n, grown, ratio)
	t.last = s.tokens
	t.sum[token.ContentThinking] = max(t.sum[token.ContentThinking]-s.gone, 0)
}

// settle gives the entries before n their sizes, which are grown together unless that
// cannot be.
func (t *settling) settle(n, grown, ratio int) {
	known := 0
	for i := t.done; i < n; i++ {
		known += t.known(i)
	}
	left, counted := grown-known, t.counted(t.done, n, ratio)-known
	if !near(left, counted) {
		left = counted
	}
	var shares []int
	for i := t.done; i < n; i++ {
		shares = append(shares, 0)
		if t.known(i) == 0 {
			shares[len(shares)-1] = totalOf(t.g.weights[i]).Total()
		}
	}
	for k, size := range spread(max(left, 0), shares) {
		i := t.done + k
		if t.known(i) > 0 {
			size = t.known(i)
		} else if shares[k] == 0 {
			size = 0
		}
		t.book(i, size)
	}
	t.done = n
}

// book writes the size of an entry, divided among its parts.
func (t *settling) book(i, size int) {
	weights := t.g.weights[i]
	shares := make([]int, len(weights))
	for k, w := range weights {
		shares[k] = w.Total()
	}
	out := make([]weight, len(weights))
	for k, tokens := range spread(size, shares) {
		out[k] = weight{weights[k].Scaled(tokens), weights[k].part}
		if shares[k] == 0 {
			out[k].Contents = token.Contents{}
		}
	}
	t.g.sizes = append(t.g.sizes, out)
	t.sum = t.sum.Add(totalOf(out))
}

// known returns the size of a reply that was reported; 0 of any other entry.
func (t *settling) known(i int) int {
	e := t.g.Entries[i]
	if e.Step == nil || !e.Step.OutputReported || e.Message.Origin != llm.Model || totalOf(t.g.weights[i]).Total() == 0 {
		return 0
	}
	return e.Step.Usage.Output
}

// counted returns what entries come to by their count and a ratio in permille, those that
// are known by what is.
func (t *settling) counted(from, to, ratio int) int {
	n := 0
	for i := from; i < to; i++ {
		if known := t.known(i); known > 0 {
			n += known
			continue
		}
		n += share(totalOf(t.g.weights[i]).Total(), ratio)
	}
	return n
}

// raw returns what entries come to by the counter, those that are known left out.
func (t *settling) raw(from, to int) int {
	n := 0
	for i := from; i < to; i++ {
		if t.known(i) == 0 {
			n += totalOf(t.g.weights[i]).Total()
		}
	}
	return n
}

// divided returns what the tokens of a Step are spent on.
func (t *settling) divided(s step) token.Contents {
	hidden := min(t.g.hidden.all()+s.unseen(), s.tokens)
	visible := s.tokens - hidden
	if t.sum.Total() > visible {
		out := t.sum.Scaled(visible)
		out[token.ContentHidden] += hidden
		return out
	}
	out := t.sum
	out[token.ContentHidden] += s.tokens - t.sum.Total()
	return out
}

// near reports whether so many tokens can be those of messages that are counted as others.
func near(n, counted int) bool {
	return n >= 0 && max(n-counted, counted-n) <= max(counted, doubtful)
}

// share returns n·permille/1000.
func share(n, permille int) int { return int(int64(n) * int64(permille) / 1000) }

// scaledBy returns contents times permille/1000.
func scaledBy(c token.Contents, permille int) token.Contents {
	for i, n := range c {
		c[i] = share(n, permille)
	}
	return c
}
