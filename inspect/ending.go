package inspect

import "github.com/plimsoll-dev/plimsoll/core/catalog"

// How a session ended.
const (
	EndRefused  = "refused"    // its last call was refused, or failed
	EndStopped  = "stopped"    // a person stopped its last call
	EndLimit    = "limit"      // a limit of the client's own, such as of calls or of time, came before the next call
	EndAnswered = "answered"   // the model has said all that it was asked
	EndOpen     = "open call"  // a call of a tool has no result
	EndWaits    = "unanswered" // the model was not asked any more, or its answer is not in the file
)

// A Failed is a model call that came to nothing.
type Failed struct {
	Line    int    `json:"line"`
	Time    int64  `json:"time_ms,omitempty"`
	After   int    `json:"after"`             // Steps of its segment before it
	Stopped bool   `json:"stopped,omitempty"` // by a person
	Limit   bool   `json:"limit,omitempty"`   // of the client's own came before it
	Class   string `json:"class"`             // of the error: "too long", "rate limited", …; see package wire
	Status  int    `json:"status,omitempty"`  // HTTP
	Message string `json:"message"`
	Used    int    `json:"used,omitempty"`   // tokens of the request, as the error states them
	Window  int    `json:"window,omitempty"` // and of the window
}

// An End is how a session ended, which is how its last segment did.
type End struct {
	How  string `json:"how"`            // EndRefused, EndStopped, EndLimit, EndAnswered, EndOpen or EndWaits; empty: there is no conversation
	Call int    `json:"call,omitempty"` // number of the last call in the session, counted as Steps are
	Time int64  `json:"time_ms,omitempty"`
	Tool string `json:"tool,omitempty"` // of an open call
	// Failed is what the last call came to; nil if it was answered.
	Failed *Failed `json:"failed,omitempty"`
	// Tokens and Kind are the size of a prompt that was refused, as of a [Step], and Window
	// is what it was to fit into; 0 if nobody knows.
	Tokens int    `json:"tokens,omitempty"`
	Kind   string `json:"kind,omitempty"`
	Window int    `json:"window,omitempty"`
}

// A Finding is something about a session that could have been had for less, with its figure.
type Finding struct {
	Rule    string         `json:"rule"` // by which it was found
	Text    string         `json:"text"`
	Do      string         `json:"do"`                // what would have helped
	Command string         `json:"command,omitempty"` // that shows or does it
	Tokens  int            `json:"tokens,omitempty"`  // that it is about
	CostUSD *catalog.Money `json:"cost_usd,omitempty"`
}
