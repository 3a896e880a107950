package token

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Kind says how far a figure can be trusted. Greater kinds are less sure.
type Kind uint8

// The kinds of figure.
const (
	Exact      Kind = iota // by the model's own tokenizer
	Calibrated             // corrected by what a provider reported
	Estimated              // neither
)

// String returns "exact", "calibrated" or "estimated".
func (k Kind) String() string {
	names := [...]string{"exact", "calibrated", "estimated"}
	if int(k) < len(names) {
		return names[k]
	}
	return "kind?"
}

// Component is a part of a prompt that tokens are booked under.
type Component uint8

// The components, in the order of a prompt.
const (
	System Component = iota
	Skills
	Tools
	Summary
	History
	Notes

	// NumComponents is how many components there are.
	NumComponents = int(iota)
)

// String returns the component's name in lower case.
func (c Component) String() string {
	names := [NumComponents]string{"system", "skills", "tools", "summary", "history", "notes"}
	if int(c) < NumComponents {
		return names[c]
	}
	return "component?"
}

// ComponentOf returns the component that a message of a conversation belongs to.
func ComponentOf(m llm.Message) Component {
	switch {
	case m.Flags.Has(llm.FlagSummary):
		return Summary
	case m.Origin == llm.Note:
		return Notes
	}
	return History
}

// ComponentOfSection returns the component that a section of the system prompt
// belongs to.
func ComponentOfSection(s llm.Section) Component {
	switch s.Kind {
	case llm.SectionSkills:
		return Skills
	case llm.SectionSummary:
		return Summary
	case llm.SectionNotes:
		return Notes
	case llm.SectionTools:
		return Tools
	}
	return System
}

// A Size is what is booked for a message, a section or a tool list.
type Size struct {
	Tokens      int // of the text, by the counter, with what the estimator itself adds and without media
	MediaTokens int // of the media
	Known       int // true tokens that a provider reported for a reply, in place of Tokens
	Messages    int
	Plain       int // messages without a tool result
	Calls       int // tool calls
	Rounds      int // messages with at least one call that a result follows
	Results     int // tool results
	Media       int // images and other things that are not text, also those inside results
	Bytes       int // on the wire: of the raw bytes where there are any, else an estimate
	More        int // bytes that another dialect than that of the raw bytes may take on top, rounded up
}

// All returns the tokens of text, media and what is known, together.
func (s Size) All() int { return s.Tokens + s.MediaTokens + s.Known }

// Add returns s and o together.
func (s Size) Add(o Size) Size {
	return Size{
		Tokens:      s.Tokens + o.Tokens,
		MediaTokens: s.MediaTokens + o.MediaTokens,
		Known:       s.Known + o.Known,
		Messages:    s.Messages + o.Messages,
		Plain:       s.Plain + o.Plain,
		Calls:       s.Calls + o.Calls,
		Rounds:      s.Rounds + o.Rounds,
		Results:     s.Results + o.Results,
		Media:       s.Media + o.Media,
		Bytes:       s.Bytes + o.Bytes,
		More:        s.More + o.More,
	}
}

// Sub returns s without o.
func (s Size) Sub(o Size) Size {
	return Size{
		Tokens:      s.Tokens - o.Tokens,
		MediaTokens: s.MediaTokens - o.MediaTokens,
		Known:       s.Known - o.Known,
		Messages:    s.Messages - o.Messages,
		Plain:       s.Plain - o.Plain,
		Calls:       s.Calls - o.Calls,
		Rounds:      s.Rounds - o.Rounds,
		Results:     s.Results - o.Results,
		Media:       s.Media - o.Media,
		Bytes:       s.Bytes - o.Bytes,
		More:        s.More - o.More,
	}
}

// larger returns s with the greater token counts of s and o.
func (s Size) larger(o Size) Size {
	s.Tokens = max(s.Tokens, o.Tokens)
	s.MediaTokens = max(s.MediaTokens, o.MediaTokens)
	return s
}
