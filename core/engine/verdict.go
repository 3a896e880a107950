package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/ground"
)

// Measures compare what is counted with what the policy and the targets allow.
type measures struct {
	accounts
	ground *ground.Index // of the messages, as far as it was needed; nil: not yet
}

// over reports whether the request does not fit the target that it goes to.
func (m *measures) over() bool { return !m.fits(m.request.to) }

// fits reports whether the view fits a target by the count, in bytes and in images.
func (m *measures) fits(target int) bool {
	w := m.resolved[target].Window
	bytes, images := m.count[target].Wire()
	return m.fitsTokens(target) && (w.MaxBytes == 0 || bytes <= w.MaxBytes) && (w.MaxImages == 0 || images <= w.MaxImages)
}

// fitsTokens reports whether the view fits a target by the count.
func (m *measures) fitsTokens(target int) bool {
	return m.count[target].Count().Bound <= m.resolved[target].Window.Limit()
}

// verdict says for every target whether the view fits it. The guard's own
// counters are asked by the rules that name them.
func (m *measures) verdict(fits func(target int) bool) budget.Verdict {
	n := m.Count().Bound
	v := budget.Verdict{Projection: budget.Projection{Base: n, WithSchema: n}, Next: -1, Entries: make([]budget.Entry, 0, len(m.resolved))}
	for i, t := range m.resolved {
		v.Entries = append(v.Entries, budget.Entry{Target: t, Limit: t.Window.Limit(), Blocked: !fits(i)})
	}
	return settled(v)
}

// decided is the answer that a request follows: by the count, and, where the policy
// asks the guard, by the guard's sum as well (R000-11), until the final Step is forced.
func (m *measures) decided(fits func(target int) bool) budget.Verdict {
	v := m.verdict(fits)
	if !m.ends() || m.final != ReasonNone {
		return v
	}
	for i, e := range m.guard.Evaluate(nil, m.resolved, 0).Entries {
		v.Entries[i].SchemaOnly = e.SchemaOnly
		v.Entries[i].Blocked = v.Entries[i].Blocked || e.Blocked
	}
	return settled(v)
}

// settled returns a verdict with what follows from the targets that are blocked.
func settled(v budget.Verdict) budget.Verdict {
	v.Next = slices.IndexFunc(v.Entries, func(e budget.Entry) bool { return !e.Blocked })
	instead := budget.Skip
	if v.Next < 0 {
		instead = budget.Final
	}
	for i := range v.Entries {
		v.Entries[i].Decision = budget.OK
		if v.Entries[i].Blocked {
			v.Entries[i].Decision = instead
		}
	}
	v.Decision = v.Entries[0].Decision
	return v
}

// preflight is the guard's answer for all targets (R000-11), in tokens. Its own estimate
// may be below the count, by which law 1 is kept: a view that fits no target by the count
// is final as well. Once the tool budget is exceeded nothing fits any more (R000-13).
func (m *measures) preflight() budget.Decision {
	if m.guard.Exceeded() {
		return budget.Final
	}
	own := m.guard.Evaluate(nil, m.resolved, 0).Decision
	return max(own, m.verdict(m.fitsTokens).Decision, m.decided(m.fitsTokens).Decision)
}

// projected returns what the next prompt is expected to have for a target: by the
// guard's sum or by the count, whichever is more.
func (m *measures) projected(target int) int {
	return max(m.guard.Project(0).Base, m.count[target].Count().Bound)
}

// choose returns the target that the request goes to: the first that has room for its
// tokens (R000-11), else the one with the most. By the guard's sum all of them may be
// full, although the count says that some are not: the final request that follows goes
// to the one with the most room as well. What is over in bytes or images can nearly
// always be taken out, which is no reason to ask another model.
func (m *measures) choose() int {
	next := m.decided(m.fitsTokens).Next
	if next >= 0 && !(m.ends() && m.guard.Evaluate(nil, m.resolved, 0).Next < 0) {
		return next
	}
	most := 0
	for i, t := range m.resolved {
		if t.Window.Limit() > m.resolved[most].Window.Limit() {
			most = i
		}
	}
	return most
}

// mostOutput returns what a target may write: a quarter of a large window, where nobody
// states a reserve, is more than many a model can.
func (m *measures) mostOutput(target int) int {
	reserve := m.resolved[target].Window.OutputReserve
	model, ok := m.cfg.Catalog.Lookup(m.resolved[target].Model)
	if ok && model.MaxOutput > 0 && (reserve == 0 || model.MaxOutput < reserve) {
		return model.MaxOutput
	}
	return reserve
}

// Verdict returns what a request that is prepared now would follow.
func (m *measures) Verdict() budget.Verdict { return m.decided(m.fits) }

// blocked lists the targets without room, as the request that follows takes it.
func (m *measures) blocked() []Blocked {
	var out []Blocked
	for i, e := range m.decided(m.fits).Entries {
		if e.Blocked {
			out = append(out, Blocked{e.Target, e.Limit, m.projected(i)})
		}
	}
	return out
}

// traceEvaluate notes the sum and the limits that it is held against.
func (m *measures) traceEvaluate(trigger Trigger) {
	if !m.cfg.Trace {
		return
	}
	m.trace(Trace{Topic: TopicEvaluate, Trigger: trigger})
	for _, t := range m.resolved {
		m.trace(Trace{Topic: TopicEvaluateTarget, Trigger: trigger, Target: t})
	}
}

func (m *measures) traceEnforce(a GuardAction) {
	if m.cfg.Trace {
		m.trace(Trace{Topic: TopicEnforce, Trigger: a.Trigger, Target: a.Target, Reason: a.Reason, Blocked: m.blocked()})
	}
}
