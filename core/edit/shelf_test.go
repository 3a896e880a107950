package edit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// An entry is one line of an archive, by the format in the package comment.
type entry struct {
	Archive json.RawMessage `json:"archive"`
	From    llm.MessageID   `json:"from"`
	To      llm.MessageID   `json:"to"`
	Message llm.MessageID   `json:"message"`
	Role    string          `json:"role"`
	Origin  string          `json:"origin"`
	Part    int             `json:"part"`
	Kind    string          `json:"kind"`
	Ref     llm.Ref         `json:"ref"`
	Raw     *string         `json:"raw"`
	Raw64   []byte          `json:"raw64"`
	Text    string          `json:"text"`
	Note    *string         `json:"note"`
}

// A place is a part of a message.
type place struct {
	id   llm.MessageID
	part int
}

// A shelf is what can be read back by following the Refs of the edits that hold.
type shelf struct {
	w     *world
	parts map[place]entry  // what an archive says about a part
	refs  map[place][]byte // what is stored of a part on its own
	notes []string
	named []llm.Ref // by the edit that is looked at
}

// shelf opens everything that the edits of the view name. It fails on anything
// that is not there or does not have the documented form.
func (w *world) shelf() (*shelf, error) {
	s := &shelf{w: w, parts: map[place]entry{}, refs: map[place][]byte{}}
	for _, e := range w.view.Edits() {
		for _, r := range e.Refs {
			if _, err := s.load(r); err != nil {
				return nil, err
			}
		}
		s.named = e.Refs
		switch e.Op {
		case edit.Archive:
			if err := s.open(e.Refs[0], e.Span); err != nil {
				return nil, err
			}
		case edit.Replace:
			data, err := s.load(e.Refs[0])
			if err != nil {
				return nil, err
			}
			s.refs[place{e.Span.From, e.Part}] = data
		}
	}
	return s, nil
}

func (s *shelf) load(r llm.Ref) ([]byte, error) {
	data, ok := s.w.blobs[r]
	switch {
	case !ok:
		return nil, fmt.Errorf("law 2: %s is named but not stored", r)
	case llm.RefOf(data) != r:
		return nil, fmt.Errorf("law 2: %s holds other bytes, those of %s", r, llm.RefOf(data))
	}
	return data, nil
}

// follow is load for a ref that stands in an archive: the edit has to name it as
// well, or nobody would know that it is still needed.
func (s *shelf) follow(r llm.Ref) ([]byte, error) {
	if !slices.Contains(s.named, r) {
		return nil, fmt.Errorf("law 2: an archive holds %s, but its edit names only %s", r, s.named)
	}
	return s.load(r)
}

// open reads the archive under r and all archives in it.
func (s *shelf) open(r llm.Ref, span edit.Span) error {
	data, err := s.follow(r)
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	var head entry
	if err := json.Unmarshal(lines[0], &head); err != nil {
		return fmt.Errorf("archive: line %s: %w", lines[0], err)
	}
	if string(head.Archive) != "1" || head.From != span.From || head.To != span.To {
		return fmt.Errorf("archive of [%d,%d): begins with %s", span.From, span.To, lines[0])
	}
	for _, line := range lines[1:] {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("archive: line %s: %w", line, err)
		}
		if err := s.enter(e, span); err != nil {
			return err
		}
	}
	return nil
}

func (s *shelf) enter(e entry, span edit.Span) error {
	switch {
	case e.Note != nil:
		s.notes = append(s.notes, *e.Note)
	case e.Archive != nil:
		var inner llm.Ref
		if err := json.Unmarshal(e.Archive, &inner); err != nil {
			return fmt.Errorf("archive: inner archive %s: %w", e.Archive, err)
		}
		return s.open(inner, edit.Span{From: e.From, To: e.To})
	case !span.Contains(e.Message):
		return fmt.Errorf("archive of [%d,%d): holds message %d", span.From, span.To, e.Message)
	default:
		at := place{e.Message, e.Part}
		if _, twice := s.parts[at]; twice {
			return fmt.Errorf("archive: part %d of message %d is there twice", e.Part, e.Message)
		}
		s.parts[at] = e
		if e.Ref != "" {
			data, err := s.follow(e.Ref)
			if err != nil {
				return err
			}
			s.refs[at] = data
		}
	}
	return nil
}

// recovers reports why p, which is part n of m, cannot be read back in full.
func (s *shelf) recovers(m llm.Message, n int) error {
	at, p := place{m.ID, n}, m.Parts[n]
	if data, ok := s.refs[at]; ok {
		return same(data, stored(p), at)
	}
	e, ok := s.parts[at]
	if !ok {
		return fmt.Errorf("law 2: part %d of message %d left the view and is nowhere", n, m.ID)
	}
	if e.Role != m.Role.String() || e.Origin != m.Origin.String() || e.Kind != edit.KindOf(p) {
		return fmt.Errorf("archive: part %d of message %d is said to be a %s of %s (%s)", n, m.ID, e.Kind, e.Role, e.Origin)
	}
	switch raw := p.Bytes(); {
	case raw == nil:
		return same([]byte(e.Text), stored(p), at)
	case e.Raw64 != nil:
		return same(e.Raw64, raw, at)
	case e.Raw != nil:
		return same([]byte(*e.Raw), raw, at)
	default:
		return same(nil, raw, at)
	}
}

func same(got, want []byte, at place) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("law 2: part %d of message %d: stored %q, want %q", at.part, at.id, got, want)
	}
	return nil
}

// stored is what DESIGN.md section 2 wants under a part's Ref: the text of a
// text output, else the raw bytes, else what the part says.
func stored(p llm.Part) []byte {
	if r, ok := p.(llm.ToolResult); ok && len(r.Content) == 1 {
		if t, ok := r.Content[0].(llm.Text); ok {
			return []byte(t.Text)
		}
	}
	if p.Bytes() != nil {
		return p.Bytes()
	}
	switch p := p.(type) {
	case llm.Text:
		return []byte(p.Text)
	case llm.Thinking:
		return []byte(p.Text)
	case llm.ToolCall:
		return []byte(p.Name + " " + p.Args)
	case llm.ToolResult:
		var b []byte
		for _, c := range p.Content {
			if t, ok := c.(llm.Text); ok {
				b = append(append(b, t.Text...), '\n')
				continue
			}
			b = append(b, c.Bytes()...)
		}
		return b
	}
	return nil
}
