package inspect_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// options returns what a test analyses with; the counts of a text are remembered.
func options(t testing.TB) inspect.Options {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	loaded := map[string]*bpe.Encoding{}
	return inspect.Options{Catalog: cat, Encodings: func(name string) (*bpe.Encoding, error) {
		if enc, ok := loaded[name]; ok {
			return enc, nil
		}
		enc, err := bpe.Load(name)
		if err != nil {
			return nil, err
		}
		loaded[name] = enc.Remembering()
		return loaded[name], nil
	}}
}

// TestCorpus inspects every file of the corpus that is a session.
func TestCorpus(t *testing.T) {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recorded sessions to inspect")
	}
	o, read := options(t), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		s, err := formats.Open(path)
		if err != nil {
			return nil //nolint:nilerr // no session; the readers' own tests know which are
		}
		read++
		t.Run(filepath.Base(path), func(t *testing.T) { checkSession(t, s, o) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read == 0 {
		t.Error("no file of the corpus could be read")
	}
}

// checkSession holds what every report has to hold.
func checkSession(t testing.TB, s *sessionfile.Session, o inspect.Options) {
	t.Helper()
	r, err := inspect.Session(s, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range r.Segments {
		want := s.Segments[i].Steps()
		if s.Segments[i].Final {
			want++
		}
		if len(g.Steps) != want {
			t.Errorf("segment %d: want %d steps, got %d", g.Number, want, len(g.Steps))
		}
		for _, st := range g.Steps {
			sum := 0
			for name, n := range st.By {
				sum += n
				if n < 0 {
					t.Errorf("step %d.%d: %s, want no negative figure, got %d", g.Number, st.Step, name, n)
				}
			}
			if sum != st.Tokens {
				t.Errorf("step %d.%d: want contents that add up to %d, got %d", g.Number, st.Step, st.Tokens, sum)
			}
		}
		if n := len(g.Steps); n > 0 && i%max(len(r.Segments)/8, 1) == 0 {
			checkContents(t, s, g, g.Steps[n-1], o)
			checkContext(t, s, g, g.Steps[n-1], o)
		}
	}
}

// checkContents holds the list of one Step against its report.
func checkContents(t testing.TB, s *sessionfile.Session, g inspect.Segment, st inspect.Step, o inspect.Options) {
	t.Helper()
	l, err := inspect.Contents(s, inspect.StepRef{Segment: g.Number, Step: st.Step}, o)
	if err != nil {
		t.Fatal(err)
	}
	by, total := map[string]int{}, 0
	for _, it := range l.Items {
		total += it.Tokens
		for _, p := range it.Parts {
			for name, n := range p.By {
				by[name] += n
			}
		}
	}
	if total != st.Tokens {
		t.Errorf("step %d.%d: want items of %d tokens, got %d", g.Number, st.Step, st.Tokens, total)
	}
	for name, n := range st.By {
		if by[name] != n {
			t.Errorf("step %d.%d: %s, want items of %d tokens, got %d", g.Number, st.Step, name, n, by[name])
		}
	}
}

// checkContext holds what takes how much of the window against the report: each token is in one
// row, and the rows of a content are what the Step says of it.
func checkContext(t testing.TB, s *sessionfile.Session, g inspect.Segment, st inspect.Step, o inspect.Options) {
	t.Helper()
	c, err := inspect.ContextOf(s, inspect.StepRef{Segment: g.Number, Step: st.Step}, o)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for _, r := range c.Rows {
		by[r.Content] += r.Tokens
	}
	if !maps.Equal(by, st.By) || c.Tokens != st.Tokens {
		t.Errorf("step %d.%d: want rows of %v, got %v", g.Number, st.Step, st.By, by)
	}
}
