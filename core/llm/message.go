package llm

// Dialect names the wire format that raw bytes are written in, such as one
// provider's messages format. The values are defined by the codecs under wire/;
// the core only compares them.
type Dialect string

// MessageID is the place of a message in its transcript, counted from 1.
// 0 means that the message has not been appended yet.
type MessageID int

// Role says who speaks, as the wire formats see it.
type Role uint8

// The roles. A message with tool results is RoleTool also in dialects that send
// it as the user.
const (
	RoleUser Role = iota + 1
	RoleAssistant
	RoleTool
	RoleSystem // a system or developer message inside the conversation
)

// String returns the role's name in lower case.
func (r Role) String() string {
	return name(int(r), "role", "user", "assistant", "tool", "system")
}

// Origin says where a message really came from. Only a Human message opens a
// turn (DESIGN.md section 2).
type Origin uint8

// The origins.
const (
	Human   Origin = iota + 1 // typed by a person
	Model                     // written by a model
	ToolRun                   // the result of a tool call
	Note                      // written by a client or by the engine: reminders, summaries, attachments
)

// String returns the origin's name in lower case.
func (o Origin) String() string {
	return name(int(o), "origin", "human", "model", "tool", "note")
}

// Flags are facts about a message that its text does not show.
type Flags uint8

// The flags.
const (
	// FlagSummary marks a Note that stands for earlier messages.
	FlagSummary Flags = 1 << iota
	// FlagRules marks a Note that carries standing instructions (an AGENTS.md,
	// a memory file). Policies that pin rules keep it as it is.
	FlagRules
	// FlagSynthetic marks a reply that a client wrote in the model's name, such
	// as an error text. No request was made for it.
	FlagSynthetic
	// FlagInterrupted marks the stated results of calls that never ended.
	FlagInterrupted
)

// Has reports whether all flags of g are set in f.
func (f Flags) Has(g Flags) bool { return f&g == g }

// A Message is one entry of a conversation. It is immutable.
type Message struct {
	ID       MessageID
	Role     Role
	Origin   Origin
	Flags    Flags
	Parts    []Part
	Dialect  Dialect  // of the raw bytes; empty if there are none
	Envelope Envelope // zero if the message was not one object on the wire
}

// An Envelope is a message as it came: its whole bytes and where each part lies
// in them. With it a codec can replace one part and leave every other byte alone.
type Envelope struct {
	Raw   []byte
	Spans []Span // Spans[i] is the place of Parts[i] in Raw, in ascending order; as many as parts
}

// A Span is a half-open range [Start, End).
type Span struct{ Start, End int }

// Len returns the number of positions in s.
func (s Span) Len() int { return s.End - s.Start }

// Calls returns the tool calls of m in order.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Parts {
		if c, ok := p.(ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// Results returns the tool results of m in order.
func (m Message) Results() []ToolResult {
	var results []ToolResult
	for _, p := range m.Parts {
		if r, ok := p.(ToolResult); ok {
			results = append(results, r)
		}
	}
	return results
}

// Text returns the text parts of m, joined by newlines.
func (m Message) Text() string { return joinText(m.Parts) }

// WithParts returns m with other parts. The envelope is kept only if it still
// fits, that is, if there are as many parts as before.
func (m Message) WithParts(parts []Part) Message {
	if len(parts) != len(m.Parts) {
		m.Envelope = Envelope{}
	}
	m.Parts = parts
	return m
}

// name returns names[v-1], or kind and the number for values that are not known.
func name(v int, kind string, names ...string) string {
	if v < 1 || v > len(names) {
		return kind + "?"
	}
	return names[v-1]
}
