package formats

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// FuzzRead reads any bytes: no panic, an error only for what is no session file,
// problems with their lines, and calls and results that fit together.
func FuzzRead(f *testing.F) {
	scenarios, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range scenarios {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(txtar.Parse(text).Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Read("file", bytes.NewReader(b))
		if err != nil {
			var unknown *sessionfile.FormatError
			if !errors.As(err, &unknown) {
				t.Errorf("want a sessionfile.FormatError, got %v", err)
			}
			return
		}
		checkSession(t, s)
		checkAgain(t, b, s)
		lines := bytes.Count(b, []byte("\n")) + 1
		for _, p := range s.Problems {
			if p.Line > lines || p.Line == 0 && s.Client != "" {
				t.Errorf("a problem without a line of the file: %v", p)
			}
		}
		entries := 0
		for _, segment := range s.Segments {
			entries += len(segment.Entries)
		}
		if limit := len(b) + read.MaxRepeated; entries > limit {
			t.Errorf("%d entries out of %d bytes", entries, len(b))
		}
	})
}

// checkAgain reads the same bytes twice, as a stream does.
func checkAgain(t *testing.T, b []byte, want *sessionfile.Session) {
	t.Helper()
	f := &File{name: "file", in: read.NewInput(bytes.NewReader(b), int64(len(b)))}
	if err := f.detect(); err != nil {
		t.Fatal(err)
	}
	header, err := f.run(false, func(sessionfile.Segment) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for segment, err := range f.Segments() {
		if err != nil {
			t.Fatal(err)
		}
		header.Segments = append(header.Segments, segment)
	}
	if !reflect.DeepEqual(want, header) {
		t.Errorf("the stream differs (-whole +stream):\n%s", cmp.Diff(show(want), show(header)))
	}
}
