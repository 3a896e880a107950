package edit

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Drop plans to archive the messages of span, showing notes in their place. The
// text of the note comes from the scene's template; {n} is the number of messages.
// It plans nothing if the span is empty, cuts a Round, or only holds pinned messages.
// Pinned messages inside the span stay, so that several archives may come out.
func (s Scene) Drop(span Span, kind Kind, why string) Plan {
	s = s.placed()
	var p Plan
	for _, part := range s.Unpinned(span) {
		p = p.Join(s.archive(part, kind, why))
	}
	return p
}

// Archive plans one archive of span with the notes and sections given. The span
// must be legal and free of pinned messages; [Scene.Drop] sees to that. Sections
// of archives that go into this one follow the given ones.
func (s Scene) Archive(span Span, kind Kind, notes []llm.Message, sections []llm.Section) Plan {
	d := s.draft(span, nil)
	d.notes = notes
	for _, n := range notes {
		d.after += s.Measure(n)
	}
	return s.made(d, kind, sections)
}

func (s Scene) archive(span Span, kind Kind, why string) Plan {
	return s.noted(s.draft(span, nil)).plan(s, kind, why)
}

// A draft is an archive of which nobody has said yet whether it is worth making.
type draft struct {
	span          Span
	blob          Blob
	notes         []llm.Message
	before, after int // tokens, as of [Edit]
}

// draft writes the archive of span, into buf where that is large enough.
func (s Scene) draft(span Span, buf []byte) draft {
	from, to := s.leaving(span)
	before := s.size(from, to)
	return draft{span: span, blob: s.blob(span, roomFor(to-from, before), buf), before: before}
}

// noted puts the scene's template in the place of what d takes out, and the summaries that stood there.
func (s Scene) noted(d draft) draft {
	d.notes = append([]llm.Message{s.noteFor(d.span, d.blob.Ref)}, s.summaries(d.span)...)
	for _, n := range d.notes {
		d.after += s.Measure(n)
	}
	return d
}

func (d draft) gain() int { return d.before - d.after }

// plan makes the archive; why is how a sentence about it begins.
func (d draft) plan(s Scene, kind Kind, why string) Plan {
	p := s.made(d, kind, nil)
	p.Edits[0].Why = fmt.Sprintf("%s: messages %d to %d (%d) leave", why, d.span.From, d.span.To-1, int(d.span.To-d.span.From))
	return p
}

// made returns the archive that d is, with the sections given. It takes the place of all edits in its span.
func (s Scene) made(d draft, kind Kind, sections []llm.Section) Plan {
	ref := d.blob.Ref
	e := Edit{
		Op: Archive, Kind: kind, Span: d.span, Notes: d.notes, Sections: slices.Clone(sections),
		Refs: []llm.Ref{ref}, Low: s.Low, Rule: s.Rule, Before: d.before, After: d.after,
	}
	known := map[llm.Ref]bool{ref: true}
	for _, old := range s.View.edits {
		if !insideOf(old, d.span) {
			continue
		}
		e.Supersedes = append(e.Supersedes, old.ID)
		e.Refs = appendRefs(e.Refs, old.Refs, known)
		if old.Op == Archive {
			e.Sections = append(e.Sections, old.Sections...)
		}
	}
	return Plan{Edits: []Edit{e}, Blobs: []Blob{d.blob}}
}

// noteFor returns the note that stands in place of span.
func (s Scene) noteFor(span Span, ref llm.Ref) llm.Message {
	return NoteOf(llm.Stub{Ref: ref, Text: Fill(s.Template, Values{N: int(span.To - span.From), Ref: ref})})
}

// leastNote returns the tokens that a note in the place of a span has at least: those of one message,
// without the Ref, whose characters take some by any count.
func (s Scene) leastNote() int { return s.Measure(s.noteFor(Span{1, 2}, "")) }

// summaries returns the summaries that earlier archives inside span show: they go on
// standing for what they summarise.
func (s Scene) summaries(span Span) []llm.Message {
	if next := s.standing.archivesFrom(span.From); len(next) == 0 || !span.Covers(next[0].Span) {
		return nil // archives do not overlap: where the first one is not inside, none is
	}
	var out []llm.Message
	for _, e := range s.standing.archives {
		if !span.Covers(e.Span) {
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
// stand beside it: among the messages, or, with inPrompt, in the system prompt, where the line
// takes their place. They can be read in the edits that put them there.
func (s Scene) Unsummarised(inPrompt bool, kind Kind, why string) Plan {
	var p Plan
	for _, e := range s.View.edits {
		noted := slices.ContainsFunc(e.Notes, func(n llm.Message) bool { return n.Flags.Has(llm.FlagSummary) })
		if e.Op != Archive || !inPrompt && !noted || inPrompt && !slices.ContainsFunc(e.Sections, isSummary) {
			continue
		}
		one := s.Archive(e.Span, kind, nil, nil)
		now := &one.Edits[0]
		line := s.noteFor(e.Span, now.Refs[0])
		if inPrompt {
			now.Notes = e.Notes
			for _, n := range e.Notes {
				now.After += s.Measure(n)
			}
			now.Sections = s.withoutSummaries(now, line)
		} else {
			now.Notes, now.After = []llm.Message{line}, s.Measure(line)
		}
		now.Why = fmt.Sprintf("%s: the summary of messages %d to %d leaves", why, e.Span.From, e.Span.To-1)
		p = p.Join(one)
	}
	return p
}

// withoutSummaries returns the sections of e with the line in the place of the first summary
// and without the others, and books what that saves.
func (s Scene) withoutSummaries(e *Edit, line llm.Message) []llm.Section {
	var out []llm.Section
	placed := false
	for _, sec := range e.Sections {
		if !isSummary(sec) {
			out = append(out, sec)
			continue
		}
		e.Before += s.Measure(NoteOf(llm.Text{Text: sec.Text}))
		if !placed {
			sec.Text, placed = line.Text(), true
			e.After += s.Measure(line)
			out = append(out, sec)
		}
	}
	return out
}

func isSummary(s llm.Section) bool { return s.Kind == llm.SectionSummary }

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

// Unpinned splits span at pinned messages and narrows each piece to legal cuts.
func (s Scene) Unpinned(span Span) []Span {
	s = s.placed()
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
	for _, e := range s.standing.archives {
		if e.Span.Overlaps(span) && !span.Covers(e.Span) {
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
	return slices.ContainsFunc(s.standing.archives, func(e *Edit) bool { return e.Span.Covers(span) })
}
