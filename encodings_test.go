package plimsoll_test

import (
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// exact is a target whose vocabulary is loaded.
func exact() budget.Target {
	return budget.Target{Provider: "p", Model: "gpt-4o", Window: budget.Window{Capacity: 20_000, OutputReserve: 1_000}}
}

// TestSessionsShareVocabularies: sessions that bring no encodings use the process's, of
// which each vocabulary is there once; one that brings its own uses those alone.
func TestSessionsShareVocabularies(t *testing.T) {
	const sessions = 8
	loaded := make([]*bpe.Encoding, sessions)
	var group sync.WaitGroup
	for i := range sessions {
		group.Go(func() {
			s, err := plimsoll.Open(t.Context(), plimsoll.Options{Targets: []budget.Target{exact()}})
			if err != nil {
				t.Error(err)
				return
			}
			loaded[i], err = plimsoll.EncodingsOf(s)("o200k_base")
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i, enc := range loaded {
		if enc == nil || enc != loaded[0] {
			t.Errorf("session %d: want the vocabulary of the first, got another one", i)
		}
	}
	own := new(plimsoll.Encodings)
	s := open(t, plimsoll.Options{Targets: []budget.Target{exact()}, Encodings: own.Load})
	mine, err := plimsoll.EncodingsOf(s)("o200k_base")
	if err != nil || mine == loaded[0] {
		t.Errorf("a session with encodings of its own has the process's vocabulary (%v)", err)
	}
	if again, err := own.Load("o200k_base"); err != nil || again != mine {
		t.Errorf("want one vocabulary of its own, got two (%v)", err)
	}
}

// BenchmarkOpen is what one more session of a model with a vocabulary takes.
func BenchmarkOpen(b *testing.B) {
	o := plimsoll.Options{Targets: []budget.Target{exact()}}
	if _, err := plimsoll.Open(b.Context(), o); err != nil { // the first one loads it
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plimsoll.Open(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}
