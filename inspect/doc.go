// Package inspect says what is in a session file: what fills the context at each
// Step, which outputs are large or repeated, what the client cut, where the
// provider's cache broke, and the exact content of any one request. It reads what
// sessionfile has read and nothing else; it changes nothing, sends nothing and
// decides nothing. What another policy would have done is package replay's.
//
//	report, err := inspect.Session(s, inspect.Options{Catalog: cat, Encodings: load})
//	items, err := inspect.Contents(s, inspect.StepRef{Segment: 1, Step: 12}, options)
//	diff, err := inspect.Compare(s, a, b, options)
//
// # Figures
//
// The size of a Step is what its provider reported, else what the client counted, else
// what package meter says, which is told of the same as the engine; [Step].Kind says
// which. A message has one size: what the prompts grew by when it came, divided among
// what came with it by the counter of the model's family; of a reply whose output was
// reported that figure. Where a prompt did not grow by what its messages can be, they are
// counted, and the difference is hidden.
//
// What a call cost is what the file states, else the list prices of what was reported.
// An output that was cut off counts with its recorded size; a call of which nothing was
// reported with a prompt of that size, put through package cache. Both are estimates, and
// [Step].CostKind says so. Calls that were copied from another session are in no sum.
//
// Everything is counted once a message and then summed, so that the work grows with
// the file and not with Steps times messages. Requests are encoded only for the
// cache breaks that are listed.
//
// # Cache breaks
//
// A break is a Step that read less from the provider's cache than package cache
// expects of a request that begins with the one before: by more than 1,024 tokens
// and more than 5 %. What was there to be read is what the Step before reported as
// read and written, or its whole prompt where the provider caches by itself. Only
// Steps with reported usage and with models whose cache rule the catalogue knows are
// compared. [Break].Cause names what the file shows; where it shows nothing
// the cause is unknown, as when the provider evicted early.
//
// # Files
//
// A file uses what it or an earlier one in this list declares, and no later one.
//
//	ending.go    floor 1: how a session ended, and what is found about it
//	said.go      what is said in a session
//	report.go    what a Report holds
//	overhead.go  what an analysis stands on, and what a client hides
//	told.go      what a file states of the calls of a segment
//	weigh.go     a message by its parts
//	preview.go   the beginning of a text
//	segment.go   floor 2: a segment that is measured
//	settle.go    the size of each message
//	bill.go      the charge of each Step
//	measure.go   segments, message by message
//	predict.go   what a prompt was taken for before the call
//	agents.go    sums over a session and its sub-agents
//	reading.go   floor 3: a session that is analysed
//	outputs.go   its outputs, open calls and thinking
//	repeat.go    what is shown again
//	cuts.go      what the client took out
//	contents.go  the content of one request
//	context.go   what takes how much of a window
//	diff.go      what differs between two
//	place.go     where in a request something lies
//	breaks.go    where the cache broke
//	stated.go    what the file states of its sums
//	end.go       how the session ended
//	talk.go      the conversation
//	brief.go     what a list says of a session
//	inspect.go   all of that
package inspect
