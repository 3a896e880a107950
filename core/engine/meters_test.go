package engine_test

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// metersAgree compares what the meters have added up with a measure of the view
// made from scratch.
func metersAgree(h *host) error {
	m := h.m
	items := m.View().Items
	for _, meter := range m.MeterStates() {
		known := h.known(meter.Key)
		var want [token.NumComponents]token.Size
		outputs, hidden := 0, 0
		for _, sec := range m.Sections() {
			if sec.Tokens > 0 && sec.Text == "" {
				hidden += sec.Tokens
				continue
			}
			c := token.ComponentOfSection(sec)
			want[c] = want[c].Add(token.SizeOfSection(meter.Counter, sec))
		}
		if tools := m.Tools(); len(tools) > 0 {
			want[token.Tools] = want[token.Tools].Add(token.SizeOfTools(meter.Counter, tools))
		}
		for i, it := range items {
			size := h.size(meter.Counter, it, items[:i])
			if n, ok := known[it.Message.ID]; ok && meter.Cal != nil {
				size = reported(size, n)
			}
			c := token.ComponentOf(it.Message)
			want[c] = want[c].Add(size)
			if meter.Cal == nil && len(it.Message.Results()) > 0 {
				outputs += h.outputs(meter.Counter, it)
			}
		}
		if want != meter.Sums {
			return broken("law 9: meter %s has booked\n%+v, the view has\n%+v", meter.Key, meter.Sums, want)
		}
		if meter.Cal == nil && meter.Tells && outputs != meter.Outputs || hidden != meter.Hidden {
			return broken("law 9: meter %s has booked outputs of %d and %d hidden, the view has %d and %d", meter.Key, meter.Outputs, meter.Hidden, outputs, hidden)
		}
	}
	return nil
}

// held returns the edits that hold.
func held(m *engine.Machine) []edit.Edit {
	v := m.View()
	return v.Edits()
}

// size measures an item once: the form that an edit gave it never changes.
func (h *host) size(c token.Counter, it edit.Item, before []edit.Item) token.Size {
	key := c.ID() + " " + keyOf(it, before) + fmt.Sprint(it.Edits)
	s, ok := h.sizes[key]
	if !ok {
		s = token.SizeOf(c, it.Message)
		h.sizes[key] = s
	}
	return s
}

// outputs measures the tool outputs of an item once.
func (h *host) outputs(c token.Counter, it edit.Item) int {
	key := c.ID() + " outputs " + keyOf(it, nil) + fmt.Sprint(it.Edits)
	s, ok := h.sizes[key]
	for _, r := range it.Message.Results() {
		if !ok {
			s = s.Add(token.SizeOfPart(c, r))
		}
	}
	h.sizes[key] = s
	return s.All()
}
