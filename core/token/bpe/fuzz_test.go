package bpe

import (
	"slices"
	"testing"
)

func fuzzSeeds(f *testing.F) {
	for _, s := range []string{
		"", "Hello, world!", "we'LL 'ſ don't", "  \n\t x \r\n\r\n", "12345 a1b2", "中文字符，测试。", "e\u0301\u0301A\u0301'S", "\xff\xfea\xed\xa0\x80",
		"👨‍👩‍👧‍👦", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "//\n/\r\n// !", "<|endoftext|>", "ǅABCdEf", "\u2028 \u0085 ",
	} {
		f.Add(s)
	}
	for _, kind := range textKinds() {
		f.Add(generate(kind, 300)[:300])
	}
}

// FuzzAppend holds the laws, and equality with the twin, on any text.
func FuzzAppend(f *testing.F) {
	fuzzSeeds(f)
	all := everyEncoding(f)[:2]
	twins := []*twin{newTwin(all[0]), newTwin(all[1])}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 4096)]
		for n, enc := range all {
			ids := checkLaws(t, enc, text)
			if v := valid(text); twins[n].knows(v) {
				if want := twins[n].encode(v); !slices.Equal(ids, want) {
					t.Fatalf("%s: ids of %q = %v, want %v", enc.Name(), text, ids, want)
				}
			}
		}
	})
}

// FuzzSplit checks that pieces are not empty, that together they are the text, and that the fast and the slow splitter cut
// alike.
func FuzzSplit(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		b := []byte(valid(text))
		for _, p := range []pattern{patternCl100k, patternO200k} {
			for i := 0; i < len(b); {
				end := p.cut(b, i)
				if end <= i || end > len(b) || end != p.next(b, i) {
					t.Fatalf("pattern %d: cut(%q, %d) = %d, next gives %d", p, b, i, end, p.next(b, i))
				}
				i = end
			}
		}
	})
}
