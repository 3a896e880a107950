package engine_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestRestore is law 4 across a restart: at any moment, a machine made from what
// was written shows the same view and counts it the same as far as it can know,
// and what it sends next is what the other one would have sent.
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

// samePrepare prepares a call on a machine and on its restored twin. Where the
// first one knows something that no record tells, only the laws are looked at.
func (s *pair) samePrepare(n *host) {
	final := len(s.h.sent) > 0 && s.h.sent[len(s.h.sent)-1].Final != engine.ReasonNone // its note may have been archived
	knowsMore := final || s.h.m.Waits() || s.h.m.Prepared() || s.h.m.Asking() || s.rejectedOnce || s.otherUsage()
	s.h.failBlobs, s.other.failBlobs = 0, 0
	sends, refused := len(s.h.sent), len(s.h.refused)
	if knowsMore {
		l := newLaws()
		l.newPolicy(n.m)
		s.must(n.feed(engine.Prepare{}))
		s.must(l.check(n))
		return
	}
	if a, b := s.h.m.Count(), n.m.Count(); b.Bound < a.Bound {
		s.t.Fatalf("the count was %+v, is %+v", a, b)
	} else if a != b { // by what it thinks least
		s.must(n.feed(engine.Prepare{}))
		return
	}
	exact := !s.switched && s.h.m.Policy().Estimator != "count" && s.twin.anchor != nil
	if a, b := s.h.m.Guard(), n.m.Guard(); exact && a.Current+a.Pending+a.Fresh != b.Current+b.Pending+b.Fresh || a.Schema != b.Schema {
		s.t.Fatalf("the guard counted %+v, counts %+v", a, b)
	}
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

// wired is what of a Send goes out, or changes what goes out.
func wired(s *engine.Send) any {
	return []any{s.Target.Name(), s.Sections, s.Messages(), s.Tools, s.Edited, s.DropBrokenThinking, s.Final, s.StillOver}
}

// otherUsage reports whether the machine knows something else about reported usage
// than the last record of it tells: from earlier ones, because what it was about has
// changed since, or because a failure of the store made it forget.
func (s *pair) otherUsage() bool {
	snap, err := s.h.snapshot()
	s.must(err)
	anchor := snap.Usage.Reported && snap.Usage.Prompt() > 0
	if anchor != (s.twin.anchor != nil) || !maps.EqualFunc(s.twin.known, snap.Outputs, func(n int, o journal.Output) bool { return n == o.Tokens }) {
		return true
	}
	if s.twin.anchor != nil && (s.twin.then.front != s.twin.shoot(s.h).front || s.twin.then.hidden != s.twin.shoot(s.h).hidden) {
		return true
	}
	return slices.ContainsFunc(s.h.m.Journal(), func(e edit.Edit) bool { return e.ID > snap.UsageEdit && e.Op != edit.Insert })
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
