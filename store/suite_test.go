package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// testStore is what every backend has to pass. open returns an empty store each
// time; what it opens, it also closes, when the test ends.
func testStore(t *testing.T, open func(t testing.TB) store.Store) {
	t.Run("records", func(t *testing.T) { testRecords(t, open) })
	t.Run("blobs", func(t *testing.T) { testBlobs(t, open) })
	t.Run("forks", func(t *testing.T) { testForks(t, open) })
	t.Run("delete", func(t *testing.T) { testDelete(t, open) })
	t.Run("refusals", func(t *testing.T) { testRefusals(t, open) })
	t.Run("concurrent", func(t *testing.T) { testConcurrent(t, open) })
	t.Run("twin", func(t *testing.T) { testTwin(t, open) })
}

func blobOf(text string) edit.Blob {
	return edit.Blob{Ref: llm.RefOf([]byte(text)), Data: []byte(text)}
}

func lines(texts ...string) [][]byte {
	var out [][]byte
	for _, text := range texts {
		out = append(out, []byte(text))
	}
	return out
}

// must fails the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read returns the records of a session as texts.
func read(t testing.TB, s store.Store, session string, from int) []string {
	t.Helper()
	var out []string
	for r, err := range s.Records(context.Background(), session, from) {
		must(t, err)
		out = append(out, string(r))
	}
	return out
}

func wantRecords(t testing.TB, s store.Store, session string, from int, want ...string) {
	t.Helper()
	if got := read(t, s, session, from); !slices.Equal(got, want) {
		t.Errorf("records of %q from %d: want %q, got %q", session, from, want, got)
	}
}

// wantBlob asks for the content of text.
func wantBlob(t testing.TB, s store.Store, session, text string, there bool) {
	t.Helper()
	got, err := s.Get(context.Background(), session, blobOf(text).Ref)
	switch {
	case there && (err != nil || string(got) != text):
		t.Errorf("blob in %q: want %q, got %q (%v)", session, text, got, err)
	case !there && (!errors.Is(err, store.ErrNotFound) || got != nil):
		t.Errorf("blob in %q: want it not found, got %q (%v)", session, got, err)
	}
}

func testRecords(t *testing.T, open func(testing.TB) store.Store) {
	ctx := t.Context()
	s := open(t)
	wantRecords(t, s, "a", 0)
	must(t, s.Append(ctx, "a", 0, lines("one", "", "\x00\xff\n")))
	must(t, s.Append(ctx, "a", 3, lines("four")))
	must(t, s.Append(ctx, "a", 4, nil))
	must(t, s.Append(ctx, "b", 0, lines("other")))
	wantRecords(t, s, "a", 0, "one", "", "\x00\xff\n", "four")
	wantRecords(t, s, "a", 2, "\x00\xff\n", "four")
	wantRecords(t, s, "a", 4)
	wantRecords(t, s, "a", 40)
	wantRecords(t, s, "b", 0, "other")

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
	t.Run("the wrong number is a conflict and changes nothing", func(t *testing.T) {
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
		wantRecords(t, s, "a", 3, "four")
		wantRecords(t, s, "new", 0)
	})
	t.Run("bytes are the caller's", func(t *testing.T) {
		in := lines("mine")
		must(t, s.Append(ctx, "c", 0, in))
		clear(in[0])
		for r, err := range s.Records(ctx, "c", 0) {
			must(t, err)
			clear(r)
		}
		wantRecords(t, s, "c", 0, "mine")
	})
}

