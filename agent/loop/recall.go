package loop

import (
	"context"
	"fmt"
	"slices"

	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Bounds of what is looked for.
const (
	mostHits   = 40 // passages that are looked at
	mostRecall = 8  // that a prompt gets, of each iteration
	mostOfOne  = 2  // two
)

// recall looks for passages of older iterations that fit the next prompt. What goes wrong with
// that is told, and the prompt has none.
func (r *Runner) recall(ctx context.Context, query string) error {
	rec := record{Kind: kindRecalled, At: r.o.Now()}
	var err error
	if searcher, ok := r.o.Store.(store.Searcher); ok {
		var hits []store.Hit
		hits, err = searcher.Search(ctx, r.journal.session, query, mostHits)
		rec.Passages = r.passages(hits)
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if err != nil {
		r.note("older iterations were not looked at: %v", err)
	}
	return r.feed(core.Recalled{Passages: rec.Passages}, rec)
}

// passages returns what of some hits is of iterations, a few of each.
func (r *Runner) passages(hits []store.Hit) []core.Passage {
	var found []core.Passage
	count := map[int]int{}
	for _, h := range hits {
		n, known := r.outputs[h.Ref]
		if !known || n > r.machine.Context().Folded() || count[n] == mostOfOne {
			continue
		}
		count[n]++
		if found = append(found, core.Passage{Iteration: n, Text: valid(h.Text)}); len(found) == mostRecall {
			break
		}
	}
	return found
}

// know gives the machine what is known of the workspace, if that is not what it has.
func (r *Runner) know(ctx context.Context) error {
	if r.memory == nil {
		return nil
	}
	if err := r.memory.read(ctx); err != nil {
		return err
	}
	facts := r.memory.memos()
	if slices.Equal(facts, r.known) {
		return nil
	}
	r.known = facts
	return r.feed(core.Known{Facts: facts}, record{Kind: kindKnown, At: r.o.Now(), knowing: knowing{Known: facts}})
}

// mostLessons is how much of a loop that has achieved its goal is remembered by itself.
const mostLessons = 5

// remember takes what the agent, or the end of the loop, adds to what is known of the workspace.
func (r *Runner) remember(ctx context.Context, events []core.Event) error {
	if r.memory == nil {
		return nil
	}
	add := func(text, source string) error {
		_, err := r.memory.Add(ctx, Fact{Text: text, Source: source, Loop: r.id, At: r.o.Now()})
		return err
	}
	for _, e := range events {
		if e.Kind != core.EventRemember {
			continue
		}
		if err := add(e.Text, fmt.Sprintf("loop %s, iteration %d", r.id, e.Iteration)); err != nil {
			return err
		}
	}
	if r.machine.Ready().End != core.GoalComplete {
		return nil
	}
	for _, text := range r.machine.Lessons(mostLessons) {
		if err := add(text, "loop "+r.id); err != nil {
			return err
		}
		r.note("remembered: %s", text)
	}
	return nil
}
