package sessionfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// TestCopies: a call that an earlier session has is copied from it, by all of its ids, its
// model and its usage.
func TestCopies(t *testing.T) {
	call := func(message, request string, in int) sessionfile.Entry {
		return sessionfile.Entry{Step: &sessionfile.Step{MessageID: message, RequestID: request, Usage: llm.Usage{Input: in}}}
	}
	marked := call("m1", "r1", 10)
	marked.Step.Copied = "elder"
	var copies sessionfile.Copies
	for _, c := range []struct {
		name, id string
		entries  []sessionfile.Entry
		want     []string // whom each call is copied from
	}{
		{"the first has all", "a", []sessionfile.Entry{{}, call("m1", "r1", 10), call("m2", "r2", 20), call("", "", 5)}, []string{"", "", "", ""}},
		{"the next goes on", "b", []sessionfile.Entry{call("m1", "r1", 10), call("m2", "r2", 20), call("m3", "r3", 30)}, []string{"a", "a", ""}},
		{"copy of a copy", "c", []sessionfile.Entry{call("m1", "r1", 10), call("m3", "r3", 30)}, []string{"a", "b"}},
		{"no ids", "d", []sessionfile.Entry{call("", "", 5)}, []string{""}},
		{"only one id, or another usage", "e", []sessionfile.Entry{call("m1", "r2", 10), call("m1", "r1", 11)}, []string{"", ""}},
		{"it says so itself", "f", []sessionfile.Entry{marked}, []string{"elder"}},
		{"the same session again", "a", []sessionfile.Entry{call("m1", "r1", 10)}, []string{""}},
		{"within one session", "g", []sessionfile.Entry{call("m9", "r9", 1), call("m9", "r9", 1)}, []string{"", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := copiedFrom(c.entries)
			got := copiedFrom(copies.In(c.id)(sessionfile.Segment{Entries: c.entries}).Entries)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("copied from (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, copiedFrom(c.entries)); diff != "" {
				t.Errorf("the segment that was given has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestCopiesInBranches: the calls of branches that an earlier session has are copied from it
// as well.
func TestCopiesInBranches(t *testing.T) {
	var copies sessionfile.Copies
	for _, c := range []struct{ id, want string }{{"elder", ""}, {"younger", "elder"}, {"elder", ""}} {
		s := sessionfile.Session{
			ID:       c.id,
			Segments: []sessionfile.Segment{{Entries: []sessionfile.Entry{{Step: &sessionfile.Step{MessageID: "m1"}}}}},
			Abandoned: []sessionfile.Branch{{Calls: []sessionfile.Step{
				{MessageID: "m2", Usage: llm.Usage{Input: 7}}, {MessageID: "", Usage: llm.Usage{Input: 7}},
			}}},
		}
		copies.Mark(&s)
		calls := s.Abandoned[0].Calls
		if step := s.Segments[0].Entries[0].Step; step.Copied != c.want || calls[0].Copied != c.want || calls[1].Copied != "" {
			t.Errorf("%s: want calls copied from %q but for one without an id, got %q and %q, %q", c.id, c.want, step.Copied, calls[0].Copied, calls[1].Copied)
		}
	}
}

// copiedFrom returns whom each entry is copied from.
func copiedFrom(entries []sessionfile.Entry) []string {
	var all []string
	for _, e := range entries {
		if e.Step == nil {
			all = append(all, "")
			continue
		}
		all = append(all, e.Step.Copied)
	}
	return all
}