func testBlobs(t *testing.T, open func(testing.TB) store.Store) {
	ctx := t.Context()
	s := open(t)
	wantBlob(t, s, "a", "output", false)
	must(t, s.Put(ctx, "a", []edit.Blob{blobOf("output"), blobOf(""), blobOf("\x00\xff")}))
	wantBlob(t, s, "a", "output", true)
	wantBlob(t, s, "a", "", true)
	wantBlob(t, s, "a", "\x00\xff", true)

	t.Run("law 2: putting one again changes nothing", func(t *testing.T) {
		must(t, s.Put(ctx, "a", []edit.Blob{blobOf("output"), blobOf("output")}))
		wantBlob(t, s, "a", "output", true)
	})
	t.Run("another session does not see it", func(t *testing.T) {
		wantBlob(t, s, "b", "output", false)
		must(t, s.Append(ctx, "b", 0, lines("one")))
		wantBlob(t, s, "b", "output", false)
		must(t, s.Put(ctx, "b", []edit.Blob{blobOf("output")}))
		wantBlob(t, s, "b", "output", true)
	})
	t.Run("a wrong ref is refused with all that came with it", func(t *testing.T) {
		for _, ref := range []llm.Ref{"", "r", blobOf("else").Ref} {
			if err := s.Put(ctx, "a", []edit.Blob{blobOf("good"), {Ref: ref, Data: []byte("bad")}}); err == nil {
				t.Errorf("want ref %q refused, got nil", ref)
			}
		}
		wantBlob(t, s, "a", "good", false)
		wantBlob(t, s, "a", "bad", false)
	})
	t.Run("bytes are the caller's", func(t *testing.T) {
		b := blobOf("mine")
		must(t, s.Put(ctx, "a", []edit.Blob{b}))
		clear(b.Data)
		got, err := s.Get(ctx, "a", b.Ref)
		must(t, err)
		clear(got)
		wantBlob(t, s, "a", "mine", true)
	})
}

func testForks(t *testing.T, open func(testing.TB) store.Store) {
	ctx := t.Context()
	s := open(t)
	must(t, s.Append(ctx, "parent", 0, lines("one", "two")))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("before")}))
	must(t, s.Fork(ctx, "parent", "child", 1))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("after")}))
	must(t, s.Put(ctx, "child", []edit.Blob{blobOf("own")}))
	must(t, s.Append(ctx, "child", 1, lines("second")))
	must(t, s.Append(ctx, "parent", 2, lines("three")))
	must(t, s.Fork(ctx, "child", "grandchild", 2))

	wantRecords(t, s, "parent", 0, "one", "two", "three")
	wantRecords(t, s, "child", 0, "one", "second")
	wantRecords(t, s, "grandchild", 1, "second")
	for _, tt := range []struct {
		blob                      string
		parent, child, grandchild bool
	}{
		{"before", true, true, true},
		{"after", true, false, false},
		{"own", false, true, true},
	} {
		wantBlob(t, s, "parent", tt.blob, tt.parent)
		wantBlob(t, s, "child", tt.blob, tt.child)
		wantBlob(t, s, "grandchild", tt.blob, tt.grandchild)
	}

	t.Run("a session of blobs alone can be forked", func(t *testing.T) {
		must(t, s.Put(ctx, "early", []edit.Blob{blobOf("first")}))
		must(t, s.Fork(ctx, "early", "bird", 0))
		wantBlob(t, s, "bird", "first", true)
		must(t, s.Append(ctx, "bird", 0, lines("one")))
	})
	t.Run("refused", func(t *testing.T) {
		if err := s.Fork(ctx, "nobody", "orphan", 0); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("no parent: want ErrNotFound, got %v", err)
		}
		for _, child := range []string{"child", "parent", "early"} {
			if err := s.Fork(ctx, "parent", child, 1); !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s has begun: want ErrConflict, got %v", child, err)
			}
		}
		for _, seq := range []int{-1, 4} {
			if err := s.Fork(ctx, "parent", "fresh", seq); err == nil {
				t.Errorf("%d of 3 records: want an error, got nil", seq)
			}
		}
		wantRecords(t, s, "fresh", 0)
		wantRecords(t, s, "child", 0, "one", "second")
	})
}

