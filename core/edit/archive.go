package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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

// dropGaining is [Scene.Drop] without the archives that would save nothing.
func (s Scene) dropGaining(span Span, kind Kind, why string) Plan {
	var p Plan
	for _, part := range s.Unpinned(span) {
		if one := s.archive(part, kind, why); one.Gain() > 0 {
			p = p.Join(one)
		}
	}
	return p
}

// Archive plans one archive of span with the notes and sections given. The span
// must be legal and free of pinned messages; [Scene.Drop] sees to that. Sections
// of archives that go into this one follow the given ones.
func (s Scene) Archive(span Span, kind Kind, notes []llm.Message, sections []llm.Section) Plan {
	data := s.body(span)
	ref := llm.RefOf(data)
	e := Edit{
		Op: Archive, Kind: kind, Span: span, Notes: notes, Sections: slices.Clone(sections),
		Refs: []llm.Ref{ref}, Low: s.Low, Rule: s.Rule, Before: s.sizeOf(span),
	}
	known := map[llm.Ref]bool{ref: true}
	for _, old := range s.View.edits {
		if !insideOf(old, span) {
			continue
		}
		e.Supersedes = append(e.Supersedes, old.ID)
		e.Refs = appendRefs(e.Refs, old.Refs, known)
		if old.Op == Archive {
			e.Sections = append(e.Sections, old.Sections...)
		}
	}
	for _, n := range notes {
		e.After += s.Measure(n)
	}
	return Plan{Edits: []Edit{e}, Blobs: []Blob{{ref, data}}}
}

func (s Scene) archive(span Span, kind Kind, why string) Plan {
	n := int(span.To - span.From)
	p := s.Archive(span, kind, nil, nil)
	e := &p.Edits[0]
	e.Notes = append([]llm.Message{s.noteFor(span, e.Refs[0])}, s.summaries(span)...)
	for _, note := range e.Notes {
		e.After += s.Measure(note)
	}
	e.Why = fmt.Sprintf("%s: messages %d to %d (%d) leave", why, span.From, span.To-1, n)
	return p
}

// noteFor returns the note that stands in place of span.
func (s Scene) noteFor(span Span, ref llm.Ref) llm.Message {
	return NoteOf(llm.Stub{Ref: ref, Text: Fill(s.Template, Values{N: int(span.To - span.From), Ref: ref})})
}

// summaries returns the summaries that earlier archives inside span show: they go on
// standing for what they summarise.
func (s Scene) summaries(span Span) []llm.Message {
	var out []llm.Message
	for _, e := range s.View.edits {
		if e.Op != Archive || !insideOf(e, span) {
			continue
		}
		for _, n := range e.Notes {
			if n.Flags.Has(llm.FlagSummary) {
				out = append(out, n)
			}
		}
	}
	return out
}

// Unsummarised plans to show the line of each archive alone, without the summaries that
// stand beside it. They can be read in the edits that put them there.
func (s Scene) Unsummarised(kind Kind, why string) Plan {
	var p Plan
	for _, e := range s.View.edits {
		if e.Op != Archive || !slices.ContainsFunc(e.Notes, func(n llm.Message) bool { return n.Flags.Has(llm.FlagSummary) }) {
			continue
		}
		one := s.Archive(e.Span, kind, nil, nil)
		line := s.noteFor(e.Span, one.Edits[0].Refs[0])
		one.Edits[0].Notes, one.Edits[0].After = []llm.Message{line}, s.Measure(line)
		one.Edits[0].Why = fmt.Sprintf("%s: the summary of messages %d to %d leaves", why, e.Span.From, e.Span.To-1)
		p = p.Join(one)
	}
	return p
}

// sizeOf returns the tokens of what leaves with span.
func (s Scene) sizeOf(span Span) int {
	n := 0
	for _, it := range s.View.Items {
		if s.within(it, span) {
			n += s.Measure(it.Message)
		}
	}
	return n
}

// dropGain returns about what [Scene.dropGaining] of span saves, without making the
// archives: only the Ref in their notes is another one.
func (s Scene) dropGain(span Span) int {
	gain := 0
	for _, part := range s.Unpinned(span) {
		one := s.sizeOf(part) - s.Measure(s.noteFor(part, llm.RefOf(nil)))
		for _, n := range s.summaries(part) {
			one -= s.Measure(n)
		}
		gain += max(one, 0)
	}
	return gain
}

