package journal_test

import (
	"errors"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func human(id int) journal.Record {
	return journal.Record{Kind: journal.KindMessage, Message: llm.Message{
		ID: llm.MessageID(id), Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "do it"}},
	}}
}

func call(id int) journal.Record {
	return journal.Record{Kind: journal.KindMessage, Message: llm.Message{
		ID: llm.MessageID(id), Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c", Name: "read"}},
	}}
}

func result(id int) journal.Record {
	return journal.Record{Kind: journal.KindMessage, Message: llm.Message{
		ID: llm.MessageID(id), Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Text{Text: "long"}}}},
	}}
}

// kept is what the edits of these tests say they stored.
func kept() []llm.Ref { return []llm.Ref{llm.RefOf([]byte("long"))} }

func note(id, before int, supersedes ...edit.ID) journal.Record {
	return journal.Record{Kind: journal.KindEdit, Edit: edit.Edit{
		ID: edit.ID(id), Op: edit.Insert, Kind: edit.KindNote, Span: edit.Span{From: llm.MessageID(before), To: llm.MessageID(before)},
		Notes: []llm.Message{edit.NoteOf(llm.Text{Text: "mind the window"})}, Supersedes: supersedes,
	}}
}

func archive(id, from, to int, supersedes ...edit.ID) journal.Record {
	return journal.Record{Kind: journal.KindEdit, Edit: edit.Edit{
		ID: edit.ID(id), Op: edit.Archive, Kind: edit.KindDrop, Span: edit.Span{From: llm.MessageID(from), To: llm.MessageID(to)},
		Refs: kept(), Supersedes: supersedes,
	}}
}

func replace(id, at, part int) journal.Record {
	return journal.Record{Kind: journal.KindEdit, Edit: edit.Edit{
		ID: edit.ID(id), Op: edit.Replace, Kind: edit.KindStub, Span: edit.Span{From: llm.MessageID(at), To: llm.MessageID(at + 1)}, Part: part,
		Replacement: llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Stub{Text: "[stored]"}}}, Refs: kept(),
	}}
}

func ask(id int) journal.Record {
	return journal.Record{Kind: journal.KindAsk, Ask: journal.Ask{ID: id, Kind: "summary"}}
}

func answer(id int) journal.Record {
	return journal.Record{Kind: journal.KindAnswer, Answer: journal.Answer{Ask: id, Text: "it went well"}}
}

func tools(name string) journal.Record {
	return journal.Record{Kind: journal.KindTools, Tools: []llm.Tool{{Name: name}}}
}

func sections(text string) journal.Record {
	return journal.Record{Kind: journal.KindSections, Sections: []llm.Section{{Text: text}}}
}

func policyOf(name string) journal.Record {
	return journal.Record{Kind: journal.KindPolicy, Policy: &policy.Policy{Version: 1, Name: name}}
}

func usage(prompt int) journal.Record {
	return journal.Record{Kind: journal.KindUsage, Usage: journal.Usage{Usage: llm.Usage{Input: prompt}, Reported: true}}
}

func reply(id int) journal.Record {
	return journal.Record{Kind: journal.KindMessage, Message: llm.Message{
		ID: llm.MessageID(id), Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "done"}},
	}}
}

func state(lastEdit int) journal.Record {
	return journal.Record{Kind: journal.KindState, State: &journal.State{LastEdit: edit.ID(lastEdit), Reports: 1}}
}

func turnEnd() journal.Record { return journal.Record{Kind: journal.KindTurnEnd} }

func forked(at int) journal.Record {
	return journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: "main", At: llm.MessageID(at)}}
}

// stored yields records as a store would: as lines.
func stored(records []journal.Record) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range records {
			if !yield(journal.Encode(r)) {
				return
			}
		}
	}
}

func collect(records ...journal.Record) (journal.Snapshot, error) {
	return journal.Collect(journal.Read(stored(records)))
}

