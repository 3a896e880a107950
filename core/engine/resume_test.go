package engine_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// TestRestore is law 4 across a restart: at any moment, a machine made from what was
// written shows the same view, counts it the same for every target, and sends next what
// the other one sends.
func TestRestore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newPair(t)
		s.must(s.feed(engine.Append{Message: s.human()}))
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			s.step()
		}
		n, err := s.h.restored()
		s.must(err)
		if a, b := encoded(t, s.h.m.View().Items), encoded(t, n.m.View().Items); a != b {
			t.Fatalf("the view was\n%s\nis\n%s", a, b)
		}
		if a, b := s.h.m.View().Sections, n.m.View().Sections; !reflect.DeepEqual(a, b) {
			t.Fatalf("sections were %v, are %v", a, b)
		}
		s.must(metersAgree(n))
		s.samePrepare(n)
	})
}

// samePrepare prepares a call on a machine and on its restored twin. A question that
// somebody waited for is answered by nobody in the twin: it is asked anew.
func (s *pair) samePrepare(n *host) {
	s.h.failBlobs, s.other.failBlobs = 0, 0
	if a, b := countsOf(s.h.m), countsOf(n.m); !slices.Equal(a, b) {
		s.t.Fatalf("the counts were %v, are %v", a, b)
	}
	if a, b := s.h.m.Guard(), n.m.Guard(); a.Current+a.Pending+a.Fresh != b.Current+b.Pending+b.Fresh || a.Schema != b.Schema {
		s.t.Fatalf("the guard counted %+v, counts %+v", a, b)
	}
	if s.h.m.Waiting() || s.waits() {
		return
	}
	sends, refused := len(s.h.sent), len(s.h.refused)
	s.must(s.feed(engine.Prepare{}))
	s.must(n.feed(engine.Prepare{}))
	if len(s.h.sent)-sends != len(n.sent) || len(s.h.refused)-refused != len(n.refused) {
		s.t.Fatalf("one sends %d and refuses %d, the other %d and %d", len(s.h.sent)-sends, len(s.h.refused)-refused, len(n.sent), len(n.refused))
	}
	if len(n.sent) == 1 {
		if a, b := encoded(s.t, wired(s.h.sent[sends])), encoded(s.t, wired(n.sent[0])); a != b {
			s.t.Fatalf("law 4: one machine sends\n%s\nthe restored one\n%s", a, b)
		}
	}
}

// countsOf returns what each target's count says.
func countsOf(m *engine.Machine) (out []token.Estimate) {
	for _, s := range m.MeterStates() {
		out = append(out, s.Count)
	}
	return out
}

// wired is what of a Send goes out, or changes what goes out.
func wired(s *engine.Send) any {
	return []any{s.Target.Name(), s.Sections, s.Messages(), s.Tools, s.Edited, s.DropBrokenThinking, s.Final, s.StillOver}
}

// TestFork is law 5 for forks: a fork shows what its parent showed of the messages
// that both have, under the edits that concern only them.
func TestFork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newPair(t)
		s.must(s.feed(engine.Append{Message: s.human()}))
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			s.step()
		}
		at := llm.MessageID(rapid.IntRange(0, len(s.h.m.Messages())).Draw(t, "at"))
		snap, err := s.h.snapshot(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: "parent", At: at}})
		s.must(err)
		n, err := s.h.continued(engine.Fork{Parent: "parent", At: at, Snapshot: snap})
		s.must(err)
		var edits []edit.Edit
		gone := map[edit.ID]bool{}
		for _, e := range s.h.m.Journal() {
			if e.Span.To <= at+1 {
				edits = append(edits, e)
				for _, id := range e.Supersedes {
					gone[id] = true
				}
			}
		}
		edits = slices.DeleteFunc(edits, func(e edit.Edit) bool { return gone[e.ID] })
		want, err := edit.Fold(s.h.m.Messages()[:at], edits)
		s.must(err)
		if a, b := encoded(t, n.m.View().Items), encoded(t, want.Items); a != b {
			t.Fatalf("the fork shows\n%s\nwant\n%s", a, b)
		}
		l := newLaws()
		l.newPolicy(n.m) // what an edit of later took away is not the fork's to bring back
		if at == 0 {
			s.must(n.feed(engine.Append{Message: s.human()}))
		}
		s.must(n.feed(engine.Prepare{}))
		s.must(l.check(n))
		if again, err := n.restored(); err != nil || encoded(t, again.m.View().Items) != encoded(t, n.m.View().Items) {
			t.Fatalf("the fork does not read back: %v", err)
		}
	})
}
