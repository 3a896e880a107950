package sqlite

import (
	"context"
	"slices"
	"time"
)

// Limits say what a store may keep at most. They take whole sessions, with every Ref of
// theirs: nothing else lets go of what a session can still name. The zero Limits take
// nothing.
type Limits struct {
	Age   time.Duration // since a session was last appended to; 0: any
	Bytes int64         // of the file, once [Store.GC] has been at it; 0: any
}

// Beyond is what is beyond limits.
type Beyond struct {
	Sessions []Session // the one that was last appended to longest ago first
	Of       int       // how many sessions there are
	Bytes    int64     // that the file has about once they are gone and [Store.GC] has been at it
}

// Beyond returns the sessions that are beyond limits: all that are too old, and then as many of
// those that were last appended to longest ago as it takes for the file to have room for the
// others. How large the file would be is estimated, from what is in it without free pages and
// the bytes of all contents after compression; once GC has been at it it is known.
func (s *Store) Beyond(ctx context.Context, limits Limits) (Beyond, error) {
	var all []Session
	for one, err := range s.Sessions(ctx) {
		if err != nil {
			return Beyond{}, err
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b Session) int { return a.Updated.Compare(b.Updated) })
	out := Beyond{Of: len(all)}
	err := s.read(ctx, func(l *lane) error {
		// It only reads, and all of it the same moment.
		defer func() { _, _ = l.exec(context.WithoutCancel(ctx), "ROLLBACK") }()
		if _, err := l.exec(ctx, "BEGIN"); err != nil {
			return err
		}
		w, err := l.weigh(ctx)
		if err != nil {
			return err
		}
		n := 0
		for ; n < len(all); n++ {
			old := limits.Age > 0 && s.now().Sub(all[n].Updated) > limits.Age
			if !old && !(limits.Bytes > 0 && w.left() > limits.Bytes) {
				break
			}
			if err := w.without(ctx, all[n].Name); err != nil {
				return err
			}
		}
		out.Sessions, out.Bytes = all[:n:n], w.left()
		return nil
	})
	return out, named(ctx, err, "limits of %s", s.path)
}

// Expire removes a session as Delete does, if it is still as it was listed: one that somebody
// has gone on with meanwhile stays. It reports what was let go of, and whether the session is
// gone.
func (s *Store) Expire(ctx context.Context, listed Session) (f Freed, gone bool, err error) {
	err = usable(ctx, listed.Name)
	if err == nil {
		err = s.write(ctx, func(ctx context.Context, l *lane) error {
			p, err := l.find(ctx, listed.Name)
			if noRow(err) {
				gone = true
				return nil
			}
			var updated int64
			if err == nil {
				err = l.one(ctx, "SELECT updated FROM sessions WHERE id = ?1", []any{p.id}, &updated)
			}
			if gone = err == nil && updated == listed.Updated.UnixMilli(); !gone {
				return err
			}
			f, err = l.remove(ctx, p.id)
			return err
		})
	}
	if err != nil {
		f, gone = Freed{}, false
	}
	return f, gone, named(ctx, err, "expire %q", listed.Name)
}