func testDelete(t *testing.T, open func(testing.TB) store.Store) {
	s := open(t)
	d, ok := s.(store.Deleter)
	if !ok {
		t.Skipf("%T lets go of nothing", s)
	}
	ctx := t.Context()
	must(t, s.Append(ctx, "parent", 0, lines("one")))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("shared"), blobOf("gone"), blobOf("twice")}))
	must(t, s.Put(ctx, "other", []edit.Blob{blobOf("twice")}))
	must(t, s.Fork(ctx, "parent", "child", 1))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("late")}))

	must(t, d.Delete(ctx, "parent"))
	must(t, d.Delete(ctx, "parent"))
	must(t, d.Delete(ctx, "nobody"))
	wantRecords(t, s, "parent", 0)
	wantRecords(t, s, "child", 0, "one")
	wantBlob(t, s, "parent", "shared", false)
	wantBlob(t, s, "child", "shared", true) // law 2: a Ref lives while anything refers to it
	wantBlob(t, s, "child", "late", false)
	wantBlob(t, s, "other", "twice", true)
	must(t, s.Append(ctx, "parent", 0, lines("anew")))
	wantBlob(t, s, "parent", "late", false)

	must(t, d.Delete(ctx, "child"))
	must(t, s.Put(ctx, "parent", []edit.Blob{blobOf("shared")}))
	wantBlob(t, s, "parent", "shared", true)
	wantBlob(t, s, "other", "twice", true)
}

func testRefusals(t *testing.T, open func(testing.TB) store.Store) {
	s := open(t)
	must(t, s.Append(t.Context(), "a", 0, lines("one", "two")))
	must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf("output")}))
	first := func(ctx context.Context, session string, from int) error {
		for _, err := range s.Records(ctx, session, from) {
			return err
		}
		return nil
	}
	calls := map[string]func(ctx context.Context, session string) error{
		"Append":  func(ctx context.Context, session string) error { return s.Append(ctx, session, 2, lines("x")) },
		"Records": func(ctx context.Context, session string) error { return first(ctx, session, 0) },
		"Put":     func(ctx context.Context, session string) error { return s.Put(ctx, session, []edit.Blob{blobOf("x")}) },
		"Get": func(ctx context.Context, session string) error {
			_, err := s.Get(ctx, session, blobOf("output").Ref)
			return err
		},
		"Fork to":   func(ctx context.Context, session string) error { return s.Fork(ctx, "a", session, 0) },
		"Fork from": func(ctx context.Context, session string) error { return s.Fork(ctx, session, "b", 0) },
	}
	if d, ok := s.(store.Deleter); ok {
		calls["Delete"] = d.Delete
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls {
		if err := call(t.Context(), ""); err == nil || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s without a name: want an error of its own, got %v", name, err)
		}
		if err := call(over, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end of its context: want that error, got %v", name, err)
		}
	}
	if err := first(t.Context(), "a", -1); err == nil {
		t.Error("Records from -1: want an error, got nil")
	}
	wantRecords(t, s, "a", 0, "one", "two")
	wantRecords(t, s, "b", 0)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ends []string
	for r, err := range s.Records(ctx, "a", 0) {
		ends = append(ends, fmt.Sprint(string(r), errors.Is(err, context.Canceled)))
		cancel()
	}
	if want := []string{"onefalse", "true"}; !slices.Equal(ends, want) {
		t.Errorf("a context that ends on the way: want %q, got %q", want, ends)
	}
}

// testConcurrent lets writers race for one session, and readers look on.
func testConcurrent(t *testing.T, open func(testing.TB) store.Store) {
	const writers, each = 4, 25
	s, ctx := open(t), t.Context()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			seq := 0
			for i := range each {
				text := strconv.Itoa(w*each + i)
				if err := s.Put(ctx, "a", []edit.Blob{blobOf(text), blobOf("common")}); err != nil {
					t.Error(err)
				}
				var conflict *store.ConflictError
				err := s.Append(ctx, "a", seq, lines(text))
				for errors.As(err, &conflict) {
					seq = conflict.Want
					err = s.Append(ctx, "a", seq, lines(text))
				}
				if err != nil {
					t.Error(err)
				}
				seq++
			}
		})
		group.Go(func() {
			if err := s.Fork(ctx, "a", "child", 0); err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
			for r, err := range s.Records(ctx, "a", 0) {
				if err != nil {
					t.Error(err)
				}
				if _, err := s.Get(ctx, "a", blobOf(string(r)).Ref); err != nil {
					t.Errorf("law 2: a record is there before its blob: %v", err)
				}
			}
		})
	}
	group.Wait()
	got, want := map[string]bool{}, map[string]bool{}
	for i := range writers * each {
		want[strconv.Itoa(i)] = true
	}
	all := read(t, s, "a", 0)
	for _, r := range all {
		got[r] = true
	}
	if len(all) != writers*each || !maps.Equal(got, want) {
		t.Errorf("want each of %d records once, got %d", writers*each, len(all))
	}
}

