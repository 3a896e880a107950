package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// TestFull has a file that may not grow, as on a full disk: the write fails as a whole,
// and the store goes on when there is room again (law 12).
func TestFull(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "full.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	limit := func(pages int) {
		t.Helper()
		l := <-s.writer
		defer func() { s.writer <- l }()
		if _, err := l.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	var blobs []edit.Blob
	var records [][]byte
	for i := range 30 {
		data := make([]byte, 20_000)
		for k := range data {
			data[k] = byte((k + 1) * (k + i) >> 3)
		}
		blobs = append(blobs, edit.Blob{Ref: llm.RefOf(data), Data: data})
		records = append(records, data)
	}
	ctx := t.Context()
	if err := s.Append(ctx, "a", 0, [][]byte{[]byte("one")}); err != nil {
		t.Fatal(err)
	}
	limit(20)
	for name, err := range map[string]error{
		"Put":    s.Put(ctx, "new", blobs),
		"Append": s.Append(ctx, "a", 1, records),
		"PutFrom": func() error {
			_, _, err := s.PutFrom(ctx, "new", bytes.NewReader(noise(600_000)))
			return err
		}(),
	} {
		t.Run("R002-26_"+name, func(t *testing.T) {
			if err == nil || errors.Is(err, store.ErrConflict) {
				t.Errorf("want the error of a full disk, got %v", err)
			}
		})
	}
	if err := s.Fork(ctx, "new", "fork", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a failed Put began a session: want ErrNotFound, got %v", err)
	}
	limit(1 << 30)
	if err := errors.Join(s.Put(ctx, "new", blobs), s.Append(ctx, "a", 1, records)); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := s.Verify(context.Background(), func(p Problem) { t.Error(p) }, nil); err != nil {
		t.Error(err)
	}
}
