package turn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// chat builds messages from short words:
//
//	human, model, note    a text of that origin
//	call:a,b              an assistant message with the calls a and b
//	hosted:a              an assistant message with a call the provider runs
//	result:a,b            one message with the results of a and b
func chat(words string) []llm.Message {
	var messages []llm.Message
	for _, word := range strings.Fields(words) {
		kind, ids, _ := strings.Cut(word, ":")
		m := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: kind}}}
		switch kind {
		case "model":
			m.Role, m.Origin = llm.RoleAssistant, llm.Model
		case "note":
			m.Origin = llm.Note
		case "call", "hosted":
			m.Role, m.Origin = llm.RoleAssistant, llm.Model
			for id := range strings.SplitSeq(ids, ",") {
				m.Parts = append(m.Parts, llm.ToolCall{CallID: id, Name: "tool_" + id, Hosted: kind == "hosted"})
			}
		case "result":
			m.Role, m.Origin, m.Parts = llm.RoleTool, llm.ToolRun, nil
			for id := range strings.SplitSeq(ids, ",") {
				m.Parts = append(m.Parts, llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: "done"}}})
			}
		}
		messages = append(messages, m)
	}
	return messages
}

func index(t *testing.T, words string) *turn.Index {
	t.Helper()
	var x turn.Index
	for i, m := range chat(words) {
		if err := x.Append(m); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	return &x
}

func TestTurns(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		want        []turn.Turn
	}{
		{"R003-5_no_message", "", nil},
		{"R003-5_one_exchange_after_another", "human model human model", []turn.Turn{{0, 2}, {2, 4}}},
		{"R003-5_the_final_answer_ends_the_Turn_not_the_tool_call", "human call:a result:a model human model", []turn.Turn{{0, 4}, {4, 6}}},
		{"R003-5_many_Steps_are_one_Turn", "human call:a result:a call:b result:b model", []turn.Turn{{0, 6}}},
		{"R003-5_what_comes_before_the_first_Human_belongs_to_Turn_1", "note note human model human", []turn.Turn{{0, 4}, {4, 5}}},
		{"R003-5_notes_open_no_Turn", "human model note note model", []turn.Turn{{0, 5}}},
		{"R003-5_no_Human_at_all_is_one_Turn", "note call:a result:a model", []turn.Turn{{0, 4}}},
		{"R003-5_steering_inside_a_Round_opens_no_Turn", "human call:a,b result:a human result:b model human", []turn.Turn{{0, 6}, {6, 7}}},
		{"R003-5_steering_between_Rounds_opens_one", "human call:a result:a human call:b result:b", []turn.Turn{{0, 3}, {3, 6}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := index(t, tt.words).Turns(); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRounds(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		want        []turn.Round
	}{
		{"a text is no Round", "human model", nil},
		{"one call", "human call:a result:a model", []turn.Round{{1, 3, 0}}},
		{"results in one message", "call:a,b result:b,a", []turn.Round{{0, 2, 0}}},
		{"results in separate messages with a note between", "call:a,b result:a note result:b note", []turn.Round{{0, 4, 0}}},
		{"ids that come back", "human call:0 result:0 human call:0 result:0", []turn.Round{{1, 3, 0}, {4, 6, 0}}},
		{"open", "human call:a,b result:b note", []turn.Round{{1, 4, 1}}},
		{"open but hosted", "human hosted:a model", []turn.Round{{1, 2, 0}}},
		{"parallel calls in messages of their own", "call:a call:b result:a result:b model", []turn.Round{{0, 4, 0}}},
		{"a hosted call answered later takes in what lies between", "hosted:h note call:a result:a result:h model", []turn.Round{{0, 5, 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := index(t, tt.words).Rounds(); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSafeBoundary(t *testing.T) {
	const long = "human model human call:a,b,c result:a result:b result:c call:d result:d model human"
	for _, tt := range []struct {
		name, words string
		near, want  int
	}{
		{"R003-6_empty", "", 0, 0},
		{"R003-6_empty_and_a_wish", "", 3, 0},
		{"R003-6_at_0", "human", 0, 0},
		{"R003-6_below_0", "human model", -4, 0},
		{"R003-6_at_the_end", "human model", 2, 2},
		{"R003-6_beyond_the_end", "human", 5, 1},
		{"R003-6_on_a_boundary", "human model human model", 2, 2},
		{"R003-6_back_to_the_last_boundary", "human model human model human", 3, 2},
		{"R003-6_back_from_inside_a_Round", "human model human call:a,b result:a result:b model human", 4, 2},
		{"R003-6_back_from_its_last_result", "human model human call:a,b result:a result:b model human", 5, 2},
		{"R003-6_back_over_several_Rounds", "human model human call:a result:a call:b result:b model human model", 5, 2},
		{"R003-6_back_over_a_long_chain", long, 6, 2},
		{"R003-6_forward_when_only_0_lies_behind", "human call:a result:a model human", 2, 4},
		{"R003-6_forward_when_nothing_lies_behind", "call:a result:a model human", 1, 3},
		{"R003-6_a_boundary_after_a_preamble_counts", "note model human model", 3, 2},
		{"R003-6_a_single_Turn_cannot_be_cut", "human call:a result:a model", 2, 0},
		{"R003-6_no_Human_leaves_the_wish", "model model model", 1, 1},
		{"R003-6_no_Human_but_a_Round_there", "model call:a result:a model", 2, 1},
		{"R003-6_no_Human_and_the_Round_comes_first", "call:a result:a model", 1, 2},
		{"R003-6_no_Human_and_nothing_to_cut", "call:a,b result:a", 1, 0},
		{"R003-6_the_end_is_no_cut_while_a_call_is_open", "human model call:a", 3, 2},
		{"R003-6_steering_is_no_boundary", "human model call:a human result:a model human", 4, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := index(t, tt.words).SafeBoundary(tt.near); got != tt.want {
				t.Errorf("SafeBoundary(%d) of %q: got %d, want %d", tt.near, tt.words, got, tt.want)
			}
		})
	}
}

func TestAppendReportsOrphans(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		want        turn.OrphanError
	}{
		{"unknown call", "human result:x", turn.OrphanError{CallID: "x", Position: 1, Reason: turn.ReasonUnknown}},
		{"answered twice", "call:a result:a result:a", turn.OrphanError{CallID: "a", Position: 2, Reason: turn.ReasonAnswered}},
		{"answered twice in one message", "call:a result:a,a", turn.OrphanError{CallID: "a", Position: 1, Part: 1, Reason: turn.ReasonAnswered}},
		{"duplicate open id", "call:a call:a", turn.OrphanError{CallID: "a", Position: 1, Part: 1, Reason: turn.ReasonDuplicate}},
		{"several", "human result:x,y,z", turn.OrphanError{CallID: "x", Position: 1, Reason: turn.ReasonUnknown, More: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var x turn.Index
			var err error
			messages := chat(tt.words)
			for _, m := range messages {
				err = errors.Join(err, x.Append(m))
			}
			var orphan *turn.OrphanError
			if !errors.As(err, &orphan) || *orphan != tt.want {
				t.Fatalf("got %v, want %v", err, &tt.want)
			}
			if x.Len() != len(messages) {
				t.Errorf("Len %d, want %d: the message must be indexed all the same", x.Len(), len(messages))
			}
		})
	}
}

func TestDuplicateIDsAreAnsweredNewestFirst(t *testing.T) {
	var x turn.Index
	for _, m := range chat("call:a call:a result:a note result:a") {
		_ = x.Append(m) // the duplicate is meant
	}
	for _, tt := range []struct{ result, call int }{{2, 1}, {4, 0}} {
		if c, ok := x.CallFor(tt.result, 0); !ok || c.Position != tt.call {
			t.Errorf("result %d answers %v (%v), want call at %d", tt.result, c, ok, tt.call)
		}
	}
	if open := x.OpenCalls(); len(open) != 0 {
		t.Errorf("open: %v", open)
	}
}

func TestCutsCloseBothSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		w := newTwin(messages)
		var x turn.Index
		for _, m := range messages {
			_ = x.Append(m) // orphans are allowed here
		}
		for i := range len(messages) + 1 {
			if !x.CanCut(i) {
				continue
			}
			before, after := newTwin(messages[:i]), newTwin(messages[i:])
			if open := before.open(); len(open) > 0 {
				t.Fatalf("cut %d leaves %v open", i, open)
			}
			faults := 0
			for _, n := range before.faults {
				faults += n
			}
			for _, n := range after.faults {
				faults += n
			}
			whole := 0
			for _, n := range w.faults {
				whole += n
			}
			if faults > whole {
				t.Fatalf("cut %d makes %d faults out of %d", i, faults, whole)
			}
		}
		near := rapid.IntRange(-2, len(messages)+2).Draw(t, "near")
		if got := x.SafeBoundary(near); !x.CanCut(got) {
			t.Fatalf("SafeBoundary(%d) = %d is no legal cut", near, got)
		}
	})
}

func TestInterrupted(t *testing.T) {
	t.Run("leaves no call open", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var x turn.Index
			for _, m := range drawMessages(t) {
				_ = x.Append(m) // orphans are allowed here
			}
			for _, m := range turn.Interrupted(x.OpenCalls(), "") {
				if err := x.Append(m); err != nil {
					t.Fatal(err)
				}
			}
			if open := x.OpenCalls(); len(open) != 0 || !x.CanCut(x.Len()) {
				t.Fatalf("still open: %v", open)
			}
		})
	})
	t.Run("says so", func(t *testing.T) {
		messages := turn.Interrupted([]turn.Call{{CallID: "a"}, {CallID: "b"}}, "stopped by the user")
		if len(messages) != 2 {
			t.Fatalf("%d messages, want one per call", len(messages))
		}
		for i, id := range []string{"a", "b"} {
			m := messages[i]
			r := m.Results()[0]
			if m.Role != llm.RoleTool || m.Origin != llm.ToolRun || !m.Flags.Has(llm.FlagInterrupted) ||
				r.CallID != id || !r.IsError || r.Text() != "stopped by the user" {
				t.Errorf("message %d: %+v", i, m)
			}
		}
		if text := turn.Interrupted([]turn.Call{{}}, "")[0].Results()[0].Text(); text != turn.InterruptedText {
			t.Errorf("no text given: got %q", text)
		}
	})
}

func TestCloneIsIndependent(t *testing.T) {
	x := index(t, "human call:a result:a call:b")
	fork := x.Clone()
	for _, m := range chat("result:b human call:b") {
		if err := fork.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Append(chat("note")[0]); err != nil {
		t.Fatal(err)
	}
	if got := x.OpenCalls(); len(got) != 1 || got[0].Position != 3 {
		t.Errorf("the original has open calls %v, want the one at 3", got)
	}
	if got := fork.OpenCalls(); len(got) != 1 || got[0].Position != 6 {
		t.Errorf("the fork has open calls %v, want the one at 6", got)
	}
	if len(x.Turns()) != 1 || len(fork.Turns()) != 2 {
		t.Errorf("Turns: %v and %v", x.Turns(), fork.Turns())
	}
}
