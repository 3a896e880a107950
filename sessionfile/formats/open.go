package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// Open reads a session file with all its segments. The format is found by the
// content, not by the name. The error is a *[sessionfile.FormatError] if nothing
// could be read, or the operating system's; everything less is in Session.Problems.
//
// A database holds several sessions; path names one of them behind a #, as in
// "opencode.db#ses_1". [Find] lists them.
func Open(path string) (*sessionfile.Session, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	s, err := f.collect()
	_ = f.Close() // it was only read
	return s, err
}

// Read reads a session from a stream, as [Open] does. The name is only for
// Session.Path and for problems. A stream that cannot be read at any place is held
// in memory while it is read.
func Read(name string, r io.Reader) (*sessionfile.Session, error) {
	in, err := inputOf(r)
	if err != nil {
		return nil, fmt.Errorf("sessionfile: read: %s: %w", name, err)
	}
	f := &File{name: name, in: in}
	if err := f.detect(); err != nil {
		return nil, err
	}
	return f.collect()
}

// A File is an open session file whose segments are read one at a time.
type File struct {
	// Session is the complete header: all of it but Segments, which is nil.
	sessionfile.Session

	name   string
	in     *read.Input
	reader read.Reader
	format sessionfile.Format
	closer io.Closer

	small bool                  // the session is held
	held  []sessionfile.Segment // then its segments
}

// maxHeld is the size in bytes of a file whose session is held, so that it is read once.
// A session takes up to three times the memory that its file takes on the disk.
const maxHeld = 32 << 20

// OpenFile opens a session file and reads it once. Of a file of more than 32 MiB, and of
// an archive, it keeps no messages. Errors are as with [Open]. The caller closes it.
func OpenFile(path string) (*File, error) { return openFile(path, maxHeld) }

// openFile is OpenFile that holds the sessions of files of up to hold bytes.
func openFile(path string, hold int64) (*File, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	return f.once(hold)
}

// ReadFile is [OpenFile] for a stream, as [Read] reads it.
func ReadFile(name string, r io.Reader) (*File, error) {
	in, err := inputOf(r)
	if err != nil {
		return nil, fmt.Errorf("sessionfile: read: %s: %w", name, err)
	}
	f := &File{name: name, in: in}
	if err := f.detect(); err != nil {
		return nil, err
	}
	return f.once(maxHeld)
}

// once reads an open file once, and holds the session of one of up to hold bytes.
func (f *File) once(hold int64) (*File, error) {
	f.small = f.in.Size() <= hold && !f.in.Packed()
	s, err := f.run(false, func(seg sessionfile.Segment) bool {
		if f.small {
			f.held = append(f.held, seg)
		}
		return true
	})
	if err != nil {
		_ = f.Close() // it was only read
		return nil, err
	}
	if f.small {
		f.in.Kept = nil
	}
	f.Session = *s
	return f, nil
}

// Segments reads the file again and yields its segments in order, the same as
// [Open] returns; they must not be changed. An error ends them and comes with an empty segment: the operating
// system's, or that the file was rewritten since it was opened, of which the segments
// before it may be a part. What was only added to the file is not read.
func (f *File) Segments() iter.Seq2[sessionfile.Segment, error] {
	return func(yield func(sessionfile.Segment, error) bool) {
		if f.small {
			f.again(yield)
			return
		}
		wanted := true
		_, err := f.run(true, func(s sessionfile.Segment) bool {
			wanted = yield(s, nil)
			return wanted
		})
		if err != nil && wanted {
			yield(sessionfile.Segment{}, err)
		}
	}
}

// again yields the segments that are held, unless the file is not the same any more.
func (f *File) again(yield func(sessionfile.Segment, error) bool) {
	if err := f.in.Check(); err != nil {
		yield(sessionfile.Segment{}, fmt.Errorf("sessionfile: read: %s: %w", f.name, err))
		return
	}
	for _, s := range f.held {
		if !yield(s, nil) {
			return
		}
	}
}

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Split splits a path that names one session of a database, as in "opencode.db#ses_1". The
// id is empty for any other path.
func Split(path string) (file, id string) {
	at := strings.LastIndexByte(path, '#')
	if _, err := os.Lstat(path); err == nil || at <= 0 {
		return path, ""
	}
	return path[:at], path[at+1:]
}

