package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

var errAlike = errors.New("the disk is full for a moment")

// An alikeStore keeps snapshots, or does not, or fails now and then.
type alikeStore struct {
	*store.Memory
	way string

	mu     sync.Mutex
	rng    *rand.Rand
	failed bool // the last time
	spared bool // it does not fail now
	hidden bool // the snapshots are not there
}

func (s *alikeStore) spare(now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spared = now
}

// forget lets go of the snapshots.
func (s *alikeStore) forget() { s.hidden = true }

// Append implements store.Store.
func (s *alikeStore) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	s.mu.Lock()
	fails := s.way == afterFailures && !s.failed && !s.spared && s.rng.IntN(8) == 0
	s.failed = fails
	s.mu.Unlock()
	if fails {
		return errAlike
	}
	return s.Memory.Append(ctx, session, seq, records)
}

// PutSnapshot implements store.Snapshotter.
func (s *alikeStore) PutSnapshot(ctx context.Context, session string, seq int, data []byte) error {
	s.mu.Lock()
	drops := s.way == withOldOnes && s.rng.IntN(2) == 0
	s.mu.Unlock()
	if drops {
		return errors.New("not now")
	}
	return s.Memory.PutSnapshot(ctx, session, seq, data)
}

// Snapshot implements store.Snapshotter.
func (s *alikeStore) Snapshot(ctx context.Context, session string) (int, []byte, error) {
	if s.hidden {
		return 0, nil, store.ErrNotFound
	}
	return s.Memory.Snapshot(ctx, session)
}

// Records implements store.Store.
func (s *alikeStore) Records(ctx context.Context, session string, from int) iter.Seq2[[]byte, error] {
	return s.Memory.Records(ctx, session, from)
}

// A gate is a summariser that answers when the script says so.
type gate struct {
	seed uint64

	mu      sync.Mutex
	waiting chan struct{} // closed: it is open
	isOpen  bool
	behind  bool // a question that nobody waits for was answered
}

func newGate(seed uint64) *gate {
	g := &gate{seed: seed, waiting: make(chan struct{}), isOpen: true}
	close(g.waiting)
	return g
}

func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.isOpen
}

// answered reports whether a question in the background was answered since it was asked last.
func (g *gate) answered() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.behind
	g.behind = false
	return was
}

// turn opens or shuts it.
func (g *gate) turn(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case open && !g.isOpen:
		close(g.waiting)
	case !open && g.isOpen:
		g.waiting = make(chan struct{})
	}
	g.isOpen = open
}

// Summarise implements plimsoll.Summariser.
func (g *gate) Summarise(ctx context.Context, ask engine.Ask) (plimsoll.Summary, error) {
	if ask.Background {
		g.mu.Lock()
		waiting := g.waiting
		g.mu.Unlock()
		select {
		case <-waiting:
		case <-ctx.Done():
			return plimsoll.Summary{}, ctx.Err()
		}
		g.mu.Lock()
		g.behind = true
		g.mu.Unlock()
	}
	return g.answer(ask)
}

// answer is the same for the same question.
func (g *gate) answer(ask engine.Ask) (plimsoll.Summary, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", g.seed, ask.Prompt)
	for _, m := range ask.Messages {
		b.WriteString(m.Text())
	}
	sum := llm.RefOf([]byte(b.String()))
	h := uint64(0)
	for _, c := range []byte(sum) {
		h = h*31 + uint64(c)
	}
	rng := rand.New(rand.NewPCG(h, 5))
	calls := journal.Calls{Target: "anthropic/claude-haiku-4-5", Model: "claude-haiku-4-5", N: 1, Usage: llm.Usage{Input: 1000 + len(ask.Messages), Output: 200}}
	text := ""
	for range 60 {
		text += " " + alikeWords[rng.IntN(len(alikeWords))]
	}
	switch rng.IntN(10) {
	case 0:
		return plimsoll.Summary{Calls: calls}, errors.New("rate limited")
	case 1:
		return plimsoll.Summary{Calls: calls}, nil
	case 2:
		return plimsoll.Summary{Text: "I'm sorry, I cannot help with that.", Calls: calls, Stop: llm.StopEnd}, nil
	case 3:
		return plimsoll.Summary{Text: strings.Repeat(text, 80), Calls: calls, Stop: llm.StopEnd}, nil
	case 4:
		return plimsoll.Summary{Text: "<summary>" + text + " in src/nowhere/at_all.go</summary>", Calls: calls, Stop: llm.StopEnd}, nil
	case 5:
		return plimsoll.Summary{Text: "<summary>" + text, Calls: calls, Stop: llm.StopLength}, nil
	}
	return plimsoll.Summary{Text: "<retain>" + text[:60] + "</retain><summary>" + text + "</summary>", Calls: calls, Stop: llm.StopEnd}, nil
}
