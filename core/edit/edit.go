package edit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Op is what an edit does.
type Op string

// The operations.
const (
	// Replace shows one part of one message in another form.
	Replace Op = "replace"
	// Archive takes a span of messages out of the view and shows notes in its place.
	Archive Op = "archive"
	// Insert puts a note into the view, before message Span.From, or into the system prompt.
	Insert Op = "insert"
	// Undo puts back what the edits that it supersedes took out. It does nothing else.
	Undo Op = "undo"
)

// ID numbers the edits of a journal from 1. 0 is no edit.
type ID int

// A Span is the messages with From <= ID < To.
type Span struct{ From, To llm.MessageID }

// Contains reports whether id lies in s.
func (s Span) Contains(id llm.MessageID) bool { return s.From <= id && id < s.To }

// Covers reports whether all of o lies in s.
func (s Span) Covers(o Span) bool { return s.From <= o.From && o.To <= s.To }

// Overlaps reports whether s and o share a message.
func (s Span) Overlaps(o Span) bool { return s.From < o.To && o.From < s.To }

// An Edit is one decision about the view. It is immutable and, once sent, it is
// repeated on every later call until a later edit supersedes it.
type Edit struct {
	ID          ID
	Op          Op
	Kind        Kind // which transform made it
	Span        Span
	Part        int           // Replace: which part of the message
	Replacement llm.Part      // Replace: what is shown instead
	Notes       []llm.Message // Archive: what stands in the span's place; Insert: the note
	Sections    []llm.Section // Archive, Insert: sections that join the system prompt, such as a summary; those of an Insert stand last
	Refs        []llm.Ref     // what is stored of the content taken out; the first is its own
	Before      int           // tokens of the content taken out, by the estimator of the count
	After       int           // tokens of what stands there now
	Low         int           // low-water mark of the batch in tokens; 0 for a single edit
	Why         string        // a sentence for people
	Rule        string        // the policy rule that asked for it; "backstop" for the engine's own
	Supersedes  []ID          // edits that no longer hold
}

// leastTaken is how many Refs are worth looking for in another edit.
const leastTaken = 4

// Added returns the Refs of e without those of one that it supersedes, where all of these stand
// among its own in their order: what stands before and after them, and which edit that is. As a
// rule it is an archive that goes into a later one, which names all that is in it again. Without
// such an edit, all Refs are before. edits are those of the session, in order of ID.
func (e Edit) Added(edits []Edit) (before, after []llm.Ref, without ID) {
	var most Edit
	for _, id := range e.Supersedes {
		at, ok := slices.BinarySearchFunc(edits, id, func(e Edit, id ID) int { return cmp.Compare(e.ID, id) })
		if ok && id < e.ID && len(edits[at].Refs) > len(most.Refs) {
			most = edits[at]
		}
	}
	n := len(most.Refs)
	if n < leastTaken {
		return e.Refs, nil, 0
	}
	at := slices.Index(e.Refs, most.Refs[0])
	if at < 0 || at+n > len(e.Refs) {
		return e.Refs, nil, 0
	}
	if in := e.Refs[at : at+n]; &in[0] != &most.Refs[0] && !slices.Equal(in, most.Refs) { // mostly they share memory
		return e.Refs, nil, 0
	}
	return e.Refs[:at:at], e.Refs[at+n:], most.ID
}

// Kind names the transform that made an edit.
type Kind string

// The kinds.
const (
	KindDedup     Kind = "dedup"
	KindCap       Kind = "cap"
	KindOffload   Kind = "offload"
	KindTrim      Kind = "trim"
	KindClear     Kind = "clear"
	KindPreview   Kind = "preview"
	KindStub      Kind = "stub"
	KindSummarise Kind = "summarise"
	KindTruncate  Kind = "truncate"
	KindDrop      Kind = "drop"
	KindNote      Kind = "note"
	KindMedia     Kind = "media"
	KindFail      Kind = "fail"
	// KindReferences is the note that names what a batch and those before it took out.
	KindReferences Kind = "references"
	KindUndo       Kind = "undo"
	// KindProvider takes out what a provider's own summary stands for.
	KindProvider Kind = "provider"
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{
		KindDedup, KindCap, KindOffload, KindTrim, KindClear, KindPreview, KindStub, KindSummarise, KindTruncate, KindDrop, KindNote,
		KindMedia, KindFail, KindReferences, KindUndo, KindProvider,
	}
}

// A Blob is content that has to be stored before the edit that needs it holds.
type Blob struct {
	Ref  llm.Ref
	Data []byte
}

// A Plan is what a transform proposes.
type Plan struct {
	Edits []Edit
	Blobs []Blob
	Bare  bool // of the one output that it is about, nothing is shown
}

// Gain returns the tokens that the plan saves.
func (p Plan) Gain() int {
	n := 0
	for _, e := range p.Edits {
		n += e.Before - e.After
	}
	return n
}

// Empty reports whether the plan does nothing.
func (p Plan) Empty() bool { return len(p.Edits) == 0 }

// An OrphanError says that an edit would separate a call from its result.
type OrphanError struct {
	Edit Edit
	At   llm.MessageID // the message before which the view would be cut
}

// Error implements error.
func (e *OrphanError) Error() string {
	return fmt.Sprintf("edit: check %s of messages [%d,%d): want a cut between Rounds, got one inside a Round before message %d",
		e.Edit.Op, e.Edit.Span.From, e.Edit.Span.To, e.At)
}
