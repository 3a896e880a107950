package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// A counted store counts what is put into it, and may take nothing.
type counted struct {
	store.Memory
	mu      sync.Mutex
	puts    int // that were asked for
	done    int // that were carried out
	appends int
	refuses bool
	hangs   chan struct{} // until it is closed; nil: not
	heeds   bool          // it does not hang when its caller has gone
}

func (c *counted) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	c.mu.Lock()
	c.puts++
	refuses := c.refuses
	c.mu.Unlock()
	if refuses {
		return errors.New("disk full")
	}
	if c.hangs != nil {
		var gone <-chan struct{}
		if c.heeds {
			gone = ctx.Done()
		}
		select {
		case <-c.hangs:
		case <-gone:
			return ctx.Err()
		}
	}
	c.mu.Lock()
	c.done++
	c.mu.Unlock()
	return c.Memory.Put(ctx, session, blobs)
}

func (c *counted) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	c.mu.Lock()
	c.appends++
	c.mu.Unlock()
	return c.Memory.Append(ctx, session, seq, records)
}

func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.puts
}

// takes says that nothing is refused any more.
func (c *counted) takes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuses = false
}

func (c *counted) kept() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

func aheadOptions(t *testing.T, st store.Store, sum plimsoll.Summariser) plimsoll.Options {
	return plimsoll.Options{
		ID: "s", Store: st, Policy: preset(t, "turn-budget"), Summariser: sum,
		Targets: []budget.Target{{Provider: "p", Model: "mystery", Window: budget.Window{Capacity: 60_000, OutputReserve: 2_000}}},
	}
}

// endedTurns are Turns that end, each with a request.
func endedTurns(t *testing.T, s *plimsoll.Session, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		add(t, s, human(strings.Repeat(fmt.Sprintf("What of %d? ", n), 30)))
		prepare(t, s)
		add(t, s, reply(strings.Repeat(fmt.Sprintf("So it is, %d. ", n), 30)))
		if err := s.TurnEnd(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// enoughTurns are as many as have more than 20 messages, so that a summary is asked for.
const enoughTurns = 11

// recordsOf are the records of a session, as a text.
func recordsOf(t *testing.T, st store.Store, session string) string {
	t.Helper()
	var b strings.Builder
	for line, err := range st.Records(t.Context(), session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// untilAnswered are Turns until a summary is asked for, and answered.
func untilAnswered(t *testing.T, s *plimsoll.Session, p *patient) {
	t.Helper()
	endedTurns(t, s, 0, enoughTurns)
	synctest.Wait()
	if p.asked() != 1 {
		t.Fatalf("asked %d times, want once", p.asked())
	}
	p.reply <- patientSummary()
	if err := s.AwaitSummary(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestStoredAhead: what leaves for a summary that nobody waits for is in the store before the request
// that shows the summary, which stores nothing itself. A store that did not take it then makes
// no difference but that (laws 2, 4 and 12).
func TestStoredAhead(t *testing.T) {
	var played []string
	for _, refuses := range []bool{false, true} {
		t.Run(fmt.Sprintf("refuses=%v", refuses), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, st := newPatient(), &counted{refuses: refuses}
				s := open(t, aheadOptions(t, st, p))
				untilAnswered(t, s, p)
				if n := st.count(); n != 1 {
					t.Errorf("%d puts before the request, want one", n)
				}
				st.takes()
				before := st.appends
				send := prepare(t, s)
				if n := st.appends - before; n != 1 && !refuses {
					t.Errorf("the request is recorded in %d writes, want one", n)
				}
				if stored := st.count() - 1; (stored > 0) != refuses {
					t.Errorf("%d puts in the request", stored)
				}
				shown := text(send.Messages())
				for _, sec := range send.Sections {
					shown += sec.Text
				}
				if !strings.Contains(shown, planted) {
					t.Error("the summary is not shown")
				}
				for _, e := range s.Edits() {
					for _, ref := range e.Refs {
						if data, err := s.Blob(t.Context(), ref); err != nil || llm.RefOf(data) != ref {
							t.Errorf("law 2: %s: %v", ref, err)
						}
					}
				}
				played = append(played, shown+recordsOf(t, st, "s"))
				_ = s.Close()
			})
		})
	}
	if len(played) == 2 && played[0] != played[1] {
		t.Errorf("law 4: sent and recorded\n%.2000s\nwant\n%.2000s", played[0], played[1])
	}
}

// TestNothingIsStoredOnceClosed: what is being stored when a session is closed is given up, or is there
// before Close returns, so that a session that is deleted then does not begin again.
func TestNothingIsStoredOnceClosed(t *testing.T) {
	for _, heeds := range []bool{true, false} {
		t.Run(fmt.Sprintf("heeds_its_context=%v", heeds), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				p, st := newPatient(), &counted{hangs: release, heeds: heeds}
				s := open(t, aheadOptions(t, st, p))
				endedTurns(t, s, 0, enoughTurns)
				synctest.Wait()
				p.reply <- patientSummary()
				synctest.Wait()
				if n := st.count(); n != 1 {
					t.Fatalf("%d puts before Close, want one", n)
				}
				closed := make(chan error, 1)
				go func() { closed <- s.Close() }()
				synctest.Wait()
				select {
				case err := <-closed:
					if !heeds || err != nil {
						t.Errorf("closed while something is stored, %v", err)
					}
				default:
					if heeds {
						t.Error("Close waits for a store that has given up")
					}
				}
				before := st.kept()
				close(release)
				synctest.Wait()
				if n := st.kept() - before; (n == 0) != heeds {
					t.Errorf("%d contents are kept after that", n)
				}
			})
		})
	}
}

