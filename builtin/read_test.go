package builtin_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func TestReadLines(t *testing.T) {
	k, s := kitOf(t, all...), newShelf()
	ref := s.put("first\nsecond\r\n\nfourth: é\xff")
	t.Run("R001-7_numbers_are_from_1_right_aligned_in_5_with_two_blanks", func(t *testing.T) {
		want(t, ask(t, k, s, "tool_output_cache", "ref_id", ref), "    1  first\n    2  second\n    3  \n    4  fourth: é\uFFFD")
	})
	t.Run("R001-7_offset_is_from_0", func(t *testing.T) {
		a := ask(t, k, s, "tool_output_cache", "ref_id", ref, "offset", 1, "limit", 2)
		want(t, a, "    2  second\n    3  \n[Lines 2 to 3 of 4. Go on with offset=3.]")
	})
	t.Run("R001-7_offset_past_the_end", func(t *testing.T) {
		a := ask(t, k, s, "tool_output_cache", "ref_id", ref, "offset", 4)
		want(t, a, "Offset exceeds output length.\n[It has 4 lines.]")
		if a.IsError {
			t.Error("want it to be no error")
		}
	})
	t.Run("R001-7_long_lines_are_clipped_at_1000_characters", func(t *testing.T) {
		ref := s.put(strings.Repeat("é", 1234) + "\n" + strings.Repeat("x", 1000) + "\n" + strings.Repeat("y", 200_000) + "\nend")
		a := ask(t, k, s, "tool_output_cache", "ref_id", ref)
		want(t, a, "    1  "+strings.Repeat("é", 1000)+"…[+468 bytes]\n    2  "+strings.Repeat("x", 1000)+
			"\n    3  "+strings.Repeat("y", 1000)+"…[+199,000 bytes]\n    4  end"+
			"\n[A line that ends in …[+N bytes] goes on: tool_output_cache_line reads it.]")
		a = ask(t, kitOf(t, policy.ToolOutputCache), s, "tool_output_cache", "ref_id", ref)
		if strings.Contains(a.Text, "tool_output_cache_line") {
			t.Error("want no tool named that is not offered")
		}
	})
	t.Run("R001-7_an_answer_has_64_KiB_at_most_and_says_how_to_go_on", func(t *testing.T) {
		line := strings.Repeat("z", 99) + "\n"
		ref := s.keep("large", &repeated{text: line, n: 1_000_000})
		a := ask(t, k, s, "tool_output_cache", "ref_id", ref, "offset", 500_000)
		contains(t, a, "500001  zzz", "of 1000000. Go on with offset=500")
		if len(a.Text) < 60<<10 {
			t.Errorf("want nearly 64 KiB, got %d", len(a.Text))
		}
	})
}

