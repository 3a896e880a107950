package llm

// A Mark asks a provider to keep the prompt up to the end of what it stands on: a tool, a
// section or a message. It says nothing to the model, and no digest has it. A request that is
// decoded has none: the marks of a client stay in the bytes that it sent.
type Mark uint8

// The marks.
const (
	NoMark    Mark = iota
	MarkShort      // with the provider's usual lifetime
	MarkLong       // with its longest
)
