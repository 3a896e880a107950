package bpe

import (
	"container/heap"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// twin gives the ids by other, simpler means: the published patterns alternative by alternative with Go's regexp, and
// byte-pair merging as defined over a map.
type twin struct {
	ranks        map[string]uint32
	alternatives []*regexp.Regexp
	whole        bool // the cl100k pattern takes all white space at the end of the text as one piece
	merge        func(ranks map[string]uint32, piece []byte) []uint32
}

// white is \s as the patterns mean it; Go's \s is ASCII only.
const white = `\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}`

func newTwin(enc *Encoding) *twin {
	t := &twin{ranks: map[string]uint32{}, whole: enc.pattern == patternCl100k, merge: naiveMerge}
	for id := range uint32(enc.vocab.size()) {
		t.ranks[string(enc.vocab.token(id))] = id
	}
	sources := []string{
		`[^\r\n\pL\pN]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\pM]*[\p{Ll}\p{Lm}\p{Lo}\pM]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`[^\r\n\pL\pN]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\pM]+[\p{Ll}\p{Lm}\p{Lo}\pM]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`\pN{1,3}`, ` ?[^` + white + `\pL\pN]+[\r\n/]*`, `[` + white + `]*[\r\n]+`,
	}
	if t.whole {
		sources = []string{
			`'(?i:[sdmt]|ll|ve|re)`, `[^\r\n\pL\pN]?\pL+`, `\pN{1,3}`, ` ?[^` + white + `\pL\pN]+[\r\n]*`,
			`[` + white + `]*[\r\n]`,
		}
	}
	for _, s := range sources {
		t.alternatives = append(t.alternatives, regexp.MustCompile(`^(?:`+s+`)`))
	}
	return t
}

// knows reports whether Go's tables have the text's characters as Unicode 16.0 has them.
func (t *twin) knows(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return classOf(r) != classOther && !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.White_Space)
	})
}

func (t *twin) encode(text string) []uint32 {
	var ids []uint32
	for len(text) > 0 {
		n := t.piece(text)
		if id, ok := t.ranks[text[:n]]; ok {
			ids = append(ids, id)
		} else {
			ids = append(ids, t.merge(t.ranks, []byte(text[:n]))...)
		}
		text = text[n:]
	}
	return ids
}

// piece returns the length of the first piece of the text.
func (t *twin) piece(text string) int {
	rest := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.Is(unicode.White_Space, r) })
	if t.whole && rest == "" {
		return len(text)
	}
	for _, re := range t.alternatives {
		if at := re.FindStringIndex(text); at != nil {
			return at[1]
		}
	}
	blanks := text[:len(text)-len(rest)]
	_, last := utf8.DecodeLastRuneInString(blanks)
	if rest == "" || last == len(blanks) {
		return len(blanks)
	}
	return len(blanks) - last
}

// naiveMerge joins the leftmost pair with the lowest rank until none is left: quadratic.
func naiveMerge(ranks map[string]uint32, piece []byte) []uint32 {
	starts := make([]int, 0, len(piece)+1)
	for i := range len(piece) + 1 {
		starts = append(starts, i)
	}
	for len(starts) > 2 {
		best, at := uint32(math.MaxUint32), -1
		for i := 0; i+2 < len(starts); i++ {
			if rank, ok := ranks[string(piece[starts[i]:starts[i+2]])]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			break
		}
		starts = append(starts[:at+1], starts[at+2:]...)
	}
	ids := make([]uint32, 0, len(starts))
	for i := 0; i+1 < len(starts); i++ {
		ids = append(ids, ranks[string(piece[starts[i]:starts[i+1]])])
	}
	return ids
}

// heapMerge is naiveMerge with a heap, for long pieces.
func heapMerge(ranks map[string]uint32, piece []byte) []uint32 {
	end, prev := make([]int, len(piece)), make([]int, len(piece)+1) // by start: where that part ends, where the one before starts
	var offers offerHeap
	push := func(start int) {
		if start < 0 || end[start] == len(piece) {
			return
		}
		stop := end[end[start]]
		if rank, ok := ranks[string(piece[start:stop])]; ok {
			heap.Push(&offers, joinOffer{rank, start, stop})
		}
	}
	for i := range piece {
		end[i], prev[i] = i+1, i-1
	}
	for i := range piece {
		push(i)
	}
	for len(offers) > 0 {
		o, ok := heap.Pop(&offers).(joinOffer)
		if !ok || end[o.start] < 0 || end[o.start] == len(piece) || end[end[o.start]] != o.stop {
			continue // one of the two has been joined meanwhile
		}
		gone := end[o.start]
		end[o.start], end[gone] = o.stop, -1
		prev[o.stop] = o.start
		push(o.start)
		push(prev[o.start])
	}
	var ids []uint32
	for i := 0; i < len(piece); i = end[i] {
		ids = append(ids, ranks[string(piece[i:end[i]])])
	}
	return ids
}

// joinOffer says that piece[start:stop] is two neighbouring parts whose joined token has that rank.
type joinOffer struct {
	rank        uint32
	start, stop int
}

type offerHeap []joinOffer

func (h offerHeap) Len() int { return len(h) }
func (h offerHeap) Less(i, j int) bool {
	return h[i].rank < h[j].rank || h[i].rank == h[j].rank && h[i].start < h[j].start
}
func (h offerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *offerHeap) Push(x any) {
	if o, ok := x.(joinOffer); ok {
		*h = append(*h, o)
	}
}

func (h *offerHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
