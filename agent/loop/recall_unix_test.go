//go:build unix

package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A figure that stood in a log long ago is in the prompt when the agent is about to need it,
// also after a restart; without recall it is not.
func TestRecall(t *testing.T) {
	t.Run("R004-12_retrieval_over_past_iterations", func(t *testing.T) {
		for _, recall := range []string{loop.On, loop.Off} {
			o := options(t, agent(t, "recalls"))
			o.Settings.Recall, o.Settings.MaxIterations, o.Settings.RecoveryBudget = recall, 9, 100
			r := begin(t, o)
			if got, err := r.Run(t.Context()); err != nil || got.Reason != core.IterationLimit {
				t.Fatalf("want nine iterations, got %+v %v", got, err)
			}
			if again, err := loop.Replayed(t.Context(), o, r.ID()); err != nil || string(again) != string(r.Saved()) {
				t.Errorf("want the records to make the same machine, got %v", err)
			}
			_ = r.Close()
			o.Settings = loop.Settings{MaxIterations: 14}
			next, err := loop.Resume(t.Context(), o, r.ID())
			if err != nil {
				t.Fatal(err)
			}
			got, err := next.Run(t.Context())
			_ = next.Close()
			want := core.GoalComplete
			if recall == loop.Off {
				want = core.IterationLimit
			}
			if err != nil || got.Reason != want {
				t.Errorf("recall %s: want %s, got %+v %v", recall, want, got, err)
			}
		}
	})
	t.Run("a_search_that_fails_is_told", func(t *testing.T) {
		o := options(t, agent(t, "works", "8"))
		o.Settings.Recall = loop.On
		o.Store = deaf{Memory: new(store.Memory)}
		told := 0
		o.Notify = func(n loop.Notice) {
			if strings.Contains(n.Text, "older iterations were not looked at: the index is gone") {
				told++
			}
		}
		if end(t, o, core.GoalComplete); told != 2 {
			t.Errorf("want it told for both prompts, got %d", told)
		}
	})
}

// meaning turns texts into vectors: those that are about the same of a few things are near
// each other, whatever their words.
type meaning struct {
	asked int
	fails bool
}

