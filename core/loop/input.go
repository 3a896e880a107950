package loop

import "github.com/plimsoll-dev/plimsoll/core/llm"

// An Input is something that happened. The set is closed. Times are milliseconds since
// 1970; one that goes back, or lies before 1970, counts as no time.
type Input interface{ input() }

// Select says which agent the next iteration runs. The prompt names it.
type Select struct{ CLI, Model string }

// Began says that the agent has been started on the prompt.
type Began struct {
	At  int64
	Env map[string]string // a snapshot of the environment, without secrets; nil: as before
}

// Output says how an iteration ended.
type Output struct {
	At   int64
	Text string // all that the agent wrote
	// Answer is the agent's final answer, where its output has a form that tells it apart
	// (Structured): then nothing else of it can mark progress or make the promise.
	Answer     string
	Structured bool
	Fault      string // what went wrong, such as "exit status 2"; empty: nothing
	// Interrupted is an iteration that did not get to its end. It cannot end the loop.
	Interrupted bool
	Files       []FileEvent // what changed in the workspace meanwhile
}

// Answer is what a model wrote about an Ask. It is judged: one that was cut off, refuses,
// says next to nothing or names files that were not in the question fails as NoAnswer does.
type Answer struct {
	ID   int
	Text string
	Stop llm.Stop // why it ended
}

// NoAnswer says that it wrote nothing, and why.
type NoAnswer struct {
	ID  int
	Why string
}

// Message is something that a person wants the agent to read, once, with the next
// prompt. Those with a lower Priority come first.
type Message struct {
	Text     string `json:"text"`
	Priority int    `json:"priority"`
}

// Recalled is what was found for a Ready.Query, the best first; nothing is an answer, too.
// Passages of iterations that the prompt shows raw are left out.
type Recalled struct{ Passages []Passage }

// A Passage is some text of an iteration.
type Passage struct {
	Iteration int    `json:"iteration"`
	Text      string `json:"text"`
}

// Known is all that is known of the workspace, the most important first. It takes the place of
// what was fed before.
type Known struct{ Facts []Memo }

// A Memo is one thing that is known of a workspace.
type Memo struct {
	Text   string `json:"text"`
	Source string `json:"source,omitempty"` // who said so, and when
}

// Tick says what time it is, while nothing else happens.
type Tick struct{ At int64 }

// Stop ends the loop: at once, or when the running iteration has ended.
type Stop struct{}

// Pause holds the loop before the next iteration.
type Pause struct{}

// Continue ends a pause.
type Continue struct{}

// Fatal says that the host cannot go on.
type Fatal struct {
	At  int64
	Why string
}

// Resumed says that a Machine made by [Restore] goes on. An iteration that was running is
// recorded as interrupted; the time in between does not count; an end that can be
// overcome, such as a stop or a limit that was raised, is one no more.
type Resumed struct{ At int64 }

func (Select) input()   {}
func (Began) input()    {}
func (Output) input()   {}
func (Answer) input()   {}
func (NoAnswer) input() {}
func (Message) input()  {}
func (Recalled) input() {}
func (Known) input()    {}
func (Tick) input()     {}
func (Stop) input()     {}
func (Pause) input()    {}
func (Continue) input() {}
func (Fatal) input()    {}
func (Resumed) input()  {}
