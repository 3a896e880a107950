package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// A shelved is a session of a store as a Source.
type shelved struct {
	*sqlite.Store
	session string
}

func (s shelved) Open(ctx context.Context, ref llm.Ref) (builtin.Content, error) {
	c, err := s.Store.Open(ctx, s.session, ref)
	if errors.Is(err, store.ErrNotFound) {
		return nil, builtin.ErrNotFound
	}
	return c, err
}

func (s shelved) Search(ctx context.Context, query string, limit int) ([]builtin.Hit, error) {
	found, err := s.Store.Search(ctx, s.session, query, limit)
	var hits []builtin.Hit
	for _, h := range found {
		hits = append(hits, builtin.Hit{Ref: h.Ref, Offset: h.Offset, Line: h.Line, Text: h.Text})
	}
	return hits, err
}

// keepLarge keeps 100 MB of lines that are all different, the last of which has a needle.
func keepLarge(tb testing.TB) (shelved, string, int64) {
	tb.Helper()
	st, err := sqlite.Open(tb.Context(), filepath.Join(tb.TempDir(), "large.db"), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { st.Close() })
	r, w := io.Pipe()
	go func() {
		for i := range 1_200_000 {
			fmt.Fprintf(w, "%07d ok package %x in %d ms: some words of an output line that is long\n", i, i*2654435761%1_000_003, i%977)
		}
		_, err := io.WriteString(w, "needle17\n")
		w.CloseWithError(err)
	}()
	ref, size, err := st.PutFrom(tb.Context(), "s", r)
	if err != nil {
		tb.Fatal(err)
	}
	return shelved{st, "s"}, string(ref), size
}

// A session reads what a store keeps for it, and nothing else.
func TestStored(t *testing.T) {
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	text := strings.Repeat("é line of an output\n", 60_000) + "needle" // several pieces
	ref, _, err := st.PutFrom(t.Context(), "mine", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	k := kitOf(t, all...)
	mine, other := shelved{st, "mine"}, shelved{st, "other"}
	contains(t, ask(t, k, mine, policy.ToolOutputCache, "ref_id", ref, "offset", 59_999), "60000  é line of an output\n60001  needle")
	contains(t, ask(t, k, mine, policy.ToolOutputCacheGrep, "ref_id", ref, "pattern", "needle", "before", 1), "60000  é line of an output\n60001  needle")
	contains(t, ask(t, k, mine, policy.ToolReadResult, "ref_id", ref, "offset", len(text)-6), "needle")
	contains(t, ask(t, k, other, policy.ToolOutputCache, "ref_id", ref), "not found, it may have expired")
	contains(t, ask(t, k, mine, policy.ToolSearchContext, "query", "where is the needle?"), "ref:"+string(ref)+"\n", "60001  needle")
	want(t, ask(t, k, other, policy.ToolSearchContext, "query", "needle"), "No matches for: needle")
}

// BenchmarkStored reads and searches 100 MB in a store; beside it ripgrep counts the lines that
// match in a file with the same bytes.
func BenchmarkStored(b *testing.B) {
	s, ref, size := keepLarge(b)
	k := kitOf(b, all...)
	file := sync.OnceValue(func() string { return exported(b, s, ref) })
	for _, c := range []struct {
		name, tool string
		pairs      []any
		want       string
		bytes      int64
	}{
		{"grep literal", policy.ToolOutputCacheGrep, []any{"pattern", "needle"}, "needle17", size},
		{"grep pattern", policy.ToolOutputCacheGrep, []any{"pattern", `needle\d+`, "regex", true}, "needle17", size},
		{"grep pattern without a literal", policy.ToolOutputCacheGrep, []any{"pattern", `(?i)NEEDLE\d+$`, "regex", true}, "needle17", size},
		{"grep pattern of many lines", policy.ToolOutputCacheGrep, []any{"pattern", `\d+ ms: (no|few) words`, "regex", true}, "No matches", size},
		{"page of 100 lines", policy.ToolOutputCache, []any{"offset", 700_000, "limit", 100}, "\n700100  ", 0},
		{"page of 64 KiB", policy.ToolOutputCache, []any{"offset", 300_000}, "\n300500  ", 0},
		{"4096 bytes", policy.ToolReadResult, []any{"offset", 70_000_000}, "offset=70004096", 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(c.bytes)
			for b.Loop() {
				contains(b, ask(b, k, s, c.tool, append([]any{"ref_id", ref}, c.pairs...)...), c.want)
			}
		})
		if c.tool == policy.ToolOutputCacheGrep {
			b.Run(c.name+"/ripgrep", func(b *testing.B) { benchRipgrep(b, file(), fmt.Sprint(c.pairs[1])) })
		}
	}
}

// exported is a file with what is stored.
func exported(b *testing.B, s shelved, ref string) string {
	b.Helper()
	c, err := s.Open(b.Context(), llm.Ref(ref))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	f, err := os.Create(filepath.Join(b.TempDir(), "large.txt"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(f, io.NewSectionReader(c, 0, c.Size())); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return f.Name()
}

func benchRipgrep(b *testing.B, file, pattern string) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("ripgrep is not installed")
	}
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		cmd := exec.Command(rg, "--count", pattern, file) //nolint:gosec // the benchmark's own
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
			b.Fatal(err)
		}
	}
}
