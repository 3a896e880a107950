package loop

// A Do is what a host does next.
type Do uint8

// What there is to do.
const (
	DoBegin  Do = iota // run the agent on Ready.Prompt: feed Began, then Output
	DoAsk              // ask a model Ready.Ask.Prompt: feed Answer or NoAnswer
	DoRecall           // look for passages that fit Ready.Query: feed Recalled
	DoAwait            // an iteration is running: feed Output
	DoWait             // the loop is paused: feed Continue
	DoEnd              // the loop has ended, for the reason Ready.End
)

// A Ready is what a host does next. It follows from the state alone: asked twice, a
// Machine says the same.
type Ready struct {
	Do     Do
	Number int     // of the iteration to begin, or that is running
	Prompt *Prompt // with DoBegin
	Ask    *Ask    // with DoAsk
	Query  string  // with DoRecall: words, the most telling first
	End    Reason  // with DoEnd
	Why    string  // for people: more about the reason
}

// A Prompt is what the agent is run on.
type Prompt struct {
	Text     string
	Tokens   int // by the Counter, always less than 50,000
	Sections []Section
}

// A Section is a part of a Prompt.
type Section struct {
	Name   string // goal, memory, summary, earlier, recent, state, messages, recovery, instructions
	Text   string // with its heading
	Tokens int
}

// An Ask is a question for a model: a summary of iterations that have left the window.
type Ask struct {
	ID        int
	From, To  int  // the iterations that the answer takes into the summary; none if To < From
	Anew      bool // the whole summary is written anew, from all facts on record
	Prompt    string
	MaxTokens int // longest answer
}

// A Reason says why a loop has ended.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	GoalComplete   Reason = "goal_complete"   // the agent made the promise
	FatalError     Reason = "fatal_error"     // the host cannot go on
	ManualStop     Reason = "manual_stop"     // a person stopped it
	AlertPause     Reason = "alert_pause"     // an alert: the agent runs away
	RecoveryFailed Reason = "recovery_failed" // it is stuck, and nothing helped
	IterationLimit Reason = "iteration_limit"
	TimeLimit      Reason = "time_limit"
)

// An Event tells what an input led to, for whoever wants to show it.
type Event struct {
	Kind      EventKind
	Iteration int // it is about
	Text      string
}

// An EventKind names what happened.
type EventKind string

// What may happen.
const (
	EventIteration     EventKind = "iteration"      // one was recorded
	EventFolded        EventKind = "folded"         // one is now in the summary, and is shown no more
	EventSummaryFailed EventKind = "summary_failed" // older iterations stay raw
	EventStuck         EventKind = "stuck"          // too many in a row without progress
	EventRunaway       EventKind = "runaway"        // an alert: identical outputs
	EventFast          EventKind = "fast"           // a warning: ten iterations of half a second
	EventMany          EventKind = "many"           // a warning: 500 iterations and no limit of time
	EventRemember      EventKind = "remember"       // the agent wants something to be known in the workspace: the text
)
