package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Drop plans to archive the messages of span, showing notes in their place. The
// text of the note comes from the scene's template; {n} is the number of messages.
// It plans nothing if the span is empty, cuts a Round, or only holds pinned messages.
// Pinned messages inside the span stay, so that several archives may come out.
func (s Scene) Drop(span Span, kind Kind, why string) Plan {
	var p Plan
	for _, part := range s.Unpinned(span) {
		p = p.Join(s.archive(part, kind, why))
	}
	return p
}

// Archive plans one archive of span with the notes and sections given. The span
// must be legal and free of pinned messages; [Scene.Drop] sees to that.
func (s Scene) Archive(span Span, kind Kind, notes []llm.Message, sections []llm.Section) Plan {
	data := s.body(span)
	ref := llm.RefOf(data)
	e := Edit{
		Op: Archive, Kind: kind, Span: span, Notes: notes, Sections: sections,
		Refs: []llm.Ref{ref}, Low: s.Low, Rule: s.Rule,
	}
	for _, old := range s.View.edits {
		if insideOf(old, span) {
			e.Supersedes = append(e.Supersedes, old.ID)
			e.Refs = append(e.Refs, old.Refs...)
			if old.Op == Archive {
				e.Sections = append(e.Sections, old.Sections...)
			}
		}
	}
	for _, it := range s.View.Items {
		if s.within(it, span) {
			e.Before += s.Measure(it.Message)
		}
	}
	for _, n := range notes {
		e.After += s.Measure(n)
	}
	return Plan{Edits: []Edit{e}, Blobs: []Blob{{ref, data}}}
}

func (s Scene) archive(span Span, kind Kind, why string) Plan {
	n := int(span.To - span.From)
	v := Values{N: n, Ref: llm.RefOf(s.body(span))}
	note := NoteOf(llm.Stub{Ref: v.Ref, Text: Fill(s.Template, v)})
	p := s.Archive(span, kind, []llm.Message{note}, nil)
	p.Edits[0].Why = fmt.Sprintf("%s: messages %d to %d (%d) leave", why, span.From, span.To-1, n)
	return p
}

// NoteOf returns a note for the model with one part.
func NoteOf(part llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{part}}
}

// insideOf reports whether an archive of span takes in what e does.
func insideOf(e Edit, span Span) bool {
	if e.Op == Insert {
		return span.From < e.Span.From && e.Span.From < span.To
	}
	return span.Covers(e.Span)
}

// within reports whether it leaves with span.
func (s Scene) within(it Item, span Span) bool {
	if !it.IsNote() {
		return span.Contains(it.Message.ID)
	}
	for _, e := range s.View.edits {
		if len(it.Edits) == 1 && e.ID == it.Edits[0] {
			return insideOf(e, span)
		}
	}
	return false
}

// Unpinned splits span at pinned messages and narrows each piece to legal cuts.
func (s Scene) Unpinned(span Span) []Span {
	span.To = min(span.To, s.Keep)
	var out []Span
	from := span.From
	for id := span.From; id <= span.To; id++ {
		if id < span.To && !s.pinned(id) {
			continue
		}
		if piece, ok := s.legal(Span{from, id}); ok {
			out = append(out, piece)
		}
		from = id + 1
	}
	return out
}

func (s Scene) pinned(id llm.MessageID) bool {
	return s.Pinned != nil && s.Pinned(s.Messages[id-1])
}

// legal narrows a span to the nearest cuts inside it, and widens it over
// archives that it would split.
func (s Scene) legal(span Span) (Span, bool) {
	for _, e := range s.View.edits {
		if e.Op == Archive && e.Span.Overlaps(span) && !span.Covers(e.Span) {
			span.From = min(span.From, e.Span.From)
			if e.Span.To > span.To {
				span.To = e.Span.From
			}
		}
	}
	from, to := s.Turns.CutAfter(int(span.From)-1), s.Turns.CutBefore(int(span.To)-1)
	if from < 0 || from >= to {
		return Span{}, false
	}
	span = Span{llm.MessageID(from) + 1, llm.MessageID(to) + 1}
	return span, !s.archived(span)
}

