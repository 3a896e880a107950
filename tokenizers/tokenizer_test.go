package tokenizers_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// The ids are worked out by hand: a byte's id is its value, a merge's 256 + its place.
func TestIDs(t *testing.T) {
	abc := []string{"b c", "a b", "ab c", "Ġ a"} // 256 bc, 257 ab, 258 abc, 259 " a"
	added := `[{"id":900,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
		{"id":901,"content":"<s>x","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}]`
	tests := []struct {
		name string
		f    fixture
		text string
		want []uint32
	}{
		{"nothing", fixture{merges: abc}, "", nil},
		{"lowest rank first", fixture{merges: abc}, "abc", []uint32{'a', 256}},
		{"merges as pairs", fixture{merges: abc, asPairs: true}, "abc", []uint32{'a', 256}},
		{"a merge of merges", fixture{merges: []string{"a b", "b c", "ab c"}}, "abcbc", []uint32{258, 257}},
		{"leftmost of equals", fixture{merges: []string{"a a"}}, "aaa", []uint32{256, 'a'}},
		{"whole pieces first", fixture{merges: abc, ignore: true}, "abc", []uint32{258}},
		{"only whole pieces", fixture{merges: abc, ignore: true}, "abcx", []uint32{'a', 256, 'x'}},
		{"a token that no merge makes", fixture{merges: abc, words: []string{"xyz"}}, "xyz", []uint32{'x', 'y', 'z'}},
		{"a space is a byte of its own name", fixture{merges: abc}, "b a", []uint32{'b', 259}},
		{"bytes of a character", fixture{}, "é", []uint32{0xC3, 0xA9}},
		{"a byte without a token", fixture{without: "x", merges: abc}, "axbxc", []uint32{'a', 256}},
		{"many bytes without one", fixture{without: "x", merges: abc}, strings.Repeat("x", 100) + "a" + strings.Repeat("x", 100) + "b", []uint32{257}},
		{"only such bytes", fixture{without: "x"}, strings.Repeat("x", 100), nil},
		{"invalid UTF-8 is U+FFFD", fixture{}, "\xff\xfe", []uint32{0xEF, 0xBF, 0xBD, 0xEF, 0xBF, 0xBD}},

		{"NFC", fixture{normalizer: `{"type":"NFC"}`}, "e\u0301", []uint32{0xC3, 0xA9}},
		{"no normaliser", fixture{}, "e\u0301", []uint32{'e', 0xCC, 0x81}},
		{"a sequence", fixture{normalizer: `{"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"NFC"}]}`}, "é", []uint32{0xC3, 0xA9}},
		{"NFKC", fixture{normalizer: `{"type":"NFKC"}`}, "ﬁ", []uint32{'f', 'i'}},

		{"a prefix space", fixture{merges: abc, pre: `{"type":"ByteLevel","use_regex":false}`}, "a", []uint32{259}},
		{"no second space", fixture{merges: abc, pre: `{"type":"ByteLevel","use_regex":false}`}, " a", []uint32{259}},
		{"the pattern of GPT-2", fixture{merges: []string{"a Ġ", "Ġ a"}, pre: `{"type":"ByteLevel","add_prefix_space":false}`}, "a a", []uint32{'a', 257}},
		{"no pattern", fixture{merges: []string{"a Ġ", "Ġ a"}}, "a a", []uint32{256, 'a'}},
		{"numbers apart", fixture{merges: []string{"1 2"}, pre: in(`{"type":"Digits","individual_digits":true}`)}, "12", []uint32{'1', '2'}},
		{"numbers together", fixture{merges: []string{"1 2", "a 1"}, pre: in(`{"type":"Digits","individual_digits":false}`)}, "a12", []uint32{'a', 256}},
		{"isolated", fixture{merges: []string{"a x", "x a"}, pre: in(splitBy("x+", "Isolated", false))}, "axa", []uint32{'a', 'x', 'a'}},
		{"removed", fixture{pre: in(splitBy("x+", "Removed", false))}, "axxa", []uint32{'a', 'a'}},
		{"removed, inverted", fixture{pre: in(splitBy("x+", "Removed", true))}, "axxa", []uint32{'x', 'x'}},
		{"merged with previous", fixture{merges: []string{"a x", "x a"}, pre: in(splitBy("x", "MergedWithPrevious", false))}, "axa", []uint32{256, 'a'}},
		{"merged with next", fixture{merges: []string{"a x", "x a"}, pre: in(splitBy("x", "MergedWithNext", false))}, "axa", []uint32{'a', 257}},
		{"contiguous", fixture{merges: []string{"x x"}, pre: in(splitBy("x", "Contiguous", false))}, "axxa", []uint32{'a', 256, 'a'}},
		{"look-ahead", fixture{merges: []string{"Ġ Ġ"}, pre: in(splitBy(`\s+(?!\S)|\s+`, "Isolated", false))}, "   x", []uint32{256, ' ', 'x'}},
		{"a string", fixture{merges: []string{"a .", ". a"}, pre: in(`{"type":"Split","pattern":{"String":"."},"behavior":"Isolated","invert":false}`)}, "a.a", []uint32{'a', '.', 'a'}},

		{"added tokens are one", fixture{added: added}, "a<s>b", []uint32{'a', 900, 'b'}},
		{"the longest", fixture{added: added}, "<s>x<s", []uint32{901, '<', 's'}},
		{"between pieces that would merge", fixture{added: added, merges: []string{"a b"}}, "ab<s>ab", []uint32{256, 900, 256}},
		{"a single word", fixture{added: strings.Replace(added, `"single_word":false`, `"single_word":true`, 1)}, "a<s> <s>", []uint32{'a', '<', 's', '>', ' ', 900}},
		{"with the blanks around", fixture{added: strings.Replace(added, `"lstrip":false,"rstrip":false`, `"lstrip":true,"rstrip":true`, 1)}, "a  <s>\n b", []uint32{'a', 900, 'b'}},
		{
			"in the normalised text",
			fixture{normalizer: `{"type":"NFKC"}`, added: `[{"id":900,"content":"fi","normalized":true}]`},
			"aﬁ",
			[]uint32{'a', 900},
		},
		{"not in the text as it is", fixture{normalizer: `{"type":"NFKC"}`, added: `[{"id":900,"content":"fi","normalized":false}]`}, "aﬁ", []uint32{'a', 'f', 'i'}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tok := tt.f.load(t)
			if got := tok.Append(nil, tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("ids of %q = %v, want %v", tt.text, got, tt.want)
			}
			if got := tok.Count(tt.text); got != len(tt.want) {
				t.Errorf("count of %q = %d, want %d", tt.text, got, len(tt.want))
			}
		})
	}
}

