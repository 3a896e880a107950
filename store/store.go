package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Store keeps sessions. The package comment holds the rules for all methods.
// The name of a session is any text but the empty one. Every error wraps the
// context's if the context ended, and names session and operation.
type Store interface {
	// Append adds records to a session that has seq records so far; else it
	// returns a *[ConflictError]. All of them are kept, or none.
	Append(ctx context.Context, session string, seq int, records [][]byte) error

	// Records yields the records of a session in order, beginning with number
	// from, counted from 0. It ends after the first error. Records that are
	// appended while it runs may be missing. Beyond the end there is nothing. What
	// is not the record that was appended there is a *[DamageError].
	Records(ctx context.Context, session string, from int) iter.Seq2[[]byte, error]

	// Put keeps blobs for a session: all of them, or none. Keeping one again
	// changes nothing. It refuses a blob whose Ref is not that of its Data.
	Put(ctx context.Context, session string, blobs []edit.Blob) error

	// Get returns the content that a session sees under ref, or an error that
	// wraps [ErrNotFound]. What has another Ref is a *[DamageError].
	Get(ctx context.Context, session string, ref llm.Ref) ([]byte, error)

	// Fork begins the session child with the first seq records of parent and
	// all blobs that parent sees now. If parent has not begun it returns an error
	// that wraps [ErrNotFound], if child has, one that wraps [ErrConflict].
	Fork(ctx context.Context, parent, child string, seq int) error
}

// A Deleter is a Store that can let go of a session.
type Deleter interface {
	// Delete removes a session, and every blob that no other session sees. Its
	// forks stay whole. Deleting a session that has not begun changes nothing.
	Delete(ctx context.Context, session string) error
}

// A Committer is a Store that can keep contents and the records that name them at once: what
// makes them durable is paid for once.
type Committer interface {
	// Commit does what Put does with blobs and then Append with records, all of it or
	// nothing. Nobody sees the records before the blobs.
	Commit(ctx context.Context, session string, seq int, records [][]byte, blobs []edit.Blob) error
}

// An Unflusher is a Store that can keep records before they are on the disk.
type Unflusher interface {
	// AppendUnflushed is Append for records that somebody else has, too, for as long as
	// the machine may fail: when it returns they outlive the process. The next write of any
	// other kind puts them on the disk, the machine does so in its own time.
	AppendUnflushed(ctx context.Context, session string, seq int, records [][]byte) error
}

// A Witness is a Store that may be one of several of the same sessions, each in a process
// of its own, and that notices.
type Witness interface {
	// Others returns a number that is another one once anybody but this Store has written
	// to what it keeps. ok is false if it cannot tell without waiting.
	Others(ctx context.Context) (n int64, ok bool)
}

// A Snapshotter is a Store that keeps snapshots of sessions, so that taking one up
// need not read all its records. What a snapshot says is the host's business; the
// store knows only how many records are in it.
//
// A snapshot is kept as long as its session or a fork sees it. A host takes one
// seldom, such as after a compaction.
type Snapshotter interface {
	// PutSnapshot keeps data as what the first seq records of a session amount to,
	// in place of what it kept for the same seq. It returns an error unless the
	// session has that many records, and seq is at least 1.
	PutSnapshot(ctx context.Context, session string, seq int, data []byte) error

	// Snapshot returns the newest snapshot that a session sees, the one with the
	// highest seq: its own, and those of its ancestors that hold no more records
	// than it has from them. Of two with the same seq its own is the one. Without
	// any it returns an error that wraps [ErrNotFound].
	Snapshot(ctx context.Context, session string) (seq int, data []byte, err error)

	// SnapshotAt returns the snapshot of the first seq records that a session sees, so that
	// one can go on from an earlier one. Without it it returns an error that wraps
	// [ErrNotFound].
	SnapshotAt(ctx context.Context, session string, seq int) ([]byte, error)
}

// A Streamer is a Store that takes a content as it comes, so that a large one need not
// be in memory at once. Which part of it is, a backend says.
type Streamer interface {
	// PutFrom keeps what r yields until io.EOF for a session, and returns its Ref and
	// its length in bytes. It does what Put would do with one blob of these bytes: it
	// keeps all of it or nothing, and keeping it again changes nothing. Nobody waits
	// for it while it reads; a name that it refuses it refuses before. An error of r
	// is wrapped by its own. Between reads it looks at the context: a Read that blocks
	// is for the owner of r to end. A content that is too large for the backend is a
	// *[TooLargeError].
	PutFrom(ctx context.Context, session string, r io.Reader) (ref llm.Ref, size int64, err error)
}

// An Opener is a Store that gives a content out in parts, so that a page of a large one is
// read without what stands before it.
type Opener interface {
	// Open returns the content that a session sees under ref, or an error that wraps
	// [ErrNotFound]. It is of use while ctx lasts, and until Close.
	Open(ctx context.Context, session string, ref llm.Ref) (Content, error)
}

// A Content is one that is kept, for reading in parts. It is safe for concurrent use. What
// is not what was kept is a *[DamageError], which the parts that are whole can still be read
// beside; how large a part is, a backend says. What is let go of while it is open is read
// as it was, or not found.
type Content interface {
	io.ReaderAt
	io.Closer

	// Size returns how many bytes it has.
	Size() int64

	// Lines returns how many lines it has: one for each newline, and one for what stands
	// behind the last of them, if anything does.
	Lines() int64

	// Line returns the offset at which line n begins, counted from 0, so that it and
	// the next one's are the ends of a line with its newline. Line(Lines()) is Size(); any
	// other n is an error.
	Line(n int64) (offset int64, err error)
}

// ErrNotFound says that a session does not have what was asked for.
var ErrNotFound = errors.New("not found")

// ErrConflict says that a session is not in the state that a writer expected.
var ErrConflict = errors.New("conflict")

// A ConflictError says that somebody else has written to a session, or that the
// writer has lost count. It wraps [ErrConflict].
type ConflictError struct {
	Session string
	Want    int // the sequence number that the next record gets
	Got     int // the one that the writer expected
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("store: append to %q: sequence number, want %d, got %d: conflict", e.Session, e.Want, e.Got)
}

// Unwrap returns [ErrConflict].
func (e *ConflictError) Unwrap() error { return ErrConflict }

// A DamageError says that a store does not have what it was given any more: its disk or
// its memory has failed. What it has instead is never returned.
type DamageError struct {
	Session string
	Place   string // what was asked for: "ref r…", "record 5" or "snapshot 5"; of a part "ref r…, bytes 0 to 4096"
	What    string // what was compared: "content", "size", …
	Want    string
	Got     string // "nothing" where nothing is
}

// Error implements error. What was done, and to which session, is said by the error
// around it.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged: %s, want %s, got %s", e.Place, e.What, e.Want, e.Got)
}

// A TooLargeError says that a content is larger than a backend can keep. Nothing of it
// is kept.
type TooLargeError struct {
	Want   int64 // bytes at most
	Got    int64 // bytes of the content when that was found out; there may be more
	Packed bool  // both are counted after compression
}

// Error implements error. What was done is said by the error around it.
func (e *TooLargeError) Error() string {
	form := ""
	if e.Packed {
		form = " after compression"
	}
	return fmt.Sprintf("content%s, want at most %d bytes, got %d or more", form, e.Want, e.Got)
}
