package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func force(reason string) journal.Record {
	return journal.Record{Kind: journal.KindForce, Reason: reason}
}

func exceeded() journal.Record { return journal.Record{Kind: journal.KindExceeded} }

func rejected(target string, window, bytes int) journal.Record {
	return journal.Record{Kind: journal.KindRejected, Rejected: journal.Rejected{Target: target, Window: window, Bytes: bytes}}
}

// restores takes edits back.
func restores(id, from, to int, old ...edit.ID) journal.Record {
	return journal.Record{Kind: journal.KindEdit, Edit: edit.Edit{
		ID: edit.ID(id), Op: edit.Restore, Kind: edit.KindRestore, Span: edit.Span{From: llm.MessageID(from), To: llm.MessageID(to)}, Supersedes: old,
	}}
}

func must(t *testing.T, records ...journal.Record) journal.Snapshot {
	t.Helper()
	s, err := collect(records...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCollectForce: what a host asked for and what found no room hold for the rest of
// the Turn, which the next message of a person ends, unless it comes amid a Round.
func TestCollectForce(t *testing.T) {
	for _, c := range []struct {
		name           string
		records        []journal.Record
		forced, exceed journal.Reason
	}{
		{"R000-14_nothing", []journal.Record{human(1)}, journal.Reason{}, journal.Reason{}},
		{"R000-14_asked_for", []journal.Record{human(1), force("max_turns")}, journal.Reason{Text: "max_turns", At: 1}, journal.Reason{}},
		{"R000-14_before_any_message", []journal.Record{force("max_turns")}, journal.Reason{Text: "max_turns"}, journal.Reason{}},
		{"R000-14_a_Round_does_not_end_it", []journal.Record{human(1), force("max_turns"), call(2), result(3)}, journal.Reason{Text: "max_turns", At: 1}, journal.Reason{}},
		{"R000-14_the_next_Turn_does", []journal.Record{human(1), call(2), result(3), force("max_turns"), human(4)}, journal.Reason{}, journal.Reason{}},
		{"R000-14_a_person_amid_a_Round_does_not", []journal.Record{human(1), force("max_turns"), call(2), human(3)}, journal.Reason{Text: "max_turns", At: 1}, journal.Reason{}},
		{"R000-23_no_room", []journal.Record{human(1), call(2), exceeded(), result(3)}, journal.Reason{}, journal.Reason{Text: "exceeded", At: 2}},
		{"R000-23_a_person_amid_a_Round", []journal.Record{human(1), call(2), exceeded(), human(3)}, journal.Reason{}, journal.Reason{Text: "exceeded", At: 2}},
		{"R000-23_the_next_Turn", []journal.Record{human(1), call(2), result(3), exceeded(), human(4)}, journal.Reason{}, journal.Reason{}},
		{"R000-23_a_fork_before_it", []journal.Record{human(1), call(2), result(3), force("max_turns"), exceeded(), forked(2)}, journal.Reason{}, journal.Reason{}},
		{"R000-23_a_fork_after_it", []journal.Record{human(1), force("max_turns"), exceeded(), call(2), forked(1)}, journal.Reason{Text: "max_turns", At: 1}, journal.Reason{Text: "exceeded", At: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := must(t, c.records...)
			if got.Forced != c.forced {
				t.Errorf("forced %+v, want %+v", got.Forced, c.forced)
			}
			if (got.Exceed.Text != "") != (c.exceed.Text != "") || got.Exceed.At != c.exceed.At {
				t.Errorf("exceeded %+v, want %+v", got.Exceed, c.exceed)
			}
		})
	}
}

// TestCollectRejected: of what refusals said the smallest figure of each target holds, and
// it is about the target, not about messages, so that a fork knows it too.
func TestCollectRejected(t *testing.T) {
	records := []journal.Record{
		human(1), rejected("a", 30_000, 0), rejected("b", 20_000, 0), rejected("a", 90_000, 500),
		call(2), rejected("a", 0, 700), rejected("b", 0, 0), rejected("a", 29_000, 0),
	}
	for name, got := range map[string]journal.Snapshot{
		"law 4":         must(t, records...),
		"law 4: a fork": must(t, append(records, forked(1))...),
	} {
		if diff := cmp.Diff(map[string]int{"a": 29_000, "b": 20_000}, got.Windows); diff != "" {
			t.Errorf("%s: windows, - want, + got\n%s", name, diff)
		}
		if diff := cmp.Diff(map[string]int{"a": 500}, got.Bytes); diff != "" {
			t.Errorf("%s: bytes, - want, + got\n%s", name, diff)
		}
	}
}

// TestCollectUsageOfOutputOnly: a usage without a prompt says how long the reply was, and
// takes the place of none that has one.
func TestCollectUsageOfOutputOnly(t *testing.T) {
	wrote := func(tokens int) journal.Record {
		return journal.Record{Kind: journal.KindUsage, Usage: journal.Usage{Usage: llm.Usage{Output: tokens}, Reported: true, Output: true}}
	}
	reply := func(id int) journal.Record {
		return journal.Record{Kind: journal.KindMessage, Message: llm.Message{
			ID: llm.MessageID(id), Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "done"}},
		}}
	}
	got := must(t, human(1), usage(50), reply(2), human(3), wrote(7), reply(4))
	if got.Usage.Prompt() != 50 || got.UsageAt != 1 {
		t.Errorf("R000-2 usage %+v at %d, want the prompt of 50 at message 1", got.Usage, got.UsageAt)
	}
	if got.Outputs[4].Tokens != 7 {
		t.Errorf("R000-2 outputs %v, want 7 tokens of message 4", got.Outputs)
	}
	if first := must(t, human(1), wrote(7)); first.Usage.Usage.Output != 7 || first.UsageAt != 1 {
		t.Errorf("R000-2 usage %+v at %d, want it where there is no other", first.Usage, first.UsageAt)
	}
}

