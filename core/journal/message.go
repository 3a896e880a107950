package journal

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

type message struct {
	ID      llm.MessageID `json:"id,omitempty"`
	Role    string        `json:"role,omitempty"`
	Origin  string        `json:"origin,omitempty"`
	Flags   []string      `json:"flags,omitempty"`
	Dialect string        `json:"dialect,omitempty"`
	Raw     *string       `json:"raw,omitempty"` // of the envelope
	Spans   []place       `json:"spans,omitzero"`
	Parts   []part        `json:"parts,omitzero"`
	B64     odd           `json:"b64,omitempty"`
}

func messageOf(m llm.Message) (*message, error) {
	w := &message{ID: m.ID}
	var err error
	if w.Role, err = nameOf(m.Role, "role", roleNames); err != nil {
		return nil, err
	}
	if w.Origin, err = nameOf(m.Origin, "origin", originNames); err != nil {
		return nil, err
	}
	if w.Flags, err = flagsOf(m.Flags); err != nil {
		return nil, err
	}
	w.Dialect = w.B64.put("dialect", string(m.Dialect))
	w.Raw = w.B64.putBytes("raw", m.Envelope.Raw)
	if m.Envelope.Spans != nil {
		w.Spans = make([]place, 0, len(m.Envelope.Spans))
	}
	for _, s := range m.Envelope.Spans {
		w.Spans = append(w.Spans, place{s.Start, s.End})
	}
	if m.Parts != nil {
		w.Parts = make([]part, 0, len(m.Parts))
	}
	for i, p := range m.Parts {
		var hint llm.Span
		if i < len(m.Envelope.Spans) {
			hint = m.Envelope.Spans[i]
		}
		wp, err := partOf(p, m.Envelope.Raw, hint)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		w.Parts = append(w.Parts, wp)
	}
	return w, nil
}

func (w *message) message() (llm.Message, error) {
	m := llm.Message{ID: w.ID, Dialect: llm.Dialect(w.B64.get("dialect", w.Dialect))}
	var err error
	if m.Role, err = valueOf[llm.Role](w.Role, "role", roleNames); err != nil {
		return llm.Message{}, err
	}
	if m.Origin, err = valueOf[llm.Origin](w.Origin, "origin", originNames); err != nil {
		return llm.Message{}, err
	}
	if m.Flags, err = readFlags(w.Flags); err != nil {
		return llm.Message{}, err
	}
	m.Envelope.Raw = w.B64.getBytes("raw", w.Raw)
	if w.Spans != nil {
		m.Envelope.Spans = make([]llm.Span, 0, len(w.Spans))
	}
	for _, s := range w.Spans {
		m.Envelope.Spans = append(m.Envelope.Spans, llm.Span{Start: s[0], End: s[1]})
	}
	if m.Parts, err = readParts(w.Parts, m.Envelope.Raw); err != nil {
		return llm.Message{}, fmt.Errorf("part %w", err)
	}
	return m, nil
}

// change is an edit as it is written.
type change struct {
	ID          edit.ID   `json:"id,omitempty"`
	Op          string    `json:"op,omitempty"`
	Kind        string    `json:"kind,omitempty"`
	From        int       `json:"from,omitempty"`
	To          int       `json:"to,omitempty"`
	Part        int       `json:"part,omitempty"`
	Replacement *part     `json:"replacement,omitempty"`
	Notes       []message `json:"notes,omitzero"`
	Sections    []section `json:"sections,omitzero"`
	Refs        []llm.Ref `json:"refs,omitzero"`
	Within      *place    `json:"within,omitempty"`
	Before      int       `json:"before,omitempty"`
	After       int       `json:"after,omitempty"`
	Low         int       `json:"low,omitempty"`
	Why         string    `json:"why,omitempty"`
	Rule        string    `json:"rule,omitempty"`
	Supersedes  []edit.ID `json:"supersedes,omitzero"`
	B64         odd       `json:"b64,omitempty"`
}

func changeOf(e edit.Edit) (*change, error) {
	w := &change{
		ID: e.ID, From: int(e.Span.From), To: int(e.Span.To), Part: e.Part, Refs: e.Refs,
		Before: e.Before, After: e.After, Low: e.Low, Supersedes: e.Supersedes,
	}
	w.Op, w.Kind = w.B64.put("op", written(string(e.Op))), w.B64.put("kind", written(string(e.Kind)))
	w.Why, w.Rule = w.B64.put("why", e.Why), w.B64.put("rule", e.Rule)
	if err := checkRefs(e.Refs); err != nil {
		return nil, err
	}
	if e.Replacement != nil {
		p, err := partOf(e.Replacement, nil, llm.Span{})
		if err != nil {
			return nil, fmt.Errorf("replacement: %w", err)
		}
		w.Replacement = &p
	}
	if e.Notes != nil {
		w.Notes = make([]message, 0, len(e.Notes))
	}
	for i, n := range e.Notes {
		m, err := messageOf(n)
		if err != nil {
			return nil, fmt.Errorf("note %d: %w", i, err)
		}
		w.Notes = append(w.Notes, *m)
	}
	var err error
	w.Sections, err = sectionsOf(e.Sections)
	return w, err
}

func (w *change) edit() (edit.Edit, error) {
	e := edit.Edit{
		ID: w.ID, Op: edit.Op(read(w.B64.get("op", w.Op))), Kind: edit.Kind(read(w.B64.get("kind", w.Kind))),
		Span: edit.Span{From: llm.MessageID(w.From), To: llm.MessageID(w.To)}, Part: w.Part, Refs: w.Refs,
		Before: w.Before, After: w.After, Low: w.Low, Supersedes: w.Supersedes,
		Why: w.B64.get("why", w.Why), Rule: w.B64.get("rule", w.Rule),
	}
	if err := checkRefs(w.Refs); err != nil {
		return edit.Edit{}, err
	}
	if w.Replacement != nil {
		p, err := w.Replacement.part(nil)
		if err != nil {
			return edit.Edit{}, fmt.Errorf("replacement: %w", err)
		}
		e.Replacement = p
	}
	if w.Notes != nil {
		e.Notes = make([]llm.Message, 0, len(w.Notes))
	}
	for i := range w.Notes {
		m, err := w.Notes[i].message()
		if err != nil {
			return edit.Edit{}, fmt.Errorf("note %d: %w", i, err)
		}
		e.Notes = append(e.Notes, m)
	}
	var err error
	e.Sections, err = readSections(w.Sections)
	return e, err
}

// checkRefs refuses what cannot be the name of anything stored.
func checkRefs(refs []llm.Ref) error {
	for i, r := range refs {
		if _, err := llm.ParseRef(string(r)); err != nil {
			return fmt.Errorf("ref %d: %w", i, err)
		}
	}
	return nil
}
