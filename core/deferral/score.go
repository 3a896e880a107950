package deferral

import "math/bits"

// What a word counts by where it stands in a definition. These and the numbers below were tried on the
// requests that are for that (testdata/requests.tsv): one of them alone, halved or doubled, hardly moves
// what is found.
const (
	weightName   = 20
	weightFirst  = 18 // the first sentence of the description
	weightRest   = 4
	weightSchema = 1 // names of parameters, what is said of them, the values that they may have
)

// The parameters of BM25, in 16ths: how soon more of a word stops counting for more, and how
// much a long definition takes from each of its words.
const (
	unit      = 16
	saturates = 160 // 10.0
	lengthens = 12  // 0.75
)

// How much more all of a tool's score counts, in 16ths, if it has all words of the query, if all
// words of its name are meant, and if it does what is asked for.
const (
	wholeQuery = 32
	wholeName  = 16
	sameDeed   = 4
)

// scores returns what a query scores for each tool: for each of its words the best of those
// that it may mean, and more for how much of the query and of the tool's name that is.
func (x *Index) scores(meant [][]string, wanted deed) []int {
	n := len(x.tools)
	out, one, has, named := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	seen := map[string]bool{}
	for _, stems := range meant {
		x.word(stems, one)
		for i, s := range one {
			out[i] += s
			has[i] += min(s, 1)
		}
		for _, s := range stems {
			if seen[s] {
				continue
			}
			seen[s] = true
			for _, p := range x.posted(s) {
				named[p.tool] += p.inName
			}
		}
	}
	for i, t := range x.tools {
		out[i] = more(out[i], wholeQuery, has[i], len(meant))
		out[i] = more(out[i], wholeName, named[i], len(t.short))
		if wanted == 0 || t.deed == 0 || wanted&t.deed != 0 {
			out[i] = more(out[i], sameDeed, 1, 1)
		}
	}
	return out
}

// more returns a score with its share, part of whole, of what counts in 16ths.
func more(score, counts, part, whole int) int {
	return score + score*counts*part/(unit*max(whole, 1))
}

// word writes into scores what one word of a query scores for each tool, by BM25. Half of how
// rare it is, is how rare what it may mean is together: a word that may mean much says little.
func (x *Index) word(stems []string, scores []int) {
	clear(scores)
	for _, s := range stems {
		for _, p := range x.posted(s) {
			scores[p.tool] = 1
		}
	}
	together := 0
	for _, s := range scores {
		together += s
	}
	for _, s := range stems {
		list := x.posted(s)
		rare := (x.rare(len(list)) + x.rare(together)) / 2
		for _, p := range list {
			s := rare * p.count * (unit + saturates) / (p.count*unit + saturates*x.lengthened(p.tool)/unit)
			scores[p.tool] = max(scores[p.tool], s)
		}
	}
}

// rare returns how rare it is to stand in n tools, in 1,024ths.
func (x *Index) rare(n int) int { return log2(2*len(x.tools)+2) - log2(2*n+1) }

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
