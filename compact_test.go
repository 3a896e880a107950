package plimsoll_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// answered is a session of n Turns with one Round each, to be summarised by sum.
func answered(t *testing.T, name string, sum plimsoll.Summariser, n int) *plimsoll.Session {
	t.Helper()
	s := open(t, plimsoll.Options{Policy: preset(t, name), Summariser: sum, Targets: []budget.Target{roomy()}})
	for i := 1; i <= n; i++ {
		call, result := round(i)
		add(t, s, human(fmt.Sprintf("Question %d.%s", i, strings.Repeat(" Why is it so?", 50))), call, result, reply("Done."+strings.Repeat(" Well.", 40)))
	}
	return s
}

// shownInstead returns the texts that an edit shows in place of what it took out.
func shownInstead(e edit.Edit) (texts []string) {
	for _, n := range e.Notes {
		texts = append(texts, n.Text())
	}
	for _, sec := range e.Sections {
		texts = append(texts, sec.Text)
	}
	return texts
}

// TestEmptySummary: what says nothing, or was cut off, takes nobody's place, whoever
// asks for it. Where the policy has code write a summary instead, that one does.
func TestEmptySummary(t *testing.T) {
	for _, text := range []string{
		"", " \n", "<summary></summary>", "<retain>x</retain>", "<retain></retain><summary> </summary>", "<retain>cut off her",
		"<summary>" + strings.Repeat("half of a summary, which is long enough by itself ", 60), "<summary>They talked.</summary>",
	} {
		for _, name := range policy.Presets() {
			t.Run(fmt.Sprintf("R001-15_%s_%.30s", name, text), func(t *testing.T) {
				c, err := answered(t, name, &summariser{text: text}, 6).Compact(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				byCode := preset(t, name).OnSummaryError == policy.SummaryFallback
				summaries := 0
				for _, e := range c.Edits {
					if e.Kind != edit.KindSummarise {
						continue
					}
					summaries++
					if shown := strings.Join(shownInstead(e), "\n"); !strings.Contains(shown, "[kept by code") || !strings.Contains(shown, "Question 1.") {
						t.Errorf("an edit shows %q", shown)
					}
				}
				if byCode != (summaries > 0) {
					t.Errorf("%d summaries, want one only where code writes it (%v)", summaries, byCode)
				}
				if !strings.Contains(c.Why, "no summary: ") && len(c.Edits) == 0 {
					t.Errorf("nothing was done, because %q", c.Why)
				}
			})
		}
	}
}

// TestSummaryThatQuotesTags: the deterministic summary is adopted whatever a person says
// about tags.
func TestSummaryThatQuotesTags(t *testing.T) {
	s := open(t, plimsoll.Options{Policy: preset(t, "balanced"), Targets: []budget.Target{roomy()}})
	add(t, s, human("Read."), reply("Yes?"), human("Why is <retain> never closed, and what is <summary></summary>?"))
	for i := range 5 {
		call, result := round(i)
		add(t, s, call, result)
	}
	add(t, s, human("And now?"))
	c, err := s.Compact(t.Context(), "")
	if err != nil || len(c.Edits) == 0 {
		t.Fatalf("%d edits (%q), %v, want a summary", len(c.Edits), c.Why, err)
	}
	shown := ""
	for _, e := range c.Edits {
		shown += strings.Join(shownInstead(e), "\n")
	}
	if want := "Why is <retain> never closed, and what is <summary></summary>?"; !strings.Contains(shown, want) {
		t.Errorf("%q is missing in\n%s", want, shown)
	}
}

// TestCompactWithoutASummary: where the summariser fails, a compaction by hand does what
// the policy says about that, and tells why there is no summary.
func TestCompactWithoutASummary(t *testing.T) {
	const short, long = 2000, 6000 // bytes of an output; layered takes in no more than 4,096 of one
	for _, c := range []struct {
		id, policy string
		bytes      int
		want       []edit.Kind
	}{
		{"R002-21_clears_first", "layered", short, []edit.Kind{edit.KindClear}},
		{"R002-21_drops_what_is_oldest", "layered", long, []edit.Kind{edit.KindTruncate}},
		{"R003-7_falls_back", "turn-budget", long, []edit.Kind{edit.KindSummarise}},
		{"falls_back", "balanced", long, []edit.Kind{edit.KindSummarise}},
		{"falls_back", "off", long, []edit.Kind{edit.KindSummarise}},
		{"R001-15_keeps", "cache-compact", long, nil},
		{"keeps", "guard", long, nil},
	} {
		t.Run(c.id+"_"+c.policy, func(t *testing.T) {
			s := open(t, plimsoll.Options{Policy: preset(t, c.policy), Summariser: &summariser{err: errors.New("down")}, Targets: []budget.Target{roomy()}})
			for i := range 6 {
				call, result := round(i)
				result.Parts = []llm.Part{llm.ToolResult{CallID: fmt.Sprintf("c%d", i), Content: []llm.Part{llm.Text{Text: output(c.bytes)}}}}
				add(t, s, human(fmt.Sprintf("Question %d.%s", i, strings.Repeat(" Why is it so?", 50))), call, result, reply("Done."+strings.Repeat(" Well.", 40)))
			}
			before, made := shownBy(s), len(s.Edits())
			got, err := s.Compact(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			var kinds []edit.Kind
			var ids []edit.ID
			for _, e := range got.Edits {
				kinds, ids = append(kinds, e.Kind), append(ids, e.ID)
			}
			kinds = slices.Compact(kinds)
			if !slices.Equal(kinds, c.want) || len(s.Edits())-made != len(got.Edits) {
				t.Errorf("did %q, want %q", kinds, c.want)
			}
			if (got.After.Point < got.Before.Point) != (len(c.want) > 0) {
				t.Errorf("%d to %d tokens", got.Before.Point, got.After.Point)
			}
			if !strings.Contains(got.Why, "no summary") || !strings.Contains(got.Why, "down") {
				t.Errorf("why: %q, want that the summariser is down", got.Why)
			}
			restore(t, s, ids...)
			sameView(t, "law 5: Compact and Undo", before, shownBy(s))
		})
	}
}

// TestCompactAgainWithoutASummary: every compaction by hand goes one step further, and
// in the end there is nothing left to take out.
func TestCompactAgainWithoutASummary(t *testing.T) {
	s := answered(t, "layered", &summariser{err: errors.New("down")}, 6)
	for range 100 {
		c, err := s.Compact(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Edits) > 0 {
			continue
		}
		if !strings.Contains(c.Why, "nothing") {
			t.Errorf("nothing was done, because %q", c.Why)
		}
		return
	}
	t.Error("there is always something to take out")
}

// TestCompactWithASummaryThatSavesNothing: what stands there is as short as it gets, and
// is not dropped for that.
func TestCompactWithASummaryThatSavesNothing(t *testing.T) {
	for _, name := range policy.Presets() {
		t.Run(name, func(t *testing.T) {
			s := answered(t, name, &summariser{text: strings.Repeat("They talked about it at length, and decided nothing. ", 9)}, 6)
			if c, err := s.Compact(t.Context(), ""); err != nil || len(c.Edits) == 0 || c.Why != "" {
				t.Fatalf("%d edits (%q), %v", len(c.Edits), c.Why, err)
			}
			for range 5 { // layered takes the oldest 60 % each time
				c, err := s.Compact(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				if len(c.Edits) == 0 {
					if !strings.Contains(c.Why, "saves") && !strings.Contains(c.Why, "nothing to compact") {
						t.Errorf("nothing was done, because %q", c.Why)
					}
					return
				}
				for _, e := range c.Edits {
					if e.Kind != edit.KindSummarise {
						t.Errorf("a summary gave way to %s of messages %d to %d", e.Kind, e.Span.From, e.Span.To-1)
					}
				}
			}
			t.Error("there is always something to summarise")
		})
	}
}

// TestDeclinedSummaries: what costs a call is not asked for at every Turn's end, where
// nothing comes of it.
func TestDeclinedSummaries(t *testing.T) {
	for name, sum := range map[string]*summariser{
		"R003-7_nothing_saved": {err: errors.New("down")}, "R001-15_nothing_said": {text: "<summary>"}, "nothing_shorter": {text: strings.Repeat("They talked, and so on. ", 500)},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, plimsoll.Options{Policy: preset(t, "turn-budget"), Summariser: sum, Targets: []budget.Target{roomy()}})
			for i := range 100 {
				add(t, s, human(fmt.Sprintf("q%d", i)), reply("a"))
				if err := s.TurnEnd(t.Context()); err != nil {
					t.Fatal(err)
				}
				prepare(t, s)
			}
			if n := len(sum.asks); n < 2 || n > 12 { // 90 without a breaker
				t.Errorf("asked %d times in 100 Turns, want a few", n)
			}
		})
	}
}

