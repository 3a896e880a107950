package loop

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

// A kind says what a fact is about: the five that a summary preserves, names of files,
// and what is to be said of an iteration that said nothing.
type kind string

const (
	decision    kind = "decision"
	works       kind = "works"
	failed      kind = "failed"
	current     kind = "state"
	next        kind = "next"
	finding     kind = "finding" // what no word tells the kind of
	file        kind = "file"
	empty       kind = "empty"
	interrupted kind = "interrupted"
)

// A fact is one line that an iteration is remembered by.
type fact struct {
	Kind      kind   `json:"kind"`
	Text      string `json:"text,omitempty"`
	Iteration int    `json:"iteration"`
}

// same is equal for facts that say the same, word for word. That an iteration said nothing
// is another fact for each.
func (f fact) same() string {
	switch {
	case f.Text == "":
		return string(f.Kind) + " " + strconv.Itoa(f.Iteration)
	case f.Kind == file:
		return string(f.Kind) + " " + f.Text
	}
	return string(f.Kind) + " " + fold(f.Text)
}

// How much is taken from one iteration.
const (
	maxFact      = 300 // characters
	mostOfKind   = 3
	mostNames    = 10
	maxLogLine   = 100 // characters of what holds no sentence
	maxUnit      = 100 // words of a sentence
	shortestUnit = 5   // words; a shorter sentence leans on the one before
)

// cues are words that tell the kind of a sentence, in the order in which they are tried:
// what failed may well be told with words of work and of plans.
var cues = []struct {
	kind  kind
	words []string
}{
	{failed, []string{
		"failed", "fails", "did not work", "does not work", "do not work", "didn't work", "doesn't work", "not reliable", "unreliable",
		"worse", "reverted", "rolled back", "undid", "undone", "dropped", "gave up", "given up", "dead end", "is dead", "took it out",
		"broke", "breaks", "deadlock", "no good", "turned out wrong", "not worth", "abandoned", "back to", "stalled", "caused", "too slow",
		"had a race", "cannot be", "does not survive", "crashed", "regression", "blew up", "lost", "loses",
	}},
	{decision, []string{
		"decided", "decision", "decide", "chose", "chosen", "choose", "going with", "went with", "opted", "settled", "picked", "stick with",
		"stay with", "stays in", "we use", "we will use", "will be", "must be", "must never", "won over", "rejected", "agreed", "instead of",
		"rather than", "from now on", "is out", "move to", "prefer",
	}},
	{next, []string{
		"next", "todo", "to do", "remains", "remaining", "pending", "need to", "needs to", "should", "is open", "not started", "has to be",
		"have to", "has to", "to be tried", "for later", "left to", "i would", "would be good", "plan", "not written", "missing", "still to",
	}},
	{works, []string{
		"works", "working", "passes", "pass now", "fixed", "solved", "succeeded", "stable", "faster", "using", "handled", "in place",
	}},
	{current, []string{
		"complete", "completed", "done", "finished", "implemented", "added", "wrote", "moved", "split", "lives in", "is in", "now",
	}},
}

// cueAt returns the kind of a sentence, and at which of its bytes the word stands that
// tells it.
func cueAt(sentence string) (kind, int) {
	lower := lowerASCII(sentence)
	for _, c := range cues {
		for _, w := range c.words {
			if at := indexWord(lower, w); at >= 0 {
				return c.kind, at
			}
		}
	}
	return "", 0
}

// indexWord finds words that stand by themselves.
func indexWord(text, words string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], words)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(words)
		if (at == 0 || !isLetter(text[at-1])) && (end == len(text) || !isLetter(text[end])) {
			return at
		}
		from = at + 1
	}
}

func isLetter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80
}

// factsIn returns what iteration n is remembered by: at least one fact, and of each kind
// the last ones, since an agent comes to its conclusions at the end.
func factsIn(n int, words string, markers, changed []string) []fact {
	c := collected{seen: map[string]int{}, count: map[kind]int{}}
	for _, m := range markers {
		c.add(current, m)
	}
	units := unitsIn(words)
	stated := listed(units)
	known := map[string]bool{}
	for _, list := range []struct {
		kind kind
		of   []summary.Statement
	}{{decision, stated.Decisions}, {next, stated.Todos}, {works, stated.Done}} {
		for _, s := range list.of {
			c.add(list.kind, s.Text)
			known[s.Text] = true
		}
	}
	for _, u := range units {
		_, said, _ := strings.Cut(u, ": ")
		if u = bare(u); known[u] || known[said] || countWords(u) < 3 {
			continue
		}
		k, _ := cueAt(u)
		if k == "" {
			k = finding
		}
		c.add(k, u)
	}
	if len(c.facts) == 0 {
		c.add(finding, oneLine(words, maxLogLine))
	}
	for _, path := range slices.Concat(changed, namesIn(words)) {
		if c.count[file] < mostNames {
			c.add(file, path)
		}
	}
	if len(c.facts) == 0 {
		return []fact{{empty, "", n}}
	}
	return c.last(n)
}

// collected are the facts of one iteration, none twice.
type collected struct {
	facts []fact
	seen  map[string]int // by gist: where it stands
	count map[kind]int
}

