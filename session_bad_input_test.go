package plimsoll_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/store"
)

// same checks that what failed changed nothing: f fails, and the next request is as
// before.
func same(t *testing.T, s *plimsoll.Session, f func() error) error {
	t.Helper()
	before := prepare(t, s)
	used, edits := s.Usage(), len(s.Edits())
	err := f()
	if err == nil {
		t.Fatal("want an error, got none")
	}
	after := prepare(t, s)
	if diff := cmp.Diff(before.Messages(), after.Messages()); diff != "" {
		t.Errorf("a failed call changed the request: - before, + after\n%s", diff)
	}
	if now := s.Usage(); now.Guard != used.Guard || now.Count != used.Count || now.Limit != used.Limit || len(s.Edits()) != edits {
		t.Errorf("a failed call changed the counters: %+v became %+v", used.Guard, now.Guard)
	}
	return err
}

// working is a session that can be told something wrong.
func working(t *testing.T) *plimsoll.Session {
	t.Helper()
	s := guarded(t)
	add(t, s, human("Read the files."))
	prepare(t, s)
	add(t, s, calls("read", 1))
	result(t, s, "c1", "nothing")
	return s
}

// says checks that an error names what it is about.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

// TestBadWindow: a window that cannot be is a *budget.ConfigError, at Open and at
// Prepare, and a Prepare that fails leaves the targets that were.
func TestBadWindow(t *testing.T) {
	for name, w := range map[string]budget.Window{
		"negative capacity":                 {Capacity: -1},
		"absurd capacity":                   {Capacity: math.MaxInt},
		"negative output":                   {Capacity: 50_000, OutputReserve: -5},
		"negative buffer":                   {Capacity: 50_000, Buffer: -8_192},
		"absurd buffer":                     {Capacity: 50_000, Buffer: math.MaxInt},
		"negative bytes":                    {Capacity: 50_000, MaxBytes: -2},
		"R000-6_buffer and output are all":  {Capacity: 16_000, Buffer: 8_000, OutputReserve: 8_000},
		"R000-6_buffer and output are more": {Capacity: 10_000, OutputReserve: 9_999},
	} {
		t.Run(name, func(t *testing.T) {
			bad := []budget.Target{{Provider: "p", Model: "mystery", Window: w}}
			check := func(err error) {
				t.Helper()
				var config *budget.ConfigError
				if !errors.As(err, &config) {
					t.Fatalf("got %v, want a *budget.ConfigError", err)
				}
				says(t, err, "p/mystery", config.What, fmt.Sprint(config.Got))
			}
			_, err := plimsoll.Open(t.Context(), plimsoll.Options{Policy: preset(t, "guard"), Targets: bad})
			check(err)
			s := working(t)
			check(same(t, s, func() error { _, err := s.Prepare(t.Context(), bad...); return err }))
		})
	}
	t.Run("no target", func(t *testing.T) {
		for _, targets := range [][]budget.Target{nil, {}} {
			if _, err := plimsoll.Open(t.Context(), plimsoll.Options{Targets: targets}); err == nil {
				t.Error("want an error, got none")
			} else {
				says(t, err, "at least one")
			}
		}
	})
	t.Run("R001-13_unknown window", func(t *testing.T) {
		_, err := plimsoll.Open(t.Context(), plimsoll.Options{
			Policy: preset(t, "cache-compact"), Targets: []budget.Target{{Model: "mystery"}},
		})
		if !errors.Is(err, budget.ErrUnknownWindow) {
			t.Errorf("got %v, want %v", err, budget.ErrUnknownWindow)
		}
	})
}

// TestBadTokenizer: a vocabulary that cannot be loaded is an error at Open that says
// whose it is, and never a silent estimate.
func TestBadTokenizer(t *testing.T) {
	missing := errors.New("tokenizer.json: no such file")
	encodings := func(string) (*bpe.Encoding, error) { return nil, missing }
	_, err := plimsoll.Open(t.Context(), plimsoll.Options{
		Encodings: encodings, Targets: []budget.Target{{Provider: "openai", Model: "gpt-4o"}},
	})
	if !errors.Is(err, missing) {
		t.Fatalf("R000-19: got %v, want it to wrap %v", err, missing)
	}
	says(t, err, "openai/gpt-4o")
	p := preset(t, "guard")
	p.Estimator = "tiktoken:of-tomorrow"
	if _, err := plimsoll.Open(t.Context(), plimsoll.Options{Policy: p, Targets: []budget.Target{target()}}); err == nil {
		t.Error("R000-19: an unknown estimator: want an error, got none")
	} else {
		says(t, err, "of-tomorrow")
	}
}

