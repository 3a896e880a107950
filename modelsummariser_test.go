package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A scripted model answers with what say returns, and remembers what it was asked.
type scripted struct {
	say func(r llm.Request) (llm.Response, error)

	mu    sync.Mutex
	asked []llm.Request
}

func (s *scripted) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	s.mu.Unlock()
	return s.say(r)
}

// answering is an answer of n tokens of prompt.
func answering(text string, n int) func(llm.Request) (llm.Response, error) {
	return func(llm.Request) (llm.Response, error) {
		return llm.Response{Message: llm.AssistantText(text), Stop: llm.StopEnd, Usage: llm.Usage{Input: n, Output: 100}}, nil
	}
}

var goodSummary = "<retain>ticket 17</retain><summary>" + strings.Repeat("They talked about the ship and its load. ", 10) + "</summary>"

// TestModelSummariser: a model is asked for summaries, without tools, and what that takes is
// on the bill apart.
func TestModelSummariser(t *testing.T) {
	own := &scripted{say: answering(goodSummary, 4000)}
	other := &scripted{say: answering(goodSummary, 9000)}
	o := plimsoll.Options{
		ID: "s", Store: &store.Memory{}, Policy: preset(t, "cache-compact"), Model: other,
		Summariser: plimsoll.ModelSummariser{Model: own, Target: budget.Target{Provider: "openai", Model: "gpt-5-mini"}},
	}
	s := open(t, o)
	if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read", Description: "Reads.", Schema: `{"type":"object"}`}}); err != nil {
		t.Fatal(err)
	}
	send := atEighty(t, s)
	t.Run("R001-17_a_model_of_its_own", func(t *testing.T) {
		if len(own.asked) != 1 || len(other.asked) != 0 {
			t.Fatalf("asked %d and %d times, want its own model once", len(own.asked), len(other.asked))
		}
		if got := own.asked[0].Model; got != "gpt-5-mini" {
			t.Errorf("asked %q", got)
		}
	})
	t.Run("R001-15_without_tools_and_out_of_the_history", func(t *testing.T) {
		if len(own.asked[0].Tools) != 0 {
			t.Errorf("asked with %d tools", len(own.asked[0].Tools))
		}
		shown := text(send.Messages())
		if !strings.Contains(shown, "They talked about the ship") || !strings.Contains(shown, "ticket 17") || strings.Contains(shown, "<summary>") {
			t.Errorf("shown\n%s", shown)
		}
	})
	t.Run("on_the_bill_apart", func(t *testing.T) {
		b := s.Bill()
		want := llm.Usage{Input: 4000, Output: 100}
		if len(b.Summaries) != 1 || b.Summaries[0].Target != "openai/gpt-5-mini" || b.Summaries[0].Usage != want || !b.Summaries[0].Cost.Known {
			t.Fatalf("summaries %+v", b.Summaries)
		}
		if len(b.Lines) != 1 || b.Calls != 2 || b.Usage != b.Lines[0].Usage.Add(want) {
			t.Errorf("bill %+v", b)
		}
		if again := open(t, o).Bill(); !reflect.DeepEqual(again, b) {
			t.Errorf("after a restart\n%+v\nwant\n%+v", again, b)
		}
	})
	t.Run("R001-17_else_that_of_the_session", func(t *testing.T) {
		o := o
		o.ID, o.Summariser = "t", nil
		atEighty(t, open(t, o))
		if len(other.asked) != 1 || other.asked[0].Model != "mystery" {
			t.Errorf("asked %d times", len(other.asked))
		}
	})
}

// question is an Ask about messages, as an engine makes one.
func question(msgs []llm.Message) engine.Ask {
	return engine.Ask{ID: 1, Prompt: "Summarise.", Messages: msgs, MaxTokens: 200, Target: budget.Target{Provider: "openai", Model: "gpt-5"}}
}

