package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

func testRecords(t *testing.T, s store.Store) {
	ctx := t.Context()
	see(t, s).records("a", 0)
	must(t, s.Append(ctx, "a", 0, lines("one", "", "\x00\xff\n")))
	must(t, s.Append(ctx, "a", 3, lines("four")))
	must(t, s.Append(ctx, "a", 4, nil))
	must(t, s.Append(ctx, "b", 0, lines("other")))
	see(t, s).records("a", 0, "one", "", "\x00\xff\n", "four")
	see(t, s).records("a", 2, "\x00\xff\n", "four")
	see(t, s).records("a", 4)
	see(t, s).records("a", 40)
	see(t, s).records("b", 0, "other")

	t.Run("a caller may stop and start again", func(t *testing.T) {
		all := s.Records(ctx, "a", 0)
		for range 2 {
			for r, err := range all {
				if err != nil || string(r) != "one" {
					t.Errorf("want the first record, got %q (%v)", r, err)
				}
				break
			}
		}
	})
	t.Run("a name is any text", func(t *testing.T) {
		for _, name := range []string{"\x00", "\x00\x00", "a\x00", "\xff", "é", "e\u0301", "A", " a", "'; DROP TABLE records; --", "%", strings.Repeat("n", 10_000)} {
			see(t, s).records(name, 0)
			must(t, s.Append(ctx, name, 0, lines(name)))
			see(t, s).records(name, 0, name)
		}
		see(t, s).records("a", 3, "four")
	})
}

func testConflict(t *testing.T, s store.Store) {
	ctx := t.Context()
	must(t, s.Append(ctx, "a", 0, lines("one", "two", "three", "four")))
	for _, seq := range []int{-1, 0, 3, 5} {
		err := s.Append(ctx, "a", seq, lines("lost"))
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, store.ErrConflict) {
			t.Fatalf("at %d: want a *ConflictError, got %v", seq, err)
		}
		if want := (store.ConflictError{Session: "a", Want: 4, Got: seq}); *conflict != want {
			t.Errorf("want %+v, got %+v", want, *conflict)
		}
	}
	if err := s.Append(ctx, "new", 1, lines("lost")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("in a session that has not begun: want a conflict, got %v", err)
	}
	see(t, s).records("a", 3, "four")
	see(t, s).records("new", 0)
	if err := s.Fork(ctx, "new", "fork", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a conflict began a session: want ErrNotFound, got %v", err)
	}
}

// testManyRecords has more of them than anybody reads at once, and large ones.
func testManyRecords(t *testing.T, s store.Store) {
	ctx := t.Context()
	var want []string
	for i := range 1500 {
		text := fmt.Sprint(i)
		if i%300 == 7 {
			text += strings.Repeat(" large", 200_000)
		}
		want = append(want, text)
	}
	must(t, s.Append(ctx, "a", 0, lines(want[:1000]...)))
	must(t, s.Fork(ctx, "a", "b", 900))
	must(t, s.Append(ctx, "b", 900, lines(want[900:]...)))
	for _, from := range []int{0, 255, 256, 899, 900, 901, 1499} {
		see(t, s).records("b", from, want[from:]...)
	}
	see(t, s).records("a", 0, want[:1000]...)

	t.Run("what is appended meanwhile may be missing, nothing else", func(t *testing.T) {
		n := 0
		for r, err := range s.Records(ctx, "a", 0) {
			must(t, err)
			if n == 0 {
				must(t, s.Append(ctx, "a", 1000, lines("late")))
			}
			if n < 1000 && string(r) != want[n] {
				t.Fatalf("record %d: want %.20q, got %.20q", n, want[n], r)
			}
			n++
		}
		if n < 1000 || n > 1001 {
			t.Errorf("want 1000 or 1001 records, got %d", n)
		}
	})
}

