package wire

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// ErrUnspliced is what [Splice.EndRound] returns beside a reply that cannot be spliced: it
// has several choices, or it began a call without a name. The client gets all of it as it
// came, hidden calls as well; nothing can be added but its end.
var ErrUnspliced = errors.New("wire: splice: want a reply with one choice whose calls begin with their names")

// ErrPassed is what the error of [Splice.EndRound] matches if the client gets all of the
// Round as it came, broken as it is. After another error it does not, and has to be told.
var ErrPassed = errors.New("wire: splice: it passes as it came")

// A Splicer is a [Codec] that makes one reply of the replies to several requests, of which
// the client sees only what is its own. All codecs here are.
type Splicer interface {
	// NewSplice begins a reply, which is a stream or not. hidden says which tools are not
	// the client's; it is asked with the names that the provider writes.
	NewSplice(hidden func(tool string) bool, streamed bool) Splice
}

// A Splice makes one well-formed reply of those that a provider gives in several Rounds:
// one start, one end, parts numbered through, no calls of hidden tools. It is used by one
// goroutine, for each Round in this order: Write, EndRound, then Next, Finish or Fail.
//
// What is not hidden passes at once, and with the provider's bytes but for what counts or
// names the reply: only the end is held back until it is known that no other Round comes.
// As long as nothing hidden was called in the first Round, the client gets the very bytes
// of the provider, also of a reply that is broken.
//
// The reply has the id of the first Round, and why it stopped from the last: if that is
// hidden calls alone, it has come to its end. What was used is the sum over the Rounds, of
// prompts too, for that is what is paid; a client that reads from it how full the context
// is reads too much.
//
// Memory does not grow with a stream but for what the reply itself says.
type Splice interface {
	// Write takes the next bytes of the Round's reply, cut anywhere, and returns what the
	// client gets of the reply now, which is good until the next call. The error says that
	// the Round has failed; EndRound returns it as well. In the first Round no error is
	// returned here before something is hidden.
	Write(chunk []byte) ([]byte, error)
	// EndRound says that the provider's reply has ended and returns it as it was decoded,
	// hidden calls included. The error is the provider's own, an [*Error], or matches
	// [ErrCut] or [ErrUnspliced], or says what is not of the dialect; see [ErrPassed].
	EndRound() (llm.Response, error)
	// Next begins another Round, which goes on with the reply. It takes a Round that ended
	// without an error.
	Next()
	// Finish returns the end of the reply, for one that is no stream all of it. After an
	// error in the first Round that is what is left of the provider's bytes.
	Finish() []byte
	// Fail returns what ends a reply in place of Finish when a Round has failed: the
	// dialect's own event for e, or its body for a reply that is no stream.
	Fail(e *Error) []byte
}
