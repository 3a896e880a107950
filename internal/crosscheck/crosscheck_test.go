package crosscheck

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// quick is how many seeds run with every go test.
const quick = 200

// TestCrosscheck plays seeds. PLIMSOLL_CROSSCHECK says how many, or, after a colon, which one alone: 20000, or 1:4711.
func TestCrosscheck(t *testing.T) {
	n, first := quick, 0
	if s := os.Getenv("PLIMSOLL_CROSSCHECK"); s != "" {
		count, from, _ := strings.Cut(s, ":")
		var err error
		if n, err = strconv.Atoi(count); err != nil {
			t.Fatalf("PLIMSOLL_CROSSCHECK, want N or N:FIRST, got %q", s)
		}
		first, _ = strconv.Atoi(from)
	}
	w, err := newWorld()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var sum tally
	done, faults := 0, 0
	t.Run("seeds", func(t *testing.T) {
		for seed := first; seed < first+n; seed++ {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				counts, log, found := w.session(t, uint64(seed))
				mu.Lock()
				defer mu.Unlock()
				sum.add(counts)
				done++
				if found != nil {
					faults++
					if len(log) > 60 && n > 1 {
						log = log[len(log)-12:]
					}
					t.Errorf("%s: %s\nalone: PLIMSOLL_CROSSCHECK=1:%d go test ./internal/crosscheck -run TestCrosscheck\n  %s", found.law, found.what, seed, strings.Join(log, "\n  "))
				}
				if n > quick && (found != nil || done%500 == 0) { // go test itself says nothing before the end
					fmt.Printf("%d of %d seeds, %d faults, seed %d: %v\n", done, n, faults, seed, found)
				}
			})
		}
	})
	t.Logf("%d seeds, %d faults: %+v", done, faults, sum)
}
