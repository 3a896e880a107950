package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// noise is n bytes that do not compress.
func noise(n int) []byte {
	out := make([]byte, n)
	for i, r := 0, rand.New(rand.NewPCG(1, 1)); i < n; i++ { //nolint:gosec // to be repeatable is the point
		out[i] = byte(r.Uint32())
	}
	return out
}

// small opens a store whose bodies have at most the given bytes, with SQLite's own limit
// as far above that as it is in truth.
func small(t *testing.T, most int64) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "small.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p := *s.packer
	p.mostBody = most
	s.packer = &p
	l := <-s.writer
	defer func() { s.writer <- l }()
	const limitLength = 0 // SQLITE_LIMIT_LENGTH
	if _, err := sqlite.Limit(l.conn, limitLength, int(most+mostValue-mostBody)); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTooLarge is about contents of just the most that can be kept, and of more.
func TestTooLarge(t *testing.T) {
	const most, record = 1_000_000, 400_000
	s, ctx := small(t, record), t.Context()
	s.packer.mostContent = most
	for _, tt := range []struct {
		name  string
		put   func(session string, data []byte) error
		bytes int
	}{
		{"Put", func(session string, data []byte) error {
			return s.Put(ctx, session, []edit.Blob{{Ref: llm.RefOf(data), Data: data}})
		}, most},
		{"PutFrom", func(session string, data []byte) error {
			_, _, err := s.PutFrom(ctx, session, bytes.NewReader(data))
			return err
		}, most},
		{"Append", func(session string, data []byte) error { return s.Append(ctx, session, 0, [][]byte{data}) }, record},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := noise(tt.bytes + 1)
			err := tt.put("refused by "+tt.name, data)
			large, ok := errors.AsType[*store.TooLargeError](err)
			if !ok || large.Want != int64(tt.bytes) || large.Got != int64(tt.bytes)+1 || large.Packed != (tt.name == "Append") {
				t.Errorf("one byte too many: want a *TooLargeError, got %v", err)
			}
			if err := s.Fork(ctx, "refused by "+tt.name, "fork", 0); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("what was refused began a session: want ErrNotFound, got %v", err)
			}
			if err := tt.put("taken by "+tt.name, data[:tt.bytes]); err != nil {
				t.Errorf("the most that can be kept: %v", err)
			}
		})
	}
	if err := s.Verify(ctx, func(p Problem) { t.Error(p) }, nil); err != nil {
		t.Error(err)
	}
}

// TestTooLargeStopsReading: what is too large is not read to its end, which there may not
// be, and what was written of it is taken back.
func TestTooLargeStopsReading(t *testing.T) {
	s, endless := small(t, mostBody), rand.NewChaCha8([32]byte{})
	s.packer.mostContent = 20 << 20
	_, _, err := s.PutFrom(t.Context(), "a", endless)
	if _, ok := errors.AsType[*store.TooLargeError](err); !ok {
		t.Errorf("want a *TooLargeError, got %v", err)
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.StoredBytes != 0 || stats.FreeBytes < 16<<20 {
		t.Errorf("want what was written taken back, got %+v (%v)", stats, err)
	}
}

// TestDamagedFrames: the memory that a read asks for is known before it reads, and damage is
// an error.
func TestDamagedFrames(t *testing.T) {
	tools, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	p := tools.packer
	data := bytes.Repeat([]byte("this line is here often\n"), pieceBytes/24)
	copy(data[1000:], noise(70_000))
	b, err := p.pack(data)
	if err != nil || b.form != formZstd {
		t.Fatal(b.form, err)
	}
	rapid.Check(t, func(r *rapid.T) {
		damaged := b
		damaged.data = bytes.Clone(b.data)
		last := len(b.data) - 1
		if rapid.Bool().Draw(r, "header") {
			last = 20
		}
		damaged.data[rapid.IntRange(0, last).Draw(r, "at")] ^= rapid.ByteRange(1, 255).Draw(r, "bits")
		if got, err := p.unpack(damaged); err == nil && !bytes.Equal(got, data) {
			r.Error("damage has become another content")
		}
	})
	t.Run("no frame asks for more memory than it can fill", func(t *testing.T) {
		lying := body{formZstd, 4 << 30, 0, bytes.Clone(b.data[:1000])}
		if _, err := p.unpack(lying); err == nil || !strings.Contains(err.Error(), "size") {
			t.Errorf("want it refused for its size, got %v", err)
		}
	})
	t.Run("no index asks for more memory than its pieces can fill", func(t *testing.T) {
		x := index{ref: llm.RefOf(data)}
		x.add(data, b.sum)
		lying := p.indexed(&x)
		lying.size = 4 << 30
		if _, err := p.index(lying, x.ref); err == nil || !strings.Contains(err.Error(), "bytes of the index") {
			t.Errorf("want it refused for its size, got %v", err)
		}
	})
	t.Run("R002-5_a query is refused what SQLite cannot hold", func(t *testing.T) {
		row := []driver.Value{"r", int64(formZstd), int64(mostValue + 1), int64(0), b.data}
		if _, err := p.content(nil, row); err == nil || !strings.Contains(err.Error(), "in a query") {
			t.Errorf("want it refused for its size, got %v", err)
		}
		pieces := &joining{packer: p}
		row = []driver.Value{"r", int64(mostValue + 1), int64(0), []byte{}, int64(formRaw), []byte{}}
		if err := pieces.Step(nil, row); err == nil || !strings.Contains(err.Error(), "in a query") {
			t.Errorf("in pieces: want it refused for its size, got %v", err)
		}
	})
}

// A growing reader yields bytes of a log that does not end before its length, and calls
// at after each MiB.
type growing struct {
	log   []byte
	left  int
	bytes int
	at    func(bytes int)
}

func (g *growing) Read(p []byte) (int, error) {
	if g.left == 0 {
		return 0, io.EOF
	}
	from := g.bytes % len(g.log)
	n := copy(p, g.log[from:min(from+g.left, len(g.log))])
	if before := g.bytes >> 20; (g.bytes+n)>>20 > before && g.at != nil {
		g.at(g.bytes + n)
	}
	g.bytes, g.left = g.bytes+n, g.left-n
	return n, nil
}

// programLog is 16 MiB of lines as a program writes them, longer than a compressor
// looks back.
func programLog() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 16<<20; i++ {
		x := uint32(i) * 2654435761
		fmt.Fprintf(&b, "2026-03-01T12:%02d:%02d.%03dZ INFO worker-%d request %08x path=/v1/items/%d status=%d bytes=%d\n",
			i/60_000%60, i/1000%60, i%1000, x%16, x, x>>12, 200+x%5, x%65_536)
	}
	return b.Bytes()[:16<<20]
}