// TestDerivedPolicyKeepsItsQuestion: what a summariser is asked follows from what the
// policy says, not from its name.
func TestDerivedPolicyKeepsItsQuestion(t *testing.T) {
	asked := func(t *testing.T, change func(*policy.Policy)) string {
		t.Helper()
		p := preset(t, "cache-compact")
		change(&p)
		sum := &summariser{text: "<summary></summary>"}
		atEighty(t, open(t, plimsoll.Options{Policy: p, Summariser: sum}))
		if len(sum.asks) != 2 || !strings.Contains(sum.asks[1].Prompt, "the answer is empty") {
			t.Fatalf("asked %d times, want once more with the fault named", len(sum.asks))
		}
		return sum.asks[0].Prompt
	}
	own := asked(t, func(*policy.Policy) {})
	for _, want := range []string{"which constraints and wishes were stated", "open TODOs and decisions", "<retain>"} {
		if !strings.Contains(own, want) {
			t.Errorf("R001-11: %q is missing in\n%s", want, own)
		}
	}
	if got := asked(t, func(p *policy.Policy) { p.Name = "mine" }); got != own {
		t.Errorf("R001-11: under another name\n%s\nwant\n%s", got, own)
	}
	got := asked(t, func(p *policy.Policy) {
		p.Name, p.SummaryPrompt, p.SummaryDirectives, p.RetainDirectives = "mine", "Say what happened.", []string{"in French"}, []string{"tickets"}
	})
	if want := "Say what happened.\n- in French\n"; !strings.Contains(got, want) || !strings.Contains(got, "\n- tickets\n") {
		t.Errorf("R001-18: asked\n%s\nwant %q and the tickets", got, want)
	}
	if got := asked(t, func(p *policy.Policy) { p.RetainPrompt = "" }); strings.Contains(strings.ToLower(got), "retain") {
		t.Errorf("R001-11: retainPrompt null, and yet asked\n%s", got)
	}
}

