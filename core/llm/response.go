package llm

// A Response is a model's whole answer to one request.
type Response struct {
	ID    string
	Model string // as the provider names it
	// Message is what the model wrote: role assistant, origin Model. It has no
	// envelope: what a reply says around its parts does not belong into the next
	// request. Its parts keep their bytes in the form that a request wants them in.
	Message Message
	Stop    Stop
	Reason  string // the provider's own word for Stop; empty if it gave none
	Usage   Usage  // of the call that the request asked for
	Extra   Usage  // of further passes billed with it, such as a compaction
	Dialect Dialect
	Raw     []byte // the body as it came; nil if it was made here or came as a stream
}

// Stop says why a model stopped writing.
type Stop uint8

// The reasons to stop. The zero value is for a reply that has not ended or whose
// reason is not known here.
const (
	StopUnknown    Stop = iota
	StopEnd             // it had nothing more to say
	StopTool            // it waits for the results of its calls
	StopLength          // the output limit
	StopWindow          // the context window is full
	StopSequence        // a stop sequence of the request
	StopPause           // the provider pauses a long turn; sending the reply back goes on with it
	StopRefusal         // it will not answer, or a filter kept it from answering
	StopCompaction      // the provider compacted the conversation and waits
)

// String returns the name of s in lower case.
func (s Stop) String() string {
	names := [...]string{"unknown", "end", "tool", "length", "window", "sequence", "pause", "refusal", "compaction"}
	if int(s) < len(names) {
		return names[s]
	}
	return names[0]
}
