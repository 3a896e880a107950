package deferral

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
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
	deed  deed
}

func nameOf(name string) named {
	n := named{plain: strings.ToLower(name), words: wordsOf(name)}
	n.short = n.words
	if _, short, ok := strings.Cut(name, "__"); ok {
		n.short = wordsOf(short)
	}
	return n
}

// A posting is how often a word stands in a tool's definition, weighted, and in its name.
type posting struct{ tool, count, inName int }

// NewIndex returns an index of tools.
func NewIndex(tools []llm.Tool) *Index {
	stem := stemmer{}
	x := &Index{postings: map[string][]posting{}, length: make([]int, len(tools)), other: newThesaurus(stem)}
	all := 0
	for i, t := range tools {
		n := nameOf(t.Name)
		short := stem.all(n.short)
		n.deed = deedOf(short)
		x.tools = append(x.tools, n)
		first, rest := firstSentence(t.Description)
		x.add(i, stem.all(n.words[:len(n.words)-len(n.short)]), weightName, 0)
		x.add(i, short, weightName, 1)
		x.add(i, stem.all(meaning(wordsOf(first))), weightFirst, 0)
		x.add(i, stem.all(meaning(wordsOf(rest))), weightRest, 0)
		schemaTexts(t.Schema, func(text string) { x.add(i, stem.all(meaning(wordsOf(text))), weightSchema, 0) })
		all += x.length[i]
	}
	x.average = max(all/max(len(tools), 1), 1)
	return x
}

// add puts the stems of a part of a tool's definition into the index.
func (x *Index) add(tool int, stems []string, weight, inName int) {
	for _, s := range stems {
		list := x.postings[s]
		if n := len(list); n == 0 || list[n-1].tool != tool {
			list = append(list, posting{tool: tool})
		}
		last := &list[len(list)-1]
		last.count += weight
		last.inName += inName
		x.postings[s] = list
		x.length[tool] += weight
	}
}

// Search returns the places of the tools that fit a query best, the best first, at most
// limit: those that it names, then those whose names it begins, then by score. Any text is a
// query; one that fits nothing finds nothing.
func (x *Index) Search(query string, limit int) []int {
	asked := wordsOf(query)
	asked = asked[:min(len(asked), mostWords)]
	verbatim := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" \t\n,;:()\"'`", r) })
	meant := x.meant(asked)
	scores, ranks := x.scores(meant, wantedOf(meant, asks(asked))), make([]int, len(x.tools))
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

// meant returns what each word of a query may mean: its stem, and those that are used for it. Words
// that the glossary has together are one. What a query asks with counts where it begins, and only
// joins further inside.
func (x *Index) meant(asked []string) [][]string {
	var out [][]string
	seen, stem := map[string]bool{}, stemmer{}
	all := stem.all(asked)
	for i, n := 0, 0; i < len(asked); i += n {
		var entry string
		n, entry = x.other.first(all[i:])
		if n == 1 && (glue[asked[i]] || i > 0 && asking[asked[i]]) || seen[entry] {
			continue
		}
		seen[entry] = true
		out = append(out, slices.Concat(stem.all(meaning(asked[i:i+n])), x.other[entry]))
	}
	return out
}
