package plimsoll_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func openFile(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestResumeFromFile is laws 2, 4 and 5 across the end of a program: the request is the
// same under every preset, whatever kept the session, and what was taken out of it is
// there.
func TestResumeFromFile(t *testing.T) {
	for _, name := range policy.Presets() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plimsoll.db")
			st := openFile(t, path)
			o := plimsoll.Options{ID: "a", Store: st, Policy: preset(t, name)}
			s, mirror := open(t, o), o
			mirror.Store = &store.Memory{}
			inMemory := open(t, mirror)
			add(t, s, human("Read all files."))
			add(t, inMemory, human("Read all files."))
			until := 8
			if name == "off" || name == "guard" {
				until = 3 // what they do not take out does not fit any more
			}
			work(t, s, 0, until)
			work(t, inMemory, 0, until)
			first, err := s.Prepare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if name == "balanced" && !first.Edited {
				t.Error("want a view that was edited, got one that was not")
			}
			other, err := inMemory.Prepare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(other.Messages(), first.Messages()); diff != "" {
				t.Errorf("- in memory, + in a file\n%s", diff)
			}
			edits := s.Edits()
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}

			o.Store = openFile(t, path)
			defer func() {
				if err := o.Store.(*sqlite.Store).Close(); err != nil {
					t.Error(err)
				}
			}()
			resumed := open(t, o)
			again, err := resumed.Prepare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first.Messages(), again.Messages()); diff != "" {
				t.Errorf("- before, + after the restart\n%s", diff)
			}
			for _, e := range edits {
				for _, ref := range e.Refs {
					if _, err := resumed.Blob(t.Context(), ref); err != nil {
						t.Errorf("edit %d: %v", e.ID, err)
					}
				}
			}
			if n := len(resumed.Messages()); n != 1+2*until {
				t.Errorf("want %d messages, got %d", 1+2*until, n)
			}
		})
	}
}
