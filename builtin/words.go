package builtin

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// grepWords finds, without a model, the lines that have most of the words of what is needed,
// rare ones first.
func (x *extraction) grepWords(ctx context.Context) (string, error) {
	words := wordsOf(x.want)
	if len(words) == 0 {
		return "", reason("what is needed has no word to look for")
	}
	var any []string
	for _, w := range words {
		any = append(any, regexp.QuoteMeta(w))
	}
	m, err := newMatcher("(?i)"+strings.Join(any, "|"), true)
	if err != nil {
		return "", err
	}
	f := finder{c: x.c, words: words, in: make([]int64, len(words))}
	s := scanner{c: x.c, m: m, clip: x.limits.Line, found: f.found}
	if err := s.run(ctx); err != nil {
		return "", err
	}
	if len(f.best) == 0 {
		return "", reason("no line has a word of what is needed")
	}
	return x.blocks(f.sorted())
}

// blocks prints as many of the best matches as have room, in the order of the output.
func (x *extraction) blocks(best []candidate) (string, error) {
	const lineChars = 600 // so that several have room
	type block struct {
		match
		text string
	}
	var blocks []block
	p := &page{c: x.c, room: x.room(), clip: min(x.limits.Line, lineChars), most: x.room() / 2}
	for _, b := range best {
		near := func(o block) bool { return !b.long && !o.long && max(b.line-o.line, o.line-b.line) <= 1 }
		if slices.ContainsFunc(blocks, near) {
			continue // it is shown already
		}
		p.out.Reset()
		g := grepping{place: x.placeName(), before: 1, after: 1}
		_, whole, err := g.block(p, b.match)
		if err != nil {
			return "", err
		}
		if !whole {
			break
		}
		blocks = append(blocks, block{b.match, p.out.String()})
	}
	if len(blocks) == 0 {
		return "", reason("no line had room")
	}
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.at, b.at) })
	var out []string
	for _, b := range blocks {
		out = append(out, strings.TrimSuffix(b.text, "\n"))
	}
	return strings.Join(out, "\n...\n"), nil
}

// A candidate is a match with the words around it.
type candidate struct {
	match
	words uint64 // a bit each
}

// A finder keeps the best matches.
type finder struct {
	c     Content
	words []string
	in    []int64 // in how many matches each word is
	best  []candidate
}

// found looks at the line of a match, or at what stands behind it in a long one.
func (f *finder) found(m match) (int64, bool, error) {
	from, most := m.start, int64(4000)
	if m.long {
		from, most = m.at, 300 // about what is shown of it
	}
	b := make([]byte, min(most, f.c.Size()-from))
	if err := readFull(f.c, b, from); err != nil {
		return 0, false, err
	}
	line, _, _ := strings.Cut(strings.ToLower(string(b)), "\n")
	hit := candidate{match: m}
	for i, w := range f.words {
		if strings.Contains(line, w) {
			hit.words |= 1 << i
			f.in[i]++
		}
	}
	const keep = 256
	if f.best = append(f.best, hit); len(f.best) == 2*keep {
		f.best = slices.Clone(f.sorted()[:keep])
	}
	return from + int64(len(line)), true, nil
}

// sorted returns the matches, the best ones first. A word counts the more, the fewer matches
// have it.
func (f *finder) sorted() []candidate {
	var all int64
	for _, n := range f.in {
		all = max(all, n)
	}
	score := func(words uint64) (sum int) {
		for i, n := range f.in {
			if words&(1<<i) != 0 {
				sum += 1 + bits.Len64(uint64(all/max(1, n)))
			}
		}
		return sum
	}
	slices.SortStableFunc(f.best, func(a, b candidate) int { return score(b.words) - score(a.words) })
	return f.best
}

// fillers are words that say nothing of what is looked for.
const fillers = ` a about all an and any are as at be but by can did do does each find for from get give had has have how i if in into
 is it its just like line lines list me need needed of on only or out output please read say show tell text than that the their them then
 there these they this to value was we were what when where which who why will with you your `

// wordsOf returns the words of what is needed that are worth looking for: names, figures and
// paths whole, in lower case, each once, 64 at most.
func wordsOf(want string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(want), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:@#", r)
	}) {
		w = strings.Trim(w, "-./:@#")
		if utf8.RuneCountInString(w) < 2 || strings.Contains(fillers, fmt.Sprintf(" %s ", w)) || slices.Contains(out, w) {
			continue
		}
		if out = append(out, w); len(out) == 64 {
			break
		}
	}
	return out
}
