package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

const (
	readBytes  = 128 << 10 // of one read
	batchBytes = 2 << 20   // of pieces, after compression, that are written at once

	// What is on its way says that it is alive at least so often, if anything comes.
	touchEvery = time.Hour
	// What has not for so long has been left by a process that is gone.
	deadAfter = 24 * time.Hour
)

// PutFrom implements [store.Streamer]. A content is cut into pieces, each compressed as it
// comes; what is in memory is some 6 MiB, whatever its length. A long one is written in
// several transactions before it has ended. Nobody sees it until the last one; if
// PutFrom fails they are taken back, and if the process dies, or if nothing comes for a
// day, [Store.GC] or a later PutFrom lets go of them. A content may have 4 GiB, as
// [Store.Get] returns it in one go.
func (s *Store) PutFrom(ctx context.Context, session string, r io.Reader) (ref llm.Ref, size int64, err error) {
	if err := usable(ctx, session); err != nil {
		return "", 0, named(ctx, err, "put into %q", session)
	}
	w := &stream{store: s, ctx: ctx, hash: sha256.New()}
	if _, err = io.CopyBuffer(w, until{ctx, r}, make([]byte, readBytes)); err == nil {
		err = w.end(session)
	}
	if err != nil {
		err = errors.Join(err, w.takeBack())
		return "", 0, named(ctx, err, "put into %q", session)
	}
	return w.index.ref, w.size, nil
}

// A stream keeps what is written to it.
type stream struct {
	store   *Store
	ctx     context.Context
	hash    hash.Hash
	size    int64
	head    []byte // of the piece that is not yet whole
	index   index  // of those that are
	waiting []body // of these, the newest ones, which are not written yet
	bytes   int    // of what waits
	content int64  // the row of contents whose pieces the older ones are; 0: none yet
	touched time.Time
}

func (w *stream) Write(data []byte) (int, error) {
	w.hash.Write(data) // never an error
	if w.size += int64(len(data)); w.size > w.store.packer.mostContent {
		return 0, tooLarge(w.store.packer.mostContent, w.size)
	}
	for rest := data; len(rest) > 0; {
		if len(w.head) == pieceBytes {
			if err := w.cut(); err != nil {
				return 0, err
			}
		}
		n := min(len(rest), pieceBytes-len(w.head))
		w.head = append(w.head, rest[:n]...)
		rest = rest[n:]
	}
	if w.content > 0 && w.store.now().Sub(w.touched) >= touchEvery {
		return len(data), w.flush()
	}
	return len(data), nil
}

// cut makes a piece of what has come since the last one.
func (w *stream) cut() error {
	b, err := w.store.packer.pack(w.head)
	if err != nil {
		return err
	}
	w.index.add(w.head, b.sum)
	if b.form == formRaw {
		w.head = nil // the body shares it
	}
	w.head = w.head[:0]
	w.waiting = append(w.waiting, b)
	if w.bytes += len(b.data); w.bytes < batchBytes {
		return nil
	}
	return w.flush()
}

// flush writes what waits.
func (w *stream) flush() error {
	now := w.store.now()
	content := w.content
	err := w.store.write(w.ctx, func(ctx context.Context, l *lane) (err error) {
		if content == 0 {
			content, err = l.beginContent(ctx, now)
		} else {
			err = l.touch(ctx, content, now)
		}
		if err != nil {
			return err
		}
		return l.addPieces(ctx, content, len(w.index.pieces)-len(w.waiting), w.waiting)
	})
	if err != nil {
		return err
	}
	w.content, w.touched = content, now
	clear(w.waiting)
	w.waiting, w.bytes = w.waiting[:0], 0
	return nil
}

// end lets a session see all that was written.
func (w *stream) end(session string) error {
	ref := llm.RefOfSum([sha256.Size]byte(w.hash.Sum(nil)))
	p := packed{session: session, ref: ref, content: w.content}
	var err error
	if len(w.index.pieces) == 0 {
		p.body, err = w.store.packer.pack(w.head)
	} else if err = w.cut(); err == nil {
		w.index.ref = ref
		p.body, p.pieces, p.content = w.store.packer.indexed(&w.index), w.waiting, w.content
	}
	if err == nil {
		err = w.store.keep(w.ctx, session, []packed{p})
	}
	w.index.ref = ref
	return err
}

// takeBack lets go of what was written of a content that is not kept.
func (w *stream) takeBack() error {
	if w.content == 0 {
		return nil
	}
	return w.store.write(context.WithoutCancel(w.ctx), func(ctx context.Context, l *lane) error { return l.drop(ctx, w.content) })
}

// beginContent begins a content that is on its way, and lets go of those that are dead.
func (l *lane) beginContent(ctx context.Context, now time.Time) (int64, error) {
	if err := l.bury(ctx, now, &Freed{}); err != nil {
		return 0, err
	}
	res, err := l.exec(ctx, "INSERT INTO contents (touched) VALUES (?1)", now.UnixMilli())
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// bury lets go of contents that were on their way and are dead.
func (l *lane) bury(ctx context.Context, now time.Time, f *Freed) error {
	const came = "SELECT count(*) FROM pieces WHERE content IN (SELECT id FROM contents WHERE blob IS NULL AND touched < ?1)"
	var pieces int64
	if err := l.one(ctx, came, []any{aliveSince(now)}, &pieces); err != nil {
		return err
	}
	n, err := l.changed(ctx, "DELETE FROM contents WHERE blob IS NULL AND touched < ?1", aliveSince(now))
	f.Blobs += n
	f.Bytes += pieces * pieceBytes // the last one of a content was not there yet
	return err
}

// aliveSince is the moment since which a content on its way has been touched unless it is dead.
func aliveSince(now time.Time) int64 { return now.Add(-deadAfter).UnixMilli() }

// touch says that a content is still on its way.
func (l *lane) touch(ctx context.Context, content int64, now time.Time) error {
	n, err := l.changed(ctx, "UPDATE contents SET touched = ?2 WHERE id = ?1 AND blob IS NULL", content, now.UnixMilli())
	if err == nil && n != 1 {
		err = errDead
	}
	return err
}

// errDead says that somebody has let go of a content that was on its way.
var errDead = errors.New("nothing had come for too long, so that the beginning was taken for left behind")

// drop lets go of a content that is on its way.
func (l *lane) drop(ctx context.Context, content int64) error {
	_, err := l.exec(ctx, "DELETE FROM contents WHERE id = ?1 AND blob IS NULL", content)
	return err
}

// addPieces writes pieces of a content, of which the first has a number.
func (l *lane) addPieces(ctx context.Context, content int64, first int, pieces []body) error {
	for i, b := range pieces {
		const insert = "INSERT INTO pieces (content, seq, form, body) VALUES (?1, ?2, ?3, ?4)"
		if _, err := l.exec(ctx, insert, content, first+i, b.form, b.data); err != nil {
			return err
		}
	}
	return nil
}

// tooLarge is the error for a content that has no place.
func tooLarge(most, got int64) error { return &store.TooLargeError{Want: most, Got: got} }

// until is a reader that ends with its context.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
