package builtin_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func TestGrep(t *testing.T) {
	k, s := kitOf(t, all...), newShelf()
	ref := s.put("alpha\nbeta (x)\ngamma\nbeta xx\r\ndelta\n")
	block := func(lines ...string) string { return "ref:" + ref + "\n" + strings.Join(lines, "\n") }
	for _, c := range []struct {
		name  string
		pairs []any
		want  string
	}{
		{"R001-8_a_block_for_each_match", []any{"pattern", "beta"}, block("    2  beta (x)") + "\n\n" + block("    4  beta xx")},
		{"R001-8_literal_by_default", []any{"pattern", "(x)"}, block("    2  beta (x)")},
		{"R001-8_a_pattern", []any{"pattern", "x{2}$|^al", "regex", true}, block("    1  alpha") + "\n\n" + block("    4  beta xx")},
		{"R001-8_context", []any{"pattern", "gamma", "before", 1, "after", 9}, block("    2  beta (x)", "    3  gamma", "    4  beta xx", "    5  delta")},
		{"R001-8_no_match", []any{"pattern", "omega"}, "No matches for: omega"},
		{"R001-8_more_matches", []any{"pattern", "beta", "max_matches", 1}, block("    2  beta (x)") + "\n\n... (truncated): more matches than the 1 shown"},
		{"R001-8_exactly_as_many_matches_are_not_truncated", []any{"pattern", "beta", "max_matches", 2}, block("    2  beta (x)") + "\n\n" + block("    4  beta xx")},
		{"R001-8_a_pattern_that_is_none", []any{"pattern", "a(", "regex", true}, `tool_output_cache_grep: pattern: want an RE2 pattern, got "a(": missing closing )`},
		{"R001-8_a_pattern_of_two_lines", []any{"pattern", "a\nb"}, "tool_output_cache_grep: pattern: want one line, since lines are searched one by one, got a line break"},
		{"R001-8_no_pattern", nil, "tool_output_cache_grep: pattern: want a text, got none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, ask(t, k, s, "tool_output_cache_grep", append([]any{"ref_id", ref}, c.pairs...)...), c.want)
		})
	}
	t.Run("R001-8_50_matches_without_a_number_of_them", func(t *testing.T) {
		ref := s.keep("many", &repeated{text: "a line\n", n: 10_000})
		a := ask(t, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", "line")
		if n := strings.Count(a.Text, "a line"); n != 50 {
			t.Errorf("want 50, got %d", n)
		}
		contains(t, a, "\n\n... (truncated): more matches than the 50 shown")
	})
	t.Run("R001-8_a_carriage_return_ends_the_last_line", func(t *testing.T) {
		ref := s.put("alpha\nbeta\r")
		want(t, ask(t, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", "ta$", "regex", true), "ref:"+ref+"\n    2  beta")
	})
	t.Run("R001-8_no_line_between_windows", func(t *testing.T) {
		ref := s.keep("windows", &repeated{text: "a line\n", n: 400_000})
		want(t, ask(t, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", `^\s*$`, "regex", true), `No matches for: ^\s*$`)
	})
	t.Run("R001-8_10000_matches_keep_within_64_KiB", func(t *testing.T) {
		ref := s.keep("many", &repeated{text: "a line\n", n: 10_000})
		a := ask(t, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", "line", "max_matches", 10_000, "after", 2)
		contains(t, a, "... (truncated): more matches than the ")
		if strings.Contains(a.Text, ref+"\n\n") {
			t.Error("want no block without a line")
		}
	})
	t.Run("R001-8_context_leaves_room_for_the_match", func(t *testing.T) {
		ref := s.put(strings.Repeat("a line before it\n", 9000) + "needle")
		a := ask(t, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", "needle", "before", 9000)
		contains(t, a, " 8901  a line", " 9001  needle")
	})
	t.Run("R001-8_a_pattern_that_explodes_elsewhere", func(t *testing.T) {
		ref := s.put(strings.Repeat("a", 100_000) + "!")
		a := ask(t, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", "^(a+)+$", "regex", true)
		want(t, a, "No matches for: ^(a+)+$")
	})
}

// In a long line each match is shown with what stands around it, and by what argument it is
// read on.
func TestGrepInLongLines(t *testing.T) {
	s := newShelf()
	long := strings.Repeat("é", 3000) + "needle" + strings.Repeat("-", 5000) + "needle!"
	ref := s.put("first\n" + long + "\nlast needle\n")
	t.Run("R001-8_two_matches_in_one_long_line", func(t *testing.T) {
		a := ask(t, kitOf(t, all...), s, "tool_output_cache_grep", "ref_id", ref, "pattern", "needle")
		contains(t, a, "    2  [char_offset=2875] éé", "needle---", "    2  [char_offset=7881] ---", "needle!", "    3  last needle")
		if n := strings.Count(a.Text, "needle"); n != 3 {
			t.Errorf("want 3 matches, got %d", n)
		}
		a = ask(t, kitOf(t, all...), s, "tool_output_cache_line", "ref_id", ref, "line_number", 2, "char_offset", 2875, "char_limit", 131)
		contains(t, a, "    2  "+strings.Repeat("é", 125)+"needle")
	})
	t.Run("R001-8_by_bytes_where_lines_cannot_be_read", func(t *testing.T) {
		k := kitOf(t, policy.ToolOutputCacheGrep, policy.ToolReadResult)
		a := ask(t, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", "needle", "max_matches", 1)
		contains(t, a, "    2  [offset=5756] éé")
		a = ask(t, k, s, "read_result", "ref_id", ref, "offset", 5756, "limit", 256)
		contains(t, a, strings.Repeat("é", 125)+"needle")
	})
	t.Run("R001-10_a_line_that_fills_many_windows", func(t *testing.T) {
		// The needles lie on all sides of the borders of windows.
		var b strings.Builder
		for i := range 60 {
			b.WriteString(strings.Repeat("x", 61_003))
			fmt.Fprintf(&b, "needle%02d", i)
		}
		ref := s.put(b.String() + "\nshort needle60")
		a := ask(t, kitOf(t, all...), s, "tool_output_cache_grep", "ref_id", ref, "pattern", `needle\d+`, "regex", true, "max_matches", 100)
		for i := range 61 {
			if n := strings.Count(a.Text, fmt.Sprintf("needle%02d", i)); n != 1 {
				t.Errorf("needle%02d: want it once, got %d times", i, n)
			}
		}
		a = ask(t, kitOf(t, all...), s, "tool_output_cache_grep", "ref_id", ref, "pattern", `^needle|^x{9}needle|needle00$`, "regex", true)
		contains(t, a, "No matches for: ")
	})
}

// TestGrepFindsWhatIsThere compares with a search that has everything in memory.
func TestGrepFindsWhatIsThere(t *testing.T) {
	number := regexp.MustCompile(`(?m)^ *(\d+)  `)
	rapid.Check(t, func(rt *rapid.T) {
		s := newShelf()
		text := drawText(rt) + "."
		pattern := drawPattern(rt)
		a := ask(t, kitOf(t, all...), s, "tool_output_cache_grep", "ref_id", s.put(text), "pattern", pattern, "regex", true, "max_matches", 100_000)
		if strings.Contains(a.Text, "(truncated)") {
			rt.Skip("more than an answer holds")
		}
		got := map[string]bool{}
		for _, m := range number.FindAllStringSubmatch(a.Text, -1) {
			got[m[1]] = true
		}
		re := regexp.MustCompile(pattern)
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if n := fmt.Sprint(i + 1); re.MatchString(strings.TrimSuffix(line, "\r")) != got[n] {
				rt.Fatalf("%q in line %s of %q: want %v, got %v", pattern, n, text, !got[n], got[n])
			}
		}
	})
}

// drawPattern draws a pattern, that of an empty line among them.
func drawPattern(rt *rapid.T) string {
	atoms := []string{
		"needle", "a", "x", "1", "é", "€|𝄞", "^", "$", `\A`, `\z`, `\b`, `\B`, ".", `\d`, `\W`, `\s`, `\pL`, "[^a]", "[a-f€]", "(?i:NE+)", "n.*e", "(a|x1)*", "x{2,3}", `\x{FFFD}`,
	}
	parts := rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 4).Draw(rt, "parts")
	if rapid.Bool().Draw(rt, "either") {
		return strings.Join(parts, "|")
	}
	return strings.Join(parts, "")
}

// TestGrepManyStates has a pattern for which no table is large enough.
func TestGrepManyStates(t *testing.T) {
	s, r := newShelf(), rand.New(rand.NewPCG(1, 2)) //nolint:gosec // to be repeatable is the point
	const pattern = "a[ab]{13}aa$"
	var text strings.Builder
	var want []string
	for i := range 500 {
		line := make([]byte, 200)
		for k := range line {
			line[k] = "ab"[r.IntN(2)]
		}
		text.WriteString(string(line) + "\n")
		if regexp.MustCompile(pattern).Match(line) {
			want = append(want, fmt.Sprintf("%5d  %s", i+1, line))
		}
	}
	a := ask(t, kitOf(t, all...), s, "tool_output_cache_grep", "ref_id", s.put(text.String()), "pattern", pattern, "regex", true, "max_matches", 1000)
	contains(t, a, want...)
	if n := strings.Count(a.Text, "ref:"); n != len(want) {
		t.Errorf("want %d lines, got %d", len(want), n)
	}
}

// A search through a content of any size holds a window of it.
func TestGrepHoldsAWindow(t *testing.T) {
	for name, text := range map[string]string{
		"R001-10_lines":              strings.Repeat("x", 63) + "\n",
		"R001-10_one_line_of_256_MB": strings.Repeat("x", 64),
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			c := &repeated{text: text, n: 4 << 20}
			ref := s.keep("large", c)
			k := kitOf(t, all...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := ask(t, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", "y")
			runtime.ReadMemStats(&after)
			want(t, a, "No matches for: y")
			if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
				t.Errorf("want at most 4 MiB for all of it, got %d", used)
			}
			if c.read < c.Size() || c.read > c.Size()*5/4 {
				t.Errorf("want %d bytes read about once, got %d", c.Size(), c.read)
			}
		})
	}
}

// A page of a large content costs what it shows, and its beginning, which says whether it is text.
func TestPageReadsAPage(t *testing.T) {
	s := newShelf()
	for _, page := range []struct {
		tool  string
		pairs []any
		most  int64
	}{
		{"tool_output_cache", []any{"offset", 900_000, "limit", 20}, 256 << 10},
		{"read_result", []any{"offset", 900_000_000, "limit", 4096}, 12_300},
	} {
		c := &repeated{text: strings.Repeat("x", 1023) + "\n", n: 1 << 20}
		ask(t, kitOf(t, all...), s, page.tool, append(page.pairs, "ref_id", s.keep("large", c))...)
		if c.read > page.most {
			t.Errorf("R001-10: %s: want at most %d bytes read of 1 GiB, got %d", page.tool, page.most, c.read)
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	for _, c := range []struct {
		name, pattern string
		regex         bool
	}{{"literal", "needle", false}, {"pattern", `needle\d+`, true}} {
		b.Run(c.name, func(b *testing.B) {
			s := newShelf()
			ref := s.keep("large", &repeated{text: strings.Repeat("some words of a line of output ", 3) + "\n", n: 100_000_000 / 94})
			k := kitOf(b, all...)
			b.SetBytes(100_000_000)
			for b.Loop() {
				ask(b, k, s, "tool_output_cache_grep", "ref_id", ref, "pattern", c.pattern, "regex", c.regex)
			}
		})
	}
}