// TestBadUsage: figures that cannot be tokens are a *engine.UsageError and change
// nothing; a provider's own mistake is not believed, and that is said.
func TestBadUsage(t *testing.T) {
	for name, u := range map[string]llm.Usage{
		"input":          {Input: -1, Output: 5},
		"cache read":     {Input: 5, CacheRead: math.MinInt},
		"cache write 5m": {CacheWrite5m: -3},
		"cache write 1h": {CacheWrite1h: math.MaxInt},
		"output":         {Input: 10, Output: -2},
		"reasoning":      {Input: 10, Output: 2, Reasoning: -7},
	} {
		t.Run("R000-2_"+name, func(t *testing.T) {
			s := working(t)
			err := same(t, s, func() error { return s.Observe(t.Context(), u) })
			var usage *engine.UsageError
			if !errors.As(err, &usage) || usage.Field != name {
				t.Errorf("got %v, want a *engine.UsageError about %s", err, name)
			}
			if b := s.Bill(); b.Calls != 0 {
				t.Errorf("the bill has %d calls, want none", b.Calls)
			}
		})
	}
	for name, input := range map[string]int{"a sum over many calls": 5_000_000, "only what was not cached": 3} {
		t.Run("R000-2_"+name, func(t *testing.T) {
			s := guarded(t)
			add(t, s, human(output(20_000)))
			before := prepare(t, s).Count.Point
			observe(t, s, llm.Usage{Input: input, Output: 10})
			if got := s.Usage().Guard.Current; got != before+10 {
				t.Errorf("current %d, want the count %d and 10 of output", got, before)
			}
			if b := s.Bill(); b.Usage.Input != input {
				t.Errorf("the bill has %d, want what the provider says it charged, %d", b.Usage.Input, input)
			}
			if send := prepare(t, s); send.Final != engine.ReasonNone {
				t.Errorf("one wrong figure forced a final Step: %s", send.Final)
			}
			told := 0
			for _, e := range notices(t, s) {
				if e.Kind == engine.EventUsage {
					told++
				}
			}
			if told != 1 {
				t.Errorf("%d events about it, want one", told)
			}
		})
	}
}

// TestBadResult: a result without a call, a second one, and one with a body that cannot
// be read.
func TestBadResult(t *testing.T) {
	s := working(t)
	var orphan *turn.OrphanError
	for name, id := range map[string]string{"unknown call": "c9", "a second result": "c1", "no id": ""} {
		t.Run(name, func(t *testing.T) {
			err := same(t, s, func() error {
				_, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: id, Body: strings.NewReader("x")})
				return err
			})
			if !errors.As(err, &orphan) {
				t.Errorf("ToolResult: got %v, want a *turn.OrphanError", err)
			}
			if err := same(t, s, func() error { return s.Skip(t.Context(), id) }); !errors.As(err, &orphan) {
				t.Errorf("Skip: got %v, want a *turn.OrphanError", err)
			}
		})
	}
	t.Run("a large one for an unknown call", func(t *testing.T) {
		err := same(t, s, func() error {
			_, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "c9", Body: strings.NewReader(output(5 << 20))})
			return err
		})
		if !errors.As(err, &orphan) {
			t.Errorf("got %v, want a *turn.OrphanError", err)
		}
	})
	t.Run("a body that breaks off", func(t *testing.T) {
		s := withCalls(t, 1)
		held, err := s.Budget().Reserve(t.Context(), 50)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.ToolResult(t.Context(), plimsoll.Result{CallID: "c1", Body: breaks{}, Reserved: held})
		if !errors.Is(err, errBroken) {
			t.Fatalf("got %v, want %v", err, errBroken)
		}
		says(t, err, `"c1"`)
		if got := s.Usage().Reserved; got != 50 {
			t.Errorf("%d tokens are reserved, want 50: the output may be read again", got)
		}
		result(t, s, "c1", "read again")
	})
}

