package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A room is how much a summary may have.
type room struct {
	tokens, words int
	counter       token.Counter
}

func (r room) holds(text string) bool {
	return countWords(text) <= r.words && r.counter.Text(text) <= r.tokens
}

// cut returns as much of a text as there is room for.
func (r room) cut(text string) string {
	text = strings.TrimSpace(text)
	if countWords(text) > r.words {
		text = clipWords(text, r.words)
	}
	return fit(text, r.tokens, r.counter)
}

// titles are the parts of a summary in the order of the document, each with how soon its
// facts are taken among those of one iteration, where not all have room.
var titles = []struct {
	kind  kind
	title string
	order int
}{
	{decision, "Key decisions:", 2},
	{works, "Working approaches:", 5},
	{failed, "Failed approaches:", 1},
	{finding, "Findings:", 4},
	{current, "Current state:", 6},
	{next, "Next steps:", 3},
	{file, "Files:", 0},
	{empty, "No output in iterations:", 0},
	{interrupted, "Interrupted iterations:", 0},
}

const (
	newestStates = 8 // older states of the work have been superseded
	newestRanges = 12
	verbatim     = 28 // words that a fact may have whole; with less room it goes without fillers
)

// lengths are how many words a fact may have: shorter comes before fewer.
var lengths = [...]int{8, 9, 11, 13, 16, 20, verbatim, 40}

// A note is a fact made ready to be written.
type note struct {
	fact
	key   string   // the same for what says the same with other figures
	whole int      // words
	kept  []string // words without fillers
	place int      // among these, of the one that tells the kind
}

// A line is a note with the words that it may have.
type line struct {
	*note
	at    int // among the notes
	turn  int // how many of its iteration go before it
	words int
}

// write returns the summary of notes, behind an earlier one that a model wrote, if there
// is one. The same notes give the same summary: it is written from all of them, never from
// its own former self.
func write(notes []note, earlier string, r room) string {
	if earlier != "" {
		half := room{r.tokens / 2, r.words / 2, r.counter}
		earlier = half.cut(earlier) + "\n"
	}
	lines := rank(notes)
	lines = lines[:min(len(lines), r.words)] // a line has a word at least
	// As many as fit, in the order of their rank; then longer ones, in the same order.
	lines = lines[:largest(len(lines), func(n int) bool { return r.holds(earlier + render(lines[:n])) })]
	for _, words := range lengths[1:] {
		longer := func(n int) []line {
			l := slices.Clone(lines)
			for i := range n {
				l[i].words = words
			}
			return l
		}
		n := largest(len(lines), func(n int) bool { return r.holds(earlier + render(longer(n))) })
		if lines = longer(n); n < len(lines) {
			break
		}
	}
	return r.cut(earlier + render(lines))
}

// largest returns the largest number up to n that holds, where smaller ones hold as well.
func largest(n int, holds func(n int) bool) int {
	low, high := 0, n
	for try := n; low < high; try = (low + high + 1) / 2 { // all of them first: often they fit
		if holds(try) {
			low = try
		} else {
			high = try - 1
		}
	}
	return low
}

// rank orders notes by how much they are missed: first one of each iteration, then a
// second one, and so on, the newest iterations first. What failed, was decided or is to be
// done goes before what else there was, of however long ago. Names and numbers take
// little, and have turns of their own.
func rank(notes []note) []line {
	last := map[string]int{}
	states := 0
	for i, n := range notes {
		last[n.key] = i
		if n.Kind == current {
			states++
		}
	}
	var lines []line
	for i := range notes {
		n := &notes[i]
		if n.Kind == current {
			states--
		}
		// What was said again later stands there; older states have been superseded.
		if last[n.key] == i && (n.Kind != current || states < newestStates) {
			lines = append(lines, line{note: n, at: i, words: lengths[0]})
		}
	}
	orders := map[kind]int{}
	for _, t := range titles {
		orders[t.kind] = t.order
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(b.Iteration-a.Iteration, orders[a.Kind]-orders[b.Kind], a.at-b.at)
	})
	words, names := 0, 0
	for i := range lines {
		if i > 0 && lines[i].Iteration != lines[i-1].Iteration {
			words, names = 0, 0
		}
		if orders[lines[i].Kind] == 0 {
			lines[i].turn, names = names, names+1
		} else {
			lines[i].turn, words = words, words+1
			if orders[lines[i].Kind] > orders[next] {
				lines[i].turn = max(1, lines[i].turn)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.turn - b.turn })
	return lines
}

// render writes facts under their titles, in the order of their iterations.
func render(lines []line) string {
	lines = slices.Clone(lines)
	slices.SortFunc(lines, func(a, b line) int { return a.at - b.at })
	var b strings.Builder
	for _, t := range titles {
		var texts []string
		var numbers []int
		for _, l := range lines {
			switch {
			case l.Kind != t.kind:
			case l.Text == "":
				numbers = append(numbers, l.Iteration)
			case t.kind == file:
				texts = append(texts, l.Text)
			default:
				texts = append(texts, l.shown())
			}
		}
		switch {
		case len(numbers) > 0:
			fmt.Fprintf(&b, "%s %s\n", t.title, ranges(numbers))
		case t.kind == file && len(texts) > 0:
			fmt.Fprintf(&b, "%s %s\n", t.title, strings.Join(texts, ", "))
		case len(texts) > 0:
			fmt.Fprintf(&b, "%s\n%s\n", t.title, strings.Join(texts, "\n"))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ranges writes ascending numbers as "3, 7-9", the newest dozen of them.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	if len(parts) > newestRanges {
		parts = append([]string{ellipsis}, parts[len(parts)-newestRanges:]...)
	}
	return strings.Join(parts, ", ")
}

// fillers are words that a note does without: those that tell nothing by themselves.
const fillers = " a about after again all also am an and any are as at be because been before being both but by came can could did do does " +
	"each ever every few for from get gets give gives go goes had has have here how i if in into is it its itself just lies made make makes " +
	"many may me might more most much my of off on once one or other our ours out own put same she so some somebody something such than that " +
	"the their them themselves then there these they this those though through to too two under until up upon us very was we were what " +
	"when where which while who whom whose why with within would you your "

// noteOf makes a fact ready.
func noteOf(f fact) note {
	n := note{fact: f, key: f.same()}
	if f.Text == "" || f.Kind == file {
		return n
	}
	n.key = string(f.Kind) + " " + gist(f.Text)
	_, cue := cueAt(f.Text)
	at := 0
	for w := range strings.FieldsSeq(f.Text) {
		at += strings.Index(f.Text[at:], w)
		if at <= cue {
			n.place = len(n.kept)
		}
		at += len(w)
		n.whole++
		if !strings.Contains(fillers, " "+strings.ToLower(strings.Trim(w, ".,;:"))+" ") {
			n.kept = append(n.kept, w)
		}
	}
	return n
}

// shown returns a fact in the words that it may have, without fillers where these are few:
// a sentence begins with what it is about, and what became of that stands around the word
// that tells its kind.
func (l line) shown() string {
	if len(l.kept) == 0 || l.words >= verbatim && l.whole <= l.words {
		return l.Text
	}
	if len(l.kept) <= l.words {
		return strings.Join(l.kept, " ")
	}
	half := l.words / 2
	rest := l.words - half
	from := min(max(half, l.place-half/2), len(l.kept)-rest)
	text := strings.Join(l.kept[:half], " ")
	if from > half {
		text += ellipsis
	}
	return text + " " + strings.Join(l.kept[from:from+rest], " ")
}
