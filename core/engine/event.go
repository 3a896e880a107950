package engine

import "github.com/plimsoll-dev/plimsoll/core/budget"

// An Event is something a person may want to know that is not an edit.
type Event struct {
	Kind  EventKind
	Rule  string       // the rule it is about, if any
	Text  string       // a sentence
	Guard *GuardAction // of EventFinal and EventSkip: what the guard did
}

// EventKind says what an event is about.
type EventKind string

// The kinds of event.
const (
	EventNoProgress  EventKind = "no_progress" // a rule was due and could not save enough
	EventIrreducible EventKind = "irreducible" // the floor is above the limit
	EventStillOver   EventKind = "still_over"  // sent although over its limit
	EventFinal       EventKind = "final"       // a final Step was forced
	EventSkip        EventKind = "skip"        // a target has no room, the call goes to the next one
	EventToolBudget  EventKind = "tool_budget" // an output found no room: no more tools in this Turn
	EventUsage       EventKind = "usage"       // reported figures were not believed, and why
	EventCompact     EventKind = "compact"     // a compaction that was asked for did nothing, and why
	EventInterrupted EventKind = "interrupted" // calls without a result got a stated one
	EventOrphan      EventKind = "orphan"      // calls and results that cannot be sent as they stand were put away
	EventWithdrawn   EventKind = "withdrawn"   // edits taken back because their content could not be stored
	EventAnswer      EventKind = "answer"      // a summary was not used, and why
	EventTools       EventKind = "tools"       // tools are left out, or offered again: the cache breaks where the list does
	EventWindow      EventKind = "window"      // a window was learnt or assumed
	EventCleared     EventKind = "cleared"     // the provider took old outputs out of a prompt, since the policy asks it to
	EventSections    EventKind = "sections"    // the system prompt or the tools changed, what of a cache that breaks, or how the model is told
)

// A GuardAction is what the guard did about a target that has no room, for telemetry.
type GuardAction struct {
	Trigger   Trigger
	Did       GuardDid
	Reason    Reason // of a forced final Step
	Target    budget.Target
	Projected int // tokens, by the figure that decided
	Limit     int
}

// A Trigger is the moment at which the guard looked.
type Trigger string

// The triggers. A final Step that the host asked for has none.
const (
	TurnPreflight Trigger = "turn_preflight"
	ToolPreflight Trigger = "tool_preflight"
)

// GuardDid names what the guard did.
type GuardDid string

// What it did.
const (
	ForcedFinal     GuardDid = "forced_final"
	SkippedProvider GuardDid = "skipped_provider"
)
