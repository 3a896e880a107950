package edit

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// Check reports why e may not be applied to the transcript that x indexes. The
// position of message i in x is i-1.
func Check(e Edit, msgs []llm.Message, x *turn.Index) error {
	last := llm.MessageID(len(msgs)) + 1
	if e.Span.From < 1 || e.Span.To > last || e.Span.From > e.Span.To {
		return fmt.Errorf("edit: check %s: span [%d,%d), want one within [1,%d)", e.Op, e.Span.From, e.Span.To, last)
	}
	if e.Op != Replace && e.Op != Archive && e.Op != Insert && e.Op != Undo {
		return fmt.Errorf("edit: check: operation %q, want %s, %s, %s or %s", e.Op, Replace, Archive, Insert, Undo)
	}
	if err := checkNotes(e); err != nil {
		return err
	}
	if err := checkRefs(e); err != nil {
		return err
	}
	switch e.Op {
	case Replace:
		return checkReplace(e, msgs)
	case Archive:
		return checkArchive(e, x)
	case Undo:
		if len(e.Supersedes) == 0 || len(e.Notes) > 0 || len(e.Sections) > 0 {
			return fmt.Errorf("edit: check restore: want edits to supersede, no note and no section, got %d, %d and %d",
				len(e.Supersedes), len(e.Notes), len(e.Sections))
		}
		return nil
	default:
		if (len(e.Notes) == 0) == (len(e.Sections) == 0) || e.Span.From != e.Span.To {
			return fmt.Errorf("edit: check insert before message %d: want a note or a section and an empty span, got %d, %d and [%d,%d)",
				e.Span.From, len(e.Notes), len(e.Sections), e.Span.From, e.Span.To)
		}
		return nil
	}
}

// checkNotes refuses notes that would speak for somebody else.
func checkNotes(e Edit) error {
	for _, n := range e.Notes {
		if n.ID != 0 || n.Origin != llm.Note {
			return fmt.Errorf("edit: check %s: note with ID %d and origin %s, want 0 and %s", e.Op, n.ID, n.Origin, llm.Note)
		}
		for _, p := range n.Parts {
			switch p.(type) {
			case llm.Text, llm.Stub, llm.Media:
			default:
				return fmt.Errorf("edit: check %s: note with a %s, want text, stub or media", e.Op, KindOf(p))
			}
		}
	}
	return nil
}

// checkRefs demands that what leaves the view can be found again (law 2).
func checkRefs(e Edit) error {
	if len(e.Refs) == 0 && e.Op != Insert && e.Op != Undo {
		return fmt.Errorf("edit: check %s of messages [%d,%d): want a Ref of what is taken out, got none", e.Op, e.Span.From, e.Span.To)
	}
	for _, r := range e.Refs {
		if _, err := llm.ParseRef(string(r)); err != nil {
			return fmt.Errorf("edit: check %s: %w", e.Op, err)
		}
	}
	return nil
}

func checkArchive(e Edit, x *turn.Index) error {
	if e.Span.From == e.Span.To {
		return fmt.Errorf("edit: check archive: span [%d,%d), want at least one message", e.Span.From, e.Span.To)
	}
	for _, cut := range []llm.MessageID{e.Span.From, e.Span.To} {
		if !x.CanCut(int(cut) - 1) {
			return &OrphanError{Edit: e, At: cut}
		}
	}
	return nil
}

func checkReplace(e Edit, msgs []llm.Message) error {
	if e.Span.To != e.Span.From+1 {
		return fmt.Errorf("edit: check replace: span [%d,%d), want one message", e.Span.From, e.Span.To)
	}
	parts := msgs[e.Span.From-1].Parts
	if e.Part < 0 || e.Part >= len(parts) {
		return fmt.Errorf("edit: check replace in message %d: part %d, want one of %d", e.Span.From, e.Part, len(parts))
	}
	where := fmt.Sprintf("edit: check replace in message %d: part %d", e.Span.From, e.Part)
	now, isResult := e.Replacement.(llm.ToolResult)
	switch old := parts[e.Part].(type) {
	case llm.ToolCall:
		return fmt.Errorf("%s is a call, calls are never changed", where)
	case llm.Thinking:
		return fmt.Errorf("%s is thinking, it goes whole or not at all", where)
	case llm.ToolResult:
		if !isResult || now.CallID != old.CallID {
			return fmt.Errorf("%s, want a result of call %q, got %s", where, old.CallID, KindOf(e.Replacement))
		}
		return nil
	}
	switch e.Replacement.(type) {
	case llm.Text, llm.Stub, llm.Media:
		return nil
	}
	return fmt.Errorf("%s, want text, stub or media, got %s", where, KindOf(e.Replacement))
}
