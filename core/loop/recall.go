package loop

import (
	"slices"
	"strings"
)

// Bounds of what is asked for and shown of other places.
const (
	queryWords  = 120  // of a query; who looks takes the first ones
	lastWords   = 40   // of them from the end of the newest output
	maxPassage  = 1000 // characters
	maxPassages = 20
	maxMemo     = 300 // characters
	maxMemos    = 100
)

// query returns the words that passages are looked for by: those of messages to come, of next
// steps and marks of the newest iteration, of its end, and of the goal.
func (l *ledger) query() string {
	var texts []string
	for _, m := range l.s.Messages {
		texts = append(texts, m.Text)
	}
	if its := l.s.Context.Iterations; len(its) > 0 {
		newest := its[len(its)-1]
		for _, f := range slices.Backward(l.s.Facts) {
			if f.Iteration != newest.Number {
				break
			}
			if f.Kind == next {
				texts = append(texts, f.Text)
			}
		}
		texts = append(texts, newest.ProgressMarkers...)
		words := strings.Fields(newest.Output)
		texts = append(texts, strings.Join(words[max(0, len(words)-lastWords):], " "))
	}
	texts = append(texts, l.s.Context.Task.Goal)
	var words []string
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(bounded(strings.Join(texts, " "))) {
		bare := strings.ToLower(strings.Trim(w, ".,;:!?()[]{}<>`\"'*"))
		if seen[bare] || bare == "" || strings.Contains(fillers, " "+bare+" ") || strings.ContainsAny(w, "<>") {
			continue
		}
		seen[bare] = true
		if words = append(words, bare); len(words) == queryWords {
			break
		}
	}
	return strings.Join(words, " ")
}

// passages returns what is shown of passages that were found: of folded iterations, none twice.
func (l *ledger) passages(list []Passage) []Passage {
	var kept []Passage
	seen := map[string]bool{}
	for _, p := range list {
		p.Text = clip(strings.TrimSpace(plain(bounded(p.Text))), maxPassage)
		if p.Iteration < 1 || p.Iteration > l.s.Context.Folded() || p.Text == "" || seen[fold(p.Text)] {
			continue
		}
		seen[fold(p.Text)] = true
		if kept = append(kept, p); len(kept) == maxPassages {
			break
		}
	}
	return kept
}

// memos returns what is kept of what is known: a line each, none twice.
func memos(list []Memo) []Memo {
	var kept []Memo
	seen := map[string]bool{"": true}
	for _, x := range list {
		x = Memo{oneLine(plain(x.Text), maxMemo), oneLine(plain(x.Source), maxName)}
		if key := fold(x.Text); !seen[key] && len(kept) < maxMemos {
			seen[key] = true
			kept = append(kept, x)
		}
	}
	return kept
}
