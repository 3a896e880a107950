package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

func fileOf(t *testing.T) (s *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "plimsoll.db")
	return at(t, path), path
}

func at(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	need(t, err)
	t.Cleanup(func() { need(t, s.Close()) })
	return s
}

func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestFlushed: whatever is done after an append that is not flushed is, as SQLite has it.
func TestFlushed(t *testing.T) {
	s, _ := fileOf(t)
	const normal, full = 1, 2
	data := []byte("output")
	ops := []struct {
		name string
		want int
		do   func() error
	}{
		{"append", full, func() error { return s.Append(t.Context(), "a", 1, [][]byte{data}) }},
		{"put", full, func() error {
			return s.Put(t.Context(), "a", []edit.Blob{{Ref: llm.RefOf(data), Data: data}})
		}},
		{"stream", full, func() error {
			_, _, err := s.PutFrom(t.Context(), "a", strings.NewReader("a stream"))
			return err
		}},
		{"fork", full, func() error { return s.Fork(t.Context(), "a", "b", 1) }},
		{"snapshot", full, func() error { return s.PutSnapshot(t.Context(), "a", 1, data) }},
		{"delete", full, func() error { return s.Delete(t.Context(), "b") }},
		{"append unflushed", normal, func() error { return s.AppendUnflushed(t.Context(), "c", 0, [][]byte{data}) }},
	}
	need(t, s.AppendUnflushed(t.Context(), "a", 0, [][]byte{data}))
	for i, op := range ops {
		need(t, op.do())
		l := <-s.writer
		var got int
		err := l.one(t.Context(), "PRAGMA synchronous", nil, &got)
		s.writer <- l
		need(t, err)
		if got != op.want {
			t.Errorf("%s: the log was flushed by rule %d, want %d", op.name, got, op.want)
		}
		need(t, s.AppendUnflushed(t.Context(), "d", i, [][]byte{data}))
	}
}

// TestLog: what is in the log gets into the file while the store is open.
func TestLog(t *testing.T) {
	s, path := fileOf(t)
	const size = 300
	for i := range 2 * tidyEvery {
		need(t, s.AppendUnflushed(t.Context(), "a", i, [][]byte{[]byte(strings.Repeat("x", size))}))
	}
	s.tidier.all.Wait()
	info, err := os.Stat(path)
	need(t, err)
	if want := int64(tidyEvery * size); info.Size() < want {
		t.Errorf("the file has %d bytes, want %d or more", info.Size(), want)
	}
}

// TestOthers: a store notices what another one writes to the same file, and does not take
// what it writes itself for it.
func TestOthers(t *testing.T) {
	s, path := fileOf(t)
	other := at(t, path)
	number := func() int64 {
		n, ok := s.Others(t.Context())
		if !ok {
			t.Fatal("it is not known")
		}
		return n
	}
	need(t, s.Append(t.Context(), "a", 0, [][]byte{[]byte("one")}))
	before := number()
	for i := range 2 * tidyEvery {
		need(t, s.AppendUnflushed(t.Context(), "a", i+1, [][]byte{[]byte("more")}))
	}
	s.tidier.all.Wait()
	need(t, s.Put(t.Context(), "a", []edit.Blob{{Ref: llm.RefOf([]byte("x")), Data: []byte("x")}}))
	if got := number(); got != before {
		t.Errorf("its own writes: got %d, want %d as before", got, before)
	}
	need(t, other.AppendUnflushed(t.Context(), "b", 0, [][]byte{[]byte("one")}))
	if got := number(); got == before {
		t.Errorf("another one's write: got %d, want another number", got)
	}
	var _ store.Witness = s
}
