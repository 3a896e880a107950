package sqlite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// output is some 50 kB that look like what a tool returns, different for each n.
func output(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < 50_000; i++ {
		x := uint32(n*7919+i) * 2654435761
		fmt.Fprintf(&b, "internal/%x/file_%d.go:%d: func handle%d(ctx context.Context, in %x) error {\n", x>>20, x%977, i, x%4096, x)
	}
	return b.String()[:50_000]
}

// eachTimed times every operation, so that the median can be told (DESIGN.md section 10: at
// most 2 ms for an output of 50 kB, durable).
func eachTimed(b *testing.B, f func(i int)) {
	b.Helper()
	var all []time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		f(i)
		all = append(all, time.Since(start))
		i++
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(all[len(all)*99/100].Nanoseconds()), "p99-ns")
}

func benchFile(b *testing.B) *sqlite.Store {
	b.Helper()
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkPut50kB is one output made durable: hash, compression, transaction, flush.
func BenchmarkPut50kB(b *testing.B) {
	s := benchFile(b)
	blobs := make([]edit.Blob, 4096)
	for i := range blobs {
		blobs[i] = blobOf(output(i))
	}
	b.SetBytes(50_000)
	eachTimed(b, func(i int) {
		// Past the prepared ones the content is known already, but to another session.
		if err := s.Put(b.Context(), fmt.Sprint(i/len(blobs)), blobs[i%len(blobs):][:1]); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkGet50kB(b *testing.B) {
	s := benchFile(b)
	var blobs []edit.Blob
	for i := range 500 {
		blobs = append(blobs, blobOf(output(i)))
	}
	if err := s.Put(b.Context(), "a", blobs); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(50_000)
	eachTimed(b, func(i int) {
		data, err := s.Get(b.Context(), "a", blobs[i%len(blobs)].Ref)
		if err != nil || len(data) != 50_000 {
			b.Fatal(len(data), err)
		}
	})
}

// BenchmarkAppend is one record of 1 kB made durable.
func BenchmarkAppend(b *testing.B) {
	s := benchFile(b)
	record := [][]byte{[]byte(output(1)[:1000])}
	eachTimed(b, func(i int) {
		if err := s.Append(b.Context(), "a", i, record); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkRecords reads a session of 10,000 records.
func BenchmarkRecords(b *testing.B) {
	s := benchFile(b)
	var records [][]byte
	for i := range 10_000 {
		records = append(records, []byte(output(i)[:1000]))
	}
	if err := s.Append(b.Context(), "a", 0, records); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(10_000 * 1000)
	for b.Loop() {
		n := 0
		for _, err := range s.Records(b.Context(), "a", 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
}

// BenchmarkFork forks a session of 1,000 records and 1,000 blobs.
func BenchmarkFork(b *testing.B) {
	s := benchFile(b)
	var records [][]byte
	var blobs []edit.Blob
	for i := range 1000 {
		records = append(records, []byte(fmt.Sprint(i)))
		blobs = append(blobs, blobOf(fmt.Sprint(i)))
	}
	if err := s.Append(b.Context(), "a", 0, records); err != nil {
		b.Fatal(err)
	}
	if err := s.Put(b.Context(), "a", blobs); err != nil {
		b.Fatal(err)
	}
	eachTimed(b, func(i int) {
		if err := s.Fork(b.Context(), "a", fmt.Sprint("fork ", i), 1000); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkOpen opens a store that is there, and a new one in memory.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bench.db")
	for name, path := range map[string]string{"file": path, "memory": sqlite.Memory} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
