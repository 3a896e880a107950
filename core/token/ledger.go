package token

import (
	"fmt"
	"slices"
)

// A Ledger keeps the sizes of what is in a view, by component. Each entry has a
// slot, a number that stays its own when others come and go; slots are given
// out in ascending order and never twice. Totals are kept as entries change, so
// that every change costs what changed and not what is there. The zero Ledger
// is ready. It is not safe for concurrent use.
type Ledger struct {
	slots []entry
	sums  [NumComponents]Size
	live  int
}

type entry struct {
	size      Size
	component Component
	live      bool
}

// A SlotError says that a slot was never given out, is empty, or is taken.
type SlotError struct {
	Slot int
	Want string // "a slot in use", "an empty slot", ...
	Len  int    // slots given out so far
}

// Error names the slot and how many there are.
func (e *SlotError) Error() string {
	return fmt.Sprintf("token: ledger: slot %d of %d, want %s", e.Slot, e.Len, e.Want)
}

// Append books s under c and returns its slot. An unknown component is booked
// under History.
func (l *Ledger) Append(c Component, s Size) (slot int) {
	l.slots = append(l.slots, entry{})
	l.fill(len(l.slots)-1, c, s)
	return len(l.slots) - 1
}

// Replace books s in place of what is in slot, under the same component.
func (l *Ledger) Replace(slot int, s Size) error {
	if !l.used(slot) {
		return l.fault(slot, "a slot in use")
	}
	c := l.slots[slot].component
	l.empty(slot)
	l.fill(slot, c, s)
	return nil
}

// Move books what is in slot under another component.
func (l *Ledger) Move(slot int, c Component) error {
	if !l.used(slot) {
		return l.fault(slot, "a slot in use")
	}
	s := l.slots[slot].size
	l.empty(slot)
	l.fill(slot, c, s)
	return nil
}

// Remove empties slot.
func (l *Ledger) Remove(slot int) error {
	if !l.used(slot) {
		return l.fault(slot, "a slot in use")
	}
	l.empty(slot)
	return nil
}

// Restore books s in a slot that Remove or Cut has emptied (an edit was undone).
func (l *Ledger) Restore(slot int, c Component, s Size) error {
	if slot < 0 || slot >= len(l.slots) || l.slots[slot].live {
		return l.fault(slot, "an empty slot")
	}
	l.fill(slot, c, s)
	return nil
}

// Cut empties the slots from up to and without to; empty ones among them are
// no error. It returns what was in them.
func (l *Ledger) Cut(from, to int) (Size, error) {
	if from < 0 || to > len(l.slots) || from > to {
		return Size{}, fmt.Errorf("token: ledger: cut: slots [%d, %d), want a range within [0, %d)", from, to, len(l.slots))
	}
	var cut Size
	for slot := from; slot < to; slot++ {
		if l.slots[slot].live {
			cut = cut.Add(l.slots[slot].size)
			l.empty(slot)
		}
	}
	return cut, nil
}

// At returns what is in slot. It is false for an empty slot and for one that
// was never given out.
func (l *Ledger) At(slot int) (Component, Size, bool) {
	if !l.used(slot) {
		return 0, Size{}, false
	}
	e := l.slots[slot]
	return e.component, e.size, true
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

// Len returns how many slots are in use.
func (l *Ledger) Len() int { return l.live }

// Slots returns how many slots were given out: the slot of the next Append.
func (l *Ledger) Slots() int { return len(l.slots) }

// Clone returns a copy that shares nothing with l.
func (l *Ledger) Clone() *Ledger {
	return &Ledger{slots: slices.Clone(l.slots), sums: l.sums, live: l.live}
}

func (l *Ledger) used(slot int) bool {
	return slot >= 0 && slot < len(l.slots) && l.slots[slot].live
}

func (l *Ledger) fill(slot int, c Component, s Size) {
	if int(c) >= NumComponents {
		c = History
	}
	l.slots[slot] = entry{size: s, component: c, live: true}
	l.sums[c] = l.sums[c].Add(s)
	l.live++
}

func (l *Ledger) empty(slot int) {
	e := l.slots[slot]
	l.sums[e.component] = l.sums[e.component].Sub(e.size)
	l.slots[slot] = entry{}
	l.live--
}

func (l *Ledger) fault(slot int, want string) error {
	return &SlotError{Slot: slot, Want: want, Len: len(l.slots)}
}