func (c *collected) add(k kind, text string) {
	text = oneLine(text, maxFact)
	key := gist(text)
	if k == file {
		key = text
	}
	switch at, again := c.seen[key]; {
	case again && c.facts[at].Kind == k:
		c.facts[at].Text = text // the same with other figures
	case text != "" && !again:
		c.seen[key] = len(c.facts)
		c.count[k]++
		c.facts = append(c.facts, fact{Kind: k, Text: text})
	}
}

// last returns the last facts of each kind, as those of iteration n.
func (c *collected) last(n int) []fact {
	var kept []fact
	for _, f := range c.facts {
		f.Iteration = n
		if f.Kind == file || c.count[f.Kind] <= mostOfKind {
			kept = append(kept, f)
		}
		c.count[f.Kind]--
	}
	return kept
}

// listed reads what is stated in a form of its own: "Decision: …", "Next steps:" with
// items under it, "[x] …".
func listed(units []string) summary.Facts {
	var c summary.Collector
	c.Add(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: strings.Join(units, "\n")}}})
	return c.Facts()
}

// unitsIn returns the sentences and items of a text: paragraphs are put together and
// split into sentences; logs, code and tables are left out.
func unitsIn(words string) []string {
	for _, name := range []string{progressTag, promiseTag, rememberTag} {
		words = without(words, tagsIn(words, name))
	}
	var units []string
	var paragraph []string // words
	flush := func() {
		units = append(units, sentences(paragraph)...)
		paragraph = nil
	}
	for line := range strings.Lines(words) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || isNoise(line):
			flush()
		case isItem(line) || isFault(line) || strings.HasSuffix(line, ":"):
			flush()
			units = append(units, line)
		default:
			paragraph = append(paragraph, strings.Fields(line)...)
		}
	}
	flush()
	return units
}

// isItem says whether a line is an item of a list, or a heading.
func isItem(line string) bool {
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "#"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	rest := strings.TrimLeft(line, "0123456789")
	return len(rest) < len(line) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// isFault says whether a line is a message about an error, which is no sentence of a
// paragraph.
func isFault(line string) bool {
	first, _, more := strings.Cut(lowerASCII(line), ":")
	switch first {
	case "error", "warning", "fatal", "panic", "fail", "failed":
		return more
	}
	return false
}

// bare takes the marks of a list and of emphasis off a unit.
func bare(unit string) string {
	if isItem(unit) {
		unit = strings.TrimLeft(unit, "-*+•#0123456789.) ")
	}
	return strings.ReplaceAll(unit, "**", "")
}

// isNoise recognises lines that no person would have written: logs, traces, code, tables.
func isNoise(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	if isTime(first) || strings.HasPrefix(line, "at ") && strings.Contains(line, ":") || strings.HasPrefix(line, "|") {
		return true
	}
	if strings.ContainsAny(line[len(line)-1:], "{};\\") {
		return true
	}
	letters, others := 0, 0
	for _, r := range line {
		switch {
		case unicode.IsLetter(r):
			letters++
		case !unicode.IsSpace(r):
			others++
		}
	}
	return letters < 2*others
}

// sentences splits a paragraph. One that leans on another stays with the one before, the
// first with the one behind.
func sentences(words []string) []string {
	var found [][]string
	start := 0
	for i, w := range words {
		if i+1 < len(words) && !endsSentence(w) {
			continue
		}
		s := words[start : i+1]
		if n := len(found); n > 0 && (leans(s) || n == 1 && leans(found[0])) {
			s = words[start-len(found[n-1]) : i+1]
			found = found[:n-1]
		}
		found = append(found, s)
		start = i + 1
	}
	texts := make([]string, len(found))
	for i, s := range found {
		texts[i] = strings.Join(s[:min(len(s), maxUnit)], " ")
	}
	return texts
}

func endsSentence(word string) bool {
	bare := strings.TrimRight(word, `"')`)
	// An abbreviation has a dot within, or is next to nothing.
	return len(bare) > 2 && strings.IndexAny(bare, ".!?") == len(bare)-1
}

// leans says whether a sentence needs another one to be understood: it begins with a word
// for something named before, or it is short and says no more than that something failed.
func leans(words []string) bool {
	if len(words) < shortestUnit {
		k, _ := cueAt(strings.Join(words, " "))
		return k == "" || k == failed
	}
	switch strings.ToLower(words[0]) {
	case "it", "this", "that", "they", "these", "those":
		return true
	}
	return false
}

// gist returns a text by its words, in lower case, without numbers and times: texts of the
// same gist say the same with other figures.
func gist(text string) string {
	var b strings.Builder
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		if strings.ContainsFunc(w, unicode.IsLetter) && !isTime(w) {
			b.WriteString(strings.Trim(w, ".,;:!?()"))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// namesIn returns the names of files in a text, each once.
func namesIn(words string) []string {
	var found []string
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		w = strings.Trim(w, "`\"'()[]{}<>,;:!?*.")
		if !seen[w] && isName(w) {
			seen[w] = true
			found = append(found, w)
		}
	}
	return found
}

// isName recognises a path: with an extension of at most five letters and digits.
func isName(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	if dot < 2 || len(word) > maxPath || strings.Contains(word, "://") || strings.ContainsAny(word, "()=,$@\"") {
		return false
	}
	ext := word[dot+1:]
	if len(ext) < 1 || len(ext) > 5 || ext[0] < 'a' || ext[0] > 'z' || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return false
	}
	return isLetter(word[dot-1])
}
