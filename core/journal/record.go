package journal

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Version is the version of the format that this package writes. It reads this
// one and all earlier ones.
const Version = 5

// What a record is of is the version that a program needs to read it, so that a session
// without newer kinds can still be read by an older one.
const (
	commonVersion   = 2
	offerVersion    = 3
	declaredVersion = 4
	providerVersion = 5
)

// Kind says what a record records.
type Kind string

// The kinds, each with the field of [Record] that it uses.
const (
	KindMessage  Kind = "message"  // Message: the transcript grew by one
	KindEdit     Kind = "edit"     // Edit: a decision about the view
	KindUsage    Kind = "usage"    // Usage: a call succeeded
	KindRejected Kind = "rejected" // Rejected: a provider said that a request was too long
	KindSections Kind = "sections" // Sections: the system prompt from here on
	KindTools    Kind = "tools"    // Tools: the tool list from here on
	KindOffer    Kind = "offer"    // Offer: which of the tools are offered from here on; since version 3
	KindPolicy   Kind = "policy"   // Policy: the policy from here on
	KindTurnEnd  Kind = "turn_end" // no field: a Turn ended after the last message
	KindAsk      Kind = "ask"      // Ask: a model was asked for a summary
	KindAnswer   Kind = "answer"   // Answer: what came of it
	KindFork     Kind = "fork"     // Fork: the session goes on from where another one was
	KindForce    Kind = "force"    // Reason: the host wants the next Step to be the final one of its Turn
	KindExceeded Kind = "exceeded" // no field: an output found no room, no more tools run in this Turn
	KindRule     Kind = "rule"     // Rule: the moment of a rule has come
	KindState    Kind = "state"    // State: what the machine knows beside messages and edits; since version 2
)

// A Record is one entry of a session. Only the field that Kind names is written;
// the others are expected to be zero.
type Record struct {
	Kind     Kind
	Message  llm.Message
	Edit     edit.Edit
	Within   Within // of an Edit as a page has it; zero: it has all of its Refs
	Worth    *Worth // of the edits made together, beside the first of them; nil: nobody has reckoned
	Usage    Usage
	Rejected Rejected
	Sections []llm.Section
	Tools    []llm.Tool
	Offer    []int // the places in the tool list of those that are offered, in their order; nil: none is left out
	Declared bool  // of an Offer: the others are declared all the same, as deferred; since version 4
	Policy   *policy.Policy
	Ask      Ask
	Answer   Answer
	Fork     Fork
	Reason   string
	Rule     RuleMoment
	State    *State
	Unread   *UnreadState // in place of State, in what [Read] yields
}

// An UnreadState is a State that was looked through, but not read: of all those of a
// session a restart needs the newest.
type UnreadState struct {
	LastEdit edit.ID // State.LastEdit
	Final    bool    // State.Final is not empty
	Sent     Sent    // State.Sent, but for its target and output
	JSON     []byte
}

// A Worth is what edits made together were expected to save, less what they cost, when
// they were made.
type Worth struct {
	Removed  int `json:"removed,omitempty"`  // tokens that left the prompt
	Suffix   int `json:"suffix,omitempty"`   // tokens behind them, which the provider had kept and were written again
	Requests int `json:"requests,omitempty"` // calls that they were expected to serve, the next one included
	Warm     int `json:"warm,omitempty"`     // permille: how likely the provider still kept the prompt
	Gain     int `json:"gain,omitempty"`     // what is saved less what it costs, in tokens at the price of the input; below 0 where the edits had to be
}

// A RuleMoment says that a rule is due before the next call, or, with Room, that there
// is room again for the note that it made.
type RuleMoment struct {
	Name string
	Room bool
}

// Usage is what became known about the size of a request when its call
// succeeded. Mind that Output says whether Usage.Output can be believed.
type Usage struct {
	llm.Usage           // as the provider reported it, in tokens
	Reported  bool      // it did report the prompt
	Output    bool      // it did report the output
	Model     string    // its model
	By        string    // what the ratio is about: the counter of the target that was preferred, by the engine's name for it
	Target    string    // the target that answered, by name; empty if it is not known, or the call was only simulated
	Extra     llm.Usage // what the call cost beyond that; it is on the bill, and no part of the prompt
	Stated    llm.Usage // what the provider said, where that cannot be and the count stands in its place; else zero
	Ratio     int       // what the calibration held true after it, in permille of the estimator's count; 0: unknown
}

// Rejected is what a provider said when it refused a request as too long, or the
// window that was assumed after it, because it did not say.
type Rejected struct {
	Target string `json:"target,omitempty"` // the target that the request went to, by name
	Window int    `json:"window,omitempty"` // its window in tokens; 0 if it did not say
	Used   int    `json:"used,omitempty"`   // the request by its count; 0 if it did not say
	Bytes  int    `json:"bytes,omitempty"`  // the most bytes that are sent from now on; 0: the refusal was about tokens
}

// An Ask is a request for a text about the messages From <= ID < To, which a
// model or the deterministic summariser answers.
type Ask struct {
	ID         int     // counted from 1 within the session
	Kind       string  // what is asked for, in the engine's words
	Rule       string  // by which
	ByHand     bool    // a person asked for it
	Focus      string  // what a person wants kept above all
	Edit       edit.ID // the newest when it was asked
	Messages   int     // that there were
	From, To   llm.MessageID
	Covered    int    // tokens that the answer will stand for, as they were counted then; 0 in older records
	MaxTokens  int    // longest answer
	Background bool   // the next call does not wait for it
	Fault      string // what was wrong with the answer before, to the same question; empty: there was none
}

// An Answer ends the Ask with its number.
type Answer struct {
	Ask  int
	Text string
	Err  string // why there is no text; empty if there is

	Outcome Outcome
	// Held is the summary that waits, as it is to be shown: what was answered, or what
	// code wrote in its place. Who wrote it, and how much that says, was judged by the
	// target of that moment. Empty in older records.
	Held string

	Calls Calls // what it took
}

// Calls are those that a model was asked for one answer.
type Calls struct {
	Target string    // provider/model
	Model  string    // as the catalogue has it
	N      int       // how many
	Usage  llm.Usage // all together, as it was reported
}

// Outcome says what became of an answer.
type Outcome string

// The outcomes. Empty: it was let go.
const (
	Used     Outcome = "used"     // edits after it show it
	Held     Outcome = "held"     // it waits for a batch
	Declined Outcome = "declined" // it does not say enough, or saves nothing
	Failed   Outcome = "failed"   // there is none, and it may be asked for once more
	Again    Outcome = "again"    // it has a fault, and the question behind it names that
)

// A Fork says that the records before it are those of another session, and that
// this one goes on after message At: what came later is not part of it. Where the parent is the
// session itself, it was rewound.
type Fork struct {
	Parent string
	At     llm.MessageID // the last message that both have; 0 if none
}

// A VersionError says that a record was written by a newer program.
type VersionError struct {
	Got  int // the record's version
	Want int // the newest version that this program reads
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("journal: decode: version, want at most %d, got %d (written by a newer program)", e.Want, e.Got)
}
