package sqlite_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// pieceBytes is what a piece of a content has.
const pieceBytes = 256 << 10

// TestDamagedPiece damages the middle one of three pieces: what does not read it is served,
// what does is an error that says where, and Verify names it.
func TestDamagedPiece(t *testing.T) {
	for name, sql := range map[string]string{
		"bytes":                  "UPDATE pieces SET body = CAST(x'00' || substr(body, 2) AS BLOB) WHERE seq = 1",
		"another form":           "UPDATE pieces SET form = 2 WHERE seq = 1",
		"gone":                   "DELETE FROM pieces WHERE seq = 1",
		"empty":                  "UPDATE pieces SET body = x'' WHERE seq = 1",
		"another piece":          "UPDATE pieces SET body = (SELECT body FROM pieces WHERE seq = 0) WHERE seq = 1",
		"in its neighbour's row": "UPDATE pieces SET seq = 9 WHERE seq = 1; UPDATE pieces SET seq = 1 WHERE seq = 2; UPDATE pieces SET seq = 2 WHERE seq = 9",
	} {
		t.Run(name, func(t *testing.T) {
			path, text := newFile(t), output(1)+longOutput(2)
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			must(t, err)
			must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(text), blobOf("whole")}))
			must(t, s.Close())
			damage(t, path, sql)
			s = open(t, path, sqlite.Options{})
			ref := blobOf(text).Ref
			c, err := s.Open(t.Context(), "a", ref)
			must(t, err)
			defer func() { must(t, c.Close()) }()
			buf := make([]byte, 1000)
			if _, err := c.ReadAt(buf, 1000); err != nil || string(buf) != text[1000:2000] {
				t.Errorf("before it: want what was put, got %v", err)
			}
			for what, err := range map[string]error{
				"ReadAt": second(c.ReadAt(buf, pieceBytes-10)),
				"Line":   second(c.Line(int64(strings.Count(text[:pieceBytes+1000], "\n")))),
				"Get":    second(s.Get(t.Context(), "a", ref)),
				"all":    second(io.Copy(io.Discard, io.NewSectionReader(c, 0, c.Size()))),
			} {
				var d *store.DamageError
				if !errors.As(err, &d) || d.Session != "a" || d.Place != "ref "+string(ref)+", bytes 262144 to 524288" {
					t.Errorf("%s: want the damage of the second piece, got %v", what, err)
				}
			}
			var found []string
			must(t, s.Verify(t.Context(), func(p sqlite.Problem) { found = append(found, p.String()) }, nil))
			if len(found) == 0 || !strings.Contains(found[0], string(ref)) || !strings.Contains(found[0], "piece 1") {
				t.Errorf("Verify: want piece 1 of %s, got %q", ref, found)
			}
		})
	}
}

// second is the error of a call.
func second[T any](_ T, err error) error { return err }

// TestVerifyPieces damages what holds pieces together.
func TestVerifyPieces(t *testing.T) {
	for name, tt := range map[string]struct{ sql, what string }{
		"an index":            {"UPDATE blobs SET body = CAST(x'01' || substr(body, 2) AS BLOB)", "checksum of the index"},
		"a shorter index":     {"UPDATE blobs SET body = substr(body, 2)", "bytes of the index"},
		"a size":              {"UPDATE blobs SET size = size - 1", "checksum of the index"},
		"an impossible size":  {"UPDATE blobs SET size = 4611686018427387904", "size"},
		"a size of one piece": {"UPDATE blobs SET size = 1000", "size"},
		"all pieces gone":     {"DELETE FROM pieces", "want 3 pieces, got 0"},
		"the last piece gone": {"DELETE FROM pieces WHERE seq = 2", "want 3 pieces, got 2"},
		"a piece too many":    {"INSERT INTO pieces SELECT content, 3, form, body FROM pieces WHERE seq = 2", "want piece 3 of 3, got 3"},
		"no row of contents":  {"DELETE FROM pieces; DELETE FROM contents", "want 3 pieces, got 0"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			must(t, err)
			must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(longOutput(2))}))
			must(t, s.Close())
			damage(t, path, tt.sql)
			s = open(t, path, sqlite.Options{})
			var found []string
			must(t, s.Verify(t.Context(), func(p sqlite.Problem) { found = append(found, p.String()) }, nil))
			if all := strings.Join(found, "\n"); !strings.Contains(all, tt.what) {
				t.Errorf("want %s, got %q", tt.what, found)
			}
			if name == "a piece too many" {
				return // nobody reads it
			}
			var d *store.DamageError
			if _, err := s.Get(t.Context(), "a", blobOf(longOutput(2)).Ref); !errors.As(err, &d) {
				t.Errorf("Get: want a *DamageError, got %v", err)
			}
		})
	}
}
