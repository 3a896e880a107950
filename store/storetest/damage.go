package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A Damage is what happens to a store behind its back, as a page that was written to the
// wrong place does it: what is kept stays whole, with every checksum beside it, but stands
// elsewhere. Records are numbered from 0.
type Damage interface {
	// Exchange lets each of two contents stand under the other's Ref.
	Exchange(one, other llm.Ref)
	// Swap lets each of two records of a session stand in the other's place.
	Swap(session string, i, j int)
	// Copy puts record i of a session in place of record j of another, or of itself.
	Copy(from string, i int, to string, j int)
	// Lose takes a record of a session away.
	Lose(session string, i int)
	// SwapSnapshots is Swap of the snapshots that a session took at two numbers.
	SwapSnapshots(session string, i, j int)
}

// Damaged is what every backend has to pass: what is not what was written there is a
// *store.DamageError that says where, and never served. open returns an empty store and
// what damages it; what it opens, it also closes, when t ends.
func Damaged(t *testing.T, open func(t T) (store.Store, Damage)) {
	for _, part := range []struct {
		name string
		test func(*testing.T, store.Store, Damage)
	}{
		{"blobs", damagedBlobs},
		{"stream", damagedStream},
		{"records/swapped", damagedSwap},
		{"records/twice", damagedCopy},
		{"records/of another session", damagedSession},
		{"records/missing", damagedLoss},
		{"records/of a parent", damagedParent},
		{"snapshots", damagedSnapshots},
	} {
		t.Run(part.name, func(t *testing.T) {
			s, d := open(t)
			part.test(t, s, d)
		})
	}
}

// damaged fails unless err is a damage of a place.
func damaged(t *testing.T, err error, session, place string) {
	t.Helper()
	var d *store.DamageError
	if !errors.As(err, &d) {
		t.Fatalf("%s of %q: want a *store.DamageError, got %v", place, session, err)
	}
	if d.Session != session || d.Place != place || d.What == "" || d.Want == d.Got {
		t.Errorf("want the damage of %s of %q, got %+v", place, session, *d)
	}
	if text := err.Error(); !strings.Contains(text, place) || !strings.Contains(text, d.Want) || !strings.Contains(text, d.Got) {
		t.Errorf("want an error with %s and what was wanted and got, got %v", place, err)
	}
}

// lost asks for a blob that another content stands for.
func (v view) lost(t *testing.T, session, text, other string) {
	t.Helper()
	ref := blobOf(text).Ref
	data, err := v.s.Get(context.Background(), session, ref)
	damaged(t, err, session, "ref "+string(ref))
	var d *store.DamageError
	if errors.As(err, &d) && (d.Want != string(ref) || d.Got != string(blobOf(other).Ref)) {
		t.Errorf("want %s wanted and %s got, got %+v", ref, blobOf(other).Ref, *d)
	}
	if data != nil {
		t.Errorf("a content under another's ref was served: %.40q", data)
	}
}

// broken reads the records of a session from a number on: those in want come, and then
// the damage of the one that follows.
func (v view) broken(t *testing.T, session string, from int, want ...string) {
	t.Helper()
	got, err := read(t.Context(), v.s, session, from)
	if !slices.Equal(got, want) {
		t.Errorf("records of %q from %d: want %.100q, got %.100q", session, from, want, got)
	}
	damaged(t, err, session, fmt.Sprint("record ", from+len(want)))
}

func damagedBlobs(t *testing.T, s store.Store, d Damage) {
	for _, pair := range [][2]string{
		{"one", "two"}, {"", "something"}, {strings.Repeat("a", 5000), strings.Repeat("b", 5000)}, {noise(300_000), "short"},
	} {
		must(t, s.Put(t.Context(), "a", []edit.Blob{blobOf(pair[0]), blobOf(pair[1]), blobOf("whole")}))
		d.Exchange(blobOf(pair[0]).Ref, blobOf(pair[1]).Ref)
		must(t, s.Fork(t.Context(), "a", "fork of "+pair[0][:min(3, len(pair[0]))], 0))
		see(t, s).lost(t, "a", pair[0], pair[1])
		see(t, s).lost(t, "a", pair[1], pair[0])
		see(t, s).lost(t, "fork of "+pair[0][:min(3, len(pair[0]))], pair[0], pair[1])
		see(t, s).blob("a", "whole", true)
		see(t, s).blob("b", pair[0], false)
	}
}

