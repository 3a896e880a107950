package web

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// A Loop is an autonomous loop as its records have it.
type Loop struct {
	ID, Workspace, Goal string
	State               string // how it gets on, or how it has ended
	Agents              []string
	Resumed             int // how often
	Folded              int // iterations that the newest summary stands for
	Iterations          []LoopIteration
	Summaries           []LoopSummary // in their order
	Messages            []string      // of people
	Spent               []LoopSpent
}

// A LoopIteration is one run of an agent.
type LoopIteration struct {
	Number         int
	Agent          string
	Began          int64 // in milliseconds since 1970
	Milliseconds   int64 // that it took
	Prompt         int   // tokens
	Sections       []LoopSection
	Score          int   // permille
	Output         int64 // bytes
	Files, Marks   []string
	Fault          string
	Interrupted    bool
	Calls, In, Out int // of its agent, as far as they are known
	Cost           catalog.Money
}

// A LoopSection is a part of a prompt.
type LoopSection struct {
	Name   string
	Tokens int
}

// A LoopSummary is a summary, or why there is none.
type LoopSummary struct {
	Iteration int    // after which it was written
	Model     string // that wrote it; empty: none did
	Text      string
	Failed    string
}

// A LoopSpent is what calls of models took.
type LoopSpent struct {
	What                            string
	Calls, Input, CacheRead, Output int
	Cost                            catalog.Money
}
