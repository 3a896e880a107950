package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/store"
)

// Memory is the path of a store that is not in a file and ends with Close.
const Memory = ":memory:"

const (
	applicationID = 0x506c696d // "Plim", in the header of our files
	readers       = 4          // connections for reading
	busyTimeout   = 10 * time.Second
	busyPause     = 5 * time.Millisecond // between two tries of what SQLite itself does not wait for
)

// Options say how a store is opened. The zero value is meant to be used.
type Options struct {
	// Existing refuses to make a new store: it is an error that wraps
	// fs.ErrNotExist if there is none.
	Existing bool
	// ReadOnly opens a store that is there without writing to its file; whatever would
	// change it fails. It makes no file beside it either, but where there is a log (-wal)
	// without its index (-shm), which SQLite then makes. A store without a log is taken to
	// stay as it is: what another process writes meanwhile may be seen in part, or be an
	// error. It says nothing about a store in memory.
	ReadOnly bool
	// Now tells the time that sessions and blobs are marked with; nil: time.Now.
	Now func() time.Time
}

// A Store keeps sessions in a file. It is safe for concurrent use.
type Store struct {
	path     string
	readOnly bool
	now      func() time.Time
	packer   *packer
	writer   chan *lane // one
	group    group      // of appends that wait for it
	readers  chan *lane // several; of a store in memory the writer
	reading  int        // lanes for reading that are not the writer
	tidier   tidier     // of the log
	closed   chan struct{}
	once     sync.Once // Close
}

var (
	_ store.Store       = (*Store)(nil)
	_ store.Deleter     = (*Store)(nil)
	_ store.Snapshotter = (*Store)(nil)
	_ store.Streamer    = (*Store)(nil)
	_ store.Opener      = (*Store)(nil)
	_ store.Searcher    = (*Store)(nil)
	_ store.Unflusher   = (*Store)(nil)
	_ store.Committer   = (*Store)(nil)
	_ store.Witness     = (*Store)(nil)
)

// A VersionError says that a file was written by a newer program, or that one has brought it
// forward while it was open: then whatever is asked of the Store that has it open returns
// this error, and nothing is written that the newer program would read otherwise.
type VersionError struct {
	Path string
	Want int // the newest version that is understood
	Got  int
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("sqlite: %s: version of the file, want at most %d, got %d", e.Path, e.Want, e.Got)
}

// ErrNotStore says that a file is not one of ours, or that its beginning is damaged.
// Such a file is left as it is.
var ErrNotStore = errors.New("not a store of plimsoll")

// Open opens the store in the file at path, which begins with the first Open; its
// folder must be there. The path [Memory] is a store in memory.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	t, err := shared()
	if err != nil {
		return nil, err
	}
	o.ReadOnly = o.ReadOnly && path != Memory
	if err := touch(path, o); err != nil {
		return nil, fmt.Errorf("sqlite: open: %w", err)
	}
	s := &Store{
		path: path, readOnly: o.ReadOnly, now: o.Now, packer: t.packer,
		writer: make(chan *lane, 1), readers: make(chan *lane, readers), closed: make(chan struct{}),
	}
	if s.now == nil {
		s.now = time.Now
	}
	dsn, err := address(path, o.ReadOnly)
	if err != nil {
		return nil, named(ctx, err, "open %s", path)
	}
	w, err := newLane(ctx, t.driver, dsn)
	if err != nil {
		return nil, named(ctx, unlikeOurs(err), "open %s", path)
	}
	s.writer <- w
	if err := s.begin(ctx, w, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := w.waiting(ctx, 0); err != nil { // from here on it waits by itself
		return nil, errors.Join(named(ctx, err, "open %s", path), s.Close())
	}
	all, err := migrations()
	if err != nil {
		return nil, errors.Join(named(ctx, err, "open %s", path), s.Close())
	}
	w.known = &VersionError{Path: path, Want: len(all)}
	if path == Memory {
		s.readers = s.writer
		return s, nil
	}
	for range readers {
		r, err := newLane(ctx, t.driver, dsn+"&_query_only=1")
		if err != nil {
			return nil, errors.Join(named(ctx, err, "open %s", path), s.Close())
		}
		r.known = w.known
		s.readers <- r
		s.reading++
	}
	if !o.ReadOnly {
		if err := s.keepTidy(ctx, w, func() (*lane, error) { return newLane(ctx, t.driver, dsn) }); err != nil {
			return nil, errors.Join(named(ctx, err, "open %s", path), s.Close())
		}
	}
	return s, nil
}

// Path returns the path that the store was opened with.
func (s *Store) Path() string { return s.path }