// TestStreamMemory: memory does not grow with a content, whatever is in it.
func TestStreamMemory(t *testing.T) {
	for name, log := range map[string][]byte{"log": programLog(), "noise": noise(16 << 20)} {
		t.Run(name, func(t *testing.T) {
			s := small(t, mostBody)
			live := func() int64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc) //nolint:gosec // below 2^63
			}
			before, most := live(), int64(0)
			r := &growing{log: log, left: 64 << 20, at: func(bytes int) {
				if bytes>>20%16 == 15 {
					most = max(most, live()-before)
				}
			}}
			_, size, err := s.PutFrom(t.Context(), "a", r)
			if err != nil || size != 64<<20 {
				t.Fatalf("want %d bytes, got %d (%v)", 64<<20, size, err)
			}
			if want := int64(12 << 20); most > want {
				t.Errorf("live heap while it was read, want at most %d bytes, got %d", want, most)
			}
		})
	}
}

// TestStreamCounts: Stats, Delete, GC and Verify treat it as any other content, and there
// is nothing in the folder but the store.
func TestStreamCounts(t *testing.T) {
	ctx, data := t.Context(), append(bytes.Repeat([]byte("line\n"), 100_000), noise(300_000)...)
	s := small(t, mostBody)
	for _, session := range []string{"a", "b"} {
		ref, size, err := s.PutFrom(ctx, session, bytes.NewReader(data))
		if err != nil || size != int64(len(data)) {
			t.Fatal(size, err)
		}
		if err := s.Put(ctx, session, []edit.Blob{{Ref: ref, Data: data}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.PutFrom(ctx, "c", io.MultiReader(bytes.NewReader(data), errorReader{})); err == nil {
		t.Error("a reader that fails: want its error, got nil")
	}
	files, err := os.ReadDir(filepath.Dir(s.path))
	if err != nil || len(files) != 3 {
		t.Errorf("want the file, its log and its index, got %v (%v)", files, err)
	}
	stats, err := s.Stats(ctx)
	if err != nil || stats.Sessions != 2 || stats.Blobs != 1 || stats.BlobBytes != int64(len(data)) || stats.StoredBytes < 300_000 || stats.StoredBytes > 310_000 {
		t.Errorf("want one blob of %d bytes in some 300,000, got %+v (%v)", len(data), stats, err)
	}
	if err := s.Verify(ctx, func(p Problem) { t.Error(p) }, nil); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.Delete(ctx, "a"), s.Delete(ctx, "b")); err != nil {
		t.Error(err)
	}
	freed, err := s.GC(ctx)
	if err != nil || freed.FileBytes < 300_000 {
		t.Errorf("want the file smaller by 300,000 bytes, got %+v (%v)", freed, err)
	}
	if stats, err = s.Stats(ctx); err != nil || stats.Blobs != 0 || stats.StoredBytes != 0 {
		t.Errorf("want nothing left, got %+v (%v)", stats, err)
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("the tool has crashed") }

// BenchmarkPutFrom64MB is a log of 64 MiB put as a stream, and by Put for comparison. The
// metric is the most heap that was in use, without the source of the log.
func BenchmarkPutFrom64MB(b *testing.B) {
	const size = 64 << 20
	log := programLog()
	run := func(b *testing.B, put func(ctx context.Context, s *Store) error) {
		s, err := Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		}()
		b.SetBytes(size)
		b.ReportAllocs()
		stop := watchHeap()
		for b.Loop() {
			if err := put(b.Context(), s); err != nil {
				b.Fatal(err)
			}
			if err := s.Delete(b.Context(), "a"); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(stop())/(1<<20), "peak-MiB")
	}
	b.Run("PutFrom", func(b *testing.B) {
		run(b, func(ctx context.Context, s *Store) error {
			_, _, err := s.PutFrom(ctx, "a", &growing{log: log, left: size})
			return err
		})
	})
	b.Run("Put", func(b *testing.B) {
		run(b, func(ctx context.Context, s *Store) error {
			data, err := io.ReadAll(&growing{log: log, left: size})
			if err != nil {
				return err
			}
			return s.Put(ctx, "a", []edit.Blob{{Ref: llm.RefOf(data), Data: data}})
		})
	})
}

// watchHeap looks at the heap until the function that it returns is called, which tells
// by how much it had grown at most.
func watchHeap() (stop func() uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before := read()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		top, tick := before, time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				most <- max(top, before) - before
				return
			case <-tick.C:
				top = max(top, read())
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-most
	}
}
