package cache

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// ends returns where the blocks of a request end.
func ends(r Request) []int {
	var out []int
	for _, b := range r.Blocks {
		out = append(out, b.Tokens)
	}
	return out
}

// A block keeps its place while nothing before it changes; new ones share what is left by their counts, and a prompt that is
// smaller than what is kept moves all ends.
func TestPromptPlaces(t *testing.T) {
	var p Prompt
	if got := p.Request(0, 100, Short); len(got.Blocks) != 0 {
		t.Errorf("of nothing: want no blocks, got %v", got)
	}
	p.Add(llm.Digest{'f'}, 100, 2)
	p.Add(llm.Digest{'a'}, 300, 1)
	for _, c := range []struct {
		name  string
		add   int // counted tokens of one more block
		kept  int
		total int
		want  []int
		marks []Mark
	}{
		{"the first is divided by the counts", 0, 0, 8_000, []int{2_000, 8_000}, []Mark{Long, Long}},
		{"what is kept stays", 50, 2, 9_000, []int{2_000, 8_000, 9_000}, []Mark{Long, Long, Long}},
		{"another total moves the last end alone", 50, 3, 9_700, []int{2_000, 8_000, 9_000, 9_700}, []Mark{Long, NoMark, Long, Long}},
		{"less than what is kept moves all", 0, 4, 5_000, []int{1_000, 4_000, 4_500, 5_000}, []Mark{Long, NoMark, NoMark, Long}},
	} {
		if c.add > 0 {
			p.Add(llm.Digest{byte('a' + c.kept)}, c.add, 1)
		}
		r := p.Request(c.kept, c.total, Long)
		for i := range c.want {
			if len(r.Blocks) != len(c.want) || r.Blocks[i].Tokens != c.want[i] || r.Blocks[i].Mark != c.marks[i] {
				t.Fatalf("%s: want ends %v and marks %v, got %v, %+v", c.name, c.want, c.marks, ends(r), r.Blocks)
			}
		}
		if p.Tokens(2) != c.want[1] || p.Tokens(99) != c.total || p.Tokens(0) != 0 {
			t.Errorf("%s: tokens of 2, 99 and 0 blocks: got %d, %d, %d", c.name, p.Tokens(2), p.Tokens(99), p.Tokens(0))
		}
	}
}

// A request that begins with the blocks of the one before reads them, and one that was cut does not.
func TestPromptPrefixes(t *testing.T) {
	var p Prompt
	c := New(marked, Options{})
	p.Add(llm.Digest{'f'}, 100, 1)
	p.Add(llm.Digest{'a'}, 100, 1)
	c.Send(p.Request(0, 8_000, Short))
	p.Add(llm.Digest{'b'}, 100, 1)
	if use := c.Send(p.Request(2, 12_000, Short)); use.CacheRead != 8_000 || use.CacheWrite5m != 4_000 {
		t.Errorf("want 8,000 tokens read and 4,000 written, got %+v", use)
	}
	p.Cut(1)
	p.Add(llm.Digest{'c'}, 100, 1)
	if use := c.Send(p.Request(1, 9_000, Short)); use.CacheRead != 4_000 || p.Len() != 2 {
		t.Errorf("want what stands before all messages read, got %+v of %d blocks", use, p.Len())
	}
}
