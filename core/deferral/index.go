package deferral

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// What a word counts by where it stands in a definition.
const (
	weightName      = 5
	weightFirst     = 3 // the first sentence of the description
	weightParameter = 1
	weightRest      = 1
)

// The parameters of BM25, in 16ths: how soon more of a word stops counting for more, and how
// much a long definition takes from each of its words.
const (
	unit      = 16
	saturates = 20 // 1.25
	lengthens = 10 // 0.625
)

// An Index finds tools. It is not changed once it is made.
type Index struct {
	names    [][]string // of each tool, in words
	plain    []string   // of each tool, in lower case
	postings map[string][]posting
	length   []int // weighted words of each tool
	average  int
}

// A posting is how often a word stands in a tool's definition, weighted.
type posting struct{ tool, count int }

// NewIndex returns an index of tools.
func NewIndex(tools []llm.Tool) *Index {
	x := &Index{postings: map[string][]posting{}, length: make([]int, len(tools))}
	all := 0
	for i, t := range tools {
		x.names, x.plain = append(x.names, wordsOf(t.Name)), append(x.plain, strings.ToLower(t.Name))
		first, rest := firstSentence(t.Description)
		x.add(i, t.Name, weightName)
		x.add(i, first, weightFirst)
		x.add(i, rest, weightRest)
		parameters(t.Schema, func(name string) { x.add(i, name, weightParameter) })
		all += x.length[i]
	}
	x.average = max(all/max(len(tools), 1), 1)
	return x
}

// add puts the words of a part of a tool's definition into the index.
func (x *Index) add(tool int, text string, weight int) {
	words(text, func(w string) {
		if glue[w] {
			return
		}
		w = stem(w)
		list := x.postings[w]
		if n := len(list); n == 0 || list[n-1].tool != tool {
			list = append(list, posting{tool: tool})
		}
		list[len(list)-1].count += weight
		x.postings[w] = list
		x.length[tool] += weight
	})
}

// Search returns the places of the tools that fit a query best, the best first, at most
// limit: those that it names, then those whose names it begins, then by score. Any text is a
// query; one that fits nothing finds nothing.
func (x *Index) Search(query string, limit int) []int {
	scores := x.scores(query)
	named := x.named(query)
	var found []int
	for i, s := range scores {
		if s > 0 || named[i] > 0 {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(named[b], named[a]), cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return found[:min(max(limit, 0), len(found))]
}

// named says of each tool whether a query names it: 2 if it does, 1 if it begins its name,
// with or without the name of the server before it.
func (x *Index) named(query string) []int {
	out := make([]int, len(x.plain))
	asked := wordsOf(query)
	if len(asked) == 0 {
		return out
	}
	verbatim := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" \t\n,;:()\"'`", r) })
	for i, name := range x.plain {
		_, short, _ := strings.Cut(name, "__")
		switch {
		case slices.Contains(verbatim, name), short != "" && slices.Equal(asked, wordsOf(short)), slices.Equal(asked, x.names[i]):
			out[i] = 2
		case begins(x.names[i], asked), short != "" && begins(wordsOf(short), asked):
			out[i] = 1
		}
	}
	return out
}

// begins reports whether words are the beginning of a name, of which the last may be cut.
func begins(name, asked []string) bool {
	n := len(asked)
	return n <= len(name) && slices.Equal(asked[:n-1], name[:n-1]) && strings.HasPrefix(name[n-1], asked[n-1])
}

// scores returns what a query scores for each tool: for each of its words the best of that
// word and those that are used for it.
func (x *Index) scores(query string) []int {
	out := make([]int, len(x.length))
	one := make([]int, len(x.length))
	for _, variants := range meant(query) {
		clear(one)
		for _, v := range variants {
			list := x.postings[v.stem]
			rare := log2(2*len(x.length)+2) - log2(2*len(list)+1)
			for _, p := range list {
				s := v.share * rare * p.count * (unit + saturates) / (p.count*unit + saturates*x.lengthened(p.tool)/unit)
				one[p.tool] = max(one[p.tool], s)
			}
		}
		for i, s := range one {
			out[i] += s
		}
	}
	return out
}

// lengthened returns by how much the length of a tool's definition counts against its words,
// in 16ths.
func (x *Index) lengthened(tool int) int {
	return unit - lengthens + lengthens*x.length[tool]/x.average
}

// log2 returns the logarithm of n to base 2 in 1,024ths, straight between powers of two: what
// is rare is told from what is not.
func log2(n int) int {
	whole := bits.Len(uint(n)) - 1
	return whole<<10 + (n<<10>>whole - 1<<10)
}

// A variant is a word that a query may mean, with how much it counts in tenths.
type variant struct {
	stem  string
	share int
}

// meant returns the words of a query, each with what else it may mean.
func meant(query string) [][]variant {
	var out [][]variant
	seen := map[string]bool{}
	words(query, func(w string) {
		s := stem(w)
		if glue[w] || seen[s] {
			return
		}
		seen[s] = true
		variants := []variant{{s, 10}}
		for _, other := range synonyms[s] {
			variants = append(variants, variant{other, 5})
		}
		out = append(out, variants)
	})
	return out
}