var errBroken = errors.New("connection reset")

// breaks is a reader that fails after a few bytes.
type breaks struct{}

func (breaks) Read(p []byte) (int, error) { return copy(p, "half a "), errBroken }

// TestBadMessage: a message that has no form in a journal.
func TestBadMessage(t *testing.T) {
	s := working(t)
	for name, m := range map[string]llm.Message{
		"no role":    {Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "x"}}},
		"no origin":  {Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "x"}}},
		"no parts":   {Role: llm.RoleUser, Origin: llm.Human},
		"a nil part": {Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{nil}},
		"an id":      {ID: 7, Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "x"}}},
		"flags":      {Role: llm.RoleUser, Origin: llm.Human, Flags: 1 << 7, Parts: []llm.Part{llm.Text{Text: "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			_ = same(t, s, func() error { return s.Append(t.Context(), m) })
		})
	}
}

// TestBadReason: an unknown reason is a *engine.ReasonError, and forces nothing.
func TestBadReason(t *testing.T) {
	for _, r := range []engine.Reason{"", "bored", "Context"} {
		s := working(t)
		err := same(t, s, func() error { return s.Finish(t.Context(), r) })
		var reason *engine.ReasonError
		if !errors.As(err, &reason) || reason.Got != r {
			t.Errorf("R000-14 %q: got %v, want a *engine.ReasonError", r, err)
		}
	}
}

// TestBadRejected: what is not about length is given back as it is.
func TestBadRejected(t *testing.T) {
	s := working(t)
	plain := errors.New("503 overloaded")
	for _, err := range []error{plain, fmt.Errorf("call: %w", plain), &refusal{other: true}, nil} {
		got := same(t, s, func() error { _, e := s.Rejected(t.Context(), err); return e })
		if err != nil && !errors.Is(got, err) {
			t.Errorf("got %v, want it to wrap %v", got, err)
		}
	}
	for name, r := range map[string]*refusal{
		"negative window": {window: -1}, "absurd window": {window: math.MaxInt}, "negative use": {used: -1}, "absurd use": {used: math.MaxInt},
	} {
		t.Run(name, func(t *testing.T) {
			err := same(t, s, func() error { _, e := s.Rejected(t.Context(), r); return e })
			var usage *engine.UsageError
			if !errors.As(err, &usage) {
				t.Errorf("got %v, want a *engine.UsageError", err)
			}
		})
	}
	t.Run("a window in which nothing fits", func(t *testing.T) {
		send, err := s.Rejected(t.Context(), &refusal{window: 1})
		if err != nil || !send.StillOver {
			t.Errorf("want the guard's last request, marked as over, got %v (%v)", send, err)
		}
		if got := s.Usage().Target.Window.Capacity; got != 1 {
			t.Errorf("the window that was stated, want it remembered, got %d", got)
		}
	})
}

// TestBadFork: a fork at a place that there is not, of a session without records, or
// under a name that is taken.
func TestBadFork(t *testing.T) {
	st := &store.Memory{}
	s := open(t, plimsoll.Options{ID: "a", Store: st})
	add(t, s, human("One."), reply("Two."))
	for _, at := range []llm.MessageID{-2, 3, math.MaxInt32} {
		err := same(t, s, func() error { _, e := s.Fork(t.Context(), "b", at); return e })
		says(t, err, `"a"`, "0 to 2", fmt.Sprint(at))
	}
	open(t, plimsoll.Options{ID: "b", Store: st}) // what failed left nothing behind
	if _, err := s.Fork(t.Context(), "c", plimsoll.Here); err != nil {
		t.Fatal(err)
	}
	for _, taken := range []string{"a", "c"} {
		err := same(t, s, func() error { _, e := s.Fork(t.Context(), taken, plimsoll.Here); return e })
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("fork as %q, which there is: got %v, want %v", taken, err, store.ErrConflict)
		}
	}
	c := open(t, plimsoll.Options{ID: "c", Store: st})
	if n := len(c.Messages()); n != 2 {
		t.Errorf("the session that was there has %d messages, want 2", n)
	}
}

