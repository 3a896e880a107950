package sessionfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
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
			var unknown *FormatError
			if !errors.As(err, &unknown) {
				t.Errorf("want a FormatError, got %v", err)
			}
			return
		}
		checkSession(t, s)
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
		if limit := len(b) + maxRepeated; entries > limit {
			t.Errorf("%d entries out of %d bytes", entries, len(b))
		}
	})
}