// archived reports whether one archive holds all of span already.
func (s Scene) archived(span Span) bool {
	for _, e := range s.View.edits {
		if e.Op == Archive && e.Span.Covers(span) {
			return true
		}
	}
	return false
}

type archiveHead struct {
	Archive int           `json:"archive"`
	From    llm.MessageID `json:"from"`
	To      llm.MessageID `json:"to"`
}

type archiveEntry struct {
	Archive llm.Ref       `json:"archive,omitempty"`
	From    llm.MessageID `json:"from,omitempty"`
	To      llm.MessageID `json:"to,omitempty"`
	Message llm.MessageID `json:"message,omitempty"`
	Role    string        `json:"role,omitempty"`
	Origin  string        `json:"origin,omitempty"`
	Part    int           `json:"part"`
	Kind    string        `json:"kind,omitempty"`
	Ref     llm.Ref       `json:"ref,omitempty"`
	Raw     string        `json:"raw,omitempty"`
	Raw64   []byte        `json:"raw64,omitempty"`
	Text    string        `json:"text,omitempty"`
	Note    string        `json:"note,omitempty"`
}

// body returns the archive of span. See the package comment for its format.
func (s Scene) body(span Span) []byte {
	out := line(nil, archiveHead{1, span.From, span.To})
	for id := span.From; id < span.To; id++ {
		if a, ok := s.archiveAt(id, span); ok {
			out = line(out, archiveEntry{Archive: a.Refs[0], From: a.Span.From, To: a.Span.To})
			id = a.Span.To - 1
			continue
		}
		m := s.Messages[id-1]
		for n, p := range m.Parts {
			out = line(out, s.entry(m, n, p))
		}
	}
	for _, e := range s.View.edits {
		if e.Op == Insert && insideOf(e, span) {
			for _, n := range e.Notes {
				out = line(out, archiveEntry{Note: n.Text()})
			}
		}
	}
	return out
}

func (s Scene) archiveAt(id llm.MessageID, span Span) (Edit, bool) {
	for _, e := range s.View.edits {
		if e.Op == Archive && e.Span.From == id && span.Covers(e.Span) {
			return e, true
		}
	}
	return Edit{}, false
}

func (s Scene) entry(m llm.Message, n int, p llm.Part) archiveEntry {
	e := archiveEntry{Message: m.ID, Role: m.Role.String(), Origin: m.Origin.String(), Part: n, Kind: KindOf(p)}
	for _, old := range s.View.edits {
		if old.Op == Replace && old.Span.From == m.ID && old.Part == n {
			e.Ref = old.Refs[0]
			return e
		}
	}
	switch raw := p.Bytes(); {
	case raw == nil:
		e.Text = textOf(p)
	case utf8.Valid(raw):
		e.Raw = string(raw)
	default:
		e.Raw64 = raw
	}
	return e
}

// KindOf names the kind of a part.
func KindOf(p llm.Part) string {
	switch p.(type) {
	case llm.Text:
		return "text"
	case llm.Thinking:
		return "thinking"
	case llm.ToolCall:
		return "tool_call"
	case llm.ToolResult:
		return "tool_result"
	case llm.Media:
		return "media"
	case llm.Stub:
		return "stub"
	}
	return "opaque"
}

func textOf(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.Thinking:
		return p.Text
	case llm.ToolCall:
		return p.Name + " " + p.Args
	case llm.ToolResult:
		return string(Stored(p))
	case llm.Stub:
		return p.Text
	}
	return ""
}

// line appends v as one line of JSON.
func line(out []byte, v any) []byte {
	b := bytes.NewBuffer(out)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // cannot be: only strings and numbers go in
		return out
	}
	return b.Bytes()
}
