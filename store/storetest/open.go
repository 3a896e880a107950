package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
)

// opener returns s as a store that gives contents out in parts, or skips the test.
func opener(t *testing.T, s store.Store) store.Opener {
	t.Helper()
	o, ok := s.(store.Opener)
	if !ok {
		t.Skipf("%T gives out no parts", s)
	}
	return o
}

// opened opens the content of text and closes it when the test ends.
func opened(t T, s store.Store, session, text string) store.Content {
	t.Helper()
	c, err := s.(store.Opener).Open(context.Background(), session, blobOf(text).Ref)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

// starts are where the lines of a text begin, and its end.
func starts(text string) []int64 {
	var out []int64
	for at := 0; at < len(text); {
		out = append(out, int64(at))
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return append(out, int64(len(text)))
}

// testOpen has contents of all kinds and lengths, put whole and as streams.
func testOpen(t *testing.T, s store.Store) {
	o := opener(t, s)
	all := streamed()
	all["CRLF"] = strings.Repeat("a line of Windows\r\n", 40_000)
	all["one line"] = strings.Repeat("no end ", 100_000)
	all["newlines"] = strings.Repeat("\n", 600_000)
	all["a newline at the border"] = strings.Repeat("x", 256<<10-1) + "\n" + strings.Repeat("y", 10)
	all["a line that begins at the border"] = strings.Repeat("x", 256<<10) + "\ny\n"
	all["not UTF-8"] = strings.Repeat("\xff\xfe\n\xc3", 100_000)
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			if f, ok := s.(store.Streamer); ok && len(text)%2 == 0 {
				_, _, err := f.PutFrom(t.Context(), "a", strings.NewReader(text))
				must(t, err)
			} else {
				must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(text)}))
			}
			c, want := opened(t, s, "a", text), starts(text)
			if c.Size() != int64(len(text)) || c.Lines() != int64(len(want)-1) {
				t.Errorf("want %d bytes and %d lines, got %d and %d", len(text), len(want)-1, c.Size(), c.Lines())
			}
			for n := int64(0); n <= c.Lines(); n += 1 + c.Lines()/50 {
				if got, err := c.Line(n); err != nil || got != want[n] {
					t.Errorf("line %d: want it at %d, got %d (%v)", n, want[n], got, err)
				}
			}
			if err := iotest.TestReader(io.NewSectionReader(c, 0, c.Size()), []byte(text)); err != nil {
				t.Error(err)
			}
			see(t, s).blob("a", text, true)
		})
	}
	t.Run("what a session does not see is not found", func(t *testing.T) {
		must(t, s.Put(t.Context(), "owner", []edit.Blob{blobOf(logOf(300 << 10))}))
		for _, session := range []string{"a", "nobody"} {
			c, err := o.Open(t.Context(), session, blobOf(logOf(300<<10)).Ref)
			if !errors.Is(err, store.ErrNotFound) || c != nil {
				t.Errorf("%s: want it not found, got %v (%v)", session, c, err)
			}
		}
		must(t, s.Fork(t.Context(), "owner", "fork", 0))
		if c := opened(t, s, "fork", logOf(300<<10)); c.Size() != 300<<10 {
			t.Errorf("a fork: want %d bytes, got %d", 300<<10, c.Size())
		}
	})
}

// testOpenRandom compares random reads of random contents with the bytes that were put.
func testOpenRandom(t *testing.T, s store.Store) {
	opener(t, s)
	rapid.Check(t, func(r *rapid.T) {
		text := drawText(r)
		must(r, s.Put(context.Background(), "a", []edit.Blob{blobOf(text)}))
		c, want := opened(r, s, "a", text), starts(text)
		for range 20 {
			off := drawNear(r, len(text), "offset")
			buf := make([]byte, rapid.SampledFrom([]int{0, 1, 10, 4096, 300_000}).Draw(r, "bytes"))
			n, err := c.ReadAt(buf, int64(off))
			if rest := text[min(off, len(text)):]; n != min(len(buf), len(rest)) || string(buf[:n]) != rest[:n] {
				r.Fatalf("%d bytes at %d of %d: got %d others", len(buf), off, len(text), n)
			}
			if short := n < len(buf); short != (err == io.EOF) || !short && err != nil { //nolint:errorlint // io.EOF itself
				r.Fatalf("%d bytes at %d of %d: got %d and %v", len(buf), off, len(text), n, err)
			}
			line := drawNear(r, len(want)-1, "line")
			at, err := c.Line(int64(line))
			if line < len(want) && (err != nil || at != want[line]) || line >= len(want) && err == nil {
				r.Fatalf("line %d of %d: got %d (%v)", line, len(want)-1, at, err)
			}
		}
	})
}