// TestCollectKeepsSuperseded: all edits are in a snapshot, so that what a later one takes
// back can hold again, also in a fork (law 5).
func TestCollectKeepsSuperseded(t *testing.T) {
	records := []journal.Record{
		human(1), call(2), result(3), replace(1, 3, 0), human(4), archive(2, 1, 4, 1), restores(3, 1, 4, 2),
	}
	s := must(t, records...)
	if diff := cmp.Diff([]edit.ID{1, 2, 3}, ids(s.Edits)); diff != "" {
		t.Errorf("law 2: edits, - want, + got\n%s", diff)
	}
	if diff := cmp.Diff([]edit.ID{1, 3}, ids(edit.Holding(s.Edits))); diff != "" {
		t.Errorf("law 5: in force, - want, + got\n%s", diff)
	}
	view, err := edit.Fold(s.Messages, edit.Holding(s.Edits))
	if err != nil {
		t.Fatal(err)
	}
	if got := view.Items[2].Message.Results()[0].Text(); got != "[stored]" {
		t.Errorf("law 5: the output is %q, want the line that stood there before the archive", got)
	}
	fork := must(t, append(records, forked(3))...)
	if diff := cmp.Diff(ids(s.Edits), ids(fork.Edits)); diff != "" {
		t.Errorf("law 5: edits, - parent, + fork at the end of them\n%s", diff)
	}
	earlier := must(t, append(records, forked(2))...)
	if len(earlier.Edits) != 0 || earlier.LastEdit != 3 {
		t.Errorf("law 5: a fork before them has %d edits, the last number used is %d, want none and 3", len(earlier.Edits), earlier.LastEdit)
	}
}

func ids(edits []edit.Edit) []edit.ID {
	var out []edit.ID
	for _, e := range edits {
		out = append(out, e.ID)
	}
	return out
}
