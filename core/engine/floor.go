package engine

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/core/budget"
)

// floor returns an error if not even the floor fits.
func (m *reducer) floor() error {
	if !m.over() {
		return nil
	}
	if trial := m.reduced(); trial.over() {
		return trial.overError()
	}
	return nil
}

// reachable returns the target for which the backstop can make the request fit: the one
// that it goes to, else the first of the others. Where there is none it is the one that
// it goes to.
func (m *reducer) reachable() int {
	to := m.request.to
	defer func() { m.request.to = to }()
	if m.floor() == nil {
		return to
	}
	for i := range m.resolved {
		if m.request.to = i; m.floor() == nil {
			return i
		}
	}
	return to
}

// reduced returns what would be left of m after every rung. It tries them on a
// copy, so that nothing is changed.
func (m *reducer) reduced() *reducer {
	trial := m.clone()
	trial.request.noStore = false
	trial.backstop()
	return trial
}

// overError says what does not fit, and of it what nothing may be done about.
func (m *reducer) overError() *budget.OverError {
	t, c := m.resolved[m.request.to], m.count[m.request.to]
	r := c.Report()
	load := budget.Load{Count: r.Bound, Components: r.Parts, Bytes: r.Bytes, Images: r.Images}
	f := m.reduced().floorParts()
	var over *budget.OverError
	if errors.As(budget.Check(t, load, f), &over) {
		return over
	}
	return &budget.OverError{Target: t, Used: load.Count, Limit: t.Window.Limit(), Floor: f}
}

// floorParts returns the parts of a view that the backstop has reduced. They add
// up to no less than the count: what it has beyond them is its margin.
func (m *reducer) floorParts() budget.Floor {
	c := m.count[m.request.to]
	r := c.Report()
	f := budget.Floor{System: r.Parts.System + r.Parts.Skills, Tools: r.Parts.Tools, Bytes: r.Bytes, Images: r.Images}
	tail := m.tail()
	for _, it := range m.view.Items {
		n := c.Message(it.Message)
		if it.Before >= tail {
			f.NewestRound += n
		} else {
			f.Pins += n
		}
	}
	for _, sec := range m.view.Sections {
		f.System += c.Text(sec.Text)
	}
	f.Margin = max(r.Bound-f.Total(), 0)
	return f
}

// Over returns what of the view does not fit the preferred target, or nil.
func (m *reducer) Over() *budget.OverError {
	if m.fits(0) {
		return nil
	}
	trial := m.clone()
	trial.request.to = 0
	return trial.overError()
}
