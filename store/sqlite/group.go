package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/plimsoll-dev/plimsoll/store"
)

// A group is the appends that wait for the one connection that writes. Whoever gets it
// writes what all of them brought in one transaction: what a transaction costs is nearly
// all in making it durable.
type group struct {
	mu      sync.Mutex
	waiting []*appending
}

// mostGrouped is how many appends one transaction has at most.
const mostGrouped = 64

// An appending is one Append.
type appending struct {
	session string
	seq     int
	records []body
	blobs   []packed      // that the records name
	flush   bool          // it is done when it is on the disk
	done    chan struct{} // closed when it is done, or has failed
	err     error
}

func (g *group) add(all ...*appending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, all...)
}

// leave takes a out. It returns false if somebody writes it, or has.
func (g *group) leave(a *appending) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, a)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// with takes out a and those that are written together with it.
func (g *group) with(a *appending) []*appending {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := []*appending{a}
	g.waiting = slices.DeleteFunc(g.waiting, func(b *appending) bool {
		if b == a {
			return true
		}
		joins := len(all) < mostGrouped
		if joins {
			all = append(all, b)
		}
		return joins
	})
	return all
}

// appendGrouped appends, together with others that wait.
func (s *Store) appendGrouped(ctx context.Context, a *appending) error {
	select {
	case <-s.closed:
		return errClosed
	default:
	}
	s.group.add(a)
	select {
	case <-a.done:
	case l := <-s.writer:
		defer s.wrote(l)
		select {
		case <-a.done: // whoever had the connection before has written it
		default:
			s.lead(ctx, l, a)
		}
	case <-ctx.Done():
		if s.group.leave(a) {
			return ctx.Err()
		}
		<-a.done
	case <-s.closed:
		if s.group.leave(a) {
			return errClosed
		}
		<-a.done
	}
	return a.err
}

// lead writes a and what waits with it. If that fails it is not known whose fault it is:
// then each is written by itself, the others whatever becomes of the caller of a. Nobody
// else writes what was taken out.
func (s *Store) lead(ctx context.Context, l *lane, a *appending) {
	all := s.group.with(a)
	err := s.appendAll(ctx, l, all)
	if err != nil && len(all) > 1 {
		s.appendEach(ctx, l, a, all, err)
		return
	}
	for _, b := range all {
		if b.err == nil {
			b.err = err
		}
		close(b.done)
	}
}

// appendEach writes appends that failed together one by one. Once the file turns out to be
// locked by another process nobody waits for it again.
func (s *Store) appendEach(ctx context.Context, l *lane, a *appending, all []*appending, err error) {
	for _, b := range all {
		one := ctx
		if b != a {
			one = context.WithoutCancel(ctx)
		}
		if !isBusy(err) {
			b.err = nil
			err = s.appendAll(one, l, []*appending{b})
		}
		if b.err == nil {
			b.err = err
		}
		close(b.done)
	}
}

// appendOne writes an append with its blobs. One that conflicts has changed nothing.
func (s *Store) appendOne(ctx context.Context, l *lane, a *appending) error {
	id, err := s.append(ctx, l, a.session, a.seq, a.records)
	for i := 0; i < len(a.blobs) && err == nil; i++ {
		err = s.put(ctx, l, id, a.blobs[i])
	}
	return err
}

// appendAll writes appends in one transaction. One that conflicts is told so, and does not
// keep the others from being written.
func (s *Store) appendAll(ctx context.Context, l *lane, all []*appending) error {
	flush := slices.ContainsFunc(all, func(a *appending) bool { return a.flush })
	return l.transact(ctx, "BEGIN IMMEDIATE", flush, func(ctx context.Context) error {
		for _, a := range all {
			err := s.appendOne(ctx, l, a)
			if _, ok := errors.AsType[*store.ConflictError](err); ok {
				a.err = err
				continue
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
