package opencode

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// tables are those that a database of sessions has, with what is read of them.
var tables = []string{"session", "message", "part"}

// isDatabase looks whether an SQLite database is the client's.
func isDatabase(path string) (found sessionfile.Format, err error) {
	err = view(path, func(q query) error {
		n, err := q.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('session', 'message', 'part')")
		if err == nil && len(n) == len(tables) {
			found = sessionfile.FormatOpenCode
		}
		return err
	})
	return found, err
}

// parts lists the sessions of a database, the one that was begun first first.
func parts(path string) ([]read.Part, error) {
	var all []read.Part
	err := view(path, func(q query) error {
		rows, err := q.rows("SELECT * FROM session ORDER BY time_created, id")
		for _, row := range rows {
			all = append(all, read.Part{ID: row.text("id"), Parent: row.text("parent_id"), Time: row.number("time_updated")})
		}
		return err
	})
	return all, err
}

// readDatabase reads one session of a database, put together as the export that the
// client would write: a line for the session, then one for each message.
func readDatabase(r *read.Reading, in *read.Input) (*read.Document, error) {
	if whole, ok := in.Kept.([]byte); ok { // it may have changed since
		return read.NewDocument(whole)
	}
	var whole []byte
	err := view(in.Path, func(q query) (err error) {
		whole, err = q.export(r, in.Part)
		return err
	})
	if err != nil {
		return nil, err
	}
	in.Kept = whole
	return read.NewDocument(whole)
}

// export writes a session.
func (q query) export(r *read.Reading, id string) ([]byte, error) {
	sessions, err := q.rows("SELECT * FROM session WHERE id = ?", id)
	if err != nil {
		return nil, err
	}
	if len(sessions) != 1 {
		return nil, fmt.Errorf("session, want one of the database, got %q", id)
	}
	messages, err := q.rows("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", id)
	if err != nil {
		return nil, err
	}
	rows, err := q.rows("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id", id)
	if err != nil {
		return nil, err
	}
	of := map[string][]row{}
	for _, p := range rows {
		of[p.text("message_id")] = append(of[p.text("message_id")], p)
	}
	b := append([]byte(`{"info":`), sessions[0].session()...)
	b = append(b, `,"messages":[`...)
	for i, m := range messages {
		line := i + 2 // behind the session's
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n{\"info\":"...)
		b = append(b, m.object(r, line)...)
		b = append(b, `,"parts":[`...)
		for k, p := range of[m.text("id")] {
			if k > 0 {
				b = append(b, ',')
			}
			b = append(b, p.object(r, line)...)
		}
		b = append(b, "]}"...)
		if delete(of, m.text("id")); len(b) > read.MaxDocument {
			return nil, read.ErrTooBig
		}
	}
	for range of {
		r.Problem(1, "parts of a message that the database does not have, left out")
	}
	return append(b, "\n]}"...), nil
}

// A query asks one state of a database.
type query struct{ tx *sql.Tx }

// A row is one row, by the names of its columns.
type row map[string]any

func (r row) text(name string) string {
	switch v := r[name].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func (r row) number(name string) int64 {
	n, _ := r[name].(int64) // else the column is not there
	return n
}

// object returns a row's data, which is an object, with its id.
func (r row) object(p *read.Reading, line int) []byte {
	data := []byte(strings.TrimSpace(r.text("data")))
	if len(data) < 2 || data[0] != '{' || !read.IsJSON(data) {
		p.Problem(line, "a row whose data are no JSON object, read as empty")
		data = []byte("{}")
	}
	data = read.Compact(data) // a line is a message
	head := append([]byte(`{"id":`), chatlog.Quote(r.text("id"))...)
	if len(data) > 2 {
		head = append(head, ',')
	}
	return append(head, data[1:]...)
}

// session writes the row of a session as an export has it.
func (r row) session() []byte {
	b := []byte("{")
	for _, f := range [][2]string{{"id", "id"}, {"parentID", "parent_id"}, {"directory", "directory"}, {"version", "version"}} {
		if v := r.text(f[1]); v != "" {
			b = append(append(append(b, chatlog.Quote(f[0])...), ':'), chatlog.Quote(v)...)
			b = append(b, ',')
		}
	}
	if cost, ok := r["cost"].(float64); ok {
		b = fmt.Appendf(b, `"cost":%g,`, cost)
	}
	if _, ok := r["tokens_input"]; ok {
		b = fmt.Appendf(b, `"tokens":{"input":%d,"output":%d,"reasoning":%d,"cache":{"read":%d,"write":%d}},`,
			r.number("tokens_input"), r.number("tokens_output"), r.number("tokens_reasoning"), r.number("tokens_cache_read"), r.number("tokens_cache_write"))
	}
	return fmt.Appendf(b, `"time":{"created":%d,"updated":%d}}`, r.number("time_created"), r.number("time_updated"))
}

// rows asks for all rows of a query.
func (q query) rows(ask string, args ...any) (all []row, err error) {
	rows, err := q.tx.QueryContext(context.Background(), ask, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close(), rows.Err()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	size := 0
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return nil, err
		}
		r := row{}
		for i, name := range names {
			r[name] = *values[i].(*any)
			size += len(r.text(name))
		}
		if all = append(all, r); size > read.MaxDocument {
			return nil, read.ErrTooBig
		}
	}
	return all, nil
}

// view opens a database for reading and asks one state of it. Nothing is written, neither
// to the file nor beside it: where there is no log the file is read as it stands.
func view(path string, ask func(query) error) (err error) {
	address, err := addressOf(path)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it was only read
	return ask(query{tx})
}

// addressOf returns what the driver calls a file.
func addressOf(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path) // the log lies beside what a link leads to
	if err != nil {
		return "", err
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	logged := slices.ContainsFunc([]string{"-wal", "-journal"}, func(end string) bool {
		_, err := os.Lstat(real + end)
		return !errors.Is(err, fs.ErrNotExist)
	})
	full := filepath.ToSlash(real)
	if !strings.HasPrefix(full, "/") {
		full = "/" + full
	}
	address := "file://" + (&url.URL{Path: full}).EscapedPath() + "?mode=ro&_pragma=busy_timeout(2000)&_pragma=trusted_schema(0)&_pragma=query_only(1)"
	if !logged {
		address += "&immutable=1"
	}
	return address, nil
}
