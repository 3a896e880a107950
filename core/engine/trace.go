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
