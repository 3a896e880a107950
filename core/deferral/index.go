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
	weightName      = 10
	weightFirst     = 6 // the first sentence of the description
	weightRest      = 2
	weightParameter = 1
)

// The parameters of BM25, in 16ths: how soon more of a word stops counting for more, and how
// much a long definition takes from each of its words.
const (
	unit      = 16
	saturates = 80 // 5.0
	lengthens = 12 // 0.75
)

// An Index finds tools. It is not changed once it is made.
type Index struct {
	tools    []named
	postings map[string][]posting
	length   []int // weighted words of each tool
	average  int
	other    thesaurus
}

// A named is the name of a tool.
type named struct {
	plain string   // in lower case
	words []string // of all of it
	short []string // without the name of its server before it
	stems []string // of the short one
}

func nameOf(name string) named {
	n := named{plain: strings.ToLower(name), words: wordsOf(name)}
	n.short = n.words
	if _, short, ok := strings.Cut(name, "__"); ok {
		n.short = wordsOf(short)
	}
	for _, w := range n.short {
		n.stems = append(n.stems, stem(w))
	}
	return n
}

// A posting is how often a word stands in a tool's definition, weighted.
type posting struct{ tool, count int }

// NewIndex returns an index of tools.
func NewIndex(tools []llm.Tool) *Index {
	x := &Index{postings: map[string][]posting{}, length: make([]int, len(tools)), other: newThesaurus()}
	all := 0
	for i, t := range tools {
		x.tools = append(x.tools, nameOf(t.Name))
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
	asked := wordsOf(query)
	asked = asked[:min(len(asked), mostWords)]
	verbatim := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" \t\n,;:()\"'`", r) })
	scores, ranks := x.scores(asked), make([]int, len(x.tools))
	var found []int
	for i, t := range x.tools {
		ranks[i] = t.rank(asked, verbatim)
		if scores[i] > 0 || ranks[i] > 0 {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(ranks[b], ranks[a]), cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return found[:min(max(limit, 0), len(found))]
}

// mostWords bounds the words of a query that are looked at: more are a text, and no wish.
const mostWords = 64

// rank says whether a query, in words and as it stands, names a tool: 2 if it does, 1 if it
// begins its name, with or without that of its server.
func (n named) rank(asked, verbatim []string) int {
	switch {
	case len(asked) == 0:
		return 0
	case slices.Contains(verbatim, n.plain), slices.Equal(asked, n.words), slices.Equal(asked, n.short):
		return 2
	case begins(n.words, asked), begins(n.short, asked):
		return 1
	}
	return 0
}

// begins reports whether words are the beginning of a name, of which the last may be cut.
func begins(name, asked []string) bool {
	n := len(asked)
	return n <= len(name) && slices.Equal(asked[:n-1], name[:n-1]) && strings.HasPrefix(name[n-1], asked[n-1])
}

// scores returns what a query scores for each tool: for each of its words the best of that
// word and those that are used for it. The more words of the query a definition has, the more
// all of that counts, up to half as much again; and then the more words of its name are meant,
// up to twice.
func (x *Index) scores(asked []string) []int {
	out, one, has := make([]int, len(x.tools)), make([]int, len(x.tools)), make([]int, len(x.tools))
	meant := x.meant(asked)
	for _, stems := range meant {
		clear(one)
		for _, stem := range stems {
			list := x.postings[stem]
			rare := log2(2*len(x.tools)+2) - log2(2*len(list)+1)
			for _, p := range list {
				s := rare * p.count * (unit + saturates) / (p.count*unit + saturates*x.lengthened(p.tool)/unit)
				one[p.tool] = max(one[p.tool], s)
			}
		}
		for i, s := range one {
			out[i] += s
			if s > 0 {
				has[i]++
			}
		}
	}
	for i, t := range x.tools {
		if out[i] > 0 {
			out[i] += out[i] * has[i] / (2 * len(meant))
		}
		if out[i] > 0 && len(t.stems) > 0 {
			out[i] += out[i] * t.covered(meant) / len(t.stems)
		}
	}
	return out
}

// covered returns how many words of a name are meant.
func (n named) covered(meant [][]string) (words int) {
	for _, s := range n.stems {
		if slices.ContainsFunc(meant, func(stems []string) bool { return slices.Contains(stems, s) }) {
			words++
		}
	}
	return words
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

// meant returns the stems of a query's words, each with those that are used for it.
func (x *Index) meant(asked []string) [][]string {
	var out [][]string
	seen := map[string]bool{}
	for _, w := range asked {
		s := stem(w)
		if glue[w] || seen[s] {
			continue
		}
		seen[s] = true
		out = append(out, append([]string{s}, x.other[s]...))
	}
	return out
}
