package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
)

// streamed are contents of all kinds and lengths. A backend may treat a long one in
// another way than a short one, so there are some on both sides of likely lines.
func streamed() map[string]string {
	all := map[string]string{
		"nothing": "", "a byte": "x", "binary": "\x00\xff\x00", "noise": noise(3 << 20),
		"lines": strings.Repeat("the same line\n", 400_000),
	}
	long := logOf(1<<20 + 1)
	for _, n := range []int{127, 128, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20} {
		for d := -1; d <= 1; d++ {
			all[fmt.Sprint("log of ", n+d)] = long[:n+d]
		}
	}
	return all
}

// logOf is n bytes of what a program writes.
func logOf(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "12:%02d:%02d worker %d: request %x done, %d bytes\n", i/60%60, i%60, i%7, uint32(i)*2654435761, i*i%9973)
	}
	return b.String()[:n]
}

// stream puts text as it comes from r, and compares what is said of it.
func (v view) stream(session, text string, r io.Reader) {
	v.t.Helper()
	f, ok := v.s.(store.Streamer)
	if !ok {
		v.t.Fatalf("%T takes no streams", v.s)
	}
	ref, size, err := f.PutFrom(context.Background(), session, r)
	if want := blobOf(text).Ref; err != nil || ref != want || size != int64(len(text)) {
		v.t.Errorf("%.40q: want %s of %d bytes, got %q of %d (%v)", text, want, len(text), ref, size, err)
	}
}

func testStream(t *testing.T, s store.Store) {
	streamer(t, s)
	ctx := t.Context()
	for name, text := range streamed() {
		t.Run(name, func(t *testing.T) {
			see(t, s).stream("a", text, strings.NewReader(text))
			see(t, s).blob("a", text, true)
			must(t, s.Put(ctx, "a", []edit.Blob{blobOf(text)}))
			must(t, s.Put(ctx, "b", []edit.Blob{blobOf(text)}))
			see(t, s).blob("b", text, true)
			see(t, s).stream("b", text, iotest.DataErrReader(iotest.HalfReader(strings.NewReader(text))))
			see(t, s).blob("b", text, true)
		})
	}
	t.Run("byte by byte", func(t *testing.T) {
		text := logOf(300 << 10)
		see(t, s).stream("c", text, iotest.OneByteReader(strings.NewReader(text)))
		see(t, s).blob("c", text, true)
	})
	t.Run("R002-4_a fork sees it, another session does not", func(t *testing.T) {
		text := logOf(400 << 10)
		see(t, s).blob("a", text, false)
		see(t, s).stream("parent", text, strings.NewReader(text))
		must(t, s.Fork(ctx, "parent", "child", 0))
		see(t, s).blob("child", text, true)
		see(t, s).blob("a", text, false)
	})
	t.Run("law 2: it lives while anything refers to it", func(t *testing.T) {
		text, d := logOf(500<<10), deleter(t, s)
		see(t, s).stream("one", text, strings.NewReader(text))
		see(t, s).stream("two", text, strings.NewReader(text))
		must(t, d.Delete(ctx, "one"))
		see(t, s).blob("one", text, false)
		see(t, s).blob("two", text, true)
	})
}

// testStreamBrokenOff has streams that fail after some bytes, each in a session that has
// not begun and must not.
func testStreamBrokenOff(t *testing.T, s store.Store) {
	f, ctx := streamer(t, s), t.Context()
	text := noise(3 << 20)
	for _, fault := range []error{errCut, io.ErrUnexpectedEOF, fmt.Errorf("wrapped: %w", io.EOF)} {
		for _, n := range []int{0, 10, 256 << 10, len(text)} {
			r := io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(fault))
			ref, size, err := f.PutFrom(ctx, "new", r)
			if !errors.Is(err, fault) || ref != "" || size != 0 {
				t.Errorf("%v after %d bytes: want that error, got %q of %d bytes (%v)", fault, n, ref, size, err)
			}
			see(t, s).blob("new", text[:n], false)
		}
	}
	if err := s.Fork(ctx, "new", "fork", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a stream that failed began a session: want ErrNotFound, got %v", err)
	}
	see(t, s).stream("new", text, strings.NewReader(text))
	see(t, s).blob("new", text, true)
}

// A hook is a reader that does something before each read.
type hook struct {
	io.Reader
	before func(bytes int) // read so far
	bytes  int
}

func (h *hook) Read(p []byte) (int, error) {
	h.before(h.bytes)
	n, err := h.Reader.Read(p)
	h.bytes += n
	return n, err
}

func testStreamContext(t *testing.T, s store.Store) {
	f, text := streamer(t, s), logOf(3<<20)
	for _, at := range []int{0, 1 << 20} {
		ctx, cancel := context.WithCancel(t.Context())
		r := &hook{Reader: strings.NewReader(text), before: func(bytes int) {
			if bytes >= at {
				cancel()
			}
		}}
		ref, size, err := f.PutFrom(ctx, "new", r)
		if !errors.Is(err, context.Canceled) || ref != "" || size != 0 {
			t.Errorf("canceled after %d bytes: want that error, got %q of %d bytes (%v)", at, ref, size, err)
		}
		if r.bytes == len(text) {
			t.Errorf("canceled after %d bytes: read to its end", at)
		}
		cancel()
	}
	see(t, s).blob("new", text, false)
	if err := s.Fork(t.Context(), "new", "fork", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a canceled stream began a session: want ErrNotFound, got %v", err)
	}
	for _, session := range []string{"", "new"} {
		over, cancel := context.WithCancel(t.Context())
		if session != "" {
			cancel()
		}
		untouched := &hook{Reader: strings.NewReader(text), before: func(int) { t.Errorf("session %q: read what is refused", session) }}
		if _, _, err := f.PutFrom(over, session, untouched); err == nil {
			t.Errorf("session %q: want an error, got nil", session)
		}
		cancel()
	}
}

// testStreamAlone works with the store while a stream is on its way.
func testStreamAlone(t *testing.T, s store.Store) {
	streamer(t, s)
	ctx := t.Context()
	text, i := logOf(1<<20), 0
	see(t, s).stream("a", text, &hook{Reader: strings.NewReader(text), before: func(int) {
		must(t, s.Append(ctx, "a", i, lines(fmt.Sprint(i))))
		must(t, s.Put(ctx, "a", []edit.Blob{blobOf(fmt.Sprint(i))}))
		see(t, s).blob("a", fmt.Sprint(i), true)
		see(t, s).blob("a", text, false)
		i++
	}})
	see(t, s).blob("a", text, true)
}

// testStreamConcurrent lets many put the same contents at the same time.
func testStreamConcurrent(t *testing.T, s store.Store) {
	streamer(t, s)
	long, short := logOf(600<<10), logOf(1000)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for _, text := range []string{long, short, long} {
				see(t, s).stream("common", text, strings.NewReader(text))
				see(t, s).stream(fmt.Sprint(i), text, strings.NewReader(text))
				if err := s.Put(t.Context(), fmt.Sprint(i), []edit.Blob{blobOf(text)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for _, session := range []string{"common", "0", "3"} {
		see(t, s).blob(session, long, true)
		see(t, s).blob(session, short, true)
	}
}
