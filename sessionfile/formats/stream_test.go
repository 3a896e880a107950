package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// checkStream compares a file read in one with the same file as a stream of
// segments, twice, whether its session is held or not.
func checkStream(t *testing.T, path string) {
	t.Helper()
	for _, hold := range holds {
		checkHeld(t, path, hold)
	}
}

// holds are the sizes up to which the tests hold sessions.
var holds = []int64{0, maxHeld}

func checkHeld(t *testing.T, path string, hold int64) {
	t.Helper()
	whole, err := Open(path)
	f, streamed := openFile(path, hold)
	if fmt.Sprint(err) != fmt.Sprint(streamed) {
		t.Fatalf("%s: want the error %v, got %v", path, err, streamed)
	}
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if f.Session.Segments != nil {
		t.Errorf("%s: want no segments in the header", path)
	}
	for range 2 {
		got := f.Session
		for segment, err := range f.Segments() {
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			got.Segments = append(got.Segments, segment)
		}
		if !reflect.DeepEqual(*whole, got) {
			t.Errorf("%s: the stream differs (-whole +stream):\n%s", path, cmp.Diff(show(whole), show(&got)))
		}
	}
}

func TestStreamEqualsOpen(t *testing.T) {
	scenarios, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("no scenarios found: %v", err)
	}
	folder := t.TempDir()
	for i, scenario := range scenarios {
		archive, err := txtar.ParseFile(scenario)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, fmt.Sprintf("%d-%s", i, archive.Files[0].Name))
		if err := os.WriteFile(path, archive.Files[0].Data, 0o600); err != nil {
			t.Fatal(err)
		}
		checkStream(t, path)
	}
}

func TestCorpusStreamEqualsOpen(t *testing.T) {
	for _, path := range files(t, corpus(t), ".") {
		checkStream(t, path)
	}
}

// TestStreamEndsEarly: who has seen enough stops, and may begin again.
func TestStreamEndsEarly(t *testing.T) {
	for i, format := range append(longFormats, longFormats...) {
		f, err := openFile(writeLong(t, format, 1<<20), holds[i/len(longFormats)])
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			n := 0
			for _, err := range f.Segments() {
				if n++; err != nil {
					t.Fatal(err)
				}
				break
			}
			if n != 1 {
				t.Errorf("%s: want one segment, got %d", format, n)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStreamOfChangedFile: if the file was rewritten since it was opened, that is an
// error, at the latest behind the last segment.
func TestStreamOfChangedFile(t *testing.T) {
	for i, format := range append(longFormats, longFormats...) {
		path := writeLong(t, format, 1<<20)
		f, err := openFile(path, holds[i/len(longFormats)])
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("a line of the well"), []byte("a line of the wall"))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var last error
		for segment, err := range f.Segments() {
			if last = err; err == nil && format == sessionfile.FormatClaudeCode {
				t.Errorf("%s: want no segment, got one with %d entries", format, len(segment.Entries))
			}
		}
		if !errors.Is(last, read.ErrChanged) {
			t.Errorf("%s: want an error that says that the file was changed, got %v", format, last)
		}
		_ = f.Close()
	}
}

// TestOpenFileThatGrows: a session that is still written to is read as far as it
// went when it was opened.
func TestOpenFileThatGrows(t *testing.T) {
	for i, format := range append(longFormats, longFormats...) {
		path := writeLong(t, format, 1<<20)
		f, err := openFile(path, holds[i/len(longFormats)])
		if err != nil {
			t.Fatal(err)
		}
		before := countEntries(t, f)
		more, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(more, "{\"half\":"); err != nil {
			t.Fatal(err)
		}
		if err := more.Close(); err != nil {
			t.Fatal(err)
		}
		if after := countEntries(t, f); after != before || before == 0 || len(f.Problems) > 0 {
			t.Errorf("%s: want the same %d entries, got %d, and no problems, got %v", format, before, after, f.Problems)
		}
		_ = f.Close()
	}
}

func countEntries(t *testing.T, f *File) int {
	t.Helper()
	n := 0
	for segment, err := range f.Segments() {
		if err != nil {
			t.Fatal(err)
		}
		n += len(segment.Entries)
	}
	return n
}

// TestStreamMemory: what a stream holds is a segment, not the file. Of a file
// eight times as large it may hold an index that is larger, and no more.
func TestStreamMemory(t *testing.T) {
	for _, format := range longFormats {
		t.Run(string(format), func(t *testing.T) {
			small, _ := peakHeap(t, writeLong(t, format, 8<<20))
			large, segments := peakHeap(t, writeLong(t, format, 64<<20))
			t.Logf("live heap: %d KiB for 8 MiB, %d KiB for 64 MiB in %d segments", small>>10, large>>10, segments)
			if large > 2*small+4<<20 {
				t.Errorf("64 MiB took %d bytes of live heap, 8 MiB took %d", large, small)
			}
			if segments < 20 {
				t.Errorf("want a file of many segments, got %d", segments)
			}
		})
	}
}

// peakHeap streams a file and returns the most that was alive, beyond what was
// before, as seen by the consumer while it holds a segment.
func peakHeap(t testing.TB, path string) (peak uint64, segments int) {
	t.Helper()
	base := liveHeap()
	f, err := openFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for segment, err := range f.Segments() {
		if err != nil {
			t.Fatal(err)
		}
		if segments++; segments%4 == 1 {
			peak = max(peak, liveHeap()-min(base, liveHeap()))
		}
		runtime.KeepAlive(segment)
	}
	return peak, segments
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestReadOfFormatError(t *testing.T) {
	_, err := OpenFile(filepath.Join(t.TempDir(), "missing"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want the operating system's error, got %v", err)
	}
}
