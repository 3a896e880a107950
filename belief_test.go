package plimsoll_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// disbelieved closes a session and returns what it told about figures that it did not
// believe.
func disbelieved(t *testing.T, s *plimsoll.Session) []string {
	t.Helper()
	var out []string
	for _, e := range notices(t, s) {
		if e.Kind == engine.EventUsage {
			out = append(out, e.Text)
		}
	}
	return out
}

// committed is what the guard takes for the conversation as the last call saw it.
func committed(s *plimsoll.Session) int { return s.Usage().Guard.Current }

// TestUsageIsBelieved has reports that look odd and are true: they are what the guard
// goes by, and none of them ends a session with room left.
func TestUsageIsBelieved(t *testing.T) {
	for _, model := range []string{"gpt-5", "o3", "claude-sonnet-4-5", "gemini-2.5-pro", "deepseek-reasoner", "mystery"} {
		t.Run("R000-2_thinking_that_leaves_the_prompt_"+model, func(t *testing.T) {
			const thinking, turns = 9_000, 40
			s := guarded(t, budget.Target{Model: model, Window: budget.Window{Capacity: 400_000, OutputReserve: 100_000}})
			answer, system := strings.Repeat("the answer is here ", 100), strings.Repeat("follow the rules of this house. ", 1_250)
			if err := s.SetSections(t.Context(), []llm.Section{{Text: system, Kind: llm.SectionSystem}}); err != nil {
				t.Fatal(err)
			}
			b := s.Budget()
			prompt := b.Count(system) // what was thought is in no later prompt
			for turn := range turns {
				question := fmt.Sprintf("hard question number %d, please think about it", turn)
				prompt += b.Count(question)
				add(t, s, human(question))
				if send := prepare(t, s); send.Final != engine.ReasonNone {
					t.Fatalf("final Step %q in Turn %d with a prompt of %d of %d tokens", send.Final, turn, prompt, send.Limit)
				}
				u := llm.Usage{Input: prompt, Output: thinking + b.Count(answer), Reasoning: thinking}
				observe(t, s, u)
				if got := committed(s); got != u.Total() {
					t.Fatalf("Turn %d: committed %d tokens, want the %d that were reported", turn, got, u.Total())
				}
				add(t, s, reply(answer))
				prompt += b.Count(answer)
			}
			if said := disbelieved(t, s); said != nil {
				t.Errorf("want every report believed, got %q", said)
			}
		})
	}
	t.Run("R000-2_images_of_low_detail", func(t *testing.T) {
		var parts []string
		for i := range 20 {
			parts = append(parts, fmt.Sprintf(`{"type":"image_url","image_url":{"url":"https://example.com/%d.png","detail":"low"}}`, i))
		}
		request, err := openai.Chat{}.DecodeRequest([]byte(`{"model":"gpt-4o","messages":[{"role":"user","content":[` + strings.Join(parts, ",") + `]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		images := request.Messages[0]
		images.ID = 0
		s := guarded(t, budget.Target{Model: "gpt-4o", Window: budget.Window{Capacity: 128_000, OutputReserve: 2_000}})
		add(t, s, images)
		prepare(t, s)
		const each, words = 85, 10 // an image of low detail costs 85 tokens whatever its size
		observe(t, s, llm.Usage{Input: 20*each + words, Output: 5})
		if got := committed(s); got != 20*each+words+5 {
			t.Errorf("committed %d tokens, want what was reported", got)
		}
		if said := disbelieved(t, s); said != nil {
			t.Errorf("want the report believed, got %q", said)
		}
	})
	t.Run("R000-2_a_person_writes_while_the_model_does", func(t *testing.T) {
		s := guarded(t, budget.Target{Model: "mystery", Window: budget.Window{Capacity: 200_000, OutputReserve: 2_000}})
		add(t, s, human("Read."))
		prepare(t, s)
		late := strings.Repeat("and one more thing, ", 5_000)
		add(t, s, human(late))
		observe(t, s, llm.Usage{Input: 50, Output: 5}) // about the request, which had not this
		if got := committed(s); got != 55 {
			t.Errorf("committed %d tokens, want the 55 that were reported", got)
		}
		least := len(late) / 4 // as the policy estimates at least
		if u := s.Usage(); u.Guard.Pending < least || u.Count.Point < least {
			t.Errorf("guard %+v, count %+v: want the %d tokens that came meanwhile in both", u.Guard, u.Count, least)
		}
		if said := disbelieved(t, s); said != nil {
			t.Errorf("want the report believed, got %q", said)
		}
	})
}

// TestUsageIsNotBelieved has reports that cannot be true. The count stands in their
// place; what the provider charges is on the bill all the same, also after a restart.
func TestUsageIsNotBelieved(t *testing.T) {
	for _, c := range []struct {
		name   string
		words  int // of the request, each of a token or so
		prompt int
	}{
		{"R000-2_only_the_uncached_part", 10_000, 300},
		{"R000-2_a_sum_over_several_calls", 1_000, 90_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := plimsoll.Options{ID: "a", Store: &store.Memory{}, Policy: preset(t, "guard"), Targets: []budget.Target{{Model: "gpt-4o", Window: budget.Window{Capacity: 40_000, OutputReserve: 2_000}}}}
			s := open(t, o)
			add(t, s, human(strings.Repeat("word ", c.words)))
			prepare(t, s)
			said := llm.Usage{Input: c.prompt, Output: 7}
			observe(t, s, said)
			add(t, s, reply("Fine."), human("And now?"))
			resumed := restarted(t, o.Store, o)
			for when, s := range map[string]*plimsoll.Session{"live": s, "after a restart": resumed} {
				if got := committed(s); got < c.words || got > c.words*2 {
					t.Errorf("%s: committed %d tokens, want some %d", when, got, c.words)
				}
				if b := s.Bill(); b.Calls != 1 || b.Usage != said {
					t.Errorf("%s: bill %+v, want the %+v that were reported", when, b, said)
				}
				if send := prepare(t, s); send.Final != engine.ReasonNone || send.Count.Bound < c.words {
					t.Errorf("%s: final %q, count %+v: want an ordinary Step with all that there is", when, send.Final, send.Count)
				}
			}
			if told := disbelieved(t, s); len(told) != 1 || !strings.Contains(told[0], fmt.Sprint(c.prompt)) {
				t.Errorf("told %q, want one sentence with the figure", told)
			}
		})
	}
}

// TestUsageOfOutputOnly: a report without a prompt says nothing about what fills the
// window, and takes the place of none that does.
func TestUsageOfOutputOnly(t *testing.T) {
	o := plimsoll.Options{ID: "a", Store: &store.Memory{}, Policy: preset(t, "guard")}
	s := open(t, o)
	add(t, s, human("Read "+strings.Repeat("word ", 1_000)))
	prepare(t, s)
	const prompt, written = 2_500, 10
	observe(t, s, llm.Usage{Input: prompt, Output: written})
	add(t, s, reply("Read."), human("More."))
	prepare(t, s)
	before := s.Usage()
	observe(t, s, llm.Usage{Output: 7})
	if after := s.Usage(); after.Guard != before.Guard || after.Count.Point < prompt+written {
		t.Errorf("R000-2 after a report of output only: guard %+v, count %+v; want %+v, and no less than was reported before", after.Guard, after.Count, before.Guard)
	}
	add(t, s, reply("Done."))
	if live, resumed := s.Usage(), restarted(t, o.Store, o).Usage(); !reflect.DeepEqual(live, resumed) {
		t.Errorf("R000-2 after the restart %+v, want %+v", resumed, live)
	}
}

// learntOf returns what a session takes its targets' windows and bytes for, by target.
func learntOf(s *plimsoll.Session) map[string][2]int {
	out := map[string][2]int{}
	for _, t := range s.View().Targets {
		out[t.Name()] = [2]int{t.Window.Capacity, t.Window.MaxBytes}
	}
	return out
}

// TestRefusalsTeach: what refusals said holds for the target that gave them, the smallest
// figure of all, after a restart and in a fork too.
func TestRefusalsTeach(t *testing.T) {
	at := func(model string) budget.Target {
		return budget.Target{Provider: "p", Model: model, Window: budget.Window{Capacity: 100_000, OutputReserve: 2_000}}
	}
	a, b := at("one"), at("two")
	o := plimsoll.Options{ID: "a", Store: &store.Memory{}, Policy: preset(t, "balanced"), Targets: []budget.Target{a, b}}
	s := open(t, o)
	add(t, s, human("Read."))
	work(t, s, 0, 10)
	reject := func(r refusal, targets ...budget.Target) {
		t.Helper()
		prepare(t, s, targets...)
		if _, err := s.Rejected(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
	reject(refusal{window: 36_000}, a, b)
	reject(refusal{window: 32_000}, b, a)
	reject(refusal{bytes: true}, b, a)
	before := learntOf(s)
	reject(refusal{window: 90_000}, a, b)
	live := learntOf(s)
	if got := live[a.Name()]; got[0] > before[a.Name()][0] || got[0] > 36_000 || got[1] != 0 {
		t.Errorf("law 1: learnt of %s %v, want at most 36,000 tokens, no more than before (%v), and any bytes", a.Name(), got, before[a.Name()])
	}
	if got := live[b.Name()]; got != before[b.Name()] || got[0] > 32_000 || got[1] == 0 {
		t.Errorf("law 1: learnt of %s %v, want at most 32,000 tokens and some bytes, as before (%v)", b.Name(), got, before[b.Name()])
	}
	if diff := cmp.Diff(live, learntOf(open(t, o))); diff != "" {
		t.Errorf("law 4: - live, + after a restart\n%s", diff)
	}
	fork, err := s.Fork(t.Context(), "b", 5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(live, learntOf(fork)); diff != "" {
		t.Errorf("law 4: - parent, + fork\n%s", diff)
	}
	o.ID = "b"
	if diff := cmp.Diff(live, learntOf(open(t, o))); diff != "" {
		t.Errorf("law 4: - parent, + fork after a restart\n%s", diff)
	}
}

// TestRefusalOfMore: a window larger than the one that is known is no news, as from a
// gateway in front of several servers.
func TestRefusalOfMore(t *testing.T) {
	o := plimsoll.Options{Store: &store.Memory{}, Policy: preset(t, "off"), Targets: []budget.Target{roomy()}} // off assumes nothing by itself
	s := open(t, o)
	add(t, s, human("Read."))
	for _, window := range []int{36_000, 90_000} {
		prepare(t, s)
		if _, err := s.Rejected(t.Context(), &refusal{window: window}); err != nil {
			t.Fatal(err)
		}
	}
	for when, s := range map[string]*plimsoll.Session{"live": s, "after a restart": open(t, o)} {
		if got := s.Usage().Target.Window.Capacity; got != 36_000 {
			t.Errorf("law 1: %s: window %d, want the 36,000 of the first refusal", when, got)
		}
	}
}

// TestRefusedForGood: a request that nothing makes smaller is not sent again and again,
// whatever is refused about it.
func TestRefusedForGood(t *testing.T) {
	const most = 64 // each refusal leaves a tenth less
	for _, name := range []string{"guard", "balanced", "cache-compact", "layered", "turn-budget"} {
		for what, r := range map[string]refusal{"bytes": {bytes: true}, "tokens": {}, "window": {window: 11_000}} {
			t.Run(fmt.Sprintf("law_7_%s_%s", name, what), func(t *testing.T) {
				s := open(t, plimsoll.Options{Policy: preset(t, name)})
				add(t, s, human(strings.Repeat("one ", 300)))
				prepare(t, s)
				var err error
				for range most {
					if _, err = s.Rejected(t.Context(), &r); err != nil {
						break
					}
				}
				if !errors.Is(err, plimsoll.ErrRefused) {
					t.Errorf("after %d refusals: %v, want %v", most, err, plimsoll.ErrRefused)
				}
			})
		}
	}
}

// TestOverInBytes: under the guard a request is final before it is sent over a limit,
// also if that is one of bytes (law 1).
func TestOverInBytes(t *testing.T) {
	s := guarded(t, budget.Target{Model: "mystery", Window: budget.Window{Capacity: 100_000, OutputReserve: 2_000, MaxBytes: 10_000}})
	add(t, s, human(strings.Repeat("one ", 5_000)))
	send := prepare(t, s)
	if !send.StillOver || send.Final != engine.ReasonContext {
		t.Errorf("law 1: still over %v, final %q, want a final request that says so", send.StillOver, send.Final)
	}
	if len(send.Tools) != 1 {
		t.Errorf("R000-14 tools %v, want the one that reports", send.Tools)
	}
}
