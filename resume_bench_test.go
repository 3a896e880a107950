package plimsoll_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// BenchmarkResume measures how long a session of 10,000 Steps takes to be taken up from a
// file, with the snapshots that it took on its way and without any.
func BenchmarkResume(b *testing.B) {
	p, err := policy.Preset("layered")
	if err != nil {
		b.Fatal(err)
	}
	kept := &pagedMemory{snapshots: map[int][]byte{}}
	o := plimsoll.Options{Policy: p, Store: kept, Targets: []budget.Target{{
		Model: "claude-opus-4-5", Window: budget.Window{Capacity: 200_000, OutputReserve: 8000},
	}}}
	benchSteps(b, o, 10_000)
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "plimsoll.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	kept.copyTo(b, st, "default")
	o.Store = st
	b.Run("snapshot", func(b *testing.B) { benchOpen(b, o) })
	o.Store = struct{ store.Store }{st} // keeps none
	b.Run("records", func(b *testing.B) { benchOpen(b, o) })
}

func benchOpen(b *testing.B, o plimsoll.Options) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := plimsoll.Open(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(s.Messages()); n != 20_001 {
			b.Fatalf("%d messages", n)
		}
		_ = s.Close()
	}
}

// benchSteps is a session of that many Steps, each a call and its output.
func benchSteps(b *testing.B, o plimsoll.Options, steps int) {
	s, err := plimsoll.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	benchAdd(b, s, human("Read all files."))
	for n := range steps {
		send, err := s.Prepare(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Observe(b.Context(), llm.Usage{Input: send.Count.Point, Output: 40}); err != nil {
			b.Fatal(err)
		}
		benchRead(b, s, n)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// A pagedMemory is a store in memory that is taken for one on a disk, and remembers the
// snapshots of one session.
type pagedMemory struct {
	store.Memory
	snapshots map[int][]byte
}

func (m *pagedMemory) PutSnapshot(ctx context.Context, session string, seq int, data []byte) error {
	m.snapshots[seq] = data
	return m.Memory.PutSnapshot(ctx, session, seq, data)
}

// copyTo gives another store what is kept of a session, but for contents.
func (m *pagedMemory) copyTo(tb testing.TB, to *sqlite.Store, session string) {
	tb.Helper()
	seq := 0
	var lines [][]byte
	flush := func() {
		if err := to.Append(tb.Context(), session, seq, lines); err != nil {
			tb.Fatal(err)
		}
		seq, lines = seq+len(lines), nil
	}
	for l, err := range m.Records(tb.Context(), session, 0) {
		if err != nil {
			tb.Fatal(err)
		}
		if lines = append(lines, l); len(lines) == 1000 {
			flush()
		}
	}
	flush()
	for seq, data := range m.snapshots {
		if err := to.PutSnapshot(tb.Context(), session, seq, data); err != nil {
			tb.Fatal(err)
		}
	}
}
