package gateway

import (
	"container/list"
	"hash/maphash"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A reading is what is remembered of a body that was read, so that of the next one, which
// mostly begins with the same bytes, only the rest is read.
type reading struct {
	list   int // where the message list begins in the body
	pieces []piece
	links  []llm.Digest // of the messages, see chain
	longer atomic.Bool  // another reading goes on in the same memory
}

// A piece is one message of a body together with what stands before it, from the end of
// the message before or the beginning of the body on.
type piece struct {
	size  int
	sum   uint64
	model bool // the model wrote it
}

// A begun is a body of which the beginning was read before. The zero begun is one of which
// nothing is known.
type begun struct {
	*reading
	n    int    // messages that are known
	cut  int    // bytes of the body that rest leaves out, all of them in the message list
	rest []byte // the body without those messages
}

// on returns the longest beginning of a body that is known and that may be left out. It
// does not end with what the model wrote: some dialects have that in pieces, and more of
// them may follow. It is n messages, and what stands behind them begins at next.
func (r *reading) on(seed maphash.Seed, body []byte) (n, next int) {
	end := 0
	for _, p := range r.pieces {
		if end+p.size > len(body) || maphash.Bytes(seed, body[end:end+p.size]) != p.sum {
			break
		}
		n, end = n+1, end+p.size
	}
	for ; n > 0; n-- {
		if next := comma(body, end); next > 0 && !r.pieces[n-1].model {
			return n, next
		}
		end -= r.pieces[n-1].size
	}
	return 0, 0
}

// comma returns the place behind the comma that is the next thing at a place of a text, 0
// if something else is.
func comma(text []byte, at int) int {
	for ; at < len(text); at++ {
		switch text[at] {
		case ' ', '\t', '\r', '\n':
		case ',':
			return at + 1
		default:
			return 0
		}
	}
	return 0
}

// continues reports whether r, as the rest was read, is what the whole body has there: no
// codec reads a message otherwise for what stands before it, but for a result, which may
// find its call there.
func (b begun) continues(r llm.Request) bool {
	if len(r.Messages) == 0 || r.Frame.Messages.Start != b.list {
		return false
	}
	calls := map[string]bool{}
	for _, m := range r.Messages {
		for _, c := range m.Calls() {
			calls[c.CallID] = true
		}
		for _, t := range m.Results() {
			if !calls[t.CallID] {
				return false
			}
		}
	}
	return true
}

// then returns the reading of a body that begins as b says and whose rest, which may be
// all of it, is r; nil if its messages have no places.
func (b begun) then(seed maphash.Seed, body []byte, r llm.Request) *reading {
	next := &reading{list: r.Frame.Messages.Start}
	var at llm.Digest
	end := 0
	if b.n > 0 {
		next.pieces, next.links = b.pieces[:b.n:b.n], b.links[:b.n:b.n]
		if b.n == len(b.pieces) && b.longer.CompareAndSwap(false, true) { // nobody else adds to it
			next.pieces, next.links = b.pieces, b.links
		}
		at = b.links[b.n-1]
		for _, p := range next.pieces {
			end += p.size
		}
	}
	each := r.Frame.Each
	for items, m := range items(r) {
		at = llm.Chain(at, digestOf(m))
		next.links = append(next.links, at)
		if items > len(each) || items == 0 && len(r.Frame.Mixed) == 0 {
			each = nil
			continue
		}
		stop := end // of what is left of a message that was cut: nothing
		if items > 0 {
			stop = each[items-1].End + b.cut
		}
		each = each[items:]
		next.pieces = append(next.pieces, piece{stop - end, maphash.Bytes(seed, body[end:stop]), m.Role == llm.RoleAssistant})
		end = stop
	}
	if len(next.pieces) < len(next.links) || len(each) > 0 || body[next.list] != '[' {
		next.pieces = nil
	}
	return next
}

// items yields the messages of a request, each with how many elements of their list it was:
// one; where each part was one by itself, as many as it has; of an element that was cut
// because several people speak in it (see [llm.Frame]) one for the first message, none for
// the others.
func items(r llm.Request) iter.Seq2[int, llm.Message] {
	return func(yield func(int, llm.Message) bool) {
		pieces, left := r.Frame.Pieces, 0 // messages that are still to come of the element at hand
		for _, m := range r.Messages {
			n := 1
			switch {
			case len(m.Envelope.Raw) > 0:
			case left > 0:
				n, left = 0, left-1
			case len(pieces) > 0:
				left, pieces = pieces[0]-1, pieces[1:]
			default:
				n = len(m.Parts)
			}
			if !yield(n, m) {
				return
			}
		}
	}
}

// readings are those of the conversations that went on last.
type readings struct {
	seed  maphash.Seed
	most  int
	mu    sync.Mutex
	byKey map[uint64]*list.Element
	order *list.List // of *shelf, the one used last in front
}

// A shelf is the readings of requests that look alike before they are read, the newest
// last.
type shelf struct {
	key uint64
	all []*reading
}

const (
	mostAlike = 4       // readings of one shelf: an agent and those beside it
	leastRead = 4 << 10 // bytes of a body that is worth being remembered
	opening   = 2 << 10 // bytes of a body by which those are told apart that state no id
)

func newReadings(most int) readings {
	return readings{seed: maphash.MakeSeed(), most: most, byKey: map[uint64]*list.Element{}, order: list.New()}
}

// key names the requests that may go on with each other, as far as that is seen without
// reading them.
func (k *readings) key(c Call) uint64 {
	var h maphash.Hash
	h.SetSeed(k.seed)
	for _, s := range []string{c.Owner, c.Provider, string(c.Dialect), headerID(c)} {
		maphash.WriteComparable(&h, s)
	}
	_, _ = h.Write(c.Body[:min(len(c.Body), opening)]) // a hash takes everything
	return h.Sum64()
}

// begun returns what is known of a body before it is read.
func (k *readings) begun(c Call) (best begun) {
	if len(c.Body) < leastRead {
		return begun{}
	}
	behind := 0
	for _, r := range k.alike(k.key(c)) {
		if n, next := r.on(k.seed, c.Body); n > best.n {
			best, behind = begun{reading: r, n: n}, next
		}
	}
	if best.n > 0 {
		best.rest = slices.Concat(c.Body[:best.list+1], c.Body[behind:])
		best.cut = len(c.Body) - len(best.rest)
	}
	return best
}

func (k *readings) alike(key uint64) []*reading {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.byKey[key]
	if !ok {
		return nil
	}
	k.order.MoveToFront(e)
	return slices.Clone(e.Value.(*shelf).all)
}

// remember keeps a reading, in place of the one that it goes on with.
func (k *readings) remember(c Call, before *reading, r *reading) {
	if len(c.Body) < leastRead || len(r.pieces) == 0 {
		return
	}
	key := k.key(c)
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.byKey[key]
	if !ok {
		e = k.order.PushFront(&shelf{key: key})
		k.byKey[key] = e
	}
	s := e.Value.(*shelf)
	s.all = append(slices.DeleteFunc(s.all, func(o *reading) bool { return o == before }), r)
	s.all = s.all[max(0, len(s.all)-mostAlike):]
	for k.order.Len() > k.most {
		delete(k.byKey, k.order.Remove(k.order.Back()).(*shelf).key)
	}
}
