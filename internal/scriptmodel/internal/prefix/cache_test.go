package prefix

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// prompt makes a prompt of blocks of 500 tokens that are named by letters; a letter in
// marks is followed by a mark there: "." for the short one, ":" for the long one.
func prompt(blocks string) Prompt {
	w := newWriter(false)
	var p Prompt
	for _, c := range blocks {
		switch c {
		case '.':
			p[len(p)-1].Mark = MarkShort
		case ':':
			p[len(p)-1].Mark = MarkLong
		default:
			w.text(string(c))
			p = append(p, Block{Digest: w.sum(), Tokens: 500 * (len(p) + 1)})
		}
	}
	return p
}

func TestMarkedCache(t *testing.T) {
	rules := Rules{Marked: true, Min: 1000, Lookback: 3, Short: 5 * time.Minute, Long: time.Hour}
	type call struct {
		at      time.Duration
		blocks  string
		want    Use
		comment string
	}
	for _, c := range []struct {
		name  string
		calls []call
	}{
		{"written, then read, then extended", []call{
			{0, "abc.", Use{WriteShort: 1500}, "nothing is there"},
			{time.Minute, "abc.", Use{Read: 1500}, "the same prompt"},
			{time.Minute, "abcde.", Use{Read: 1500, WriteShort: 1000}, "the mark moved on"},
		}},
		{"nothing is written without a mark", []call{{0, "abc", Use{}, ""}, {0, "abc.", Use{WriteShort: 1500}, ""}}},
		{"shorter than the minimum", []call{{0, "a.", Use{}, ""}, {0, "a.bc.", Use{WriteShort: 1500}, "the first mark counts for nothing"}}},
		{"only what was marked is found", []call{{0, "abcd.", Use{WriteShort: 2000}, ""}, {0, "abcx.", Use{WriteShort: 2000}, "abc was never marked"}}},
		{"no further back than the lookback", []call{
			{0, "ab.", Use{WriteShort: 1000}, ""},
			{0, "abcd.", Use{Read: 1000, WriteShort: 1000}, "two blocks back"},
			{0, "xy.", Use{WriteShort: 1000}, ""},
			{0, "xyzvw.", Use{WriteShort: 2500}, "three blocks back"},
		}},
		{"lifetimes", []call{
			{0, "ab:cd.", Use{WriteLong: 1000, WriteShort: 1000}, ""},
			{6 * time.Minute, "ab:cd.", Use{Read: 1000, WriteShort: 1000}, "the short one is over"},
			{10 * time.Minute, "ab:cd.", Use{Read: 2000}, "it was written again"},
			{14 * time.Minute, "ab:cd.", Use{Read: 2000}, "and prolonged when it was read"},
			{3 * time.Hour, "ab:cd.", Use{WriteLong: 1000, WriteShort: 1000}, "both are over"},
		}},
		{"a change in front breaks all", []call{{0, "abcd.", Use{WriteShort: 2000}, ""}, {0, "xbcd.", Use{WriteShort: 2000}, ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cache Cache
			for i, call := range c.calls {
				if got := cache.Call("k", prompt(call.blocks), rules, call.at); got != call.want {
					t.Errorf("call %d (%s), want %+v, got %+v", i+1, call.comment, call.want, got)
				}
			}
		})
	}
	t.Run("owners are apart", func(t *testing.T) {
		var cache Cache
		cache.Call("one", prompt("abc."), rules, 0)
		if got := cache.Call("two", prompt("abc."), rules, 0); got.Read != 0 {
			t.Errorf("read, want nothing of another's, got %d", got.Read)
		}
	})
}

func TestAutomaticCache(t *testing.T) {
	rules := Rules{Min: 1000, Step: 128, Short: 5 * time.Minute}
	var cache Cache
	for i, c := range []struct {
		at     time.Duration
		blocks string
		want   Use
	}{
		{0, "abcd", Use{}},
		{0, "abcde", Use{Read: 1920}},                 // 2,000 in steps of 128
		{0, "abxyz", Use{Read: 896}},                  // the common part is 1,000
		{0, "axxxx", Use{}},                           // 500 are too few
		{6 * time.Minute, "abcde", Use{}},             // all is over
		{6 * time.Minute, "abcdefg", Use{Read: 2432}}, // 2,500
	} {
		if got := cache.Call("k", prompt(c.blocks), rules, c.at); got != c.want {
			t.Errorf("call %d of %s, want %+v, got %+v", i+1, c.blocks, c.want, got)
		}
	}
}

// TestCacheLaws: no token is counted twice, what was marked is read by the next call, and
// nothing is read that no call had.
func TestCacheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cache Cache
		rules := Rules{Marked: rapid.Bool().Draw(t, "marked"), Min: 1000, Step: 128, Lookback: 20, Short: time.Minute, Long: time.Hour}
		seen := map[Digest]bool{}
		for i := range rapid.IntRange(1, 6).Draw(t, "calls") {
			blocks := ""
			for j := range rapid.IntRange(1, 8).Draw(t, "blocks") {
				blocks += rapid.SampledFrom([]string{"a", "b"}).Draw(t, fmt.Sprint("block", j)) + rapid.SampledFrom([]string{"", "", ".", ":"}).Draw(t, "mark")
			}
			p := prompt(blocks)
			u := cache.Call("k", p, rules, 0)
			if u.Read < 0 || u.WriteShort < 0 || u.WriteLong < 0 || u.Read+u.WriteShort+u.WriteLong > p.Tokens() {
				t.Fatalf("call %d of %s: want parts of %d tokens, got %+v", i, blocks, p.Tokens(), u)
			}
			known := 0
			for _, b := range p {
				if seen[b.Digest] {
					known = b.Tokens
				}
				seen[b.Digest] = true
			}
			if u.Read > known {
				t.Fatalf("call %d of %s: read, want at most the %d known, got %d", i, blocks, known, u.Read)
			}
			if again := cache.Call("k", p, rules, 0); again.Read < u.Read+u.WriteShort+u.WriteLong {
				t.Fatalf("call %d of %s again: want at least what was read and written (%+v), got %+v", i, blocks, u, again)
			}
		}
	})
}