// TestCompactByHandOnly is R001-25: where nothing is compacted by itself, as a rule that no
// call reaches says, a person still can, and is given all that the policy asks for.
func TestCompactByHandOnly(t *testing.T) {
	t.Run("R001-25_by_hand", func(t *testing.T) {
		p := preset(t, "cache-compact")
		for i, r := range p.Rules {
			if r.Do == policy.DoSummarise {
				p.Rules[i].When = policy.Condition{Measure: r.When.Measure, Op: r.When.Op, Value: 1_000_000_000}
			}
		}
		p.Name = "by-hand"
		if err := policy.Validate(p); err != nil {
			t.Fatal(err)
		}
		sum := &summariser{text: "<retain>rx17</retain><summary>" + strings.Repeat("All was said and done. ", 20) + "</summary>"}
		s := open(t, plimsoll.Options{Policy: p, Summariser: sum})
		atEighty(t, s)
		if len(sum.asks) != 0 {
			t.Fatalf("asked %d times by itself", len(sum.asks))
		}
		if _, err := s.Compact(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if len(sum.asks) != 1 || !strings.Contains(sum.asks[0].Prompt, "<retain>") {
			t.Fatalf("asked %+v", sum.asks)
		}
	})
}

// TestSubAgentApart: a sub-agent's conversation is a session of its own beside its parent's in
// one store. What is compacted in one leaves the other alone, its content too, and is told to
// whoever follows the one that it happened in, with its figures.
func TestSubAgentApart(t *testing.T) {
	kept := &store.Memory{}
	begin := func(id string) *plimsoll.Session {
		s := open(t, plimsoll.Options{Policy: preset(t, "turn-budget"), ID: id, Store: kept, Targets: []budget.Target{roomy()}})
		for i := 1; i <= 6; i++ {
			call, result := round(i)
			add(t, s, human(fmt.Sprintf("Question %d of %s.%s", i, id, strings.Repeat(" Why is it so?", 50))), call, result, reply("Done."+strings.Repeat(" Well.", 40)))
		}
		return s
	}
	parent, sub := begin("parent"), begin("sub")
	before := sub.View()
	done, err := parent.Compact(t.Context(), "")
	if err != nil || len(done.Edits) == 0 {
		t.Fatalf("%d edits (%q), %v, want some", len(done.Edits), done.Why, err)
	}
	t.Run("R003-15_a_sub-agent_has_a_context_of_its_own", func(t *testing.T) {
		if after := sub.View(); !reflect.DeepEqual(before, after) {
			t.Errorf("the sub-agent's view changed from\n%+v\nto\n%+v", before, after)
		}
		refs := 0
		for _, e := range done.Edits {
			refs += len(e.Refs)
			for _, ref := range e.Refs {
				if _, err := parent.Blob(t.Context(), ref); err != nil {
					t.Errorf("the parent reads %s: %v", ref, err)
				}
				if data, err := sub.Blob(t.Context(), ref); err == nil {
					t.Errorf("the sub-agent reads %s of its parent, %d bytes", ref, len(data))
				}
			}
		}
		if refs == 0 {
			t.Error("nothing was put away")
		}
	})
	t.Run("R003-15_compression_is_told", func(t *testing.T) {
		var told []edit.Edit
		for _, e := range events(t, parent) {
			if e.Kind == plimsoll.EventEdit {
				told = append(told, *e.Edit)
			}
		}
		if !reflect.DeepEqual(told, done.Edits) {
			t.Errorf("told\n%+v\nwant\n%+v", told, done.Edits)
		}
		for _, e := range told {
			if e.Why == "" || e.Before <= e.After {
				t.Errorf("edit %d: want a reason and fewer tokens, got %q, %d to %d", e.ID, e.Why, e.Before, e.After)
			}
		}
		for _, e := range events(t, sub) {
			if e.Kind == plimsoll.EventEdit {
				t.Errorf("the sub-agent was told of %+v", e.Edit)
			}
		}
	})
}
