package gateway

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A family is the conversations that have one name. Its lock is held while a request is
// matched, told and prepared, never while somebody waits for a provider.
type family struct {
	name  string
	stale atomic.Bool // what is in memory is not what the store has
	model clientModel // of the client, for summaries

	mu       sync.Mutex
	others   int64 // what the store said of other processes when the request at hand came, see behind.others
	loaded   bool
	branches []*branch // by number
}

// A branch is one conversation: a session, and what its requests are known by.
type branch struct {
	name    string
	session *plimsoll.Session // nil: not in memory
	allows  func(tool string) bool
	frame   frame
	around  [sha256.Size]byte // of the system prompt and the tools as the session has them; zero: not known
	chain   []llm.Digest      // of the client's messages that the session has
	ends    []int             // how many messages the session has with each of them; nil: one for each
	sizes   []int             // of the client's messages that edits changed, in tokens, by place; 0: not counted yet
	last    uint64            // number of the exchange that was prepared last; 0: none since the branch was read
}

// end returns how many messages the session has with the first n of the client's.
func (b *branch) end(n int) int {
	if n == 0 || b.ends == nil {
		return n
	}
	return b.ends[n-1]
}

// cover returns what the client sees of the branch, whose session is in memory.
func (b *branch) cover() cover {
	c := cover{allows: b.allows}
	for _, t := range b.session.Tools() {
		if t.Builtin {
			c.own = append(c.own, t)
		}
	}
	return c
}

// hides reports whether the session has messages that the client does not see.
func (b *branch) hides() bool { return b.ends != nil && b.session.Len() != len(b.chain) }

// tail returns what the session has beyond the client's messages: Rounds of a reply that
// the client has not brought yet.
func (b *branch) tail() []llm.Message {
	if at := b.end(len(b.chain)); b.ends != nil && at < b.session.Len() {
		return b.session.Messages()[at:]
	}
	return nil
}

// families is those in memory, the ones used last.
type families struct {
	mu    sync.Mutex
	most  int
	letGo func(*family) // is told of one that leaves
	byKey map[string]*list.Element
	order *list.List // of *family, the one used last in front
}

func newFamilies(most int, letGo func(*family)) families {
	return families{most: most, letGo: letGo, byKey: map[string]*list.Element{}, order: list.New()}
}

// get returns the family of a name. One that is pushed out of memory is still good for
// those who use it: what it does goes to the store, where another copy finds it.
func (f *families) get(name string) *family {
	fam, gone := f.take(name)
	for _, old := range gone {
		f.letGo(old)
	}
	return fam
}

func (f *families) take(name string) (fam *family, gone []*family) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.byKey[name]; ok {
		f.order.MoveToFront(e)
		return e.Value.(*family), nil
	}
	fam = &family{name: name}
	f.byKey[name] = f.order.PushFront(fam)
	for f.order.Len() > f.most {
		oldest := f.order.Remove(f.order.Back()).(*family)
		delete(f.byKey, oldest.name)
		gone = append(gone, oldest)
	}
	return fam, gone
}

// letGo writes what a family has beyond the store.
func (g *Gateway) letGo(f *family) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.branches {
		g.release(b)
		g.memory.remove(b)
		g.store.forget(b.name)
	}
	g.store.forget(f.branchName(len(f.branches))) // that there is none
	f.branches, f.loaded = nil, false
}

// branchName names the session of a branch in the store.
func (f *family) branchName(n int) string { return f.name + "/" + strconv.Itoa(n) }

// load reads the branches that the store has: once, and again where another process has
// begun one. The lock is held.
func (f *family) load(ctx context.Context, g *Gateway, t budget.Target) error {
	if f.stale.Swap(false) {
		f.loaded = false
	}
	if f.loaded {
		more, err := g.store.ahead(ctx, f.branchName(len(f.branches)), f.others)
		if err != nil || !more {
			return err
		}
	}
	for _, b := range f.branches {
		g.memory.remove(b)
	}
	f.branches = nil
	for n := 0; ; n++ {
		begun, err := has(ctx, g.store, f.branchName(n))
		if err != nil {
			return err
		}
		if !begun {
			break
		}
		b := &branch{name: f.branchName(n)}
		if err := g.take(ctx, f, b, t); err != nil {
			return err
		}
		b.frame = frameOf(b.session.View().Sections, b.session.Tools())
		if c := b.cover(); c.any() {
			b.chain, b.ends = c.seen(b.session.Messages())
		} else {
			b.chain = chain(b.session.Messages())
		}
		f.branches = append(f.branches, b)
	}
	f.loaded = true
	return nil
}

// forget makes the next request read the family from the store again: another process
// has written to it, or the store has failed.
func (f *family) forget() { f.loaded = false }

// has reports whether the store knows a session.
func has(ctx context.Context, s store.Store, name string) (bool, error) {
	for _, err := range s.Records(ctx, name, 0) {
		return err == nil, err
	}
	return false, nil
}

// match returns the branch that a request goes on with, and how many messages they have
// in common; nil if there is none.
func (f *family) match(fr frame, want []llm.Digest) (best *branch, shared int) {
	for _, b := range f.branches {
		if !b.frame.kin(fr) {
			continue
		}
		n := common(b.chain, want)
		// Of two with as much in common the one that ends there is gone on with; of two
		// forks the newer one.
		better := n > shared || n == shared && n > 0 && (len(b.chain) == n || len(best.chain) != n)
		if better {
			best, shared = b, n
		}
	}
	return best, shared
}

// A coming is a request that comes in, by what its conversation is found by.
type coming struct {
	frame  frame
	links  []llm.Digest // of each beginning of its messages
	target budget.Target
	// goesOn reports whether it brings the reply that a branch has hidden Rounds of, behind
	// so many messages.
	goesOn func(b *branch, shared int) bool
}

// place returns a branch that holds the first shared messages of a request and no
// others: the one that matches, a fork of it, or a new one. The lock is held.
func (f *family) place(ctx context.Context, g *Gateway, c coming) (b *branch, shared int, err error) {
	b, shared = f.match(c.frame, c.links)
	if b != nil {
		if err := g.fresh(ctx, f, b, c.target); err != nil {
			return nil, 0, err
		}
	}
	switch {
	case b != nil && shared == len(b.chain) && (len(b.tail()) == 0 || c.goesOn(b, shared)):
		b.frame = c.frame
		return b, shared, nil
	case b != nil:
		if b, err = g.fork(ctx, f, b, shared); err != nil {
			return nil, 0, err
		}
		b.frame = c.frame
	default:
		b = &branch{name: f.branchName(len(f.branches)), frame: c.frame}
		if err := g.take(ctx, f, b, c.target); err != nil {
			return nil, 0, err
		}
		if got := b.session.Len(); got > 0 {
			return nil, 0, fmt.Errorf("gateway: session %q: want a new one, got one with %d messages: %w", b.name, got, store.ErrConflict)
		}
	}
	f.branches = append(f.branches, b)
	return b, shared, nil
}

// conflicted reports whether another process has written what this one was about to.
func conflicted(err error) bool { return errors.Is(err, store.ErrConflict) }
