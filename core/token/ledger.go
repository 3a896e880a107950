package token

import (
	"fmt"
	"slices"
)

// A Ledger keeps the sizes of what is in a view, by component. Each entry has a
// slot, a number of its own; slots are given out in ascending order. Totals are
// kept as entries change, so that every change costs what changed and not what is
// there. The zero Ledger is ready. It is not safe for concurrent use.
type Ledger struct {
	slots []entry
	sums  [NumComponents]Size
}

type entry struct {
	size      Size
	component Component
}

// A SlotError says that a slot was never given out.
type SlotError struct {
	Slot int
	Len  int // slots given out so far
}

// Error names the slot and how many there are.
func (e *SlotError) Error() string {
	return fmt.Sprintf("token: ledger: slot, want one of %d that were given out, got %d", e.Len, e.Slot)
}

// Append books s under c and returns its slot. An unknown component is booked
// under History.
func (l *Ledger) Append(c Component, s Size) (slot int) {
	if int(c) >= NumComponents {
		c = History
	}
	l.slots = append(l.slots, entry{s, c})
	l.sums[c] = l.sums[c].Add(s)
	return len(l.slots) - 1
}

// Replace books s in place of what is in slot, under the same component.
func (l *Ledger) Replace(slot int, s Size) error {
	if slot < 0 || slot >= len(l.slots) {
		return &SlotError{Slot: slot, Len: len(l.slots)}
	}
	e := &l.slots[slot]
	l.sums[e.component] = l.sums[e.component].Sub(e.size).Add(s)
	e.size = s
	return nil
}

// Sum returns the size of a component.
func (l *Ledger) Sum(c Component) Size {
	if int(c) >= NumComponents {
		return Size{}
	}
	return l.sums[c]
}

// Total returns the size of everything.
func (l *Ledger) Total() Size {
	var total Size
	for _, s := range l.sums {
		total = total.Add(s)
	}
	return total
}

// Clone returns a copy that shares nothing with l.
func (l *Ledger) Clone() *Ledger {
	return &Ledger{slots: slices.Clone(l.slots), sums: l.sums}
}
