package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Targets are where requests may go, each with what counts for it.
type targets struct {
	stated   []budget.Target // as they were given
	key      string          // a name for these
	resolved []budget.Target // every window is known
	count    []*meter.Meter  // one for each, equal ones shared
	spare    []*meter.Meter  // of targets that were named before, kept up so that they need not learn anew
	gauge    *meter.Meter    // the policy's own estimator; count[0] if that is the count

	learnt      map[string]int                   // windows that refusals taught, by target
	learntBytes map[string]int                   // and the most bytes
	accepted    map[string]int                   // prompts above what was thought the most, by target
	remembered  map[string]journal.MeterState    // of meters that a restart has not made yet, by key
	reported    map[llm.MessageID]journal.Output // replies of before a restart whose size was
}

// Estimator ids of a policy that stand for something of the target's.
const (
	estimatorCount = "count" // the one count
	estimatorModel = "model" // the tokenizer of the target's model
)

// mostSpare is how many meters of targets that are not named any more are kept up.
const mostSpare = 8

// keepSpare keeps the meters of targets that the next calls leave out, such as one
// that failed: what they have learnt is worth more than measuring each message once more.
func (m *targets) keepSpare(next []*meter.Meter) {
	var spare []*meter.Meter
	for _, t := range slices.Concat(m.count, m.spare) {
		if !slices.Contains(next, t) && !slices.Contains(spare, t) && len(spare) < mostSpare {
			spare = append(spare, t)
		}
	}
	m.spare = spare
}

// keyOf names a list of targets, with their windows as they were stated.
func keyOf(stated []budget.Target) string {
	return string(llm.RefOf(fmt.Appendf(nil, "%+v", stated)))
}

// all calls f with every meter once.
func (m *targets) all(f func(*meter.Meter)) {
	for i, t := range m.count {
		if !slices.Contains(m.count[:i], t) {
			f(t)
		}
	}
	for _, t := range m.spare { // none of which is named now
		f(t)
	}
	if !slices.Contains(m.count, m.gauge) && !slices.Contains(m.spare, m.gauge) {
		f(m.gauge)
	}
}

// taught notes what a refusal said of a target, or what it took.
func (m *targets) taught(l journal.Limit) {
	if n, ok := m.learnt[l.Target]; l.Window > 0 && (!ok || l.Window < n) {
		m.learnt[l.Target] = l.Window
	}
	if l.Window > 0 {
		m.doubt(l.Target, l.Window)
	}
	if l.Accepted > m.accepted[l.Target] {
		m.accepted[l.Target] = l.Accepted
	}
	if n, ok := m.learntBytes[l.Target]; l.Bytes > 0 && (!ok || l.Bytes < n) {
		m.learntBytes[l.Target] = l.Bytes
	}
}

// doubt forgets that more than a window was accepted, which a refusal states later.
func (m *targets) doubt(name string, window int) {
	if n, ok := m.accepted[name]; ok && n > window {
		m.accepted[name] = window
	}
}

// limits returns what was learnt about targets.
func (m *targets) limits() []journal.Limit {
	names := map[string]bool{}
	for _, learnt := range []map[string]int{m.learnt, m.learntBytes, m.accepted} {
		for name := range learnt {
			names[name] = true
		}
	}
	var out []journal.Limit
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, journal.Limit{
			Target: name, Window: m.learnt[name], Bytes: m.learntBytes[name], Accepted: m.accepted[name],
		})
	}
	return out
}

// outputsOf returns the sizes of the replies that a model wrote, as they were reported
// before a restart.
func (m *targets) outputsOf(model string, preferred bool) map[llm.MessageID]int {
	known := map[llm.MessageID]int{}
	for id, o := range m.reported {
		if o.Model == model || o.Model == "" && preferred {
			known[id] = o.Tokens
		}
	}
	return known
}

// meterStates returns what the counts know, those of targets that were named before too.
func (m *targets) meterStates() []journal.MeterState {
	out := make([]journal.MeterState, 0, len(m.count)+len(m.spare))
	m.all(func(t *meter.Meter) {
		if t.Calibration() != nil {
			out = append(out, journal.MeterState{Key: t.Key(), State: t.State()})
		}
	})
	for _, key := range slices.Sorted(maps.Keys(m.remembered)) { // of those that nobody has named since a restart
		if len(out) < len(m.count)+mostSpare {
			out = append(out, m.remembered[key])
		}
	}
	return out
}

// Count returns the size of the view for the preferred target.
func (m *targets) Count() token.Estimate { return m.count[0].Count() }

// Calibration returns what the preferred target's count has learnt. The caller
// must not change it.
func (m *targets) Calibration() *token.Calibration { return m.count[0].Calibration() }

// Stated returns the targets as they were given, the preferred one first.
func (m *targets) Stated() []budget.Target { return slices.Clone(m.stated) }

// Targets returns the targets with their windows as resolved.
func (m *targets) Targets() []budget.Target { return m.resolved }

// Components returns the view by component for the preferred target, in tokens.
func (m *targets) Components() budget.Components { return m.count[0].Components() }

// CountText returns the tokens of a text: the most that the policy's estimator and
// the count of any target give.
func (m *targets) CountText(text string) int {
	n := m.gauge.Text(text)
	for _, t := range m.count {
		if t != m.gauge {
			n = max(n, t.Text(text))
		}
	}
	return n
}
