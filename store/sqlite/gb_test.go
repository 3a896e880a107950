package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// mostResident is what a process that works on a content of 1 GB may have in memory.
const mostResident = 64 << 20

// A gbStep is what a child has done with a content of 1 GB.
type gbStep struct {
	Name     string
	Seconds  float64
	Resident int64 // bytes at most, since the step before
}

// A gigabyte yields 1 GiB of lines, or of noise.
type gigabyte struct {
	noise *rand.ChaCha8
	log   []byte
	at    int64
}

func newGigabyte(noise bool) *gigabyte {
	g := &gigabyte{}
	if noise {
		g.noise = rand.NewChaCha8([32]byte{})
		return g
	}
	for i := 0; len(g.log) < 8<<20; i++ {
		x := uint32(i) * 2654435761
		g.log = fmt.Appendf(g.log, "2026-03-01T12:%02d:%02d.%03dZ INFO worker-%d request %08x path=/v1/items/%d status=%d\n", i/60_000%60, i/1000%60, i%1000, x%16, x, x>>12, 200+x%5)
	}
	return g
}

func (g *gigabyte) Read(p []byte) (int, error) {
	p = p[:min(int64(len(p)), 1<<30-g.at)]
	if len(p) == 0 {
		return 0, io.EOF
	}
	var n int
	if g.noise != nil {
		n, _ = g.noise.Read(p) // never an error
	} else {
		n = copy(p, g.log[g.at%int64(len(g.log)):])
	}
	g.at += int64(n)
	return n, nil
}

// gbChild works on a content of 1 GB and says what memory that took.
func gbChild(s *sqlite.Store, noise bool) error {
	ctx := context.Background()
	var ref llm.Ref
	steps := []struct {
		name string
		do   func() error
	}{
		{"open", func() error { return nil }},
		{"write", func() (err error) {
			ref, _, err = s.PutFrom(ctx, "a", newGigabyte(noise))
			return err
		}},
		{"page", func() error { return gbPages(s, ref) }},
		{"scan", func() error {
			c, err := s.Open(ctx, "a", ref)
			if err == nil {
				_, err = io.Copy(io.Discard, io.NewSectionReader(c, 0, c.Size()))
			}
			return err
		}},
		{"verify", func() error {
			return s.Verify(ctx, func(p sqlite.Problem) { fmt.Println(p) }, nil)
		}},
		{"delete", func() error { return s.Delete(ctx, "a") }},
		{"collect", func() error {
			_, err := s.GC(ctx)
			return err
		}},
	}
	for _, step := range steps {
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the mark begins anew
			return err
		}
		start := time.Now()
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		resident, err := highWater()
		if err != nil {
			return err
		}
		out, err := json.Marshal(gbStep{step.name, time.Since(start).Seconds(), resident})
		if err != nil {
			return err
		}
		fmt.Println(string(out))
	}
	return nil
}

// gbPages reads 200 pages of 50 lines from all over a content.
func gbPages(s *sqlite.Store, ref llm.Ref) error {
	for i := range int64(200) {
		c, err := s.Open(context.Background(), "a", ref)
		if err != nil {
			return err
		}
		from, err := c.Line(c.Lines() / 200 * i)
		if err != nil {
			return err
		}
		if _, err := c.ReadAt(make([]byte, 50<<10), min(from, c.Size()-50<<10)); err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// highWater is the most memory that this process has had, in bytes.
func highWater() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kb, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	n, err := strconv.ParseInt(string(kb), 10, 64)
	return n << 10, err
}

// TestGigabyte: a content of 1 GB, also of noise, is written, paged, read, verified and let go
// of without much memory.
func TestGigabyte(t *testing.T) {
	if os.Getenv("PLIMSOLL_GB") == "" {
		t.Skip("set PLIMSOLL_GB=1 on Linux to run it: it writes 2 GB")
	}
	for i, name := range []string{"lines", "noise"} {
		t.Run(name, func(t *testing.T) {
			cmd, out := start(t, newFile(t), "gb", i, 0)
			steps := 0
			for ; out.Scan(); steps++ {
				var s gbStep
				if err := json.Unmarshal(out.Bytes(), &s); err != nil {
					t.Fatalf("%s: %v", out.Text(), err)
				}
				t.Logf("%-8s %5.1f s, %3d MiB", s.Name, s.Seconds, s.Resident>>20)
				if s.Resident > mostResident {
					t.Errorf("%s: resident memory, want at most %d bytes, got %d", s.Name, mostResident, s.Resident)
				}
			}
			if err := cmd.Wait(); err != nil || steps != 7 {
				t.Errorf("want 7 steps, got %d (%v)", steps, err)
			}
		})
	}
}
