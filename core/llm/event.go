package llm

// EventKind says what an [Event] tells.
type EventKind uint8

// The kinds of events, in the order in which a reply has them. A stream is one
// Start, then for each part one PartStart, any number of Deltas and one PartEnd,
// then one End. Parts may overlap. Other may stand anywhere.
const (
	EventStart     EventKind = iota + 1 // the reply begins: ID, Model, Usage as far as it is known
	EventPartStart                      // a part begins: Index, and Part with what is known of it (its kind, a call's id and name)
	EventDelta                          // more of a part: Index, Delta, Text
	EventPartEnd                        // a part is whole: Index, Part with all it holds, ready to be sent back
	EventEnd                            // the reply is whole: Stop, Reason, Usage, Extra
	EventOther                          // a ping, or an event not known here: Raw
)

// String returns the name of k in lower case.
func (k EventKind) String() string {
	names := [...]string{"none", "start", "part start", "delta", "part end", "end", "other"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[0]
}

// DeltaKind says which text of a part a delta continues.
type DeltaKind uint8

// The kinds of deltas.
const (
	DeltaText      DeltaKind = iota + 1 // of a Text, or the visible text of a Thinking
	DeltaSignature                      // the signature of a Thinking
	DeltaArgs                           // the arguments of a ToolCall
	DeltaOther                          // something else, such as a citation: Text is its JSON
)

// An Event is one step of a streamed reply. Which fields count depends on Kind. An
// Event may be kept, but for Raw.
type Event struct {
	Kind   EventKind
	Delta  DeltaKind
	Stop   Stop
	Index  int    // of the part, counted from 0 in the order in which parts begin
	Text   string // of a delta
	Part   Part
	ID     string
	Model  string
	Reason string
	Usage  Usage
	Extra  Usage
	// Raw is the payload that the event was in, without the framing of the stream. It
	// belongs to the decoder and is good until its next call. Of several events from
	// one payload only the first has it.
	Raw []byte
}