func TestCollect(t *testing.T) {
	got, err := collect(
		policyOf("first"), sections("old"), tools("old"), human(1), state(0), usage(10), call(2), result(3),
		replace(1, 3, 0), human(4), forked(4), turnEnd(), note(2, 5), note(3, 5), ask(1), ask(2), answer(2), state(3), usage(20),
		archive(6, 1, 4, 1, 2), sections("new"), tools("new"), policyOf("second"), rejected("", 9, 0), human(5),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := journal.Snapshot{
		Records:  25,
		Messages: []llm.Message{human(1).Message, call(2).Message, result(3).Message, human(4).Message, human(5).Message},
		Edits:    []edit.Edit{replace(1, 3, 0).Edit, note(2, 5).Edit, note(3, 5).Edit, archive(6, 1, 4, 1, 2).Edit},
		LastEdit: 6, LastAsk: 2,
		Answered: map[int]journal.Dialogue{2: {Ask: ask(2).Ask, Answer: answer(2).Answer}},
		TurnEnd:  4,
		Fork:     journal.Fork{Parent: "main", At: 4},
		State:    state(3).State,
		Base: journal.Base{
			Messages: 4, Edit: 3, Sections: sections("old").Sections, Tools: tools("old").Tools, Policy: *policyOf("first").Policy,
		},
		Tail: []journal.Record{usage(20), archive(6, 1, 4, 1, 2), sections("new"), tools("new"), policyOf("second"), rejected("", 9, 0), human(5)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestCollectOfNothing(t *testing.T) {
	got, err := collect()
	if err != nil || !reflect.DeepEqual(got, journal.Snapshot{}) {
		t.Errorf("want an empty snapshot, got %+v (%v)", got, err)
	}
}

// TestCollectOfAFork: a fork begins with the state of then. What came after its last
// message is not its own, but for edits that concern none of the later ones.
func TestCollectOfAFork(t *testing.T) {
	parent := []journal.Record{
		human(1), state(0), usage(5), call(2), result(3), replace(1, 3, 0), state(1), usage(7), reply(4), turnEnd(),
		human(5), ask(1), note(2, 2), archive(3, 1, 5, 1), state(3), usage(9), note(4, 6),
	}
	for _, c := range []struct {
		name string
		at   int
		more []journal.Record
		want journal.Snapshot
	}{
		{"after an output, before its call", 3, []journal.Record{human(4), note(5, 5)}, journal.Snapshot{
			Messages: []llm.Message{human(1).Message, call(2).Message, result(3).Message, human(4).Message},
			Edits:    []edit.Edit{replace(1, 3, 0).Edit, note(2, 2).Edit, note(5, 5).Edit},
			State:    state(1).State, Base: journal.Base{Messages: 3, Edit: 1},
			Tail: []journal.Record{note(2, 2), forked(3), human(4), note(5, 5)},
		}},
		{"after a reply", 4, nil, journal.Snapshot{
			Messages: []llm.Message{human(1).Message, call(2).Message, result(3).Message, reply(4).Message},
			Edits:    []edit.Edit{replace(1, 3, 0).Edit, note(2, 2).Edit, archive(3, 1, 5, 1).Edit},
			State:    state(1).State, Base: journal.Base{Messages: 3, Edit: 1},
			Tail: []journal.Record{usage(7), reply(4), turnEnd(), note(2, 2), archive(3, 1, 5, 1), forked(4)},
		}},
		{"at the end", 5, nil, journal.Snapshot{
			Messages: []llm.Message{human(1).Message, call(2).Message, result(3).Message, reply(4).Message, human(5).Message},
			Edits:    []edit.Edit{replace(1, 3, 0).Edit, note(2, 2).Edit, archive(3, 1, 5, 1).Edit, note(4, 6).Edit},
			State:    state(3).State, Base: journal.Base{Messages: 5, Edit: 3},
			Tail: []journal.Record{usage(9), note(4, 6), forked(5)},
		}},
		{"before the first call", 1, nil, journal.Snapshot{
			Messages: []llm.Message{human(1).Message},
			Edits:    []edit.Edit{note(2, 2).Edit},
			State:    state(0).State, Base: journal.Base{Messages: 1},
			Tail: []journal.Record{note(2, 2), forked(1)},
		}},
	} {
		t.Run("law 4 and 5: "+c.name, func(t *testing.T) {
			got, err := collect(slices.Concat(parent, []journal.Record{forked(c.at)}, c.more)...)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			want.Records, want.LastAsk, want.Fork = len(parent)+1+len(c.more), 1, journal.Fork{Parent: "main", At: llm.MessageID(c.at)}
			want.LastEdit, want.TurnEnd = max(4, want.Edits[len(want.Edits)-1].ID), min(4, llm.MessageID(c.at))
			if !reflect.DeepEqual(got, want) {
				t.Error(cmp.Diff(want, got))
			}
		})
	}
	t.Run("a cut inside a Round leaves its calls open", func(t *testing.T) {
		if _, err := collect(append(parent, forked(2), archive(9, 1, 3))...); err == nil || !strings.Contains(err.Error(), "inside a Round") {
			t.Errorf("want the archive of an open call refused, got %v", err)
		}
		if _, err := collect(append(parent, forked(2), result(3), archive(9, 1, 4))...); err != nil {
			t.Errorf("want the answered call archived, got %v", err)
		}
	})
}

func TestCollectGivesWhatFoldNeeds(t *testing.T) {
	got, err := collect(human(1), call(2), result(3), replace(1, 3, 0), human(4), archive(2, 2, 4, 1), note(3, 5))
	if err != nil {
		t.Fatal(err)
	}
	view, err := edit.Fold(got.Messages, got.Edits)
	if err != nil {
		t.Fatal(err)
	}
	var shown []llm.MessageID
	for _, it := range view.Items {
		shown = append(shown, it.Message.ID)
	}
	if want := []llm.MessageID{1, 4, 0}; !slices.Equal(shown, want) {
		t.Errorf("want messages %v in the view, got %v", want, shown)
	}
}

func TestCollectRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		records []journal.Record
		want    string
	}{
		{"a message that is missing", []journal.Record{human(1), human(3)}, "record 1: message id, want 2, got 3"},
		{"a message that is there twice", []journal.Record{human(1), human(1)}, "record 1: message id"},
		{"a message without an id", []journal.Record{human(0)}, "record 0: message id"},
		{"an edit number used twice", []journal.Record{human(1), note(1, 2), note(1, 2)}, "record 2: edit id"},
		{"edit numbers that fall", []journal.Record{human(1), note(2, 2), note(1, 2)}, "record 2: edit id"},
		{"an edit that supersedes itself", []journal.Record{human(1), note(1, 2, 1)}, "edit 1 supersedes 1"},
		{"an edit that supersedes a later one", []journal.Record{human(1), note(1, 2, 9)}, "edit 1 supersedes 9"},
		{"law 3: an archive that orphans a result", []journal.Record{human(1), call(2), result(3), archive(1, 1, 3)}, "inside a Round"},
		{"law 3: an archive with an open call", []journal.Record{human(1), call(2), archive(1, 1, 3)}, "inside a Round"},
		{"an edit of a message that is not there", []journal.Record{human(1), replace(1, 3, 0)}, "edit 1"},
		{"an edit of a part that is not there", []journal.Record{human(1), call(2), result(3), replace(1, 3, 7)}, "part 7"},
		{"an edit of a call", []journal.Record{human(1), call(2), result(3), replace(1, 2, 0)}, "calls are never changed"},
		{"an edit of no kind", []journal.Record{human(1), {Kind: journal.KindEdit, Edit: edit.Edit{ID: 1, Span: edit.Span{From: 1, To: 2}}}}, "operation"},
		{"an ask number used twice", []journal.Record{ask(1), ask(1)}, "ask id"},
		{"an answer to no ask", []journal.Record{answer(1)}, "answer to ask 1"},
		{"a second answer", []journal.Record{ask(1), answer(1), answer(1)}, "record 2: answer to ask 1"},
		{"a fork beyond the end", []journal.Record{human(1), forked(2)}, "fork at message 2"},
		{"a fork before the beginning", []journal.Record{forked(-1)}, "fork at message -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := collect(tt.records...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("want an error about %q, got %v", tt.want, err)
			}
			if !reflect.DeepEqual(got, journal.Snapshot{}) {
				t.Errorf("want no snapshot beside an error, got %+v", got)
			}
		})
	}
}

