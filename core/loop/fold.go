package loop

import (
	"fmt"
	"slices"
)

// A ledger is the state with what it was told to go by: who is in the window, who in the
// summary.
type ledger struct {
	cfg    Config
	s      *state
	events []Event         // since Feed began
	notes  []note          // of the facts, as far as they were needed
	known  map[string]bool // their kinds and texts
}

// note makes notes of the facts that have none.
func (l *ledger) note() {
	if l.known == nil {
		l.known = map[string]bool{}
	}
	for _, f := range l.s.Facts[len(l.notes):] {
		l.notes = append(l.notes, noteOf(f))
		l.known[f.same()] = true
	}
}

// notesTo returns the notes of the iterations up to n.
func (l *ledger) notesTo(n int) []note {
	l.note()
	end, _ := slices.BinarySearchFunc(l.notes, n+1, func(x note, n int) int { return x.Iteration - n })
	return l.notes[:end]
}

func (l *ledger) event(k EventKind, iteration int, format string, args ...any) {
	l.events = append(l.events, Event{k, iteration, fmt.Sprintf(format, args...)})
}

// pending returns the raw iterations that have left the window.
func (l *ledger) pending() []IterationContext {
	its := l.s.Context.Iterations
	return its[:max(0, len(its)-l.window())]
}

// Bounds of a window that adapts itself.
const (
	leastAdaptive = 2
	mostAdaptive  = 4 // times the window that is stated
)

// window returns how many of the newest iterations are raw.
func (l *ledger) window() int {
	if !l.cfg.Adaptive {
		return l.cfg.Window
	}
	room := recentTokens / 2
	if l.s.Counters.Stuck > 0 { // what was tried lately is what must not be tried again
		room = recentTokens
	}
	n := 0
	for _, it := range slices.Backward(l.s.Context.Iterations) {
		if room -= min(iterationTokens, l.cfg.Counter.Text(it.shown())); room < 0 {
			break
		}
		n++
	}
	return min(max(n, leastAdaptive), min(mostAdaptive*l.cfg.Window, maxWindow))
}

// settle has what is pending folded: by code at once, else by a model that is asked when
// something has left the window, and at each interval. Since a question goes before the
// next iteration, one at an interval is about both.
func (l *ledger) settle(interval bool) {
	n := len(l.pending())
	if !l.cfg.AskModel {
		l.byCode(n)
		l.s.Want, l.s.Held = nothing, false
		return
	}
	if interval {
		l.s.Held = false
	}
	l.byCode(n - maxPending)
	old := l.s.Want
	switch {
	case interval && (n > 0 || l.s.Context.Folded() > 0):
		l.s.Want = anew
	case n > 0 && !l.s.Held && old == nothing:
		l.s.Want = folding
	case n == 0 && (old == folding || l.s.Context.Folded() == 0): // a larger window shows again what was to be folded
		l.s.Want = nothing
	}
	if old == nothing && l.s.Want != nothing {
		l.s.Counters.Asked++
	}
}

// byCode folds the first n iterations and writes the summary of all facts.
func (l *ledger) byCode(n int) {
	if n <= 0 {
		return
	}
	summary := write(l.notesTo(l.s.Context.Folded()+n), l.s.Written, room{l.cfg.MaxSummaryTokens, maxSummaryWords, l.cfg.Counter})
	l.leave(n, summary)
}

// leave takes the first n raw iterations into a summary that stands for them as well. The
// summary comes first: what is in none would be nowhere.
func (l *ledger) leave(n int, summary string) {
	c := &l.s.Context
	c.Summary = summary
	for _, it := range c.Iterations[:n] {
		l.event(EventFolded, it.Number, "iteration %d is in the summary", it.Number)
	}
	c.Iterations = append([]IterationContext(nil), c.Iterations[n:]...)
	l.forget()
}

// mostFacts is how many facts are kept of folded iterations, once there are twice as many:
// the longest record of them, in a question, has room for at most 1,500.
const mostFacts = 4000

// forget leaves of the facts of folded iterations those that a summary would take first, so
// that a state and the time to write a summary do not grow with the loop.
func (l *ledger) forget() {
	folded := l.notesTo(l.s.Context.Folded())
	if len(folded) <= 2*mostFacts {
		return
	}
	lines := rank(folded)
	lines = lines[:min(len(lines), mostFacts)]
	slices.SortFunc(lines, func(a, b line) int { return a.at - b.at })
	kept := make([]fact, 0, len(lines)+len(l.s.Facts)-len(folded))
	for _, x := range lines {
		kept = append(kept, x.fact)
	}
	l.s.Facts = append(kept, l.s.Facts[len(folded):]...)
	l.notes, l.known = nil, nil
}
