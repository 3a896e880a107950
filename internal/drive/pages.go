package drive

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/store"
)

// mostAhead is how many pages are read before anybody needs them.
const mostAhead = 16

// A reading is the pages of a session, which are read in their order, one after the other, and
// decoded side by side, while the records of those before are worked on.
type reading struct {
	pages  chan *readPage // in their order; closed at the end
	left   int            // how many of them nobody has taken yet
	cancel context.CancelFunc
}

// A readPage is a page with its records, as soon as they are there.
type readPage struct {
	records *journal.Stretch
	err     error
	done    chan struct{}
}

// readPages begins to read the pages of a session and returns the newest, from which its
// reading goes back to the first record. ok is false if there is none that is of use.
func readPages(ctx context.Context, s store.Snapshotter, session string) (last journal.Page, r *reading, ok bool) {
	to, data, err := s.Snapshot(ctx, session)
	if err != nil {
		return last, nil, false
	}
	if last, err = pageOf(data, to); err != nil {
		return last, nil, false
	}
	known := map[int]journal.Page{last.To: last}
	if last.Before == nil { // it does not say where the others end
		for at := last; at.From > 0; known[at.To] = at {
			if data, err = s.SnapshotAt(ctx, session, at.From); err != nil {
				return last, nil, false
			}
			if at, err = pageOf(data, at.From); err != nil {
				return last, nil, false
			}
			last.Before = append(last.Before, at.To)
		}
		slices.Reverse(last.Before)
	}
	ctx, cancel := context.WithCancel(ctx)
	r = &reading{pages: make(chan *readPage, mostAhead), left: len(last.Before) + 1, cancel: cancel}
	go r.read(ctx, func(to int) (journal.Page, error) {
		if p, ok := known[to]; ok {
			return p, nil
		}
		data, err := s.SnapshotAt(ctx, session, to)
		if err != nil {
			return journal.Page{}, err
		}
		return pageOf(data, to)
	}, append(slices.Clone(last.Before), last.To))
	return last, r, true
}

// pageOf reads a page that ends at a record.
func pageOf(data []byte, to int) (journal.Page, error) {
	p, err := journal.DecodePage(data)
	if err == nil && (p.To != to || p.From >= to) {
		err = fmt.Errorf("page of records %d to %d, want one that ends at %d", p.From, p.To, to)
	}
	return p, err
}

// read reads the pages that end at some records.
func (r *reading) read(ctx context.Context, page func(to int) (journal.Page, error), ends []int) {
	defer close(r.pages)
	busy := make(chan struct{}, runtime.GOMAXPROCS(0))
	from := 0
	for _, to := range ends {
		p, err := page(to)
		if err == nil && p.From != from {
			err = fmt.Errorf("page of records %d to %d, want one that begins at %d", p.From, p.To, from)
		}
		from = to
		if r.decode(ctx, busy, p, err); err != nil || ctx.Err() != nil {
			return
		}
	}
}

// decode makes records of a page, beside what else is done.
func (r *reading) decode(ctx context.Context, busy chan struct{}, p journal.Page, err error) {
	one := &readPage{err: err, done: make(chan struct{})}
	select {
	case r.pages <- one:
	case <-ctx.Done():
		return
	}
	busy <- struct{}{}
	go func() {
		defer func() { <-busy; close(one.done) }()
		if one.err == nil {
			one.records, one.err = p.Read()
		}
	}()
}

// all yields the records of the pages, until the first error.
func (r *reading) all(yield func(*journal.Stretch, error) bool) {
	for p := range r.pages {
		<-p.done
		r.left--
		if !yield(p.records, p.err) || p.err != nil {
			return
		}
	}
	if r.left > 0 {
		yield(nil, errors.New("the reading of pages was broken off"))
	}
}

// stop ends the reading and waits until nobody uses the store any more.
func (r *reading) stop() {
	r.cancel()
	for range r.pages { // what is read and nobody wants
	}
}
