//go:build unix

package plimsoll_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// writerEnv makes the test binary a program that works until it is killed, with the store in
// that file.
const writerEnv = "PLIMSOLL_SUMMARY_WRITER"

// A stuck summariser never answers. It says so where it is asked.
type stuck struct{ asked func() }

func (s stuck) Summarise(ctx context.Context, _ engine.Ask) (plimsoll.Summary, error) {
	s.asked()
	<-ctx.Done()
	return plimsoll.Summary{}, ctx.Err()
}

func stuckOptions(t *testing.T, st store.Store, asked func()) plimsoll.Options {
	return plimsoll.Options{
		ID: "s", Store: st, Policy: preset(t, "balanced"), Summariser: stuck{asked},
		Targets: []budget.Target{{Provider: "p", Model: "mystery", Window: budget.Window{Capacity: 9_000, Buffer: budget.None, OutputReserve: 500}}},
	}
}

// goesOn tells a session its next message, which follows from how many it has, and prepares a
// request where the model is to answer.
func goesOn(t *testing.T, s *plimsoll.Session) {
	t.Helper()
	n := s.Len()
	if n%2 == 1 {
		add(t, s, reply(strings.Repeat(fmt.Sprintf("So it is, %d. ", n), 30)))
		return
	}
	add(t, s, human(strings.Repeat(fmt.Sprintf("What of %d? ", n), 30)))
	prepare(t, s)
}

// TestSummaryWriter is the program that is killed; by itself it is no test.
func TestSummaryWriter(t *testing.T) {
	path := os.Getenv(writerEnv)
	if path == "" {
		t.Skip("it is run by TestKilledWhileASummaryIsWritten")
	}
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, stuckOptions(t, st, func() { fmt.Println("\nasked") }))
	for {
		goesOn(t, s)
		fmt.Println("\nwent on")
	}
}

// TestKilledWhileASummaryIsWritten: a program that is killed while a summary is written sends
// next what one sends whose summary is lost at that point.
func TestKilledWhileASummaryIsWritten(t *testing.T) {
	n := kills(t)
	rnd := rand.New(rand.NewPCG(16, 4)) //nolint:gosec // to be repeatable is the point
	folder := t.TempDir()
	for life := range n {
		path := filepath.Join(folder, fmt.Sprintf("%d.db", life))
		killWriter(t, "TestSummaryWriter", path, rnd.IntN(12))
		st, err := sqlite.Open(t.Context(), path, sqlite.Options{Existing: true})
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, stuckOptions(t, st, func() {}))
		messages := s.Len()
		got := text(prepare(t, s).Messages())
		_, _ = s.Close(), st.Close()

		other := open(t, stuckOptions(t, &store.Memory{}, func() {}))
		for other.Len() < messages-1 {
			goesOn(t, other)
		}
		goesOn(t, other)
		if want := text(prepare(t, other).Messages()); got != want {
			t.Errorf("life %d, after %d messages: sent\n%.300s…\nwant\n%.300s…", life, messages, got, want)
		}
		_ = other.Close()
	}
}

// kills is how often a program is killed.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PLIMSOLL_KILLS")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PLIMSOLL_KILLS, want a number, got %q", text)
	}
	return n
}

// killWriter runs a program until a summary is asked for and it has gone on so often, and kills it
// at once.
func killWriter(t *testing.T, program, path string, more int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+program+"$") //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asked := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch line := lines.Text(); {
		case line == "asked":
			asked = true
		case line == "went on" && asked:
			more--
		}
		if asked && more < 0 {
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !asked {
		t.Fatal("nobody was asked for a summary")
	}
}
