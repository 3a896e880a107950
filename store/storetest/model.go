package storetest

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A model is a store that cannot be wrong: it copies everything, and looks for what a
// session sees in the simplest way. It is not safe for concurrent use.
type model struct{ sessions map[string]*modelSession }

type modelSession struct {
	parent  *modelSession // also of one that has been deleted
	forked  int
	records []string
	blobs   map[llm.Ref]string
	snaps   map[int]string
}

func newModel() *model { return &model{map[string]*modelSession{}} }

var errRefused = errors.New("refused")

func (m *model) begin(name string) *modelSession {
	if m.sessions[name] == nil {
		m.sessions[name] = &modelSession{blobs: map[llm.Ref]string{}, snaps: map[int]string{}}
	}
	return m.sessions[name]
}

func (m *model) Append(_ context.Context, session string, seq int, records [][]byte) error {
	n := 0
	if s := m.sessions[session]; s != nil {
		n = len(s.records)
	}
	if seq != n {
		return &store.ConflictError{Session: session, Want: n, Got: seq}
	}
	s := m.begin(session)
	for _, r := range records {
		s.records = append(s.records, string(r))
	}
	return nil
}

func (m *model) Records(_ context.Context, session string, from int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if s := m.sessions[session]; s != nil {
			for i := from; i < len(s.records) && yield([]byte(s.records[i]), nil); i++ {
				continue
			}
		}
	}
}

func (m *model) Put(_ context.Context, session string, blobs []edit.Blob) error {
	s := m.begin(session)
	for _, b := range blobs {
		s.blobs[b.Ref] = string(b.Data)
	}
	return nil
}

func (m *model) PutFrom(_ context.Context, session string, r io.Reader) (llm.Ref, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", 0, err
	}
	ref := llm.RefOf(data)
	m.begin(session).blobs[ref] = string(data)
	return ref, int64(len(data)), nil
}

func (m *model) Get(_ context.Context, session string, ref llm.Ref) ([]byte, error) {
	if s := m.sessions[session]; s != nil {
		if text, ok := s.blobs[ref]; ok {
			return []byte(text), nil
		}
	}
	return nil, store.ErrNotFound
}

func (m *model) Fork(_ context.Context, parent, child string, seq int) error {
	p := m.sessions[parent]
	switch {
	case p == nil:
		return store.ErrNotFound
	case m.sessions[child] != nil:
		return store.ErrConflict
	case seq < 0 || seq > len(p.records):
		return errRefused
	}
	m.sessions[child] = &modelSession{p, seq, slices.Clone(p.records[:seq]), maps.Clone(p.blobs), map[int]string{}}
	return nil
}

func (m *model) Delete(_ context.Context, session string) error {
	delete(m.sessions, session)
	return nil
}

func (m *model) PutSnapshot(_ context.Context, session string, seq int, data []byte) error {
	s := m.sessions[session]
	if s == nil || seq < 1 || seq > len(s.records) {
		return errRefused
	}
	s.snaps[seq] = string(data)
	return nil
}

func (m *model) Snapshot(_ context.Context, session string) (int, []byte, error) {
	s := m.sessions[session]
	if s == nil {
		return 0, nil, store.ErrNotFound
	}
	return s.snapshot(1, len(s.records))
}

func (m *model) SnapshotAt(_ context.Context, session string, seq int) ([]byte, error) {
	s := m.sessions[session]
	if s == nil || seq > len(s.records) {
		return nil, store.ErrNotFound
	}
	_, data, err := s.snapshot(max(seq, 1), seq)
	return data, err
}

func (s *modelSession) snapshot(least, most int) (int, []byte, error) {
	for seq := most; seq >= least; seq-- {
		for at, most := s, seq; at != nil; at, most = at.parent, min(most, at.forked) {
			if text, ok := at.snaps[seq]; ok && seq <= most {
				return seq, []byte(text), nil
			}
		}
	}
	return 0, nil, store.ErrNotFound
}
