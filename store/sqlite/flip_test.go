package sqlite_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestFlippedBytes writes anything anywhere into a file. Whatever that does, nothing
// panics, and no content is served that is not what its Ref says.
func TestFlippedBytes(t *testing.T) {
	whole, err := os.ReadFile(filled(t))
	must(t, err)
	texts := []string{"short", strings.Repeat("a long output\n", 500), "later"}
	records := []string{"one", strings.Repeat("two ", 100), "three"}
	rapid.Check(t, func(r *rapid.T) {
		data := append([]byte{}, whole...)
		for range rapid.IntRange(1, 6).Draw(r, "places") {
			at := rapid.IntRange(0, len(data)-1).Draw(r, "at")
			copy(data[at:], rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(r, "bytes"))
		}
		path := newFile(r)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			r.Fatal(err)
		}
		ctx := context.Background()
		s, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err != nil {
			return
		}
		defer func() { _ = s.Close() }() // it may say that the file is damaged
		for _, text := range texts {
			if got, err := s.Get(ctx, "work", blobOf(text).Ref); err == nil && string(got) != text {
				r.Errorf("want %.20q or an error, got %.20q", text, got)
			}
		}
		n := 0
		for got, err := range s.Records(ctx, "work", 0) {
			if err == nil && (n >= len(records) || string(got) != records[n]) {
				r.Errorf("record %d: want it or an error, got %.20q", n, got)
			}
			n++
		}
		_ = s.Verify(ctx, func(p sqlite.Problem) { _ = p.String() }, nil)
		if _, err := s.GC(ctx); err == nil {
			_ = s.Delete(ctx, "work")
		}
	})
}
