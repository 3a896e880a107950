package formats

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// BenchmarkRead reads the corpus by folder: whole with Open, and as a stream, which
// is two passes. MB are those of the files.
func BenchmarkRead(b *testing.B) {
	root := corpus(b)
	for _, folder := range []string{"claude-code", "codex"} {
		paths := files(b, root, folder)
		b.Run(filepath.Base(folder)+"/open", func(b *testing.B) {
			benchFiles(b, paths, func(path string) error {
				_, err := Open(path)
				return err
			})
		})
		b.Run(filepath.Base(folder)+"/stream", func(b *testing.B) { benchFiles(b, paths, stream) })
	}
}

func benchFiles(b *testing.B, paths []string, read func(path string) error) {
	var size int64
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		size += info.Size()
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, path := range paths {
			if err := read(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// stream reads a file twice and drops every segment.
func stream(path string) error {
	f, err := OpenFile(path)
	if err != nil {
		return err
	}
	for _, err := range f.Segments() {
		if err != nil {
			_ = f.Close()
			return err
		}
	}
	return f.Close()
}

// BenchmarkStream1GB streams a session of 1 GB that it writes first, and reports
// the most that was alive while it held a segment.
func BenchmarkStream1GB(b *testing.B) {
	const size = 1_000_000_000
	for _, format := range longFormats {
		b.Run(string(format), func(b *testing.B) {
			if testing.Short() {
				b.Skip("it writes a file of 1 GB")
			}
			path := writeLong(b, format, size)
			b.SetBytes(size)
			var peak uint64
			for b.Loop() {
				f, err := OpenFile(path)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for segment, err := range f.Segments() {
					if err != nil {
						b.Fatal(err)
					}
					if n++; n%64 == 0 {
						peak = max(peak, liveHeap())
					}
					runtime.KeepAlive(segment)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak)/(1<<20), "MiB-live-peak")
		})
	}
}