// The ways to cut and to find added tokens, held against the original.
func TestFeaturesEqualTheOriginal(t *testing.T) {
	files := map[string]fixture{}
	merges := []string{"Ġ Ġ", "a b", "x y", "1 2", "ab xy", "Ġ a", "ĠĠ ĠĠ", "Ċ Ċ", "' s", "a a", "aa aa", "é ab", "Ã ©", "Ġa b"}
	for _, b := range []string{"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"} {
		for _, inverted := range []bool{false, true} {
			name := b
			if inverted {
				name += " inverted"
			}
			files[name] = fixture{merges: merges, pre: in(splitBy(`[a-z]|\d|\s`, b, inverted))}
			files[name+" runs"] = fixture{merges: merges, asPairs: true, pre: in(splitBy(`\p{L}+|[^\S\n]+|(?i:'s|'k)`, b, inverted))}
		}
	}
	for _, form := range []string{"NFC", "NFD", "NFKC", "NFKD"} {
		files[form] = fixture{merges: merges, normalizer: `{"type":"` + form + `"}`}
	}
	files["GPT-2"] = fixture{merges: merges, pre: `{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}`}
	files["prefix after a split"] = fixture{merges: merges, pre: `{"type":"Sequence","pretokenizers":[` + splitBy("x", "Isolated", false) + `,{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":false}]}`}
	files["Chinese"] = fixture{merges: merges, pre: in(splitBy(`[\p{Han}\p{Lm}]+|\P{Han}|(?=b)`, "Isolated", false))}
	files["digits"] = fixture{merges: merges, pre: in(`{"type":"Digits","individual_digits":true}`)}
	files["runs of digits"] = fixture{merges: merges, pre: in(`{"type":"Digits","individual_digits":false}`, splitBy(`\p{P}`, "Isolated", false))}
	flags := func(id, content, set string) string {
		s := `{"id":` + id + `,"content":"` + content + `","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}`
		return strings.Replace(s, `"`+set+`":false`, `"`+set+`":true`, 1)
	}
	files["added"] = fixture{merges: merges, normalizer: `{"type":"NFKC"}`, added: "[" + strings.Join([]string{
		flags("256", "ab", "single_word"), flags("257", "xyz", "lstrip"), flags("33", "!", "rstrip"), flags("258", "12", "special"), flags("233", "é", "normalized"), flags("259", "abc", ""),
	}, ",") + "]", words: []string{}}
	var texts []string
	for _, s := range sampleTexts(t) {
		if len(s) < 500 {
			texts = append(texts, s, strings.ReplaceAll(s, "a", "ab xyz !é12"))
		}
	}
	for name, f := range files {
		if name == "added" {
			f.merges = nil // so that the ids of the added tokens are free
		}
		t.Run(name, func(t *testing.T) {
			path := write(t, f.json(t))
			want := truth(t, path, texts)
			tok, err := tokenizers.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, tok, texts, want)
		})
	}
}