// Close waits for calls that are running and closes the file. Calls that come later
// return an error, but for Close, which then does nothing.
func (s *Store) Close() error {
	var errs []error
	s.once.Do(func() {
		close(s.closed)
		errs = append(errs, s.tidier.close())
		for range s.reading {
			errs = append(errs, (<-s.readers).close())
		}
		errs = append(errs, (<-s.writer).close()) // the last one: SQLite tidies up
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sqlite: close %s: %w", s.path, err)
	}
	return nil
}

// touch makes sure that there is a file, and that nobody else can read a new one:
// SQLite gives the files beside it the same mode.
func touch(path string, o Options) error {
	if path == Memory {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.Existing && !o.ReadOnly:
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is what the caller asks for
		if err != nil {
			return err
		}
		return f.Close()
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: want a file, got %s", path, info.Mode())
	case info.Size() == 0 && !o.ReadOnly:
		return os.Chmod(path, 0o600)
	}
	return nil
}

// address is what the driver calls a file. Full synchronisation flushes the log at
// every commit (law 2).
func address(path string, readOnly bool) (string, error) {
	settings := "?_busy_timeout=" + fmt.Sprint(busyTimeout.Milliseconds()) +
		"&_foreign_keys=1&_synchronous=FULL&_dqs=0&_defensive=1&_error_rc=1"
	if path == Memory {
		return Memory + settings, nil
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	full = filepath.ToSlash(full)
	if !strings.HasPrefix(full, "/") {
		full = "/" + full
	}
	mode := "&mode=rw"
	if readOnly {
		mode = "&mode=ro"
		if !hasLog(path) {
			mode += "&immutable=1"
		}
	}
	return "file://" + (&url.URL{Path: full}).EscapedPath() + settings + mode, nil
}

// hasLog reports whether there may be something beside the file that belongs to its content.
// If not it can be read as it stands; else SQLite would make a log and an index as little
// writable as the file, which would be in the way of whoever may write to it later, and which
// nobody can remove safely who has no lock for writing.
func hasLog(path string) bool {
	real, err := filepath.EvalSymlinks(path) // beside what a link leads to
	if err != nil {
		return true
	}
	for _, beside := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(real + beside); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// begin makes sure that the file is ours before anything is written to it, and
// brings its tables forward.
func (s *Store) begin(ctx context.Context, l *lane, o Options) error {
	app, version, tables, err := l.marks(ctx)
	if err != nil {
		return named(ctx, unlikeOurs(err), "open %s", s.path)
	}
	fresh := app == 0 && version == 0 && tables == 0
	switch {
	case fresh && (o.Existing || o.ReadOnly) && s.path != Memory:
		return named(ctx, fmt.Errorf("%w: the file is empty", ErrNotStore), "open %s", s.path)
	case version < 0:
		return named(ctx, fmt.Errorf("%w: version, want at least 1, got %d", ErrNotStore, version), "open %s", s.path)
	case !fresh && app != applicationID:
		return named(ctx, fmt.Errorf("%w: a database of another program", ErrNotStore), "open %s", s.path)
	}
	if s.path != Memory && !o.ReadOnly {
		if err := useLog(ctx, l); err != nil {
			return named(ctx, err, "open %s", s.path)
		}
	}
	return s.forward(ctx, l, version, o.ReadOnly)
}

// marks returns what a file says about itself, all of it at one moment: another process
// may be making it.
func (l *lane) marks(ctx context.Context) (app, version, tables int, err error) {
	err = l.transaction(ctx, "BEGIN", func(ctx context.Context) error {
		return errors.Join(
			l.one(ctx, "PRAGMA application_id", nil, &app),
			l.one(ctx, "PRAGMA user_version", nil, &version),
			l.one(ctx, "SELECT count(*) FROM sqlite_schema", nil, &tables),
		)
	})
	return app, version, tables, err
}

// forward brings the tables forward, which a store that is only read must not need.
func (s *Store) forward(ctx context.Context, l *lane, got int, readOnly bool) error {
	all, err := migrations()
	if err == nil && !readOnly {
		got, err = migrate(ctx, l, all)
	}
	switch {
	case err == nil && got > len(all):
		return &VersionError{s.path, len(all), got}
	case err == nil && got < len(all):
		err = fmt.Errorf("version of the file, want %d to read it only, got %d", len(all), got)
	}
	return named(ctx, unlikeOurs(err), "open %s", s.path)
}

// useLog turns the write-ahead log on. Where another process does the same at the
// same time SQLite does not wait, so this does.
func useLog(ctx context.Context, l *lane) error {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		var mode string
		err := l.one(ctx, "PRAGMA journal_mode", nil, &mode)
		if err == nil && mode != "wal" {
			err = l.one(ctx, "PRAGMA journal_mode = WAL", nil, &mode)
		}
		if err == nil && mode == "wal" {
			return nil
		}
		if err != nil && !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("journal mode, want wal, got %s: %w", mode, ctx.Err()), err)
		case <-time.After(busyPause):
		}
	}
}

// schema holds the steps from each version of the tables to the next.
//
//go:embed schema/*.sql
var schema embed.FS

// migrations returns the steps in their order.
func migrations() ([]string, error) {
	var all []string
	for {
		b, err := schema.ReadFile(fmt.Sprintf("schema/%d.sql", len(all)+1))
		if errors.Is(err, fs.ErrNotExist) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, string(b))
	}
}

// migrate takes the steps that a file has not taken yet, all or none, and returns the
// version that it has then. It leaves a file alone that is newer than all of them.
func migrate(ctx context.Context, l *lane, all []string) (version int, err error) {
	// Most files have nothing to be done, which is found out without waiting for writers.
	if err := l.one(ctx, "PRAGMA user_version", nil, &version); err != nil || version >= len(all) {
		return version, err
	}
	err = l.transaction(ctx, "BEGIN IMMEDIATE", func(ctx context.Context) error {
		if err := l.one(ctx, "PRAGMA user_version", nil, &version); err != nil || version >= len(all) {
			return err // another process was faster
		}
		for _, step := range all[version:] {
			if _, err := l.conn.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		version = len(all)
		mark := fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version, applicationID)
		_, err := l.conn.ExecContext(ctx, mark)
		return err
	})
	return version, err
}

// unlikeOurs names what SQLite says of a file that is not what it should be.
func unlikeOurs(err error) error {
	if isDamage(err) {
		return fmt.Errorf("%w: %w", ErrNotStore, err)
	}
	return err
}

// noRow reports whether a query found nothing.
func noRow(err error) bool { return errors.Is(err, sql.ErrNoRows) }
