package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/store/storetest"
)

// childEnv makes the test binary a process that works on a store: what it does, the path
// of the file, and two numbers.
const childEnv = "PLIMSOLL_STORE_CHILD"

func TestMain(m *testing.M) {
	if job, ok := os.LookupEnv(childEnv); ok {
		if err := child(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(job string) error {
	var what string
	var a, b int
	head, path, _ := strings.Cut(job, "|")
	if _, err := fmt.Sscan(head, &what, &a, &b); err != nil {
		return err
	}
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return err
	}
	if what == "race" {
		return errors.Join(raceChild(s, a, b), s.Close())
	}
	switch what {
	case "stream":
		return streamChild(s, a)
	case "half":
		return halfChild(s)
	case "gb":
		return errors.Join(gbChild(s, a == 1), s.Close())
	}
	return killChild(s, a, b)
}

// start runs a child and returns what it prints.
func start(t *testing.T, path, what string, a, b int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0]) //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d|%s", childEnv, what, a, b, path))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// killedOp is operation number i of a life. Each has a source of its own, so that a life
// can be taken up anywhere.
func killedOp(life, i int) storetest.Op {
	return storetest.NextOp(rand.New(rand.NewPCG(uint64(life), uint64(i))).IntN) //nolint:gosec // to be repeatable is the point
}

// killChild works until it is killed. What it has printed the number of is done. In every
// other life it does not flush what it appends, which only a machine forgets that fails.
func killChild(s *sqlite.Store, life, from int) error {
	ctx := context.Background()
	var does store.Store = s
	if life%2 == 1 {
		does = hasty{s}
	}
	for i := from; ; i++ {
		_ = killedOp(life, i).Do(ctx, does) // the parent compares what came of it
		if i%29 == 0 {
			if _, err := s.GC(ctx); err != nil {
				return err
			}
		}
		if _, err := fmt.Println(i); err != nil {
			return err
		}
	}
}

// TestKill is law 2 where it hurts: a process is killed at any moment, again and again.
// Each time the file is whole, and has what had been acknowledged and, of what was going
// on, all or nothing.
func TestKill(t *testing.T) {
	lives, kills := 20, 25
	if testing.Short() {
		lives, kills = 2, 10
	}
	for life := range lives {
		t.Run(fmt.Sprint("law 2: life ", life), func(t *testing.T) {
			t.Parallel()
			path, want := newFile(t), new(store.Memory)
			moments := rand.New(rand.NewPCG(uint64(life), 1<<40)) //nolint:gosec // to be repeatable is the point
			next := 0
			for range kills {
				last := killAfter(t, path, life, next, moments.IntN(31)-1)
				for ; next <= last; next++ {
					_ = killedOp(life, next).Do(t.Context(), want)
				}
				next += compareKilled(t, path, life, next, want)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// killAfter lets a child work, kills it soon after it has acknowledged some operations
// and one more, or, with -1, while it opens the file. It returns the last operation that
// was acknowledged.
func killAfter(t *testing.T, path string, life, from, acks int) int {
	t.Helper()
	cmd, out := start(t, path, "kill", life, from)
	last := from - 1
	if acks < 0 {
		must(t, cmd.Process.Kill())
	}
	for n := 0; out.Scan(); n++ {
		i, err := strconv.Atoi(out.Text())
		must(t, err)
		last = i
		if n == acks {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("want the child killed, got %v", err)
	}
	return last
}

// compareKilled opens what a killed process left. It returns how many operations that
// nobody had acknowledged are in it, 0 or 1.
func compareKilled(t *testing.T, path string, life, next int, want *store.Memory) int {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Existing: next > 0})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	wholesome(t, s)
	diff, err := storetest.Diff(t.Context(), s, want)
	must(t, err)
	if diff == "" {
		return 0
	}
	_ = killedOp(life, next).Do(t.Context(), want)
	again, err := storetest.Diff(t.Context(), s, want)
	must(t, err)
	if again != "" {
		t.Errorf("killed after operation %d: %s; with the one after it: %s", next-1, diff, again)
	}
	return 1
}

// raceChild appends its numbers to a session that others append to as well.
func raceChild(s *sqlite.Store, first, count int) error {
	ctx, seq := context.Background(), 0
	for i := first; i < first+count; {
		if err := s.Put(ctx, "a", []edit.Blob{blobOf(strconv.Itoa(i)), blobOf("common")}); err != nil {
			return err
		}
		err := s.Append(ctx, "a", seq, lines(strconv.Itoa(i)))
		var conflict *store.ConflictError
		switch {
		case errors.As(err, &conflict):
			seq = conflict.Want
		case err != nil:
			return err
		default:
			seq++
			i++
		}
	}
	return nil
}

// TestProcesses has several processes begin one file at the same time, and race for a
// session in it.
func TestProcesses(t *testing.T) {
	const processes, each = 3, 40
	path := newFile(t)
	var all []*exec.Cmd
	for p := range processes {
		cmd, _ := start(t, path, "race", p*each, each)
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, path, sqlite.Options{Existing: true})
	wholesome(t, s)
	got := map[string]int{}
	for r, err := range s.Records(t.Context(), "a", 0) {
		must(t, err)
		got[string(r)]++
	}
	for i := range processes * each {
		text := strconv.Itoa(i)
		if got[text] != 1 {
			t.Errorf("record %s: want it once, got it %d times", text, got[text])
		}
		if _, err := s.Get(t.Context(), "a", blobOf(text).Ref); err != nil {
			t.Error(err)
		}
	}
}