// Without a normaliser nothing is lost: the ids give the text back. A count is the number of the ids.
func TestRoundTrip(t *testing.T) {
	merges := []string{"a b", "Ġ a", "b a", "ab ab", "a a", "aa a", "Ċ Ċ", "Ġ Ġ", "ĠĠ ĠĠ", "Ã ©", "æ Ĺ", "abab ab"}
	tok := fixture{merges: merges, pre: in(splitBy(`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+`, "Isolated", false)), added: `[{"id":900,"content":"ba b"}]`}.load(t)
	part := rapid.OneOf(rapid.StringMatching(`[ab ]{0,80}`), rapid.String(), rapid.SampledFrom([]string{"ba b", "\n\n", "é", "日", "\xff"}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
		ids := tok.Append(nil, text)
		back, err := tok.Decode(ids)
		if err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(text)); string(back) != want {
			t.Fatalf("%q came back as %q", want, back)
		}
		if n := tok.Count(text); n != len(ids) {
			t.Fatalf("count of %q = %d, want %d", text, n, len(ids))
		}
	})
}

// A long piece is merged by a heap, a short one by looking at all pairs: both give what merging as defined gives.
func TestLongPieces(t *testing.T) {
	merges := []string{"b b", "a b", "ab ab", "a a", "aa bb", "b a", "bb b", "aa aa", "ba ba", "abab a", "bbb a"}
	tok := fixture{merges: merges}.load(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab]{0,300}`).Draw(t, "text")
		parts := strings.Split(text, "")
		if text == "" {
			parts = nil
		}
		parts = mergeAsDefined(parts, merges)
		got := tok.Append(nil, text)
		if len(got) != len(parts) {
			t.Fatalf("%d ids of %q, want %d: %q", len(got), text, len(parts), parts)
		}
		for i, id := range got {
			if b, _ := tok.Decode([]uint32{id}); string(b) != parts[i] {
				t.Fatalf("token %d of %q = %q, want %q", i, text, b, parts[i])
			}
		}
	})
}

// mergeAsDefined joins the leftmost pair of the lowest rank until there is none.
func mergeAsDefined(parts, merges []string) []string {
	for {
		best, at := len(merges), -1
		for i := 0; i+1 < len(parts); i++ {
			if rank := slices.Index(merges, parts[i]+" "+parts[i+1]); rank >= 0 && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return parts
		}
		parts = slices.Concat(parts[:at], []string{parts[at] + parts[at+1]}, parts[at+2:])
	}
}

// A pattern that searches for ever is given up, and what is counted from then on is never too little.
func TestSlowPattern(t *testing.T) {
	tok := fixture{merges: []string{"a a", "b b"}, pre: in(splitBy(`(a|aa)*c`, "Isolated", false))}.load(t)
	if n := tok.Count("bb"); n != 1 || tok.Err() != nil {
		t.Fatalf("count = %d, %v, want 1", n, tok.Err())
	}
	text := strings.Repeat("a", 100)
	if n := tok.Count("bb" + text); n != 102 {
		t.Errorf("count = %d, want each of 102 bytes", n)
	}
	if tok.Err() == nil {
		t.Error("no error, want ErrSlow")
	}
	if ids := tok.Append(nil, text); len(ids) != len(text) {
		t.Errorf("%d ids, want each of %d bytes", len(ids), len(text))
	}
}

func TestConcurrentUse(t *testing.T) {
	tok := fixture{merges: []string{"a b", "ab ab", "Ġ ab"}, pre: in(splitBy(`\s?\p{L}+`, "Isolated", false))}.load(t)
	text := strings.Repeat("abab ab xabab, ", 50)
	want := tok.Count(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if n := tok.Count(text); n != want {
					t.Errorf("count = %d, want %d", n, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestDecodeRefusesUnknownIDs(t *testing.T) {
	if b, err := (fixture{}).load(t).Decode([]uint32{65, 70_000}); err == nil {
		t.Errorf("decoded to %q, want an error", b)
	}
}
