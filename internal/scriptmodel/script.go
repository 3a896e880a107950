package scriptmodel

import (
	"path"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Script says what the server is and what it answers. Make one with [Parse].
type Script struct {
	Window     int    // tokens that prompt and output may have together; 0: no limit
	Output     int    // tokens that one reply may have; 0: no limit
	Models     []Rule // models with a window or output of their own
	Count      string // id of the token estimator, see package token
	Key        string // the key that requests must carry; empty: any or none
	Secret     string // key of the seals on thinking
	Bytes      int    // bytes that a request may have; 0: no limit
	Cache      bool   // the prefix cache is simulated
	CacheMin   int    // tokens of the shortest prefix that is cached
	Strict     bool   // the prompt and the output asked for must fit together, as older models have it
	Signatures Binding
	Replies    []Block
}

// A Rule is a limit for some models.
type Rule struct {
	Model  string // pattern as for path.Match
	Window int
	Output int
}

// Binding says what happens to thinking whose prefix was changed.
type Binding uint8

// What can happen. By default the request is refused, unless it asks for the thinking to be
// dropped.
const (
	BindError Binding = iota
	BindDrop          // dropped and reported, as on accounts that are not checked strictly
	BindOff           // signatures are not looked at
)

// A Block is one reply of the script with the requests that it answers.
type Block struct {
	Line  int // where it stands in the script, counted from 1
	Times int // how many requests it answers; 0: any number
	When  []Condition
	Reply Reply
}

// A Condition is something that a request is, or, if Not is set, is not.
type Condition struct {
	Kind ConditionKind
	Not  bool
	Text string
}

// ConditionKind is what a condition looks at.
type ConditionKind uint8

// The kinds of conditions.
const (
	WhenUser    ConditionKind = iota // the newest text of the user contains Text
	WhenSystem                       // the system prompt contains Text
	WhenResult                       // the request brings results of tools, with Text in one of them
	WhenTools                        // it offers tools
	WhenTool                         // it offers the tool Text
	WhenModel                        // its model's name fits the pattern Text
	WhenDialect                      // it speaks the dialect Text
	WhenStream                       // the reply is to be streamed
	WhenJSON                         // the reply is to be JSON
)

// A Reply is what the server does with one request.
type Reply struct {
	Parts  []Saying
	Stop   llm.Stop // StopUnknown: as it follows from the parts
	Usage  *llm.Usage
	Later  time.Duration // the logical clock moves by this before the request is looked at
	Delay  time.Duration // before the first byte
	Pause  time.Duration // before each further event
	Status int           // an error is answered in place of a reply
	Say    string        // the message of that error; empty: the provider's usual one
	Retry  int           // seconds of its retry-after; 0: none
	Faults []Fault
}

// A Saying is one part of a reply.
type Saying struct {
	Kind SayingKind
	Text string // the text, or a call's arguments or command
	Name string // the tool
	N    int    // words

	Found []string // tools that a search found
}

// SayingKind says what a [Saying] is.
type SayingKind uint8

// The kinds of sayings.
const (
	SayText     SayingKind = iota
	SayWords               // N made-up words
	SayThinking            // signed, where the dialect signs thinking
	SayHidden              // thinking of which only the proof is shown
	SayCall                // a call of the tool Name with Text as its arguments
	SayShell               // a call of whatever shell tool the request offers, with the command Text
	SaySearch              // a search of the provider's own for tools, with the query Text, that found those
)

// A Fault is something that goes wrong while a reply is on its way.
type Fault struct {
	Kind   FaultKind
	After  int  // how much of the answer comes through before it
	Events bool // After counts events; else bytes
}

// FaultKind says what goes wrong.
type FaultKind uint8

// The kinds of faults.
const (
	FaultCut       FaultKind = iota // the answer ends there, as if it were whole
	FaultDrop                       // the connection is broken
	FaultMalformed                  // something that is no event of the dialect is sent
	FaultFail                       // the provider's error event is sent, and the answer ends
	FaultPing                       // a ping is sent where the dialect has one
)

// limits returns window and output of a model; 0: no limit.
func (s *Script) limits(model string) (window, output int) {
	for _, r := range s.Models {
		if ok, err := path.Match(r.Model, model); ok && err == nil {
			return r.Window, r.Output
		}
	}
	return s.Window, s.Output
}
