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
// The size of a Step is what its provider reported, else what the reports before it
// say by package token's calibration, else an estimate; [Step].Kind says which. Its
// division by content is an estimate in any case: the recorded messages are counted
// by the counter of the model's family and scaled so that they and what is hidden
// add up to the Step's size.
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
package inspect
