package engine

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Estimator ids of a policy that stand for something of the target's.
const (
	estimatorCount = "count" // the one count
	estimatorModel = "model" // the tokenizer of the target's model
)

// setTargets resolves the windows of targets and makes their meters.
func (m *Machine) setTargets(targets []budget.Target) error {
	if len(targets) == 0 {
		return fmt.Errorf("engine: targets: want at least one, got none")
	}
	resolved := make([]budget.Target, len(targets))
	count := make([]*meter, len(targets))
	for i, t := range targets {
		var err error
		if resolved[i], err = m.resolve(t); err != nil {
			return err
		}
		if count[i], err = m.meterFor(t, i == 0); err != nil {
			return err
		}
	}
	gauge := count[0]
	if m.policy.Estimator != estimatorCount {
		var err error
		if gauge, err = m.gaugeFor(resolved[0]); err != nil {
			return err
		}
	}
	m.cfg.Targets, m.targets, m.count, m.gauge = targets, resolved, count, gauge
	m.indexLines()
	return nil
}

// resolve fills in what a target leaves open: the window by the catalogue or the
// policy, buffer and reserve by the policy's window rule.
func (m *Machine) resolve(t budget.Target) (budget.Target, error) {
	model, _ := m.cfg.Catalog.Lookup(t.Model)
	rule, w := m.policy.Window, t.Window
	if !rule.ReserveOutput {
		w.OutputReserve = 0
	} else if w.OutputReserve == 0 {
		w.OutputReserve = rule.Output
	}
	if w.Capacity == 0 {
		w.Capacity = model.Window
	}
	if w.Capacity == 0 {
		u := m.policy.OnUnknownWindow
		switch u.Action {
		case policy.WindowDefault:
			w.Capacity = u.Value
		case policy.WindowOutputMultiple:
			w.Capacity = w.OutputReserve * u.Value
		default:
			return t, &budget.ConfigError{Window: w, What: fmt.Sprintf("the window of %s is not known, and policy %s assumes none", t.Model, m.policy.Name)}
		}
		if u.Warn {
			m.event(EventWindow, "", "the window of %s is not known: %d assumed", t.Model, w.Capacity)
		}
	}
	if w.OutputReserve == 0 && rule.ReserveOutput {
		w.OutputReserve = w.Capacity * rule.OutputPermille / 1000
	}
	switch {
	case rule.Buffer == 0:
		w.Buffer = 0
	case w.Buffer == 0:
		w.Buffer = rule.Buffer
	}
	t.Window = w
	if err := w.Validate(); err != nil {
		return t, fmt.Errorf("engine: target %s/%s: %w", t.Provider, t.Model, err)
	}
	return t, nil
}

// meterFor returns the meter that counts for t, a new one if there is none yet.
func (m *Machine) meterFor(t budget.Target, preferred bool) (*meter, error) {
	f := m.cfg.Catalog.FamilyOf(t.Model)
	key := f.Name + " " + t.Model
	for _, old := range m.count {
		if old.key == key {
			return old, nil
		}
	}
	c, err := token.ForFamily(f, m.cfg.Encodings)
	if err != nil {
		return nil, fmt.Errorf("engine: target %s/%s: %w", t.Provider, t.Model, err)
	}
	cal := token.NewCalibration(f)
	if preferred && m.cfg.Calibration != nil {
		cal = m.cfg.Calibration
	}
	mt := newMeter(key, c, cal)
	mt.taught = preferred && m.cfg.Calibration != nil
	m.fill(mt)
	return mt, nil
}

// gaugeFor returns the meter of the policy's own estimator.
func (m *Machine) gaugeFor(t budget.Target) (*meter, error) {
	id := m.policy.Estimator
	if strings.Contains(id, estimatorModel) {
		model, ok := m.cfg.Catalog.Lookup(t.Model)
		est := model.Estimator
		if !ok || est == "" {
			est = m.cfg.Catalog.FamilyOf(t.Model).Estimator
		}
		id = strings.ReplaceAll(id, estimatorModel, est)
	}
	if m.gauge != nil && m.gauge.key == id {
		return m.gauge, nil
	}
	c, err := token.NewCounter(id, m.cfg.Encodings)
	if err != nil {
		return nil, fmt.Errorf("engine: policy %s: estimator: %w", m.policy.Name, err)
	}
	mt := newMeter(id, c, nil)
	m.fill(mt)
	return mt, nil
}

// fill measures all there is.
func (m *Machine) fill(t *meter) {
	t.setFront(m.allSections(), m.tools)
	t.rebuild(m.view)
	t.since = t.ledger.Total()
}

