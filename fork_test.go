package plimsoll_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// An abandoned store ends the caller's context in the middle of a fork.
type abandoned struct {
	store.Memory
	give func()
}

func (a *abandoned) Fork(ctx context.Context, parent, child string, seq int) error {
	err := a.Memory.Fork(ctx, parent, child, seq)
	a.give()
	return err
}

// nothingOf fails if the store has a record of a session.
func nothingOf(t *testing.T, st store.Store, id string) {
	t.Helper()
	for line, err := range st.Records(t.Context(), id, 0) {
		t.Fatalf("law 5: the store has %q of %q, %v, want nothing", line, id, err)
	}
}

// TestForkGivenUp: a fork that did not come to be leaves nothing under its name, which
// would look like the parent; the name can be used.
func TestForkGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	st := &abandoned{give: cancel}
	s := open(t, plimsoll.Options{ID: "parent", Store: st})
	add(t, s, human("One."), reply("Two."), human("Three."))
	if _, err := s.Fork(ctx, "child", 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	nothingOf(t, st, "child")
	child, err := s.Fork(t.Context(), "child", 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(child.Messages()); n != 1 {
		t.Errorf("%d messages in the fork, want 1", n)
	}
	add(t, s, reply("Four.")) // the parent goes on
	add(t, child, reply("Another two."))
}

// TestForkGivenUpAtOnce is the same for a context that had ended before.
func TestForkGivenUpAtOnce(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	st := &store.Memory{}
	s := open(t, plimsoll.Options{ID: "parent", Store: st})
	add(t, s, human("One."))
	if _, err := s.Fork(gone, "child", plimsoll.Here); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	nothingOf(t, st, "child")
}

// TestBillOfAFork begins with the fork: what its parent paid is on the parent's bill.
func TestBillOfAFork(t *testing.T) {
	o := plimsoll.Options{ID: "parent", Store: &store.Memory{}}
	call := func(s *plimsoll.Session, prompt int) {
		t.Helper()
		prepare(t, s)
		observe(t, s, llm.Usage{Input: prompt, Output: 10})
		add(t, s, reply("Done."), human("More."))
	}
	s := open(t, o)
	add(t, s, human("Go."))
	call(s, 100)
	call(s, 200)
	child, err := s.Fork(t.Context(), "child", 3)
	if err != nil {
		t.Fatal(err)
	}
	grandchild, err := child.Fork(t.Context(), "grandchild", plimsoll.Here)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		session *plimsoll.Session
		prompts []int
	}{
		"parent":     {s, []int{100, 200}},
		"child":      {child, []int{1_000}},
		"grandchild": {grandchild, nil},
	} {
		if name == "child" {
			call(child, 1_000)
		}
		want := llm.Usage{}
		for _, prompt := range c.prompts {
			want = want.Add(llm.Usage{Input: prompt, Output: 10})
		}
		live := c.session.Bill()
		if live.Calls != len(c.prompts) || live.Usage != want {
			t.Errorf("%s: bill %+v, want %d calls, %+v", name, live, len(c.prompts), want)
		}
		o.ID = name
		if diff := cmp.Diff(live, open(t, o).Bill()); diff != "" {
			t.Errorf("%s: bill, - live, + after a restart\n%s", name, diff)
		}
	}
}

// TestForkOfNothing: a session that was told nothing has nothing to go on from, and says so.
func TestForkOfNothing(t *testing.T) {
	s := open(t, plimsoll.Options{ID: "a"})
	if _, err := s.Fork(t.Context(), "b", plimsoll.Here); err == nil || !strings.Contains(err.Error(), "was told something") {
		t.Errorf("got %v, want an error that says what is missing", err)
	}
}

// TestForkAfterAFailedPrepare: a fork goes where the session goes, also where the store failed in the call that named the targets.
func TestForkAfterAFailedPrepare(t *testing.T) {
	a, b := windowOf("gpt-4o", 20_000), windowOf("gpt-5-mini", 19_000)
	st := new(onceStore)
	s := open(t, plimsoll.Options{ID: "a", Store: st, Targets: []budget.Target{a}})
	add(t, s, human("Look."))
	fill(t, s, 1, 5_000)
	prepare(t, s, a)
	st.append = true
	if _, err := s.Prepare(t.Context(), b); !errors.Is(err, errOnce) {
		t.Fatal(err)
	}
	add(t, s, human("Go on."))
	f, err := s.Fork(t.Context(), "f", plimsoll.Here)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := prepare(t, f).Target.Name(), prepare(t, s).Target.Name(); got != want {
		t.Errorf("the fork goes to %s, the session to %s", got, want)
	}
}
