package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// An Input is something that happened. The set is closed.
type Input interface{ input() }

// Append adds the next message. Its ID must be 0; the machine numbers it and keeps lists
// of parts of its own. The raw bytes of the parts and the data of media are shared, so
// that nobody may write to them any more.
type Append struct {
	Message llm.Message
	// Reserved is the room, in tokens, that was held for the tool output in it
	// ([Reserve]) and ends now: up to that much it has room in any case.
	Reserved int
}

// Stored adds a tool output that the host has put into the store already, so
// that its body never enters the core. The rules act on it as on one that is appended:
// by the figures of the whole, and with Head and Tail for its text, of which the model
// may see what they leave. A host that gives as much as the rules may show loses nothing
// by storing an output itself.
type Stored struct {
	CallID  string
	Ref     llm.Ref
	Bytes   int
	Lines   int    // a last line without a newline counts
	Tokens  int    // by the host's count; 0 if it was not counted
	Head    string // its beginning, as far as the host read it
	Tail    string // its end; empty if Head is all, or is not known
	IsError bool

	Reserved int // as of Append
}

// SetTools replaces the tools that are offered to the model. The machine keeps a copy:
// what the host changes later is neither sent nor counted until it is set again.
type SetTools struct{ Tools []llm.Tool }

// SetSections replaces the system prompt. As of SetTools a copy is kept.
type SetSections struct{ Sections []llm.Section }

// Prepare asks for the next request. Targets are the places it may go to, the
// preferred one first; empty means the same as before.
type Prepare struct{ Targets []budget.Target }

// Usage is what a provider reported about the request last sent, before the
// reply is appended.
type Usage struct {
	Usage llm.Usage
	// Reported is true for a provider's own figures about exactly what was
	// sent. A host that only simulates a call leaves it false: the figures then
	// drive a policy's triggers but never become an anchor.
	Reported bool
	// OutputUnknown is true if Usage.Output is not the final figure.
	OutputUnknown bool
	// Target names the target that answered, for a machine that was restored between
	// the request and its usage. Else it is the one that the request went to.
	Target string
}

// Rejected says that a provider refused the request as too long.
type Rejected struct {
	// Bytes says that it was the bytes that were too many: from now on a tenth less
	// than what was refused is sent to that target.
	Bytes  bool
	Window int // as the error states it; 0 if it does not
	Used   int // tokens of the refused request, as the error states them; 0 if it does not
}

// Reserve asks for room for a tool output that is on its way. Ready.Grant answers, before
// another one may be asked for. Without room the output may still come, as a handle; where not even
// that has room, and the policy ends there, the tool budget is exceeded. What is held ends
// with the output ([Append], [Stored]), with [Release], and at the latest with the next
// Prepare, by which every call has a result. It does not survive a restart: a tool that
// was running then is gone with its process.
type Reserve struct{ Tokens int }

// Release gives back what was held for an output that will not come.
type Release struct{ Tokens int }

// Answer is the reply to an Ask.
type Answer struct {
	Ask  int
	Text string
	Err  string // why there is none; empty if there is one
}

// TurnEnd says that the Turn is over: the model gave its final answer.
type TurnEnd struct{}

// Force makes the next call the final Step of its Turn, for a reason of the
// host's. The first reason stands.
type Force struct{ Reason Reason }

// Compact asks for a compaction now, whatever the thresholds say: by the policy's
// own summary if it has one that replaces what it is about, else by one of everything
// before the tail. An Ask follows unless there is nothing to take out.
type Compact struct {
	Focus string // what is to be kept above all, in a person's words
}

// Undo puts back what edits took out. A rule that is due may take it out again.
type Undo struct{ Edits []edit.ID }

// SetPolicy changes the policy from now on. Edits already made stay.
type SetPolicy struct{ Policy policy.Policy }

// Fork makes an empty machine the continuation of another one, as it was when
// it had At messages. Every edit that the parent had sent is repeated, where the
// Snapshot was collected from the parent's records and a fork's own after them,
// since only that one holds what later edits superseded (see journal.Collect).
type Fork struct {
	Parent   string
	At       llm.MessageID
	Snapshot journal.Snapshot
}

// Restore brings an empty or stopped machine to a recorded state.
type Restore struct{ Snapshot journal.Snapshot }

func (Append) input()      {}
func (Stored) input()      {}
func (SetTools) input()    {}
func (SetSections) input() {}
func (Prepare) input()     {}
func (Usage) input()       {}
func (Rejected) input()    {}
func (Reserve) input()     {}
func (Release) input()     {}
func (Answer) input()      {}
func (TurnEnd) input()     {}
func (Force) input()       {}
func (Compact) input()     {}
func (Undo) input()        {}
func (SetPolicy) input()   {}
func (Fork) input()        {}
func (Restore) input()     {}