func (m *meaning) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.asked++
	if m.fails {
		return nil, errors.New("no server")
	}
	about := [][]string{{"turbine", "speed", "rotor", "revolutions"}, {"login", "password"}}
	var out [][]float32
	for _, text := range texts {
		v := make([]float32, len(about)+1)
		v[len(about)] = 0.1
		for i, words := range about {
			for _, w := range words {
				v[i] += float32(strings.Count(strings.ToLower(text), w))
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// With embeddings a passage is found that means what is looked for and shares no word with it,
// also after a restart; without, or when they fail, the loop goes on by words.
func TestEmbeddings(t *testing.T) {
	run := func(t *testing.T, m *meaning, model string) (core.Reason, loop.History) {
		t.Helper()
		o := options(t, agent(t, "means"))
		o.Settings.Recall, o.Settings.Embeddings, o.Settings.MaxIterations, o.Settings.RecoveryBudget = loop.On, model, 9, 100
		o.EmbedderOf = func(string) (loop.Embedder, error) { return m, nil }
		r := begin(t, o)
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		o.Settings = loop.Settings{MaxIterations: 13}
		next, err := loop.Resume(t.Context(), o, r.ID())
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		got, err := next.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got.Reason, history(t, o, r.ID())
	}
	t.Run("R004-12_vectors", func(t *testing.T) {
		m := new(meaning)
		if got, _ := run(t, m, "p/vectors"); got != core.GoalComplete || m.asked < 10 {
			t.Errorf("want the goal, got %s after %d questions", got, m.asked)
		}
	})
	t.Run("R004-12_vectors_off", func(t *testing.T) {
		m := new(meaning)
		if got, _ := run(t, m, loop.ByCode); got != core.IterationLimit || m.asked != 0 {
			t.Errorf("want it not found by words, got %s after %d questions", got, m.asked)
		}
	})
	t.Run("R004-12_vectors_that_fail", func(t *testing.T) {
		if got, h := run(t, &meaning{fails: true}, "p/vectors"); got != core.IterationLimit || len(h.Iterations) != 13 {
			t.Errorf("want the loop to go on, got %s after %d iterations", got, len(h.Iterations))
		}
	})
}

// deaf is a store whose search fails.
type deaf struct{ *store.Memory }

func (deaf) Search(context.Context, string, string, int) ([]store.Hit, error) {
	return nil, errors.New("the index is gone")
}

// What an agent wants to be known, and what a loop that achieved its goal had decided, is in
// the prompts of the next loop in the workspace, with its source, until somebody changes or
// removes it; without memory it is not.
func TestMemory(t *testing.T) {
	t.Run("R004-12_cross-task_memory", func(t *testing.T) {
		o := options(t, agent(t, "remembers", "8080"))
		o.Settings.Memory = loop.On
		first := end(t, o, core.GoalComplete)
		m := opened(t, o)
		var texts []string
		for _, f := range m.Facts() {
			if f.Loop != first.ID || !strings.HasPrefix(f.Source, "loop "+first.ID) {
				t.Errorf("want the loop as the source, got %+v", f)
			}
			texts = append(texts, f.Text)
		}
		if got := strings.Join(texts, "|"); !strings.HasPrefix(got, "The tests need port 8080.|") || !strings.Contains(got, "Decided to keep format 3.") || strings.Count(got, "8080") != 1 {
			t.Errorf("want the fact once, and what was decided, got %s", got)
		}
		if err := m.Edit(t.Context(), loop.Fact{ID: 1, Text: "The tests need port 9090.", Source: "you"}); err != nil {
			t.Fatal(err)
		}
		if err := m.Remove(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		if err := m.Remove(t.Context(), 2); !errors.Is(err, loop.ErrNoFact) {
			t.Errorf("want %v, got %v", loop.ErrNoFact, err)
		}
		shown := func(memory string) int {
			o.Agents = []loop.Agent{agent(t, "remembers", "9090")}
			o.Settings.Memory = memory
			n := 0
			for _, it := range end(t, o, core.GoalComplete).Iterations {
				for _, s := range it.Sections {
					if s.Name == "memory" && s.Tokens > 10 {
						n++
					}
				}
			}
			return n
		}
		if n := shown(loop.On); n == 0 {
			t.Error("want it in the prompts of another loop")
		}
		if n := shown(loop.Off); n != 0 {
			t.Errorf("want it in none without memory, got %d", n)
		}
		if f := opened(t, o).Facts()[0]; f.Text != "The tests need port 9090." || f.Source != "you" || f.ID != 1 {
			t.Errorf("want what was edited to stay a person's, got %+v", f)
		}
	})
	t.Run("two_write_at_a_time", func(t *testing.T) {
		o := options(t)
		a, b := opened(t, o), opened(t, o)
		for i, m := range []*loop.Memory{a, b, a} {
			if f, err := m.Add(t.Context(), loop.Fact{Text: strings.Repeat("x", i+1)}); err != nil || f.ID != i+1 {
				t.Errorf("want fact %d, got %+v %v", i+1, f, err)
			}
		}
		if f, err := b.Add(t.Context(), loop.Fact{Text: "X X"}); err != nil || f.ID != 4 {
			t.Errorf("want another one, got %+v %v", f, err)
		}
		if f, err := a.Add(t.Context(), loop.Fact{Text: " x\nx "}); err != nil || f.ID != 4 || len(a.Facts()) != 4 {
			t.Errorf("want what is known already, got %+v %v", f, err)
		}
	})
	t.Run("texts_that_are_none", func(t *testing.T) {
		m := opened(t, options(t))
		for _, text := range []string{"", " \n", strings.Repeat("x", 301)} {
			if _, err := m.Add(t.Context(), loop.Fact{Text: text}); err == nil {
				t.Errorf("want %.10q refused", text)
			}
		}
	})
	t.Run("of_very_many_the_oldest_of_loops_go", func(t *testing.T) {
		m := opened(t, options(t))
		for i := range 205 {
			f := loop.Fact{Text: strings.Repeat("x", 1+i), Loop: "a-1"}
			if i == 0 {
				f.Loop = ""
			}
			if _, err := m.Add(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		if facts := m.Facts(); len(facts) != 201 || facts[0].ID != 1 || facts[1].ID != 6 {
			t.Errorf("want the person's and the newest 200, got %d, %+v", len(facts), facts[:2])
		}
	})
}

func opened(t *testing.T, o loop.Options) *loop.Memory {
	t.Helper()
	workspace, err := loop.Workspace(o.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	m, err := loop.OpenMemory(t.Context(), o.Store, workspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
