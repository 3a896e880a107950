package sqlite_test

import (
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// BenchmarkPage50Lines opens a log of 100 MB and reads 50 lines from somewhere in it.
func BenchmarkPage50Lines(b *testing.B) {
	s := benchFile(b)
	ref, _, err := s.PutFrom(b.Context(), "a", io.LimitReader(newGigabyte(false), 100<<20))
	if err != nil {
		b.Fatal(err)
	}
	eachTimed(b, func(i int) {
		c, err := s.Open(b.Context(), "a", ref)
		if err != nil {
			b.Fatal(err)
		}
		first := int64(i) * 7919 % (c.Lines() - 50)
		from, err1 := c.Line(first)
		to, err2 := c.Line(first + 50)
		if err1 != nil || err2 != nil {
			b.Fatal(err1, err2)
		}
		if _, err := c.ReadAt(make([]byte, to-from), from); err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkScan100MB reads all of a content in parts.
func BenchmarkScan100MB(b *testing.B) {
	for i, name := range []string{"lines", "noise"} {
		b.Run(name, func(b *testing.B) {
			s := benchFile(b)
			ref, size, err := s.PutFrom(b.Context(), "a", io.LimitReader(newGigabyte(i == 1), 100<<20))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			for b.Loop() {
				c, err := s.Open(b.Context(), "a", ref)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, io.NewSectionReader(c, 0, c.Size())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// An outputs makes texts like those of tools: paths, identifiers and words, the common
// ones much more often than the rare ones.
type outputs struct {
	words []string
	rand  *rand.Rand
	often *rand.Zipf
}

func newOutputs() *outputs {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // to be repeatable is the point
	o := &outputs{rand: r}
	syllables := strings.Fields("re con ta in er or get set par se file na me text hand ler quest sponse ken ses sion sto blob dex que ry lo ad sa ve op en clo li ne pa ge ma tch sc an te st va lue ty pe str uct")
	for range 50_000 {
		var b strings.Builder
		for k := range 1 + r.IntN(4) {
			part := syllables[r.IntN(len(syllables))]
			if k > 0 && r.IntN(3) == 0 {
				part = strings.ToUpper(part[:1]) + part[1:]
			}
			b.WriteString(part)
		}
		o.words = append(o.words, b.String())
	}
	o.often = rand.NewZipf(r, 1.1, 4, uint64(len(o.words)-1))
	return o
}

func (o *outputs) word() string { return o.words[o.often.Uint64()] }

// next is an output of some 2 kB, half of them shorter.
func (o *outputs) next() string {
	var b strings.Builder
	for size := 200 + int(1000*o.rand.ExpFloat64())*2; b.Len() < size; {
		if o.rand.IntN(8) == 0 {
			fmt.Fprintf(&b, "%s/%s/%s_%s.go:%d: ", o.word(), o.word(), o.word(), o.word(), o.rand.IntN(2000))
			continue
		}
		b.WriteString(o.word())
		b.WriteByte(" (.,)\n=  "[o.rand.IntN(9)])
	}
	return b.String()
}

// BenchmarkSearch searches 100,000 outputs; beside it SQLite's own full text search (words of
// unicode61, ranked by bm25), and ripgrep for the first word on a file with the same bytes.
func BenchmarkSearch(b *testing.B) {
	const count = 100_000
	o, s := newOutputs(), benchFile(b)
	file := filepath.Join(b.TempDir(), "outputs.txt")
	all := make([]string, count)
	for i := range all {
		all[i] = o.next()
	}
	if err := os.WriteFile(file, []byte(strings.Join(all, "")), 0o600); err != nil {
		b.Fatal(err)
	}
	for part := range slices.Chunk(all, 1000) {
		var blobs []edit.Blob
		for _, text := range part {
			blobs = append(blobs, blobOf(text))
		}
		if err := s.Put(b.Context(), "a", blobs); err != nil {
			b.Fatal(err)
		}
	}
	own := sync.OnceValue(func() *sql.DB { return ownSearch(b, all) })
	some := all[count/2]
	b.Run("index", func(b *testing.B) { benchIndex(b, s) })
	path, _, _ := strings.Cut(some[strings.Index(some, "/"):], ":")
	for _, q := range []struct{ name, text string }{
		{"rare", o.words[40_000]},
		{"path and identifiers", path + " " + o.words[3000] + " " + o.words[500]},
		{"common", o.words[0] + " " + o.words[1] + " " + o.words[5]},
		{"thirty words", strings.Join(o.words[20:50], " ")},
		{"nothing", "absentword otherabsent"},
	} {
		b.Run(q.name+"/search", func(b *testing.B) {
			eachTimed(b, func(int) {
				if _, err := s.Search(b.Context(), "a", q.text, 5); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(q.name+"/FTS5", func(b *testing.B) { benchOwn(b, own(), q.text) })
		b.Run(q.name+"/ripgrep", func(b *testing.B) { benchRipgrep(b, file, q.text) })
	}
}

// benchIndex indexes what there is, and then times what Index costs where nothing is due.
func benchIndex(b *testing.B, s *sqlite.Store) {
	before, err := s.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := s.Index(b.Context(), "a"); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	after, err := s.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Index(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	}
	if took > time.Second { // else it was done before
		b.ReportMetric(float64(before.BlobBytes)/1e6/took.Seconds(), "MB/s-first")
	}
	b.ReportMetric(float64(before.BlobBytes)/1e6, "MB-outputs")
	b.ReportMetric(float64(before.FileBytes)/1e6, "MB-before")
	b.ReportMetric(float64(after.FileBytes)/1e6, "MB-after")
}

// ownSearch is SQLite's own index of some texts.
func ownSearch(b *testing.B, all []string) *sql.DB {
	b.Helper()
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "fts.db")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE VIRTUAL TABLE f USING fts5 (text)"); err != nil {
		b.Fatal(err)
	}
	for part := range slices.Chunk(all, 1000) {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		for _, text := range part {
			if _, err := tx.Exec("INSERT INTO f (text) VALUES (?)", text); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return db
}

// benchOwn asks SQLite's search for the parts of a text.
func benchOwn(b *testing.B, db *sql.DB, text string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/_.: ", r) })
	match := `"` + strings.Join(words, `" OR "`) + `"`
	const best = "SELECT group_concat(text) FROM (SELECT snippet(f, 0, '', '', '', 30) AS text FROM f WHERE f MATCH ? ORDER BY rank LIMIT 5)"
	eachTimed(b, func(int) {
		var texts sql.NullString
		if err := db.QueryRowContext(b.Context(), best, match).Scan(&texts); err != nil {
			b.Fatal(err)
		}
	})
}

func benchRipgrep(b *testing.B, file, text string) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("ripgrep is not installed")
	}
	word, _, _ := strings.Cut(text, " ")
	eachTimed(b, func(int) {
		cmd := exec.Command(rg, "--count", "--fixed-strings", word, file) //nolint:gosec // the benchmark's own
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
			b.Fatal(err)
		}
	})
}