// TestBadUndo: an edit that there is not, a note, one that was put back already, and
// one that a later edit took the place of.
func TestBadUndo(t *testing.T) {
	s := filled(t, 9_790)
	add(t, s, calls("read", 1))
	result(t, s, "c1", output(4_000)) // becomes a handle, and then a failure in its place
	prepare(t, s)                     // puts in the note of a final Step
	var handle, failure, note edit.ID
	for _, e := range s.Edits() {
		switch e.Kind {
		case edit.KindOffload:
			handle = e.ID
		case edit.KindFail:
			failure = e.ID
		case edit.KindNote:
			note = e.ID
		}
	}
	for name, tt := range map[string]struct {
		id   edit.ID
		want string
	}{
		"unknown":    {99, "none of the"},
		"zero":       {0, "none of the"},
		"a note":     {note, "a note"},
		"superseded": {handle, "supersedes"},
	} {
		t.Run(name, func(t *testing.T) {
			err := same(t, s, func() error { return s.Undo(t.Context(), tt.id) })
			says(t, err, tt.want, fmt.Sprint(tt.id))
		})
	}
	if err := same(t, s, func() error { return s.Undo(t.Context(), failure, 99) }); err != nil {
		says(t, err, "99") // all or none
	}
	if err := s.Undo(t.Context(), failure, failure); err != nil {
		t.Fatalf("one named twice: %v", err)
	}
	if got := outputs(s); !strings.Contains(got[0], "handle") {
		t.Errorf("the output is %q, want the handle that it was before it failed", got[0])
	}
	if err := s.Undo(t.Context(), handle); err != nil {
		t.Fatal(err)
	}
	if got := outputs(s); got[0] != output(4_000) {
		t.Errorf("the output is %q, want it back", got[0])
	}
	_ = same(t, s, func() error { return s.Undo(t.Context(), failure) })
	if err := s.Undo(t.Context()); err != nil {
		t.Errorf("nothing to put back: %v", err)
	}
}

// TestClosed: every method that does something says that the session was closed, and
// those that only look still answer.
func TestClosed(t *testing.T) {
	s := working(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, f := range map[string]func() error{
		"Append":      func() error { return s.Append(ctx, human("x")) },
		"SetTools":    func() error { return s.SetTools(ctx, nil) },
		"SetSections": func() error { return s.SetSections(ctx, nil) },
		"TurnEnd":     func() error { return s.TurnEnd(ctx) },
		"Finish":      func() error { return s.Finish(ctx, engine.ReasonUserStop) },
		"Prepare":     func() error { _, err := s.Prepare(ctx); return err },
		"Observe":     func() error { return s.Observe(ctx, llm.Usage{Input: 9}) },
		"Rejected":    func() error { _, err := s.Rejected(ctx, &refusal{window: 15_000}); return err },
		"Compact":     func() error { _, err := s.Compact(ctx, ""); return err },
		"Undo":        func() error { return s.Undo(ctx, 1) },
		"Fork":        func() error { _, err := s.Fork(ctx, "b", plimsoll.Here); return err },
	} {
		if err := f(); !errors.Is(err, plimsoll.ErrClosed) {
			t.Errorf("%s: %v, want %v", name, err, plimsoll.ErrClosed)
		}
	}
	if s.Usage().Limit == 0 || s.ID() == "" || s.Bill().Calls != 0 {
		t.Error("what only looks does not answer after Close")
	}
}

// TestBadPolicy: a policy with faults is refused with all of them.
func TestBadPolicy(t *testing.T) {
	p := preset(t, "guard")
	p.OnFloor, p.Estimator = "panic", ""
	_, err := plimsoll.Open(t.Context(), plimsoll.Options{Policy: p, Targets: []budget.Target{target()}})
	if err == nil {
		t.Fatal("want an error, got none")
	}
	says(t, err, "on_floor", "estimator")
	if _, err := plimsoll.Open(t.Context(), plimsoll.Options{Policy: policy.Policy{Name: "empty"}, Targets: []budget.Target{target()}}); err == nil {
		t.Error("a policy with a name alone: want an error, got none")
	}
}
