package sessionfile

import "github.com/plimsoll-dev/plimsoll/wire"

// A Failure is a model call that came to nothing, as a file records it: it was refused, it
// failed, or a person stopped it. It is no Step: no reply is in the conversation.
type Failure struct {
	Line  int   // that says so, from 1; 0 where the format has no lines
	Time  int64 // Unix milliseconds; 0 if the file does not say
	After int   // Steps of its segment that were made before it
	// Stopped says that a person stopped the call; Error is zero but for its words then.
	Stopped bool
	// Limit says that a limit of the client's own, such as of calls or of time, came before the
	// call; Error is zero but for its words then.
	Limit bool
	// Error is what the provider, or the client in its name, said, with the figures that it
	// states. It has no Body.
	Error wire.Error
}

// TooLong reports whether the request was refused for its length.
func (f Failure) TooLong() bool {
	_, _, _, refused := f.Error.RefusedLength()
	return refused
}

// Last returns the failure with which the segment ends: no reply came after it.
func (s Segment) Last() (Failure, bool) {
	if n := len(s.Failures); n > 0 && s.Failures[n-1].After == s.Steps() {
		return s.Failures[n-1], true
	}
	return Failure{}, false
}