// drawNear is a number up to most and a little above, often near a multiple of 256 KiB.
func drawNear(r *rapid.T, most int, label string) int {
	if rapid.Bool().Draw(r, label+" near a border") {
		return max(0, rapid.IntRange(0, most/(256<<10)+1).Draw(r, label)*(256<<10)+rapid.IntRange(-3, 3).Draw(r, label))
	}
	return rapid.IntRange(0, most+2).Draw(r, label)
}

// drawText is a content of some pieces of text, noise and giant lines.
func drawText(r *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 4).Draw(r, "parts") {
		n := rapid.SampledFrom([]int{0, 1, 100, 256<<10 - 1, 256 << 10, 256<<10 + 1, 600_000}).Draw(r, "length")
		switch rapid.IntRange(0, 3).Draw(r, "kind") {
		case 0:
			b.WriteString(logOf(n))
		case 1:
			b.WriteString(noise(n))
		case 2:
			b.WriteString(strings.Repeat("z", n))
		default:
			b.WriteString(strings.Repeat("\r\n", n/2))
		}
	}
	return b.String()
}

func testOpenRefused(t *testing.T, s store.Store) {
	o := opener(t, s)
	text := logOf(600 << 10)
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(text)}))
	c := opened(t, s, "a", text)
	for _, n := range []int64{-1, c.Lines() + 1, 1 << 62, -1 << 62} {
		if _, err := c.Line(n); err == nil {
			t.Errorf("line %d: want an error, got nil", n)
		}
	}
	buf := make([]byte, 10)
	if n, err := c.ReadAt(buf, -1); n != 0 || err == nil || err == io.EOF { //nolint:errorlint // io.EOF itself
		t.Errorf("offset -1: want an error, got %d bytes (%v)", n, err)
	}
	if n, err := c.ReadAt(buf, 1<<62); n != 0 || err != io.EOF { //nolint:errorlint // io.EOF itself
		t.Errorf("an offset beyond the end: want io.EOF, got %d bytes (%v)", n, err)
	}
	t.Run("after Close", func(t *testing.T) {
		c := opened(t, s, "a", text)
		must(t, c.Close())
		if n, err := c.ReadAt(buf, 0); n != 0 || err == nil {
			t.Errorf("want an error, got %d bytes (%v)", n, err)
		}
		if _, err := c.Line(1); err == nil {
			t.Error("line: want an error, got nil")
		}
	})
	t.Run("after its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c, err := o.Open(ctx, "a", blobOf(text).Ref)
		must(t, err)
		defer func() { must(t, c.Close()) }()
		cancel()
		if n, err := c.ReadAt(buf, 0); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("want the context's error, got %d bytes (%v)", n, err)
		}
		if _, err := c.Line(1); !errors.Is(err, context.Canceled) {
			t.Errorf("line: want the context's error, got %v", err)
		}
	})
}

// testOpenDeleted lets go of a content that is open: it is what it was, or not found.
func testOpenDeleted(t *testing.T, s store.Store) {
	opener(t, s)
	text, d := logOf(900<<10), deleter(t, s)
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(text)}))
	c := opened(t, s, "a", text)
	buf := make([]byte, 100)
	_, err := c.ReadAt(buf, 0)
	must(t, err)
	must(t, d.Delete(t.Context(), "a"))
	for _, off := range []int64{0, 800 << 10} {
		n, err := c.ReadAt(buf, off)
		if err == nil && string(buf) != text[off:off+100] || err != nil && (n != 0 || !errors.Is(err, store.ErrNotFound)) {
			t.Errorf("at %d: want what it was or not found, got %d bytes (%v)", off, n, err)
		}
	}
}

// testOpenConcurrent reads one content from many sides.
func testOpenConcurrent(t *testing.T, s store.Store) {
	opener(t, s)
	text := logOf(900 << 10)
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(text)}))
	c := opened(t, s, "a", text)
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			var got bytes.Buffer
			if _, err := io.Copy(&got, io.NewSectionReader(c, int64(i), c.Size())); err != nil || got.String() != text[i:] {
				t.Errorf("reader %d: want %d bytes, got %d others (%v)", i, len(text)-i, got.Len(), err)
			}
		})
		group.Go(func() {
			other := fmt.Sprint("other ", i)
			if err := s.Put(t.Context(), "a", []edit.Blob{blobOf(other)}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
