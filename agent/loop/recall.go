package loop

import (
	"context"
	"errors"
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
// that is told, and the prompt has what was found all the same.
func (r *Runner) recall(ctx context.Context, query string) error {
	rec := record{Kind: kindRecalled, At: r.o.Now()}
	byWords, err := r.byWords(ctx, query)
	var byMeaning []core.Passage
	if r.vectors != nil {
		var failed error
		byMeaning, failed = r.vectors.nearest(ctx, query, r.machine.Context().Folded())
		err = errors.Join(err, failed)
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if err != nil {
		r.note("older iterations were not looked at: %v", err)
	}
	rec.Passages = some(fused(byWords, byMeaning))
	return r.feed(core.Recalled{Passages: rec.Passages}, rec)
}

// byWords returns passages that have words of a query.
func (r *Runner) byWords(ctx context.Context, query string) (found []core.Passage, err error) {
	searcher, ok := r.o.Store.(store.Searcher)
	if !ok {
		return nil, nil
	}
	hits, err := searcher.Search(ctx, r.journal.session, query, mostHits)
	for _, h := range hits {
		if n := r.outputs[h.Ref]; n > 0 && n <= r.machine.Context().Folded() {
			found = append(found, core.Passage{Iteration: n, Text: valid(h.Text)})
		}
	}
	return found, err
}

// some returns the first passages, a few of each iteration.
func some(list []core.Passage) []core.Passage {
	var kept []core.Passage
	count := map[int]int{}
	for _, p := range list {
		if count[p.Iteration] == mostOfOne {
			continue
		}
		count[p.Iteration]++
		if kept = append(kept, p); len(kept) == mostRecall {
			break
		}
	}
	return kept
}

// embed makes vectors of what an iteration has said. Without them it is found by its words.
func (r *Runner) embed(ctx context.Context, iteration int, run ran) {
	if r.vectors == nil {
		return
	}
	words := run.text
	if run.structured {
		words = run.answer
	}
	if err := r.vectors.add(ctx, iteration, words); err != nil {
		r.note("iteration %d has no vectors: %v", iteration, err)
	}
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
