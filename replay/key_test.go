package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/store"
)

// seen notes under which names something was written.
type seen struct {
	*store.Memory
	keys map[string]int
	err  error // of every write, if any
}

func newSeen() *seen { return &seen{Memory: new(store.Memory), keys: map[string]int{}} }

// Append implements [store.Store].
func (s *seen) Append(ctx context.Context, key string, seq int, records [][]byte) error {
	s.keys[key]++
	if s.err != nil {
		return s.err
	}
	return s.Memory.Append(ctx, key, seq, records)
}

func keep(t *testing.T, db store.Store, s *sessionfile.Session, change func(*policy.Policy)) error {
	t.Helper()
	p, err := policy.Preset("guard")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&p)
	}
	r, err := replay.New(replay.Options{Policies: []policy.Policy{p}, Store: db})
	if err != nil {
		t.Fatal(err)
	}
	return r.Session(context.Background(), s, func(replay.Result) error { return nil })
}

// TestKeptRuns: a run takes the place of the same run of the same content, wherever its
// file is, and of no other.
func TestKeptRuns(t *testing.T) {
	db := newSeen()
	one := conversation("harbour-1", 60)
	one.Path = "monday/session.jsonl"
	moved := *one
	moved.Path = "archive/session.jsonl"
	other := conversation("harbour-1", 60)
	other.Path = "tuesday/session.jsonl"
	other.Segments[0].Entries[0].Message.Parts = []llm.Part{llm.Text{Text: "Another question under the same name."}}
	thinks := func(text, signature string) *sessionfile.Session {
		s := conversation("harbour-1", 60)
		s.Path = "thinks/session.jsonl"
		m := &s.Segments[0].Entries[1].Message
		m.Parts = append([]llm.Part{llm.Thinking{Text: text, Signature: signature}}, m.Parts...)
		return s
	}
	renamed := *one
	renamed.ID = "another session with the same texts"
	for _, c := range []struct {
		what   string
		s      *sessionfile.Session
		change func(*policy.Policy)
		want   int // names in the store
	}{
		{"the first run", one, nil, 1},
		{"the same again", one, nil, 1},
		{"the same file elsewhere", &moved, nil, 1},
		{"another file of that name", other, nil, 2},
		{"another session", &renamed, nil, 3},
		{"another policy of that name", one, func(p *policy.Policy) { p.LowWater = 123 }, 4},
		{"a reply with thinking", thinks("The tide first.", "a"), nil, 5},
		{"other thinking", thinks("The berth first.", "a"), nil, 6},
		{"another signature", thinks("The tide first.", "b"), nil, 7},
		{"the same thinking again", thinks("The tide first.", "a"), nil, 7},
	} {
		if err := keep(t, db, c.s, c.change); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if len(db.keys) != c.want {
			t.Errorf("%s: want %d names, got %v", c.what, c.want, db.keys)
		}
	}
	for key := range db.keys {
		if !strings.HasPrefix(key, "session.jsonl#1 guard model ") {
			t.Errorf("want a name that people know, got %q", key)
		}
	}
}

// TestKeptTwiceAtOnce: who loses says so plainly.
func TestKeptTwiceAtOnce(t *testing.T) {
	db := newSeen()
	db.err = &store.ConflictError{Session: "session", Want: 4, Got: 2}
	err := keep(t, db, conversation("harbour-1", 60), nil)
	if !errors.Is(err, replay.ErrBusy) || strings.Contains(err.Error(), "sequence") {
		t.Errorf("want %v, got %v", replay.ErrBusy, err)
	}
}
