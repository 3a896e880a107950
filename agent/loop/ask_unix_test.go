//go:build unix

package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
)

// writer is a model that writes summaries: asked is called for each question, with its number.
type writer struct {
	prompts []string
	asked   func(n int) (text string, stop llm.Stop, err error)
}

func (w *writer) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	w.prompts = append(w.prompts, r.Messages[0].Text())
	text, stop, err := w.asked(len(w.prompts))
	if err == nil {
		err = ctx.Err()
	}
	return llm.Response{
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: text}}},
		Stop:    stop, Usage: llm.Usage{Input: 1000, Output: 50},
	}, err
}

// summarised are options of a loop whose summaries w writes.
func summarised(t *testing.T, w *writer, last string) loop.Options {
	t.Helper()
	o := options(t, agent(t, "works", last))
	o.Settings.SummaryModel, o.Settings.SummarizeEvery = "p/cheap", 4
	o.ModelOf = func(name string) (loop.Model, error) {
		if name != "p/cheap" {
			return nil, fmt.Errorf("want p/cheap, got %s", name)
		}
		return w, nil
	}
	o.Price = func(string, llm.Usage) catalog.Money { return catalog.Dollars(2_000_000_000) }
	return o
}

// A model writes the summary; what it took is on record.
func TestModelWritesTheSummary(t *testing.T) {
	w := &writer{asked: func(n int) (string, llm.Stop, error) {
		return fmt.Sprintf("Summary %d: the tools of all steps so far were chosen.", n), llm.StopEnd, nil
	}}
	h := end(t, summarised(t, w, "9"), core.GoalComplete)
	if len(w.prompts) < 3 || !strings.HasPrefix(h.Summary, fmt.Sprintf("Summary %d: ", len(w.prompts))) || h.Folded != 3 {
		t.Errorf("want the last of several summaries, 3 iterations in it, got %d questions, %d in %q", len(w.prompts), h.Folded, h.Summary)
	}
	for _, s := range h.Summaries {
		if s.Model != "p/cheap" || s.Failed != "" {
			t.Errorf("want each by the model, got %+v", s)
		}
	}
	n := len(w.prompts)
	if want := (loop.Spent{Calls: n, Input: 1000 * n, Output: 50 * n, Cost: catalog.Dollars(int64(n) * 2_000_000_000)}); h.Summariser != want {
		t.Errorf("want %+v, got %+v", want, h.Summariser)
	}
}

// A summary that fails keeps iterations raw until the next interval, and then takes each of
// them once, whatever the failure was.
func TestFailedSummaryIsAskedForAgain(t *testing.T) {
	for name, first := range map[string]func() (string, llm.Stop, error){
		"R004-11_an_error": func() (string, llm.Stop, error) { return "", 0, errors.New("connection refused \xff") },
		"R004-11_nothing":  func() (string, llm.Stop, error) { return "  ", llm.StopEnd, nil },
		"R004-11_cut_off":  func() (string, llm.Stop, error) { return "All steps so far were done and", llm.StopLength, nil },
		"R004-11_refused": func() (string, llm.Stop, error) {
			return "I'm sorry, but I cannot help with that today.", llm.StopEnd, nil
		},
		"R004-11_names_made_up": func() (string, llm.Stop, error) {
			return "All the work was done in lib/invented/thing.go as planned.", llm.StopEnd, nil
		},
		"R004-11_a_tag_stays_open": func() (string, llm.Stop, error) { return "<summary>All steps so far were done", llm.StopEnd, nil },
		"R004-11_a_filter_stopped_it": func() (string, llm.Stop, error) {
			return "All of the steps so far were done well.", llm.StopRefusal, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &writer{}
			w.asked = func(n int) (string, llm.Stop, error) {
				if n == 1 {
					return first()
				}
				return "The steps so far were done with tools, in step1.txt and others.", llm.StopEnd, nil
			}
			o := summarised(t, w, "9")
			r := begin(t, o)
			if got, err := r.Run(t.Context()); err != nil || got.Reason != core.GoalComplete {
				t.Fatalf("want the goal, got %+v %v", got, err)
			}
			h := history(t, o, r.ID())
			if s := h.Summaries[0]; s.Iteration != 6 || s.Failed == "" || s.Text != "" {
				t.Errorf("want the failure after iteration 6, got %+v", s)
			}
			if s := h.Summaries[1]; s.Iteration != 8 || s.Failed != "" {
				t.Errorf("want the next question at the interval, got %+v", s)
			}
			if n := strings.Count(w.prompts[1], "### Iteration "); n != 3 || !strings.Contains(w.prompts[1], "### Iteration 1\n") {
				t.Errorf("want iterations 1 to 3 in the second question, got %s", w.prompts[1])
			}
			if again, err := loop.Replayed(t.Context(), o, r.ID()); err != nil || string(again) != string(r.Saved()) {
				t.Errorf("want the records to make the same machine, got %v\n%s\n%s", err, r.Saved(), again)
			}
		})
	}
}

// A loop that is ended while a model writes asks again when it goes on; another model may
// then be named, or none.
func TestEndedWhileAModelWrites(t *testing.T) {
	// The goal is promised before a model is asked about what the last iteration pushed out.
	for next, folded := range map[string]int{"": 1, loop.ByCode: 2} {
		ctx, cancel := context.WithCancel(t.Context())
		w := &writer{asked: func(n int) (string, llm.Stop, error) {
			if n == 1 {
				cancel()
			}
			return "All of the steps so far were done with tools.", llm.StopEnd, nil
		}}
		o := summarised(t, w, "7")
		r := begin(t, o)
		if _, err := r.Run(ctx); !errors.Is(err, loop.ErrInterrupted) {
			t.Fatalf("want it interrupted, got %v", err)
		}
		cancel()
		_ = r.Close()
		o.Settings.SummaryModel = next
		again, err := loop.Resume(t.Context(), o, r.ID())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := again.Run(t.Context()); err != nil || got.Reason != core.GoalComplete {
			t.Errorf("want the goal, got %+v %v", got, err)
		}
		_ = again.Close()
		h := history(t, o, r.ID())
		byModel := strings.HasPrefix(h.Summary, "All of the steps")
		if byModel != (next == "") || h.Folded != folded {
			t.Errorf("%q: want a summary of %d iterations by who is named, got %d in %s", next, folded, h.Folded, h.Summary)
		}
	}
}

// Without somebody who makes the model no loop begins.
func TestModelThatNobodyMakes(t *testing.T) {
	o := summarised(t, &writer{}, "2")
	o.ModelOf = nil
	if _, err := loop.Start(t.Context(), o, "x"); err == nil || !strings.Contains(err.Error(), "p/cheap") {
		t.Errorf("want it refused, got %v", err)
	}
	o = summarised(t, &writer{}, "2")
	o.Settings.SummaryModel = "p/other"
	if _, err := loop.Start(t.Context(), o, "x"); err == nil || !strings.Contains(err.Error(), "p/other") {
		t.Errorf("want it refused, got %v", err)
	}
}