// open opens a file and finds its reader.
func open(path string) (*File, error) {
	where, id := Split(path)
	src, err := os.Open(where)
	if err != nil {
		return nil, fmt.Errorf("sessionfile: open: %w", err)
	}
	f := &File{name: path, closer: src}
	if f.in, err = inputOf(src); err != nil {
		err = fmt.Errorf("sessionfile: read: %s: %w", path, err)
	} else {
		f.in.Path, f.in.Part = where, id
		err = f.detect()
	}
	if err == nil {
		err = f.choose()
	}
	if err != nil {
		_ = src.Close() // it was only read
		return nil, err
	}
	return f, nil
}

// choose sees to it that one session is named where a file holds several, and none where
// it does not.
func (f *File) choose() error {
	several := f.in.Database()
	if several == (f.in.Part != "") {
		return nil
	}
	if !several {
		return &sessionfile.FormatError{File: f.name, Known: Formats(), Seen: fmt.Sprintf("a name %q behind a # for a file of %s, which is one session", f.in.Part, f.format)}
	}
	parts, err := f.reader.Parts(f.in.Path)
	switch {
	case err != nil:
		return fmt.Errorf("sessionfile: read: %s: %w", f.name, err)
	case len(parts) == 1:
		f.in.Part = parts[0].ID
		return nil
	case len(parts) == 0:
		return &sessionfile.FormatError{File: f.name, Known: Formats(), Seen: fmt.Sprintf("a database of %s without sessions", f.format)}
	}
	return &sessionfile.FormatError{
		File: f.name, Known: Formats(), Seen: fmt.Sprintf("a database of %d sessions of %s, of which none is named, as in %s#ID", len(parts), f.format, f.name),
	}
}

// inputOf returns an input of what is left to read of r.
func inputOf(r io.Reader) (*read.Input, error) {
	switch r := r.(type) {
	case *os.File:
		info, err := r.Stat()
		if err != nil {
			return nil, err
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err == nil && info.Mode().IsRegular() && at <= info.Size() {
			return read.NewInput(io.NewSectionReader(r, at, info.Size()-at), info.Size()-at), nil
		}
	case *bytes.Reader:
		return read.NewInput(io.NewSectionReader(r, r.Size()-int64(r.Len()), int64(r.Len())), int64(r.Len())), nil
	}
	return read.Spool(r)
}

// detect finds the reader.
func (f *File) detect() error {
	reader, format, err := detect(f.name, f.in)
	f.reader, f.format = reader, format
	return err
}

// collect reads the file into one session.
func (f *File) collect() (*sessionfile.Session, error) {
	var segments []sessionfile.Segment
	s, err := f.run(false, func(seg sessionfile.Segment) bool {
		segments = append(segments, seg)
		return true
	})
	if err != nil {
		return nil, err
	}
	s.Segments = segments
	return s, nil
}

// run reads the file once, from front to end. With again, its header is known, and
// what is returned is none.
func (f *File) run(again bool, sink func(sessionfile.Segment) bool) (*sessionfile.Session, error) {
	r := read.NewReading(f.name, f.format, sink)
	r.Again = again
	err := f.reader.Read(r, f.in)
	if err == nil {
		err = f.in.Err()
	}
	f.in.Release()
	var wrong *sessionfile.FormatError
	switch {
	case errors.As(err, &wrong):
		wrong.Known = Formats()
		return nil, wrong
	case err != nil:
		return nil, fmt.Errorf("sessionfile: read: %s: %w", f.name, err)
	}
	s := r.Session
	if s.ID == "" {
		base := filepath.Base(f.name)
		s.ID = strings.TrimSuffix(base, filepath.Ext(base))
	}
	slices.SortStableFunc(s.Stated, func(a, b sessionfile.Stated) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortStableFunc(s.Problems, func(a, b sessionfile.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return s, nil
}