// all calls f with every meter once.
func (m *Machine) all(f func(*meter)) {
	seen := map[*meter]bool{}
	for _, t := range append(m.count[:len(m.count):len(m.count)], m.gauge) {
		if !seen[t] {
			seen[t] = true
			f(t)
		}
	}
}

func (m *Machine) measureFront() {
	m.all(func(t *meter) { t.setFront(m.allSections(), m.tools) })
	m.guard.SetSchema(m.schema())
}

func (m *Machine) schema() int {
	if len(m.tools) == 0 {
		return 0
	}
	n := m.gauge.counter.Tools(m.tools)
	if f := m.policy.ToolsPermille; f > 0 {
		n = (n*f + 999) / 1000
	}
	return n
}

func (m *Machine) measureAppended(msg llm.Message) {
	it := m.view.Items[len(m.view.Items)-1]
	reported := msg.Origin == llm.Model && m.replyTokens >= 0
	m.all(func(t *meter) { t.append(it, reported && t.anchored && t.next == msg.ID && t.anchor.Output >= 0) })
}

// remeasureEdited books what edits changed in the view, of which old is how it was.
func (m *Machine) remeasureEdited(old edit.View, edits []edit.Edit) {
	front := false
	for _, e := range edits {
		front = front || len(e.Sections) > 0 || len(e.Supersedes) > 0 && e.Op == edit.Archive
	}
	m.all(func(t *meter) {
		t.differ(old, m.view)
		t.rebuild(m.view)
		if front {
			t.setFront(m.allSections(), m.tools)
		}
	})
	if len(edits) != 1 || edits[0].Op != edit.Insert {
		m.noted = false
		m.guard.Rebase(m.gauge.total())
	}
}

// remeasure measures everything anew, as after Restore. What was anchored is not.
func (m *Machine) remeasure() {
	m.all(func(t *meter) {
		t.anchored, t.edited = false, false
		t.removed, t.inserted = token.Size{}, token.Size{}
		t.cache = map[sizeKey]token.Size{}
		m.fill(t)
	})
	m.indexLines()
}

// indexLines remembers the lines of all outputs shown in full, if a rule asks for it.
func (m *Machine) indexLines() {
	m.shown = nil
	for _, r := range m.policy.Rules {
		if r.Do == policy.DoDedup {
			m.shown = edit.NewLines(r.Args.Lines)
		}
	}
	for _, it := range m.view.Items {
		for n := range it.Message.Parts {
			if m.shown != nil && !it.IsNote() {
				m.remember(it.Message.ID, n)
			}
		}
	}
}

func (m *Machine) cloneMeters(from *Machine) {
	copies := map[*meter]*meter{}
	from.all(func(t *meter) { copies[t] = t.clone() })
	m.count = make([]*meter, len(from.count))
	for i, t := range from.count {
		m.count[i] = copies[t]
	}
	m.gauge = copies[from.gauge]
}

func (m *Machine) feedUsage(in Usage) error {
	u := in.Usage
	m.record(journal.Record{Kind: journal.KindUsage, Usage: journal.Usage{
		Usage: u, Reported: in.Reported, Output: !in.OutputUnknown, Ratio: m.count[0].cal.Ratio(),
	}})
	if u.IsZero() {
		return nil // a failed call that reports nothing wipes nothing
	}
	m.lastUsage = u
	m.replyTokens = -1
	if !in.OutputUnknown {
		m.replyTokens = u.Output
	}
	next := llm.MessageID(len(m.messages)) + 1
	m.all(func(t *meter) { t.report(in, next) })
	m.guard.Commit(u)
	m.background(policy.AtUsage)
	return nil
}

// feedRejected learns the real window and lets the rules for it act before the
// next call; that call is prepared at once.
func (m *Machine) feedRejected(in Rejected) error {
	m.record(journal.Record{Kind: journal.KindRejected, Rejected: journal.Rejected{Window: in.Window, Used: in.Used}})
	if in.Window > 0 && in.Window < m.targets[0].Window.Capacity {
		targets := append([]budget.Target(nil), m.cfg.Targets...)
		targets[0].Window.Capacity = in.Window
		if err := m.setTargets(targets); err != nil {
			return err
		}
		m.event(EventWindow, "", "the provider states a window of %d", in.Window)
	}
	if used := in.Used; used > m.Count().Bound {
		m.count[0].report(Usage{Usage: llm.Usage{Input: used}, Reported: true, OutputUnknown: true}, llm.MessageID(len(m.messages))+1)
	}
	m.background(policy.AtRejected)
	return m.feedPrepare(Prepare{})
}
