package token

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Counter is an estimator. Counters are immutable and safe for concurrent use.
type Counter interface {
	// ID returns the estimator's id, such as "chars/4".
	ID() string
	// Kind says what the counts are worth.
	Kind() Kind
	// Text returns the tokens of a text that stands alone; 0 for an empty one.
	Text(s string) int
	// Message returns the tokens of a message with its media and with whatever
	// the estimator adds to a message.
	Message(m llm.Message) int
	// Tools returns the tokens of a tool list.
	Tools(t []llm.Tool) int
}

// A Sizer is a Counter that measures messages itself. The counters of this
// package are Sizers; for others SizeOf and its like add up texts.
type Sizer interface {
	// Size measures a message, Bytes and all.
	Size(m llm.Message) Size
	// SizePart measures a part as if it stood in a message of its own, without
	// what the estimator adds to a message.
	SizePart(p llm.Part) Size
	// SizeSection measures a section of the system prompt.
	SizeSection(s llm.Section) Size
}

// A partCounter counts a part without its bytes on the wire.
type partCounter interface {
	partTokens(p llm.Part) (tokens, media int)
}

// SizeOf measures m by c. It is not always the sum of the sizes of the parts: an
// estimator may add to a message, or round once a message.
func SizeOf(c Counter, m llm.Message) Size {
	if s, ok := c.(Sizer); ok {
		return s.Size(m)
	}
	size := shape(m)
	for _, p := range m.Parts {
		of := SizeOfPart(c, p)
		size.Tokens += of.Tokens
		size.MediaTokens += of.MediaTokens
	}
	return size
}

// SizeOfPart measures p by c. Messages, Plain and Rounds are 0.
func SizeOfPart(c Counter, p llm.Part) Size {
	if s, ok := c.(Sizer); ok {
		return s.SizePart(p)
	}
	var size Size
	size.countPart(p)
	size.Bytes, size.More = partBytes(p), partMore(p)
	eachText(p, func(s string) { size.Tokens += c.Text(s) })
	size.MediaTokens = size.Media * foreignMedia
	return size
}

// TokensOfPart returns Tokens and MediaTokens of [SizeOfPart], and nothing else: a batch asks for them
// of each part of a conversation, and needs not know how many bytes it takes.
func TokensOfPart(c Counter, p llm.Part) Size {
	own, ok := c.(partCounter)
	if !ok {
		of := SizeOfPart(c, p)
		return Size{Tokens: of.Tokens, MediaTokens: of.MediaTokens}
	}
	var size Size
	size.Tokens, size.MediaTokens = own.partTokens(p)
	return size
}

// SizeOfSection measures s by c. A section of which only the size is known has
// that size.
func SizeOfSection(c Counter, s llm.Section) Size {
	if z, ok := c.(Sizer); ok {
		return z.SizeSection(s)
	}
	if s.Text == "" {
		return Size{Tokens: s.Tokens, Bytes: len(s.Bytes())}
	}
	return Size{Tokens: c.Text(s.Text), Bytes: sectionBytes(s)}
}

// SizeOfTools measures a tool list by c: a deferred tool takes bytes, and no tokens.
func SizeOfTools(c Counter, tools []llm.Tool) Size {
	size := Size{Tokens: c.Tools(Shown(tools))}
	for _, t := range tools {
		size.Bytes += toolBytes(t)
	}
	return size
}

// Shown returns the tools whose definitions the model has before it: all but the deferred ones.
func Shown(tools []llm.Tool) []llm.Tool {
	deferred := func(t llm.Tool) bool { return t.Deferred }
	if !slices.ContainsFunc(tools, deferred) {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), deferred)
}

// foreignMedia is what one media costs in tokens under a counter from outside
// this package, which knows no image rule: the most that one costs a model which
// scales images down and does not count in thousands a tile.
const foreignMedia = 4784

// shape returns the size of m as far as no estimator is needed.
func shape(m llm.Message) Size {
	size := Size{Messages: 1, Bytes: messageBytes(m), More: messageMore(m)}
	for _, p := range m.Parts {
		size.countPart(p)
		if c, ok := p.(llm.ToolCall); ok && !c.Hosted {
			size.Rounds = 1
		}
	}
	if size.Results == 0 {
		size.Plain = 1
	}
	return size
}

// countPart adds p to the counts of calls, results and media.
func (s *Size) countPart(p llm.Part) {
	switch p := p.(type) {
	case llm.ToolCall:
		s.Calls++
	case llm.Media:
		s.Media++
	case llm.ToolResult:
		s.Results++
		for _, c := range p.Content {
			if _, ok := c.(llm.Media); ok {
				s.Media++
			}
		}
	}
}

// eachText calls f with every text of p that a model reads.
func eachText(p llm.Part, f func(s string)) {
	switch p := p.(type) {
	case llm.Text:
		f(p.Text)
	case llm.Thinking:
		f(p.Text)
	case llm.ToolCall:
		f(p.Name)
		f(p.Args)
	case llm.ToolResult:
		for _, c := range p.Content {
			eachText(c, f)
		}
	case llm.Stub:
		f(p.Text)
	case llm.Opaque:
		f(string(p.Data))
	}
}