func TestCollectPassesErrorsOn(t *testing.T) {
	lost := errors.New("disk gone")
	lines := func(yield func([]byte, error) bool) {
		line, err := journal.Encode(human(1))
		if yield(line, err) && yield(nil, lost) {
			t.Error("Read goes on after an error")
		}
	}
	if _, err := journal.Collect(journal.Read(lines)); !errors.Is(err, lost) || !strings.Contains(err.Error(), "record 1") {
		t.Errorf("want the store's error at record 1, got %v", err)
	}

	newer := func(yield func([]byte, error) bool) { yield([]byte(`{"v":6,"kind":"turn_end"}`), nil) }
	var version *journal.VersionError
	if _, err := journal.Collect(journal.Read(newer)); !errors.As(err, &version) {
		t.Errorf("want a *VersionError, got %v", err)
	}

	for r, err := range journal.Read(stored([]journal.Record{human(1), human(2)})) {
		if err != nil || r.Message.ID != 1 {
			t.Errorf("want message 1, got %+v (%v)", r, err)
		}
		break // Read must bear that its caller stops
	}
}

// Whatever the records, Collect answers; what it accepts can be folded, and a
// prefix of what it accepts is accepted.
func TestCollectProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var records []journal.Record
		messages, edits := 0, 0
		for range rapid.IntRange(0, 30).Draw(t, "records") {
			switch rapid.IntRange(0, 7).Draw(t, "record") {
			case 0:
				messages++
				records = append(records, human(messages))
			case 1:
				messages += 2
				records = append(records, call(messages-1), result(messages))
			case 2, 3:
				edits++
				from := rapid.IntRange(0, messages+1).Draw(t, "from")
				records = append(records, archive(edits, from, rapid.IntRange(0, messages+1).Draw(t, "to")))
			case 4:
				edits++
				records = append(records, note(edits, rapid.IntRange(0, messages+1).Draw(t, "before"), edit.ID(rapid.IntRange(0, edits-1).Draw(t, "old"))))
			case 5:
				edits++
				records = append(records, replace(edits, rapid.IntRange(0, messages).Draw(t, "at"), rapid.IntRange(0, 1).Draw(t, "part")))
			case 6:
				records = append(records, turnEnd())
			case 7:
				records = append(records, drawRecord(t))
			}
		}
		got, err := collect(records...)
		if err != nil {
			return
		}
		if got.Records != len(records) {
			t.Fatalf("want %d records counted, got %d", len(records), got.Records)
		}
		_, _ = edit.Fold(got.Messages, got.Edits) // may find archives that overlap, may not panic
		if _, err := collect(records[:len(records)/2]...); err != nil {
			t.Fatalf("accepted as a whole, but not the first half: %v", err)
		}
	})
}

// A reported output belongs to the first reply after it, of which it tells the
// size.
func TestCollectOutputs(t *testing.T) {
	reported := func(output int, known bool) journal.Record {
		return journal.Record{Kind: journal.KindUsage, Usage: journal.Usage{Usage: llm.Usage{Input: 50, Output: output}, Reported: true, Output: known}}
	}
	got, err := collect(human(1), reported(7, true), call(2), result(3), reported(9, false), call(4), result(5), reported(11, true))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[llm.MessageID]journal.Output{2: {Tokens: 7}}; !maps.Equal(got.Outputs, want) {
		t.Errorf("outputs, want %v, got %v", want, got.Outputs)
	}
}
