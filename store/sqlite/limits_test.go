package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestBeyond: sessions are beyond a limit in the order in which they were last used, and how large
// the file would be without them is foretold well.
func TestBeyond(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, newFile(t), sqlite.Options{Now: func() time.Time { return now }})
	ctx := t.Context()
	var order []string // in which they were last used
	for i := range 40 {
		name := fmt.Sprintf("s%02d", i)
		now = now.Add(time.Hour)
		must(t, s.Put(ctx, name, []edit.Blob{blobOf("of all"), blobOf(string(noiseOf(i, 100_000)))}))
		if i%10 == 9 { // cut into pieces
			must(t, s.Put(ctx, name, []edit.Blob{blobOf(string(noiseOf(1000+i, 700_000)))}))
		}
		must(t, s.Append(ctx, name, 0, [][]byte{noiseOf(2000+i, 20_000), []byte("two")}))
		order = append(order, name)
		if i%8 == 7 {
			must(t, s.Fork(ctx, name, "fork of "+name, 1))
			must(t, s.Append(ctx, "fork of "+name, 1, lines("other")))
			order = append(order, "fork of "+name)
		}
	}
	_, err := s.GC(ctx)
	must(t, err)
	stats, err := s.Stats(ctx)
	must(t, err)
	whole := stats.FileBytes
	for _, limits := range []sqlite.Limits{
		{}, {Bytes: whole}, {Age: 35*time.Hour + 30*time.Minute}, {Bytes: whole / 2}, {Bytes: whole / 3, Age: 12*time.Hour + 30*time.Minute},
	} {
		got, err := s.Beyond(ctx, limits)
		must(t, err)
		n := len(got.Sessions)
		if none := limits.Age == 0 && (limits.Bytes == 0 || limits.Bytes == whole); none != (n == 0) || got.Of != len(order) || limits.Bytes > 0 && got.Bytes > limits.Bytes {
			t.Fatalf("%+v: got %d sessions beyond of %d, %d bytes left", limits, n, got.Of, got.Bytes)
		}
		for i, one := range got.Sessions {
			if one.Name != order[i] {
				t.Errorf("%+v: want %s to go next, got %s", limits, order[i], one.Name)
			}
			_, gone, err := s.Expire(ctx, one)
			must(t, err)
			if !gone {
				t.Errorf("%s is still there", one.Name)
			}
		}
		order = order[n:]
		_, err = s.GC(ctx)
		must(t, err)
		if stats, err = s.Stats(ctx); err != nil || stats.FileBytes > got.Bytes*21/20 || stats.FileBytes < got.Bytes*19/20 {
			t.Errorf("%+v: want the %d bytes that were foretold, a twentieth more or less, got %d (%v)", limits, got.Bytes, stats.FileBytes, err)
		}
		if again, err := s.Beyond(ctx, sqlite.Limits{Age: limits.Age}); err != nil || len(again.Sessions) > 0 || again.Bytes != stats.FileBytes {
			t.Errorf("%+v: want none beyond the limit any more, got %+v (%v)", limits, again, err)
		}
		wholesome(t, s)
	}
	if len(order) == 0 {
		t.Error("want the newest sessions there")
	}
}

// TestBeyondASmallFile: a file whose sessions all go keeps its tables, so that somebody who wants less
// than these take is not told that it would be empty.
func TestBeyondASmallFile(t *testing.T) {
	s := open(t, newFile(t), sqlite.Options{})
	ctx := t.Context()
	for i := range 3 {
		name := fmt.Sprintf("s%d", i)
		must(t, s.Put(ctx, name, []edit.Blob{blobOf(string(noiseOf(i, 5_000)))}))
		must(t, s.Append(ctx, name, 0, [][]byte{noiseOf(10+i, 2_000)}))
	}
	got, err := s.Beyond(ctx, sqlite.Limits{Bytes: 1})
	must(t, err)
	for _, one := range got.Sessions {
		_, _, err := s.Expire(ctx, one)
		must(t, err)
	}
	_, err = s.GC(ctx)
	must(t, err)
	stats, err := s.Stats(ctx)
	must(t, err)
	if len(got.Sessions) != 3 || stats.FileBytes > got.Bytes*11/10 || stats.FileBytes < got.Bytes*9/10 {
		t.Errorf("%d sessions: want the %d bytes that were foretold, a tenth more or less, got %d", len(got.Sessions), got.Bytes, stats.FileBytes)
	}
}

// noiseOf returns bytes that do not compress, others for each seed.
func noiseOf(seed, n int) []byte {
	data := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(data) // never an error
	return data
}

// TestExpire: a session goes as it was listed, and stays when somebody has gone on with it. What
// a fork of it names stays, too, also through a collection.
func TestExpire(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, newFile(t), sqlite.Options{Now: func() time.Time { return now }})
	ctx := t.Context()
	for _, name := range []string{"gone", "used"} {
		must(t, s.Put(ctx, name, []edit.Blob{blobOf("of both"), blobOf("of " + name)}))
		must(t, s.Append(ctx, name, 0, lines("one")))
	}
	must(t, s.Fork(ctx, "gone", "fork", 1))
	var all []sqlite.Session
	for one, err := range s.Sessions(ctx) {
		must(t, err)
		all = append(all, one)
	}
	now = now.Add(time.Minute)
	must(t, s.Append(ctx, "used", 1, lines("two")))
	for _, one := range all[:2] {
		freed, gone, err := s.Expire(ctx, one)
		must(t, err)
		if gone != (one.Name == "gone") {
			t.Errorf("%s: want only gone to go, got %v", one.Name, gone)
		}
		if freed != (sqlite.Freed{}) { // the fork has all of it
			t.Errorf("%s: want nothing let go of, got %+v", one.Name, freed)
		}
	}
	_, err := s.GC(ctx)
	must(t, err)
	wholesome(t, s)
	if _, err := s.Get(ctx, "gone", blobOf("of both").Ref); err == nil {
		t.Error("want gone gone")
	}
	for name, texts := range map[string][]string{"used": {"of both", "of used"}, "fork": {"of both", "of gone"}} {
		for _, text := range texts {
			if data, err := s.Get(ctx, name, blobOf(text).Ref); err != nil || string(data) != text {
				t.Errorf("%s: want %q, got %q (%v)", name, text, data, err)
			}
		}
	}
}