// TestStoredAheadBesideOthers: what was stored ahead is no rubbish to another process that
// collects it. If that deletes the session, nothing is sent that refers to what is gone.
func TestStoredAheadBesideOthers(t *testing.T) {
	begin := func(t *testing.T) (*plimsoll.Session, *sqlite.Store) {
		path := filepath.Join(t.TempDir(), "plimsoll.db")
		handle := func() *sqlite.Store {
			st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			return st
		}
		p := newPatient()
		s := open(t, aheadOptions(t, handle(), p))
		t.Cleanup(func() { _ = s.Close() })
		endedTurns(t, s, 0, enoughTurns)
		p.reply <- patientSummary()
		if err := s.AwaitSummary(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s, handle()
	}
	t.Run("collected", func(t *testing.T) {
		s, other := begin(t)
		if freed, err := other.GC(t.Context()); err != nil || freed.Blobs != 0 {
			t.Fatalf("freed %+v, %v, want nothing", freed, err)
		}
		prepare(t, s)
		if len(s.Edits()) == 0 {
			t.Fatal("the summary is not used")
		}
		for _, ref := range s.Edits()[0].Refs {
			if data, err := other.Get(t.Context(), "s", ref); err != nil || llm.RefOf(data) != ref {
				t.Errorf("law 2: %s: %v", ref, err)
			}
		}
	})
	t.Run("deleted", func(t *testing.T) {
		s, other := begin(t)
		if err := other.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if send, err := s.Prepare(t.Context()); !errors.Is(err, store.ErrConflict) {
			t.Errorf("sent %v, %v, want a conflict", send, err)
		}
		if send, err := s.Prepare(t.Context()); err == nil && send.Edited {
			t.Error("law 2: edits are left of a session that is gone")
		}
	})
}

// TestStoredAheadBeforeAFault: a summary that is used with a request that is none, as its target cannot
// be, is recorded all the same.
func TestStoredAheadBeforeAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, st := newPatient(), &counted{}
		s := open(t, aheadOptions(t, st, p))
		untilAnswered(t, s, p)
		none := budget.Target{Provider: "p", Model: "mystery", Window: budget.Window{Capacity: 100, OutputReserve: 200}}
		if send, err := s.Prepare(t.Context(), none); err == nil {
			t.Fatalf("sent %v, want an error", send)
		}
		_ = s.Close()
		s = open(t, aheadOptions(t, st, p))
		defer func() { _ = s.Close() }()
		if n := len(s.Edits()); n != 1 {
			t.Errorf("%d edits, want the summary", n)
		}
		prepare(t, s)
	})
}
