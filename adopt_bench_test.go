package plimsoll_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// A quick summariser answers at once, if it answers at all.
type quick struct{ silent bool }

func (q quick) Summarise(ctx context.Context, _ engine.Ask) (plimsoll.Summary, error) {
	if q.silent {
		<-ctx.Done()
		return plimsoll.Summary{}, ctx.Err()
	}
	return plimsoll.Summary{Text: "<summary>" + strings.Repeat("The load was taken on, and the work goes on. ", 150) + "</summary>"}, nil
}

// A late store takes no content before it is told that a request is made, and knows how long
// its appends took.
type late struct {
	*sqlite.Store
	open  bool
	wrote time.Duration
}

func (l *late) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	begun := time.Now()
	defer func() { l.wrote += time.Since(begun) }()
	return l.Store.Append(ctx, session, seq, records)
}

func (l *late) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	if !l.open {
		return errors.New("not yet")
	}
	return l.Store.Put(ctx, session, blobs)
}

// BenchmarkAdopt measures a Prepare over a SQLite file, at 1M tokens of history: one for which no
// summary has come ("none"), one that uses a summary ("kept"), and one that uses a summary and
// has to store what leaves for it, as nobody could before ("unkept"). What each takes beside the write of
// its records, which waits for the disk, is said apart, by the median. Run it with -benchtime 9x: each
// run reads its history from a file of its own.
func BenchmarkAdopt(b *testing.B) {
	p, err := policy.Preset("turn-budget")
	if err != nil {
		b.Fatal(err)
	}
	o := plimsoll.Options{ID: "s", Policy: p, Targets: []budget.Target{{Provider: "p", Model: "mystery", Window: budget.Window{Capacity: 4_000_000, OutputReserve: 2_000}}}}
	kept := &pagedMemory{snapshots: map[int][]byte{}}
	o.Store, o.Summariser = kept, quick{silent: true}
	s, err := plimsoll.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	benchAdd(b, s, human("Read all files."))
	for n := 0; s.Usage().Count.Point < 1_000_000; n++ {
		benchRead(b, s, n)
	}
	benchAdd(b, s, reply("All is read."))
	for _, how := range []string{"none", "kept", "unkept"} {
		b.Run(how, func(b *testing.B) {
			b.ReportAllocs()
			var beside []time.Duration
			for b.Loop() {
				b.StopTimer()
				beside = append(beside, benchAdopt(b, o, kept, how))
				b.StartTimer()
			}
			slices.Sort(beside)
			b.ReportMetric(float64(beside[len(beside)/2].Nanoseconds()), "ns-beside-the-write/op")
		})
	}
}

// benchAdopt makes one request, and returns what it took beside the write of its records.
func benchAdopt(b *testing.B, o plimsoll.Options, from *pagedMemory, how string) time.Duration {
	file, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "plimsoll.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	from.copyTo(b, file, o.ID)
	st := &late{Store: file, open: how == "kept"}
	o.Store, o.Summariser = st, quick{silent: how == "none"}
	s, err := plimsoll.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := s.TurnEnd(b.Context()); err != nil {
		b.Fatal(err)
	}
	if how != "none" {
		if err := s.AwaitSummary(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	benchAdd(b, s, human("And now?"))
	st.open, st.wrote = true, 0
	b.StartTimer()
	begun := time.Now()
	_, err = s.Prepare(b.Context())
	took := time.Since(begun)
	b.StopTimer()
	if used := len(s.Edits()) > 0; err != nil || used == (how == "none") {
		b.Fatalf("a summary is used: %v, %v", used, err)
	}
	return took - st.wrote
}