func TestReadLine(t *testing.T) {
	k, s := kitOf(t, all...), newShelf()
	ref := s.put("one\n" + strings.Repeat("0123456789", 2000) + "\r\nthree")
	read := func(t *testing.T, pairs ...any) string {
		t.Helper()
		return ask(t, k, s, "tool_output_cache_line", append([]any{"ref_id", ref}, pairs...)...).Text
	}
	for _, c := range []struct {
		name  string
		pairs []any
		want  string
	}{
		{"R001-7_a_line_whole", []any{"line_number", 1}, "    1  one"},
		{"R001-7_10000_characters_without_a_limit", []any{"line_number", 2}, "    2  " + strings.Repeat("0123456789", 1000) +
			"\n[Characters 1 to 10000 of line 2, which has 20,002 bytes. Go on with char_offset=10000.]"},
		{"R001-7_from_an_offset", []any{"line_number", 2, "char_offset", 19995}, "    2  56789\n[Characters 19996 to 20000 of line 2, which has 20,002 bytes.]"},
		{"R001-7_offset_past_the_lines_end", []any{"line_number", 2, "char_offset", 20_001}, "Offset exceeds output length.\n[Line 2 has 20,000 characters.]"},
		{"R001-7_line_past_the_end", []any{"line_number", 4}, "Offset exceeds output length.\n[It has 3 lines.]"},
		{"R001-7_lines_count_from_1", []any{"line_number", 0}, `tool_output_cache_line: line_number: want a whole number of 1 or more, got "0"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(t, c.pairs...); got != c.want {
				t.Errorf("got %.300q\nwant %.300q", got, c.want)
			}
		})
	}
	t.Run("R001-10_far_into_a_line_of_1_GB", func(t *testing.T) {
		ref := s.keep("giant", &repeated{text: strings.Repeat("abcdefgh", 1<<13), n: 1 << 14})
		a := ask(t, k, s, "tool_output_cache_line", "ref_id", ref, "line_number", 1, "char_offset", 1_000_000_002, "char_limit", 4)
		want(t, a, "    1  cdef\n[Characters 1000000003 to 1000000006 of line 1, which has 1,073,741,824 bytes. Go on with char_offset=1000000006.]")
	})
}

var goOn = regexp.MustCompile(`\n\[Bytes (\d+) to (\d+) of (\d+)\. Go on with offset=(\d+)\.\]$`)

func TestReadBytes(t *testing.T) {
	k, s := kitOf(t, all...), newShelf()
	ref := s.put(strings.Repeat("0123456789", 1000))
	t.Run("R002-7_4096_bytes_without_a_limit", func(t *testing.T) {
		a := ask(t, k, s, "read_result", "ref_id", ref)
		want(t, a, strings.Repeat("0123456789", 410)[:4096]+"\n[Bytes 0 to 4096 of 10000. Go on with offset=4096.]")
	})
	t.Run("R002-7_the_rest", func(t *testing.T) {
		want(t, ask(t, k, s, "read_result", "ref_id", ref, "offset", 9_990, "limit", 500), "0123456789")
	})
	t.Run("R002-7_past_the_end", func(t *testing.T) {
		want(t, ask(t, k, s, "read_result", "ref_id", ref, "offset", 10_000), "Offset exceeds output length.\n[It has 10,000 bytes.]")
	})
	t.Run("R002-7_a_negative_offset_is_stated", func(t *testing.T) {
		a := ask(t, k, s, "read_result", "ref_id", ref, "offset", -1)
		want(t, a, `read_result: offset: want a whole number of 0 or more, got "-1"`)
	})
	t.Run("R002-7_characters_stay_whole", func(t *testing.T) {
		ref := s.put("aé€𝄞z")
		want(t, ask(t, k, s, "read_result", "ref_id", ref, "limit", 4), "aé\n[Bytes 0 to 3 of 11. Go on with offset=3.]")
		want(t, ask(t, k, s, "read_result", "ref_id", ref, "offset", 4, "limit", 1), "€\n[Bytes 3 to 6 of 11. Go on with offset=6.]")
	})
}

// pieces of texts that have all that pages may not break: characters of each length, line
// breaks, long lines.
func drawText(t *rapid.T) string {
	words := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "€", "𝄞", "\n", "\r\n", "needle", strings.Repeat("long ", 300), "\n\n", "x1"}))
	return strings.Join(words.Draw(t, "text"), "")
}

func TestPagesOfBytesAreTheContent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newShelf()
		text := drawText(rt) + "."
		ref, limit := s.put(text), rapid.IntRange(1, 3000).Draw(rt, "limit")
		for _, told := range []bool{true, false} {
			got, offset := "", 0
			for offset < len(text) {
				a := ask(t, kitOf(t, all...), s, "read_result", "ref_id", ref, "offset", offset, "limit", limit)
				m := goOn.FindStringSubmatch(a.Text)
				page := goOn.ReplaceAllString(a.Text, "")
				if !told { // by its own sums a model may come into a character: it has it again, and loses nothing
					offset += max(limit, 4)
					if limit >= 4 {
						got += page
					}
					continue
				}
				got += page
				if m == nil {
					break
				}
				offset, _ = strconv.Atoi(m[4])
			}
			if (told || limit >= 4) && got != text {
				rt.Fatalf("pages of %d bytes (as told: %v): want the content again\n got %q\nwant %q", limit, told, got, text)
			}
		}
	})
}

func TestPagesOfLinesAreTheContent(t *testing.T) {
	next := regexp.MustCompile(`\n\[Lines \d+ to \d+ of \d+\. Go on with offset=(\d+)\.\]$`)
	number := regexp.MustCompile(`(?m)^ *\d+  `)
	rapid.Check(t, func(rt *rapid.T) {
		s := newShelf()
		text := strings.ReplaceAll(drawText(rt), strings.Repeat("long ", 300), "word ") + "."
		ref, limit := s.put(text), rapid.IntRange(1, 9).Draw(rt, "limit")
		var got []string
		for offset := 0; ; {
			a := ask(t, kitOf(t, all...), s, "tool_output_cache", "ref_id", ref, "offset", offset, "limit", limit)
			got = append(got, number.ReplaceAllString(next.ReplaceAllString(a.Text, ""), ""))
			m := next.FindStringSubmatch(a.Text)
			if m == nil {
				break
			}
			offset, _ = strconv.Atoi(m[1])
		}
		if want := strings.ReplaceAll(text, "\r\n", "\n"); strings.Join(got, "\n") != want {
			rt.Fatalf("pages of %d lines: got %q\nwant %q", limit, strings.Join(got, "\n"), want)
		}
	})
}
