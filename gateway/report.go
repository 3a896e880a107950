package gateway

import (
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A Match says how a request goes on with a conversation.
type Match string

// The ways.
const (
	MatchNew   Match = "new"   // it begins one
	MatchNext  Match = "next"  // it goes on where the last one ended
	MatchRetry Match = "retry" // it says nothing new
	MatchFork  Match = "fork"  // it goes on from an earlier place
)

func matchOf(shared int, made bool, messages int) Match {
	switch {
	case made && shared == 0:
		return MatchNew
	case made:
		return MatchFork
	case shared == messages:
		return MatchRetry
	}
	return MatchNext
}

// A Report is one exchange in figures. It holds no word of the conversation.
type Report struct {
	Session  string // empty if the request passed without one
	Passed   string // why it passed without one; empty if it did not
	Refused  string // why it was refused here and went to no provider; empty if it was not
	Answered bool   // it was answered here and went to no provider
	Match    Match
	Model    string
	Messages int        // of the client's request
	Attempts int        // bodies that were made; 0 for one that passed
	Rounds   int        // in which calls were answered here, unseen by the client
	Edited   bool       // the last body is another one than the client's
	Tokens   int        // of the last body, by the count's upper bound
	Estimate int        // the same without what the count allows for its own error
	Kind     token.Kind // of Tokens
	Limit    int        // in tokens
	Bytes    int        // of the last body
	Saved    int        // tokens of text that edits took out of the client's request; only counted for a client's view
	Final    engine.Reason
	Class    wire.Class // of the error that the client is told; unclassified: none
	Unread   string     // why nobody looked at the reply, or at all of it: its usage is not known, and no refusal in it was seen; empty: it was looked at
	Usage    llm.Usage  // of all Rounds, as the provider reported it; zero: it did not
}

func (r *Report) sent(session string, send *engine.Send, size int) {
	r.Session, r.Attempts = session, r.Attempts+1
	r.Tokens, r.Estimate, r.Kind, r.Limit = send.Count.Bound, send.Count.Point, send.Count.Kind, send.Limit
	r.Bytes, r.Final = size, send.Final
}

// Report returns the exchange in figures, as far as it has come.
func (x *Exchange) Report() Report { return x.report }