// TestModelSummariserRecord: what a model is shown fits its window, in parts that are
// summarised one after the other, without thinking.
func TestModelSummariserRecord(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	count, err := token.ForFamily(known.FamilyOf("mystery"), plimsoll.EncodingsOf(open(t, plimsoll.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	var msgs []llm.Message
	for i := range 40 {
		thinking := llm.Message{ID: llm.MessageID(2*i + 1), Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
			llm.Thinking{Text: "secret thought", Signature: "signed"}, llm.Text{Text: fmt.Sprintf("Step %d. ", i) + strings.Repeat("So it goes. ", 40)},
		}}
		msgs = append(msgs, thinking, llm.Message{ID: llm.MessageID(2*i + 2), Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: strings.Repeat("go on\n", 30*i)}}})
	}
	m := &scripted{}
	m.say = func(llm.Request) (llm.Response, error) {
		return answering(fmt.Sprintf("<summary>up to part %d</summary>", len(m.asked)), 10)(llm.Request{})
	}
	const window = 8000
	s := plimsoll.ModelSummariser{Model: m, Target: budget.Target{Provider: "p", Model: "mystery", Window: budget.Window{Capacity: window}}}
	got, err := s.Summarise(t.Context(), question(msgs))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.asked) < 3 || got.Calls.N != len(m.asked) || got.Calls.Usage.Input != 10*len(m.asked) {
		t.Fatalf("asked %d times, %+v", len(m.asked), got.Calls)
	}
	all := ""
	for i, r := range m.asked {
		n := count.Text(r.Sections[0].Text)
		for _, msg := range r.Messages {
			n += count.Message(msg)
		}
		if n+r.MaxOutput > window {
			t.Errorf("part %d: %d tokens and %d for the answer, in a window of %d", i+1, n, r.MaxOutput, window)
		}
		shown := r.Messages[0].Text()
		if i > 0 && !strings.Contains(shown, fmt.Sprintf("up to part %d", i)) {
			t.Errorf("part %d does not have the summary of the one before", i+1)
		}
		if strings.Contains(shown, "secret") || len(r.Tools) > 0 {
			t.Errorf("part %d shows thinking or tools", i+1)
		}
		all += shown
	}
	for i := range 40 {
		if !strings.Contains(all, fmt.Sprintf("Step %d. ", i)) {
			t.Errorf("step %d is not shown", i)
		}
	}
	t.Run("too_small", func(t *testing.T) {
		s := s
		s.Target.Window.Capacity = 300
		if _, err := s.Summarise(t.Context(), question(msgs)); err == nil {
			t.Error("no error")
		}
	})
	t.Run("paid_all_the_same", func(t *testing.T) {
		s, n := s, 0
		s.Model = &scripted{say: func(r llm.Request) (llm.Response, error) {
			if n++; n == 2 {
				return llm.Response{Usage: llm.Usage{Input: 5}}, errors.New("down")
			}
			return answering("<summary>so far</summary>", 10)(r)
		}}
		if got, err := s.Summarise(t.Context(), question(msgs)); err == nil || got.Calls.Usage.Input != 15 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestModelSummariserPrefix: what the provider has cached is sent as it was, with the
// question behind it; where that cannot be, the model gets a record.
func TestModelSummariserPrefix(t *testing.T) {
	plain := []llm.Message{{ID: 1, Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Name a ship.", Raw: llm.Raw{Data: []byte(`{"text":"Name a ship."}`)}}}}}
	thinks := append(plain[:1:1], llm.Message{ID: 2, Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Thinking{Text: "hm", Signature: "x"}, llm.Text{Text: "Mary."}}})
	tools := []llm.Tool{{Name: "read"}}
	for _, c := range []struct {
		name      string
		msgs      []llm.Message
		tools     []llm.Tool
		target    budget.Target
		withTools bool
		as        bool
	}{
		{name: "same_model", msgs: plain, as: true},
		{name: "another_model", msgs: plain, target: budget.Target{Provider: "openai", Model: "gpt-5-mini"}},
		{name: "tools", msgs: plain, tools: tools},
		{name: "tools_that_are_wanted", msgs: plain, tools: tools, withTools: true, as: true},
		{name: "thinking", msgs: thinks, withTools: true},
		{name: "no_room", msgs: plain, target: budget.Target{Provider: "openai", Model: "gpt-5", Window: budget.Window{Capacity: 900}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &scripted{say: answering(goodSummary, 1)}
			ask := question(c.msgs)
			ask.Sections, ask.Tools = []llm.Section{llm.SystemText(strings.Repeat("You look after ships. ", 100))}, c.tools
			s := plimsoll.ModelSummariser{Model: m, Target: c.target, WithTools: c.withTools}
			if _, err := s.Summarise(t.Context(), ask); err != nil {
				t.Fatal(err)
			}
			r := m.asked[0]
			n := len(c.msgs)
			as := len(r.Messages) == n+1 && reflect.DeepEqual(r.Messages[:n], c.msgs) && reflect.DeepEqual(r.Sections, ask.Sections) && len(r.Tools) == len(c.tools)
			if as != c.as || strings.Contains(text(r.Messages[:1]), "<conversation>") == c.as {
				t.Errorf("sent as it was: %v, want %v", as, c.as)
			}
			if !c.as && len(r.Tools) > 0 {
				t.Error("tools are offered")
			}
		})
	}
}

// TestSummariesOfSummaries: what was kept of an earlier compaction is shown to the model once,
// and gives way to what it makes of it; what code knows stays.
func TestSummariesOfSummaries(t *testing.T) {
	m := &scripted{}
	m.say = func(llm.Request) (llm.Response, error) {
		n := len(m.asked)
		return answering(fmt.Sprintf("<retain>ticket %d</retain><summary>%s</summary>", n, strings.Repeat(fmt.Sprintf("They came to port %d. ", n), 40)), 10)(llm.Request{})
	}
	s := open(t, plimsoll.Options{Policy: preset(t, "cache-compact"), Model: m})
	for n := range 4 {
		call := llm.ToolCall{CallID: fmt.Sprint("c", n), Name: "write", Args: fmt.Sprintf(`{"file_path":"log%d.txt","content":"x"}`, n)}
		add(t, s, human(strings.Repeat("please ", 500)), llm.AssistantText("", call), llm.ToolText(call.CallID, "ok"), reply(strings.Repeat("so ", 500)), human("And now?"))
		prepare(t, s)
		observe(t, s, llm.Usage{Input: 16_000})
		add(t, s, reply("Well."))
		if err := s.TurnEnd(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.asked) != 4 {
		t.Fatalf("asked %d times, want 4", len(m.asked))
	}
	t.Run("R001-19_merged_without_duplicates", func(t *testing.T) {
		asked := m.asked[3].Messages[0].Text()
		if strings.Count(asked, "ticket 3") != 1 || strings.Count(asked, "[Summary of the conversation so far") != 1 || strings.Contains(asked, "ticket 2") {
			t.Errorf("asked about\n%s", asked)
		}
		shown := text(prepare(t, s).Messages())
		if strings.Count(shown, "ticket 4") != 1 || strings.Contains(shown, "ticket 3") || strings.Contains(shown, "port 3") {
			t.Errorf("shown\n%s", shown)
		}
		for n := range 4 {
			if strings.Count(shown, fmt.Sprintf("log%d.txt (written 1)", n)) != 1 {
				t.Errorf("log%d.txt is not there once in\n%s", n, shown)
			}
		}
	})
}
