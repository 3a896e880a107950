package gateway

import (
	"container/list"
	"context"
	"sync"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A memory is the sessions in memory, the ones used last. A session holds its whole
// conversation; of a branch whose session is not in memory only digests are.
type memory struct {
	mu    sync.Mutex
	most  int
	at    map[*branch]*list.Element
	order *list.List // of held, the one used last in front
}

type held struct {
	f *family
	b *branch
}

func newMemory(most int) memory {
	return memory{most: most, at: map[*branch]*list.Element{}, order: list.New()}
}

// add makes a branch the one used last, and returns those that are too many.
func (m *memory) add(h held) (over []held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.at[h.b]; ok {
		m.order.MoveToFront(e)
		return nil
	}
	m.at[h.b] = m.order.PushFront(h)
	for e := m.order.Back(); e != nil && m.order.Len()-len(over) > m.most; e = e.Prev() {
		over = append(over, e.Value.(held))
	}
	return over
}

func (m *memory) remove(b *branch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.at[b]; ok {
		m.order.Remove(e)
		delete(m.at, b)
	}
}

// use notes that a branch is used, whose family's lock is held, and lets go of the sessions
// that are too many, but for those in use.
func (g *Gateway) use(f *family, b *branch) {
	for _, h := range g.memory.add(held{f, b}) {
		if h.b == b || h.f != f && !h.f.mu.TryLock() {
			continue // a later one looks again
		}
		g.release(h.b)
		g.memory.remove(h.b)
		if h.f != f {
			h.f.mu.Unlock()
		}
	}
}

// release lets go of a branch's session, also while a provider is waited for: it is opened
// again where the answer has to be told. The lock of its family is held.
func (g *Gateway) release(b *branch) {
	if err := g.store.flush(context.Background(), b.name); err != nil {
		g.options.Log.Warn("records were not written", "session", b.name, "error", err.Error())
	}
	b.session, b.sizes = nil, nil
}

// take opens the session of a branch.
func (g *Gateway) take(ctx context.Context, f *family, b *branch, t budget.Target) (err error) {
	b.session, err = plimsoll.Open(ctx, plimsoll.Options{
		ID: b.name, Store: g.store.forSessions(), Policy: g.options.Policy, Targets: []budget.Target{t},
		Summariser: g.summariser(f), Catalog: g.options.Catalog, Encodings: g.options.Encodings,
		WithoutTools: !g.options.Offer || b.frame.bare, StoreLater: true, SnapshotLater: true, Allow: g.allows(t), ToolKind: g.kindOf(),
	})
	if err == nil {
		b.allows = g.allows(t)
		g.use(f, b)
	}
	return err
}

// fresh makes sure that a branch is in memory and is what the store has.
func (g *Gateway) fresh(ctx context.Context, f *family, b *branch, t budget.Target) error {
	ahead, err := g.store.ahead(ctx, b.name, f.others)
	switch {
	case err != nil:
		return err
	case ahead:
		return &store.ConflictError{Session: b.name}
	case b.session != nil:
		g.use(f, b)
		return nil
	}
	if err := g.take(ctx, f, b, t); err != nil {
		return err
	}
	if b.session.Len() < b.end(len(b.chain)) || b.ends == nil && b.session.Len() != len(b.chain) {
		return &store.ConflictError{Session: b.name}
	}
	b.around = [len(b.around)]byte{}
	return nil
}

// fork begins a branch that holds the first shared messages of b. Where something was taken
// out the request may have to be shorter, for which the store is waited for as long as for
// what is taken out.
func (g *Gateway) fork(ctx context.Context, f *family, b *branch, shared int) (*branch, error) {
	most := mostHeard
	if len(b.session.Edits()) > 0 {
		most = mostWrite
	}
	ctx, cancel := within(ctx, most)
	defer cancel()
	s, err := b.session.Fork(ctx, f.branchName(len(f.branches)), llm.MessageID(b.end(shared)))
	if err != nil {
		return nil, err
	}
	fork := &branch{name: s.ID(), session: s, allows: b.allows, chain: b.chain[:shared:shared]}
	if b.ends != nil {
		fork.ends = b.ends[:shared:shared]
	}
	g.use(f, fork)
	return fork, nil
}
