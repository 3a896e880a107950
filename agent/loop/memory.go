package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/store"
)

// memoryPrefix is what the sessions of memories begin with in a store.
const memoryPrefix = "loop-memory/"

// Bounds of a memory.
const (
	longestFact = 300 // characters
	mostFacts   = 200 // of loops; of more the oldest are forgotten
)

// A Fact is one thing that is known of a workspace.
type Fact struct {
	ID     int    `json:"id"` // counts up, and is never given again
	Text   string `json:"text"`
	Source string `json:"source"`         // who said so
	Loop   string `json:"loop,omitempty"` // that it is of; empty: a person's
	At     int64  `json:"at"`             // when it was written, in milliseconds since 1970
}

// A Memory is what is known of a workspace, for all loops in it. It is not safe for concurrent
// use; several of one workspace are, in as many processes.
type Memory struct {
	store   store.Store
	session string
	seq     int
	last    int // the highest id
	facts   []Fact
}

// A change is a record of a memory: a fact that is new or edited, or the id of one that is gone.
type change struct {
	Version int   `json:"v,omitempty"`
	Fact    *Fact `json:"fact,omitempty"`
	Gone    int   `json:"gone,omitempty"`
}

// ErrNoFact says that a memory has no fact of an id.
var ErrNoFact = errors.New("no such fact")

// OpenMemory reads what is known of a workspace, as [Workspace] writes it.
func OpenMemory(ctx context.Context, st store.Store, workspace string) (*Memory, error) {
	sum := sha256.Sum256([]byte(workspace))
	m := &Memory{store: st, session: memoryPrefix + hex.EncodeToString(sum[:16])}
	return m, m.read(ctx)
}

// read takes in what was written since it was called last.
func (m *Memory) read(ctx context.Context) error {
	for data, err := range m.store.Records(ctx, m.session, m.seq) {
		var c change
		if err == nil {
			err = json.Unmarshal(data, &c)
		}
		if err == nil && c.Version != journalVersion {
			err = fmt.Errorf("version, want %d, got %d", journalVersion, c.Version)
		}
		if err != nil {
			return fmt.Errorf("loop: memory: record %d: %w", m.seq, err)
		}
		m.take(c)
	}
	return nil
}

// take makes a change that is on record.
func (m *Memory) take(c change) {
	m.seq++
	if c.Fact == nil {
		m.facts = slices.DeleteFunc(m.facts, func(f Fact) bool { return f.ID == c.Gone })
		return
	}
	if i := slices.IndexFunc(m.facts, func(f Fact) bool { return f.ID == c.Fact.ID }); i >= 0 {
		m.facts[i] = *c.Fact
		return
	}
	m.facts = append(m.facts, *c.Fact)
	m.last = max(m.last, c.Fact.ID)
}

// Facts returns what is known, in the order of its ids.
func (m *Memory) Facts() []Fact { return slices.Clone(m.facts) }

// mostTries is how often a change is tried while others write, too.
const mostTries = 10

// write makes a change that next says from what is known; nil: none. Where somebody else has
// written meanwhile, it is asked again.
func (m *Memory) write(ctx context.Context, next func() (*change, error)) error {
	for range mostTries {
		if err := m.read(ctx); err != nil {
			return err
		}
		c, err := next()
		if err != nil || c == nil {
			return err
		}
		c.Version = journalVersion
		data, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("loop: memory: %w", err)
		}
		err = m.store.Append(ctx, m.session, m.seq, [][]byte{data})
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if err != nil {
			return fmt.Errorf("loop: memory: %w", err)
		}
		m.take(*c)
		return nil
	}
	return fmt.Errorf("loop: memory: %w", store.ErrConflict)
}

// Add adds a fact, unless it is known. Its ID is given here. Of very many facts of loops the
// oldest is forgotten.
func (m *Memory) Add(ctx context.Context, f Fact) (Fact, error) {
	var err error
	if f.Text, err = factText(f.Text); err != nil {
		return f, err
	}
	err = m.write(ctx, func() (*change, error) {
		for _, old := range m.facts {
			if strings.EqualFold(old.Text, f.Text) {
				f = old
				return nil, nil //nolint:nilnil // it is known
			}
		}
		f.ID = m.last + 1
		return &change{Fact: &f}, nil
	})
	if err != nil || f.Loop == "" {
		return f, err
	}
	return f, m.write(ctx, func() (*change, error) {
		of := slices.DeleteFunc(m.Facts(), func(f Fact) bool { return f.Loop == "" })
		if len(of) <= mostFacts {
			return nil, nil //nolint:nilnil // there is room
		}
		return &change{Gone: of[0].ID}, nil
	})
}

// Edit gives a fact another text. From then on it is a person's.
func (m *Memory) Edit(ctx context.Context, f Fact) error {
	var err error
	if f.Text, err = factText(f.Text); err != nil {
		return err
	}
	f.Loop = ""
	return m.write(ctx, func() (*change, error) { return &change{Fact: &f}, m.knows(f.ID) })
}

// Remove forgets a fact.
func (m *Memory) Remove(ctx context.Context, id int) error {
	return m.write(ctx, func() (*change, error) { return &change{Gone: id}, m.knows(id) })
}

func (m *Memory) knows(id int) error {
	if !slices.ContainsFunc(m.facts, func(f Fact) bool { return f.ID == id }) {
		return fmt.Errorf("loop: memory: %d: %w", id, ErrNoFact)
	}
	return nil
}

// factText returns a text on one line, as a fact has it.
func factText(text string) (string, error) {
	text = strings.Join(strings.Fields(valid(text)), " ")
	if n := utf8.RuneCountInString(text); n == 0 || n > longestFact {
		return "", fmt.Errorf("loop: memory: fact, want 1 to %d characters, got %d", longestFact, n)
	}
	return text, nil
}

// memos returns what a prompt shows: facts of people first, then those of loops, the newest
// first.
func (m *Memory) memos() []core.Memo {
	var people, loops []core.Memo
	for _, f := range slices.Backward(m.facts) {
		if f.Loop == "" {
			people = append(people, core.Memo{Text: f.Text, Source: f.Source})
		} else {
			loops = append(loops, core.Memo{Text: f.Text, Source: f.Source})
		}
	}
	return append(people, loops...)
}
