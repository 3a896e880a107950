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
	postings map[string]*[]posting // by stem
	length   []int                 // weighted words of each tool
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
	x := &Index{postings: map[string]*[]posting{}, length: make([]int, len(tools)), other: newThesaurus(stem)}
	w := writer{x, stem, map[string]*[]posting{}}
	all := 0
	for i, t := range tools {
		x.tools = append(x.tools, w.name(i, t.Name))
		first, rest := firstSentence(t.Description)
		w.text(i, first, weightFirst)
		w.text(i, rest, weightRest)
		schemaTexts(t.Schema, func(text string) { w.text(i, text, weightSchema) })
		all += x.length[i]
	}
	x.average = max(all/max(len(tools), 1), 1)
	return x
}

// A writer puts the words of definitions into an index, tool by tool.
type writer struct {
	*Index
	stem stemmer
	of   map[string]*[]posting // by word: most are met again
}

// name puts the name of a tool into the index.
func (w writer) name(tool int, name string) named {
	n := nameOf(name)
	n.deed = deedOf(w.stem.all(n.short))
	for i, word := range n.words {
		inName := 0
		if i >= len(n.words)-len(n.short) {
			inName = 1
		}
		w.word(tool, word, weightName, inName)
	}
	return n
}

// text puts those words of a text into the index that say something.
func (w writer) text(tool int, text string, weight int) {
	words(text, func(word string) {
		if !glue[word] {
			w.word(tool, word, weight, 0)
		}
	})
}

// word puts a word into the index.
func (w writer) word(tool int, word string, weight, inName int) {
	list := w.of[word]
	if list == nil {
		s := w.stem.of(word)
		if list = w.postings[s]; list == nil {
			list = new([]posting)
			w.postings[s] = list
		}
		w.of[word] = list
	}
	if n := len(*list); n == 0 || (*list)[n-1].tool != tool {
		*list = append(*list, posting{tool: tool})
	}
	last := &(*list)[len(*list)-1]
	last.count += weight
	last.inName += inName
	w.length[tool] += weight
}

// posted returns the tools in which a stem stands.
func (x *Index) posted(stem string) []posting {
	if list := x.postings[stem]; list != nil {
		return *list
	}
	return nil
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