func damagedStream(t *testing.T, s store.Store, d Damage) {
	streamer(t, s)
	for _, n := range []int{100, 100 << 10, 700 << 10} {
		one, other := logOf(n), logOf(n+1)
		see(t, s).stream("a", one, strings.NewReader(one))
		see(t, s).stream("a", other, strings.NewReader(other))
		d.Exchange(blobOf(one).Ref, blobOf(other).Ref)
		see(t, s).lost(t, "a", one, other)
		see(t, s).lost(t, "a", other, one)
		if o, ok := s.(store.Opener); ok {
			_, err := o.Open(t.Context(), "a", blobOf(one).Ref)
			damaged(t, err, "a", "ref "+string(blobOf(one).Ref))
		}
	}
}

// numbered are n records, all of the same length, of which many are read at once.
func numbered(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("record number %04d of a session", i))
	}
	return out
}

func damagedSwap(t *testing.T, s store.Store, d Damage) {
	all := numbered(600)
	must(t, s.Append(t.Context(), "a", 0, lines(all...)))
	d.Swap("a", 10, 11)
	see(t, s).broken(t, "a", 0, all[:10]...)
	see(t, s).broken(t, "a", 11)
	d.Swap("a", 10, 11)
	see(t, s).records("a", 0, all...)
	d.Swap("a", 20, 550)
	see(t, s).broken(t, "a", 0, all[:20]...)
	see(t, s).broken(t, "a", 21, all[21:550]...)
	see(t, s).records("a", 551, all[551:]...)
}

func damagedCopy(t *testing.T, s store.Store, d Damage) {
	must(t, s.Append(t.Context(), "a", 0, lines("one", "two", "three", "two")))
	d.Copy("a", 0, "a", 1)
	see(t, s).broken(t, "a", 0, "one")
	see(t, s).records("a", 2, "three", "two")
	d.Copy("a", 2, "a", 3)
	see(t, s).broken(t, "a", 2, "three")
}

// damagedSession has two sessions with records that are equal but for one.
func damagedSession(t *testing.T, s store.Store, d Damage) {
	must(t, s.Append(t.Context(), "a", 0, lines("same", "of a", "same")))
	must(t, s.Append(t.Context(), "b", 0, lines("same", "of b", "same")))
	d.Copy("a", 1, "b", 1)
	see(t, s).records("a", 0, "same", "of a", "same")
	see(t, s).broken(t, "b", 0, "same")
	see(t, s).records("b", 2, "same")
}

func damagedLoss(t *testing.T, s store.Store, d Damage) {
	all := numbered(600)
	must(t, s.Append(t.Context(), "a", 0, lines(all...)))
	for _, i := range []int{599, 400, 256, 0} {
		d.Lose("a", i)
		see(t, s).broken(t, "a", max(0, i-40), all[max(0, i-40):i]...)
	}
}

func damagedParent(t *testing.T, s store.Store, d Damage) {
	must(t, s.Append(t.Context(), "a", 0, lines("one", "two", "three")))
	must(t, s.Fork(t.Context(), "a", "b", 2))
	must(t, s.Append(t.Context(), "b", 2, lines("other")))
	see(t, s).records("b", 0, "one", "two", "other")
	d.Copy("a", 2, "b", 2)
	see(t, s).broken(t, "b", 0, "one", "two")
	see(t, s).records("a", 0, "one", "two", "three")
	d.Swap("a", 0, 1)
	see(t, s).broken(t, "b", 0)
	see(t, s).broken(t, "a", 1)
}

func damagedSnapshots(t *testing.T, s store.Store, d Damage) {
	n := snapshotter(t, s)
	must(t, s.Append(t.Context(), "a", 0, lines("one", "two", "three")))
	must(t, n.PutSnapshot(t.Context(), "a", 1, []byte("at 1")))
	must(t, n.PutSnapshot(t.Context(), "a", 2, []byte("at 2")))
	see(t, s).snapshot("a", 2, "at 2")
	must(t, s.Fork(t.Context(), "a", "b", 1))
	see(t, s).snapshot("b", 1, "at 1")
	d.SwapSnapshots("a", 1, 2)
	for session, seq := range map[string]int{"a": 2, "b": 1} {
		got, data, err := n.Snapshot(t.Context(), session)
		damaged(t, err, session, fmt.Sprint("snapshot ", seq))
		if got != 0 || data != nil {
			t.Errorf("a snapshot of another place was served: %d %q", got, data)
		}
	}
}
