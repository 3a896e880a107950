package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
)

// errClosed says that a store was used after Close.
var errClosed = errors.New("store is closed")

// A connector opens connections of our own driver.
type connector struct {
	driver *sqlite.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// A lane is one connection with its statements. One goroutine uses it at a time.
type lane struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // by their text, which is always a constant

	known     *VersionError    // of a file that is newer than what is known; nil: nobody looks
	unflushed bool             // commits leave the log to the system
	commits   int              // transactions that have written
	ids       map[string]int64 // of sessions that were appended to, by their names; they may be gone
}

func newLane(ctx context.Context, d *sqlite.Driver, dsn string) (*lane, error) {
	db := sql.OpenDB(connector{d, dsn})
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &lane{db: db, conn: conn, stmts: map[string]*sql.Stmt{}, ids: map[string]int64{}}, nil
}

// close lets go of the statements and the connection. SQLite tidies up only behind a
// connection without statements.
func (l *lane) close() error {
	var errs []error
	for _, s := range l.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, l.conn.Close(), l.db.Close())...)
}

func (l *lane) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := l.stmts[query]; ok {
		return s, nil
	}
	s, err := l.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	l.stmts[query] = s
	return s, nil
}

func (l *lane) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := l.stmt(ctx, query) //nolint:sqlclosecheck // the lane keeps it for the next call
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// each calls f for every row. f may stop it with errStop.
func (l *lane) each(ctx context.Context, f func(*sql.Rows) error, query string, args ...any) error {
	s, err := l.stmt(ctx, query) //nolint:sqlclosecheck // the lane keeps it for the next call
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
	return rows.Err()
}

// errStop ends each without an error.
var errStop = errors.New("stop")

// one reads the only row of a query; without one it returns sql.ErrNoRows.
func (l *lane) one(ctx context.Context, query string, args []any, into ...any) error {
	found := false
	err := l.each(ctx, func(r *sql.Rows) error {
		found = true
		return r.Scan(into...)
	}, query, args...)
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// changed returns how many rows a statement changed.
func (l *lane) changed(ctx context.Context, query string, args ...any) (int, error) {
	res, err := l.exec(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// transaction runs f between begin and COMMIT, which flushes the log. Once it has begun it
// is not interrupted any more, so that a context cannot leave it in doubt.
func (l *lane) transaction(ctx context.Context, begin string, f func(ctx context.Context) error) error {
	return l.transact(ctx, begin, true, f)
}

// transact is transaction, but that the log need not be flushed.
func (l *lane) transact(ctx context.Context, begin string, flush bool, f func(ctx context.Context) error) (err error) {
	if err := l.flushing(ctx, flush); err != nil {
		return err
	}
	whole := context.WithoutCancel(ctx)
	defer func() {
		if err != nil {
			// SQLite may have rolled back already; that there is nothing left to do is no fault.
			_, _ = l.exec(whole, "ROLLBACK")
		}
	}()
	if err := l.begin(ctx, begin); err != nil {
		return err
	}
	if err := l.understood(whole); err != nil {
		return err
	}
	if err := f(whole); err != nil {
		return err
	}
	if _, err = l.exec(whole, "COMMIT"); err == nil {
		l.commits++
	}
	return err
}

// understood returns a *VersionError if another program has brought the file forward since it
// was opened.
func (l *lane) understood(ctx context.Context) error {
	if l.known == nil {
		return nil
	}
	now := *l.known
	if err := l.one(ctx, "PRAGMA user_version", nil, &now.Got); err != nil || now.Got <= now.Want {
		return err
	}
	return &now
}

// begin begins a transaction, and waits while another process has the file locked. SQLite
// itself would not wait as briefly as ctx says, but for a goroutine each time that ctx can
// end, even where nothing is locked.
func (l *lane) begin(ctx context.Context, how string) error {
	var until time.Time
	for ctx.Err() == nil {
		_, err := l.exec(context.WithoutCancel(ctx), how)
		switch {
		case !isBusy(err):
			return err
		case until.IsZero():
			until = time.Now().Add(busyTimeout)
		case time.Now().After(until):
			return err
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// waiting says for how long SQLite itself waits for a lock from here on.
func (l *lane) waiting(ctx context.Context, d time.Duration) error {
	_, err := l.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}

// flushing says whether commits flush the log from here on. It is no statement of the
// lane's: SQLite does what it says when it is prepared, and not when it is run.
func (l *lane) flushing(ctx context.Context, on bool) error {
	if on == !l.unflushed {
		return nil
	}
	mode := "PRAGMA synchronous = NORMAL"
	if on {
		mode = "PRAGMA synchronous = FULL"
	}
	_, err := l.conn.ExecContext(ctx, mode)
	if err == nil {
		l.unflushed = !on
	}
	return err
}

// take waits for a lane.
func (s *Store) take(ctx context.Context, lanes chan *lane) (*lane, error) {
	select {
	case <-s.closed:
		return nil, errClosed
	default:
	}
	select {
	case l := <-lanes:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.closed:
		return nil, errClosed
	}
}

// read runs f with a connection for reading.
func (s *Store) read(ctx context.Context, f func(l *lane) error) error {
	l, err := s.take(ctx, s.readers)
	if err != nil {
		return err
	}
	defer func() { s.readers <- l }()
	if err := l.understood(ctx); err != nil {
		return err
	}
	return f(l)
}

// write runs f in a transaction that is durable when write returns nil.
func (s *Store) write(ctx context.Context, f func(ctx context.Context, l *lane) error) error {
	l, err := s.take(ctx, s.writer)
	if err != nil {
		return err
	}
	defer s.wrote(l)
	return l.transaction(ctx, "BEGIN IMMEDIATE", func(ctx context.Context) error { return f(ctx, l) })
}

// Others implements [store.Witness].
func (s *Store) Others(ctx context.Context) (n int64, ok bool) {
	select {
	case l := <-s.writer:
		defer func() { s.writer <- l }()
		// Of this connection SQLite does not count what it has written itself, and no other one
		// of this Store writes.
		err := l.one(context.WithoutCancel(ctx), "PRAGMA data_version", nil, &n)
		return n, err == nil
	default:
		return 0, false
	}
}

// named returns err with what was done, and with the context's own error if that ended.
func named(ctx context.Context, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	if over := ctx.Err(); over != nil && !errors.Is(err, over) {
		err = fmt.Errorf("%w: %w", over, err)
	}
	return fmt.Errorf("sqlite: %s: %w", fmt.Sprintf(format, args...), err)
}