// appendRefs appends those of more that are not in refs yet, which known tells.
func appendRefs(refs, more []llm.Ref, known map[llm.Ref]bool) []llm.Ref {
	for _, r := range more {
		if !known[r] {
			known[r] = true
			refs = append(refs, r)
		}
	}
	return refs
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
	span.From = max(span.From, 1)
	span.To = min(span.To, s.Keep, llm.MessageID(len(s.Messages))+1)
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

// The lines of an archive; see the package comment.
type (
	headLine struct {
		Archive int           `json:"archive"`
		From    llm.MessageID `json:"from"`
		To      llm.MessageID `json:"to"`
	}
	innerLine struct {
		Archive llm.Ref       `json:"archive"`
		From    llm.MessageID `json:"from"`
		To      llm.MessageID `json:"to"`
	}
	noteLine struct {
		Note string `json:"note"`
	}
	frameLine struct {
		Message llm.MessageID `json:"message"`
		Frame   []string      `json:"frame,omitempty"`
		Frame64 [][]byte      `json:"frame64,omitempty"`
	}
	partLine struct {
		Message   llm.MessageID `json:"message"`
		Role      string        `json:"role"`
		Origin    string        `json:"origin"`
		Part      int           `json:"part"`
		Kind      string        `json:"kind"`
		Ref       llm.Ref       `json:"ref,omitempty"`
		Raw       string        `json:"raw,omitempty"`
		Raw64     []byte        `json:"raw64,omitempty"`
		Text      string        `json:"text,omitempty"`
		Text64    []byte        `json:"text64,omitempty"`
		Signature string        `json:"signature,omitempty"`
	}
)

// body returns the archive of span. See the package comment for its format.
func (s Scene) body(span Span) []byte {
	out := line(nil, headLine{1, span.From, span.To})
	for id := span.From; id < span.To; id++ {
		if id > span.From {
			out = s.inserted(out, id)
		}
		if a, ok := s.archiveAt(id, span); ok {
			out = line(out, innerLine{a.Refs[0], a.Span.From, a.Span.To})
			out = noteLines(out, a.Notes)
			for inner := id + 1; inner < a.Span.To; inner++ {
				out = s.inserted(out, inner)
			}
			id = a.Span.To - 1
			continue
		}
		m := s.Messages[id-1]
		out = frame(out, m)
		for n, p := range m.Parts {
			out = line(out, s.part(m, n, p))
		}
	}
	return out
}

// inserted writes the notes that stand before message id.
func (s Scene) inserted(out []byte, id llm.MessageID) []byte {
	for _, e := range s.View.edits {
		if e.Op == Insert && e.Span.From == id {
			out = noteLines(out, e.Notes)
		}
	}
	return out
}

func noteLines(out []byte, notes []llm.Message) []byte {
	for _, n := range notes {
		out = line(out, noteLine{n.Text()})
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

// frame writes the bytes of a message around its parts, if it came as one object.
func frame(out []byte, m llm.Message) []byte {
	raw := m.Envelope.Raw
	if raw == nil || len(m.Envelope.Spans) != len(m.Parts) {
		return out
	}
	l := frameLine{Message: m.ID}
	at := 0
	var pieces [][]byte
	for _, sp := range m.Envelope.Spans {
		if sp.Start < at || sp.End < sp.Start || sp.End > len(raw) {
			return line(out, frameLine{Message: m.ID, Frame64: [][]byte{raw}})
		}
		pieces = append(pieces, raw[at:sp.Start])
		at = sp.End
	}
	pieces = append(pieces, raw[at:])
	for _, p := range pieces {
		if !utf8.Valid(p) {
			l.Frame64, l.Frame = pieces, nil
			break
		}
		l.Frame = append(l.Frame, string(p))
	}
	return line(out, l)
}

// part writes one part: by its Ref if it is stored already, else its own bytes or
// what it says.
func (s Scene) part(m llm.Message, n int, p llm.Part) partLine {
	l := partLine{Message: m.ID, Role: m.Role.String(), Origin: m.Origin.String(), Part: n, Kind: KindOf(p)}
	for _, old := range s.View.edits {
		if old.Op == Replace && old.Span.From == m.ID && old.Part == n && len(old.Refs) > 0 {
			l.Ref = old.Refs[0]
			return l
		}
	}
	if r, ok := p.(llm.ToolResult); ok {
		if stub, stored := StubOf(r); stored {
			l.Ref = stub.Ref
			return l
		}
	}
	switch raw := p.Bytes(); {
	case raw == nil:
		text := textOf(p)
		if utf8.ValidString(text) {
			l.Text = text
		} else {
			l.Text64 = []byte(text)
		}
	case utf8.Valid(raw):
		l.Raw = string(raw)
	default:
		l.Raw64 = raw
	}
	if t, ok := p.(llm.Thinking); ok && p.Bytes() == nil {
		l.Signature = t.Signature
	}
	return l
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
