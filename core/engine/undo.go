package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// Undo puts back what edits took out. A rule that is due may take it out again.
type Undo struct{ Edits []edit.ID }

func (Undo) input() {}

// feedUndo supersedes edits, so that what they took out stands in the view again.
func (m *Machine) feedUndo(in Undo) error {
	if m.request.making() {
		return fmt.Errorf("engine: undo: want it between calls, got it while a call waits for an answer")
	}
	if len(in.Edits) == 0 {
		return nil
	}
	var undo edit.Plan
	for _, id := range in.Edits {
		e, err := m.inForce(id)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(undo.Edits, func(u edit.Edit) bool { return u.Supersedes[0] == id }) {
			continue
		}
		undo.Edits = append(undo.Edits, edit.Edit{
			Op: edit.Undo, Kind: edit.KindUndo, Rule: undoRule, Why: fmt.Sprintf("edit %d is taken back", id),
			Span: e.Span, Supersedes: []edit.ID{id}, Before: e.After, After: e.Before,
		})
	}
	if !m.adopt(undo, undoRule) {
		return fmt.Errorf("engine: undo of %v: the view without them breaks a law", in.Edits)
	}
	clear(m.tried)
	m.declined = declined{}
	m.indexLines()
	return nil
}
