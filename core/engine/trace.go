package engine

import "github.com/plimsoll-dev/plimsoll/core/budget"

// A Topic names what a [Trace] is about.
type Topic string

// The topics of the guard document.
const (
	TopicInitCounters   Topic = "context-guard/init-counters"   // a session begins or is taken up
	TopicLoopInit       Topic = "context-guard/loop-init"       // the first call of a Turn: what it begins with is pending
	TopicSchemaEstimate Topic = "context-guard/schema-estimate" // the tools changed
	TopicEvaluate       Topic = "context-guard/evaluate"        // the guard's sum, before a call and for each tool output
	TopicEvaluateTarget Topic = "context-guard/evaluate-target" // the limit of each target
	TopicProviderEval   Topic = "context-guard/provider-eval"   // what the guard says about each target, just before a call leaves
	TopicBuildMetrics   Topic = "context-guard/build-metrics"   // the call that leaves, in figures
	TopicEnforce        Topic = "context-guard/enforce"         // the final Step is forced
)

// A Trace is one look into the guard. Fields that a topic does not have are zero.
type Trace struct {
	Topic     Topic
	Trigger   Trigger // of evaluate and evaluate-target
	Counters  budget.Counters
	Extra     int // reserved for outputs on their way
	Projected int // current + pending + fresh + extra
	Target    budget.Target
	Decision  budget.Decision // of provider-eval
	Reason    Reason          // of enforce
	Blocked   []Blocked       // of provider-eval and enforce: the targets without room
	Count     int             // of build-metrics: the request by the count's upper bound
}

// A Blocked target has no room for what is projected, in tokens.
type Blocked struct {
	Target           budget.Target
	Limit, Projected int
}

// trace notes t with what the guard's counters are now.
func (m *Machine) trace(t Trace) {
	if !m.cfg.Trace {
		return
	}
	t.Counters, t.Extra, t.Projected = m.guard.Counters(), m.guard.Reserved(), m.guard.Project(0).Base
	m.out.Traces = append(m.out.Traces, t)
}

func (m *Machine) traceInit() { m.trace(Trace{Topic: TopicInitCounters}) }

func (m *Machine) traceSchema() { m.trace(Trace{Topic: TopicSchemaEstimate}) }

// traceTurn notes what the first call of a Turn begins with.
func (m *Machine) traceTurn() {
	if m.opened {
		m.trace(Trace{Topic: TopicLoopInit})
	}
	m.opened = false
}

// traceEvaluate notes the sum and the limits that it is held against.
func (m *Machine) traceEvaluate(trigger Trigger) {
	if !m.cfg.Trace {
		return
	}
	m.trace(Trace{Topic: TopicEvaluate, Trigger: trigger})
	for _, t := range m.targets {
		m.trace(Trace{Topic: TopicEvaluateTarget, Trigger: trigger, Target: t})
	}
}

func (m *Machine) traceEnforce(a GuardAction) {
	if m.cfg.Trace {
		m.trace(Trace{Topic: TopicEnforce, Trigger: a.Trigger, Target: a.Target, Reason: a.Reason, Blocked: m.blocked()})
	}
}

// traceSend notes what is said about each target, and the call itself.
func (m *Machine) traceSend() {
	if !m.cfg.Trace {
		return
	}
	blocked := m.blocked()
	for _, e := range m.decided(m.fits).Entries {
		m.trace(Trace{Topic: TopicProviderEval, Target: e.Target, Decision: e.Decision, Blocked: blocked})
	}
	m.trace(Trace{
		Topic: TopicBuildMetrics, Target: m.targets[m.to],
		Count: m.count[m.to].Count().Bound,
	})
}

// blocked lists the targets without room, as the request that follows takes it.
func (m *Machine) blocked() []Blocked {
	var out []Blocked
	for i, e := range m.decided(m.fits).Entries {
		if e.Blocked {
			out = append(out, Blocked{e.Target, e.Limit, m.projected(i)})
		}
	}
	return out
}
