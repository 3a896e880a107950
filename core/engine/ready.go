package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// A Ready is what a host has to do now, in the order of its fields.
type Ready struct {
	// Blobs must be durable first. They are content that edits take out of the view.
	Blobs []edit.Blob
	// Records must be appended to the session's journal next.
	Records []journal.Record
	// Ask is a question for a model, to be answered with Answer. With
	// Ask.Background the host may go on meanwhile.
	Ask *Ask
	// Send is the request that may leave now. nil if nothing is to be sent.
	Send *Send
	// Refused is set instead of Send if the request cannot be made to fit.
	Refused *budget.OverError
	// Torn is set instead of Send if calls and results do not stand as a provider wants
	// them, and what is wrong could not be put away.
	Torn *turn.TornError
	// Placements say what became of each tool output that was appended since the last Ready.
	Placements []Placement
	// Grant is the answer to the Reserve that was fed since the last Ready; empty if none was.
	Grant Grant
	// Edits are the edits made since the last Ready, for whoever wants to show them.
	Edits []edit.Edit
	// Events say what else happened, for the same purpose.
	Events []Event
	// Traces follow the guard's sums, where [Config.Trace] asks for it.
	Traces []Trace
}

// An Ask is a question for a model: a summary of messages.
type Ask struct {
	ID         int
	Rule       string
	Span       edit.Span     // the messages that the answer will stand for
	Prompt     string        // the instruction, to be sent as the last user message
	Messages   []llm.Message // what to summarise, as the view shows it, without orphans
	Previous   string        // the summary that already stands for earlier messages
	Fault      string        // why the answer before to the same question could not be used; empty: this is the first time
	Focus      string        // what a person wants kept above all; empty: nothing in particular
	MaxTokens  int           // longest answer; 0: not stated
	Background bool

	// Question is what Prompt says, for who asks about the messages in parts.
	Question summary.PromptOptions
	// Target is where the session's requests go, Sections and Tools what stands before
	// Messages there: with them, and with nothing left out, a request begins as the last one.
	Target   budget.Target
	Sections []llm.Section
	Tools    []llm.Tool

	byHand   bool    // of a compaction that a person asked for
	edit     edit.ID // the newest when it was asked
	messages int     // that there were
	covered  int     // tokens of what it is about, as it was shown then, but for what is pinned
	ahead    edit.Ahead
}

// recorded returns what is written down of a question: all but what follows from it.
func (a Ask) recorded() journal.Ask {
	return journal.Ask{
		ID: a.ID, Kind: "summary", Rule: a.Rule, Focus: a.Focus, ByHand: a.byHand, Edit: a.edit, Messages: a.messages,
		From: a.Span.From, To: a.Span.To, Covered: a.covered, MaxTokens: a.MaxTokens, Background: a.Background, Fault: a.Fault,
	}
}

// A ToolShare is what tools of one kind take, in tokens: those that are offered, and those that
// are left out of requests, which take nothing.
type ToolShare struct {
	Kind          llm.ToolKind
	Offered       int // tools
	Tokens        int
	LeftOut       int // tools
	LeftOutTokens int
}

// A Send is a request that fits. Its slices are shared with the machine and with
// earlier Sends; they are never changed.
type Send struct {
	Seq      int // counts the Sends of this machine from 1
	Target   budget.Target
	Sections []llm.Section
	Items    []edit.Item
	Tools    []llm.Tool
	// Marks say what of the request its provider is asked to keep; none where it finds that
	// by itself, or the policy asks for nothing.
	Marks llm.Marks
	// Effort asks the target's model to think, where the host wants that and it can.
	Effort llm.Effort
	// Clear is what the provider is asked to take out of the prompt by itself, where the policy has
	// it so and the provider can.
	Clear llm.Clearing
	// CacheKey names the conversation to a provider that routes by it; else empty.
	CacheKey string
	// Keep is what of the request may be kept as a resource of its own, where the policy has it so
	// and the provider can.
	Explicit llm.ExplicitCache
	// Count is the size of the request by the one count, Limit what it may be.
	Count token.Estimate
	Limit int
	// MaxOutput is what the reply may have, in tokens: the room that is reserved for it,
	// and no more than the model can write; 0 if neither is known.
	MaxOutput int
	// Edited is false if no edit holds: the request is what the client made it, but for what its
	// provider passes over by itself.
	Edited bool
	// DropBrokenThinking is set if thinking is shown that is bound to what an edit has
	// changed, and the target minds: it can be asked to drop that, which a codec does.
	DropBrokenThinking bool
	// LeftOut is what Items have not of messages that they show.
	LeftOut LeftOut
	// Final is set if this is a forced final Step, with the reason.
	Final Reason
	// StillOver is set if the request is over its limit and the policy sends it all the same.
	StillOver bool
	Verdict   budget.Verdict

	messages []llm.Message // those of Items, where none of them is left out in part; else nil
}

// A LeftOut is what a request has not of the messages that it shows; ascending.
type LeftOut struct {
	// Thinking is left out of these messages, as it is bound to what an edit has changed, for a
	// target that cannot be asked to drop it; never of the newest Round.
	Thinking []edit.Span
	// Summaries of a provider are left out of these, since what they stood for is shown again.
	Summaries []llm.MessageID
}

// Messages returns the messages of s in order. They are shared as the slices of s are: who
// changes one works on a copy.
func (s *Send) Messages() []llm.Message {
	if s.messages != nil {
		return s.messages
	}
	out := make([]llm.Message, len(s.Items))
	for i, it := range s.Items {
		out[i] = it.Message
	}
	return out
}

// Request returns s as a request to its target's model, with its cache marks. Its lists are
// those of s: who changes one works on a copy, and moves the marks with what they stand on. Of the
// settings it has only what follows from edits (DropBrokenThinking), its CacheKey, its Effort, its
// Clear and its Explicit; the others are the host's.
func (s *Send) Request() llm.Request {
	return llm.Request{
		Model: s.Target.Model, Sections: s.Sections, Tools: s.Tools, Messages: s.Messages(), Marks: s.Marks, MaxOutput: s.MaxOutput,
		Settings: llm.Settings{DropBrokenThinking: s.DropBrokenThinking, CacheKey: s.CacheKey, Effort: s.Effort, Clear: s.Clear, Explicit: s.Explicit},
	}
}

// StillOverText begins the text of an EventStillOver, in its document's words.
const StillOverText = "Still over limit after shrink"

// An Outcome says how what a Ready asked for went.
type Outcome struct {
	FailedBlobs []llm.Ref
	BlobsErr    error // why; for people only
	RecordsErr  error
}