// A twin is a store that cannot be wrong: it copies everything.
type twin map[string]*twinSession

type twinSession struct {
	records []string
	blobs   map[string]bool
}

func (w twin) begin(name string) *twinSession {
	if w[name] == nil {
		w[name] = &twinSession{blobs: map[string]bool{}}
	}
	return w[name]
}

// testTwin runs random operations against a store and its twin.
func testTwin(t *testing.T, open func(testing.TB) store.Store) {
	names := []string{"a", "b", "c", "\x00 d/../é"}
	texts := []string{"", "x", "y", "long " + string(bytes.Repeat([]byte("z"), 5000))}
	rapid.Check(t, func(r *rapid.T) {
		s, w := open(t), twin{}
		ctx := context.Background()
		name := rapid.SampledFrom(names)
		text := rapid.SampledFrom(texts)
		check := func(err error, ok bool) {
			if (err == nil) != ok {
				r.Fatalf("want success: %v, got %v", ok, err)
			}
		}
		actions := map[string]func(*rapid.T){
			"append": func(r *rapid.T) {
				n, seq, records := name.Draw(r, "session"), rapid.IntRange(0, 3).Draw(r, "seq"), rapid.SliceOfN(text, 0, 2).Draw(r, "records")
				have := 0
				if w[n] != nil {
					have = len(w[n].records)
				}
				check(s.Append(ctx, n, seq, lines(records...)), seq == have)
				if seq == have {
					w.begin(n).records = append(w.begin(n).records, records...)
				}
			},
			"put": func(r *rapid.T) {
				n, b := name.Draw(r, "session"), text.Draw(r, "blob")
				check(s.Put(ctx, n, []edit.Blob{blobOf(b)}), true)
				w.begin(n).blobs[b] = true
			},
			"fork": func(r *rapid.T) {
				parent, child, seq := name.Draw(r, "parent"), name.Draw(r, "child"), rapid.IntRange(0, 3).Draw(r, "seq")
				ok := w[parent] != nil && w[child] == nil && seq <= len(w[parent].records)
				check(s.Fork(ctx, parent, child, seq), ok)
				if ok {
					w[child] = &twinSession{slices.Clone(w[parent].records[:seq]), maps.Clone(w[parent].blobs)}
				}
			},
			"": func(r *rapid.T) { compare(r, s, w, names, texts) },
		}
		if d, ok := s.(store.Deleter); ok {
			actions["delete"] = func(r *rapid.T) {
				n := name.Draw(r, "session")
				check(d.Delete(ctx, n), true)
				delete(w, n)
			}
		}
		r.Repeat(actions)
	})
}

func compare(t *rapid.T, s store.Store, w twin, names, texts []string) {
	for _, n := range names {
		have := w[n]
		if have == nil {
			have = &twinSession{}
		}
		var got []string
		for r, err := range s.Records(context.Background(), n, 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(r))
		}
		if !slices.Equal(got, have.records) {
			t.Fatalf("records of %q: want %.200q, got %.200q", n, have.records, got)
		}
		for _, text := range texts {
			got, err := s.Get(context.Background(), n, blobOf(text).Ref)
			if have.blobs[text] && (err != nil || string(got) != text) || !have.blobs[text] && !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("blob %.20q in %q: want it there: %v, got %.20q (%v)", text, n, have.blobs[text], got, err)
			}
		}
	}
}
