package gateway

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// InMemory returns how many conversations are in memory.
func (g *Gateway) InMemory() int {
	g.memory.mu.Lock()
	defer g.memory.mu.Unlock()
	return g.memory.order.Len()
}

// Known returns of how many sessions it is remembered what the store has.
func (g *Gateway) Known() int {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	return len(g.store.written)
}

// Read reads a request and does nothing else. It returns the digest of each beginning of
// its messages, and those that it read: all but the first known ones.
func (g *Gateway) Read(ctx context.Context, c Call) (links []llm.Digest, r llm.Request, known int, err error) {
	codec, _ := codecs.For(c.Dialect)
	x := &Exchange{gateway: g, call: c, codec: codec}
	links, _, err = x.read(ctx)
	return links, x.request, x.known, err
}

// ReadAtOnce reads requests so that none is known when the others are begun. It returns
// the digests of the beginnings of each.
func (g *Gateway) ReadAtOnce(calls ...Call) (links [][]llm.Digest) {
	var all []begun
	for _, c := range calls {
		all = append(all, g.readings.begun(c))
	}
	for i, c := range calls {
		codec, _ := codecs.For(c.Dialect)
		r, _ := codec.DecodeRequest(all[i].rest) // what was not read has no digests
		links = append(links, all[i].then(g.readings.seed, c.Body, r).links)
	}
	return links
}