func testBlobs(t *testing.T, s store.Store) {
	ctx := t.Context()
	see(t, s).blob("a", "output", false)
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf("output"), blobOf(""), blobOf("\x00\xff")}))
	see(t, s).blob("a", "output", true)
	see(t, s).blob("a", "", true)
	see(t, s).blob("a", "\x00\xff", true)

	t.Run("law 2: putting one again changes nothing", func(t *testing.T) {
		must(t, s.Put(ctx, "a", []edit.Blob{blobOf("output"), blobOf("output")}))
		see(t, s).blob("a", "output", true)
	})
	t.Run("R002-4_another session does not see it", func(t *testing.T) {
		see(t, s).blob("b", "output", false)
		must(t, s.Append(ctx, "b", 0, lines("one")))
		see(t, s).blob("b", "output", false)
		must(t, s.Put(ctx, "b", []edit.Blob{blobOf("output")}))
		see(t, s).blob("b", "output", true)
	})
	t.Run("no blobs begin a session all the same", func(t *testing.T) {
		must(t, s.Put(ctx, "empty", nil))
		must(t, s.Fork(ctx, "empty", "of empty", 0))
	})
	t.Run("a ref that is none is not found", func(t *testing.T) {
		for _, ref := range []llm.Ref{"", "r", "\x00", "' OR 1=1 --"} {
			if got, err := s.Get(ctx, "a", ref); !errors.Is(err, store.ErrNotFound) || got != nil {
				t.Errorf("ref %q: want it not found, got %q (%v)", ref, got, err)
			}
		}
	})
}

// testLargeBlobs has contents that compress well, badly and not at all (R002-4: byte for byte).
func testLargeBlobs(t *testing.T, s store.Store) {
	random := noise(300_000)
	texts := []string{strings.Repeat("the same line\n", 400_000), random, random[:127], random[:128], strings.Repeat("a", 4096), strings.Repeat("a", 4097)}
	var all []edit.Blob
	for _, text := range texts {
		all = append(all, blobOf(text))
	}
	must(t, s.Put(t.Context(), "a", all))
	for _, text := range texts {
		see(t, s).blob("a", text, true)
	}
}

// noise is n bytes that do not compress.
func noise(n int) string {
	out := make([]byte, n)
	x := uint32(1)
	for i := range out {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		out[i] = byte(x)
	}
	return string(out)
}

// testAtomic has writes of which a part is refused.
func testAtomic(t *testing.T, s store.Store) {
	ctx := t.Context()
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf("first")}))
	for _, ref := range []llm.Ref{"", "r", blobOf("else").Ref} {
		if err := s.Put(ctx, "a", []edit.Blob{blobOf("good"), {Ref: ref, Data: []byte("bad")}}); err == nil {
			t.Errorf("want ref %q refused, got nil", ref)
		}
		if err := s.Put(ctx, "new", []edit.Blob{blobOf("good"), {Ref: ref, Data: []byte("bad")}}); err == nil {
			t.Errorf("want ref %q refused, got nil", ref)
		}
	}
	see(t, s).blob("a", "good", false)
	see(t, s).blob("a", "bad", false)
	if err := s.Fork(ctx, "new", "fork", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a refused blob began a session: want ErrNotFound, got %v", err)
	}
}

// testOwner changes what it passed in, and what it got.
func testOwner(t *testing.T, s store.Store) {
	ctx := t.Context()
	long := strings.Repeat("mine ", 100)
	in := lines("mine", long)
	must(t, s.Append(ctx, "a", 0, in))
	blobs := []edit.Blob{blobOf("mine"), blobOf(long)}
	must(t, s.Put(ctx, "a", blobs))
	refs := []llm.Ref{blobs[0].Ref, blobs[1].Ref}
	for i := range in {
		clear(in[i])
		clear(blobs[i].Data)
	}
	clear(blobs)
	for range 2 {
		for r, err := range s.Records(ctx, "a", 0) {
			must(t, err)
			clear(r)
		}
		for _, ref := range refs {
			got, err := s.Get(ctx, "a", ref)
			must(t, err)
			clear(got)
		}
	}
	see(t, s).records("a", 0, "mine", long)
	see(t, s).blob("a", "mine", true)
	see(t, s).blob("a", long, true)
}
