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
	Bytes int64         // of all sessions, before compression, as Session.Bytes has them; 0: any
}

// Beyond returns the sessions that are beyond the limits at a time, the one that was last
// appended to longest ago first: all that are too old, and then as many as it takes for the
// others to have room. What it returns shares nothing with all.
func (l Limits) Beyond(all []Session, now time.Time) []Session {
	old := slices.Clone(all)
	slices.SortStableFunc(old, func(a, b Session) int { return a.Updated.Compare(b.Updated) })
	var bytes int64
	for _, s := range old {
		bytes += s.Bytes
	}
	for i, s := range old {
		if !(l.Age > 0 && now.Sub(s.Updated) > l.Age) && !(l.Bytes > 0 && bytes > l.Bytes) {
			return old[:i:i]
		}
		bytes -= s.Bytes
	}
	return old
}

// Expire removes a session as Delete does, if it is still as it was listed: one that somebody
// has gone on with meanwhile stays. It reports whether the session is gone.
func (s *Store) Expire(ctx context.Context, listed Session) (gone bool, err error) {
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
			return l.remove(ctx, p.id)
		})
	}
	if err != nil {
		gone = false
	}
	return gone, named(ctx, err, "expire %q", listed.Name)
}
