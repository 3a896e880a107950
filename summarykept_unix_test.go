//go:build unix

package plimsoll_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// An eager summariser answers at once, and says that it was asked.
type eager struct{ asked func() }

func (e eager) Summarise(context.Context, engine.Ask) (plimsoll.Summary, error) {
	e.asked()
	return plimsoll.Summary{Text: patientSummary()}, nil
}

// turnsOn tells a session its next message, which follows from how many it has. Until it has enough of them
// for a summary it prepares a request where the model is to answer.
func turnsOn(t *testing.T, s *plimsoll.Session) {
	t.Helper()
	n := s.Len()
	if n%2 == 0 {
		add(t, s, human(strings.Repeat(fmt.Sprintf("What of %d? ", n), 30)))
		if n < 2*enoughTurns {
			prepare(t, s)
		}
		return
	}
	add(t, s, reply(strings.Repeat(fmt.Sprintf("So it is, %d. ", n), 30)))
	if err := s.TurnEnd(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestSummaryKeeper is a program that is killed; by itself it is no test.
func TestSummaryKeeper(t *testing.T) {
	path := os.Getenv(writerEnv)
	if path == "" {
		t.Skip("it is run by TestKilledBeforeASummaryIsUsed")
	}
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, aheadOptions(t, st, eager{func() { fmt.Println("\nasked") }}))
	for {
		turnsOn(t, s)
		fmt.Println("\nwent on")
	}
}

// TestKilledBeforeASummaryIsUsed: a program that is killed when what leaves for a summary is
// stored, or is being stored, and nothing refers to it yet, sends next what one sends whose
// summary is lost at that point.
func TestKilledBeforeASummaryIsUsed(t *testing.T) {
	n := kills(t)
	rnd := rand.New(rand.NewPCG(16, 7)) //nolint:gosec // to be repeatable is the point
	folder := t.TempDir()
	stored := 0
	for life := range n {
		path := filepath.Join(folder, fmt.Sprintf("%d.db", life))
		killWriter(t, "TestSummaryKeeper", path, rnd.IntN(12))
		st, err := sqlite.Open(t.Context(), path, sqlite.Options{Existing: true})
		if err != nil {
			t.Fatal(err)
		}
		for all, err := range st.Sessions(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			stored += min(all.Blobs, 1)
		}
		s := open(t, aheadOptions(t, st, stuck{func() {}}))
		messages := s.Len()
		got := text(prepare(t, s).Messages())
		if n := len(s.Edits()); n != 0 {
			t.Errorf("life %d: %d edits, although no summary has come", life, n)
		}
		_, _ = s.Close(), st.Close()

		other := open(t, aheadOptions(t, &store.Memory{}, stuck{func() {}}))
		for other.Len() < messages {
			turnsOn(t, other)
		}
		if want := text(prepare(t, other).Messages()); got != want {
			t.Errorf("life %d, after %d messages: sent\n%.300s…\nwant\n%.300s…", life, messages, got, want)
		}
		_ = other.Close()
	}
	if stored == 0 {
		t.Errorf("nothing was stored for a summary in %d lives", n)
	}
	t.Logf("something was stored for a summary in %d of %d lives", stored, n)
}
