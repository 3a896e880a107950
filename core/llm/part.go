package llm

import "strings"

// A Part is one piece of a message: [Text], [Thinking], [ToolCall],
// [ToolResult], [Media], [Stub] or [Opaque]. The set is closed.
type Part interface {
	// Bytes returns the raw bytes that the part came with, or nil.
	Bytes() []byte
	part()
}

// Raw is where a part came from. The zero Raw belongs to a part that was made
// here and never was on a wire.
type Raw struct {
	// Data holds the part's own bytes, unchanged.
	Data []byte
	// Base holds the bytes of the part that this one replaced. A codec writes
	// the new content into them, so that fields it does not know survive an edit.
	// At most one of Data and Base is set.
	Base []byte
}

// Bytes returns the bytes that a part came with, or nil.
func (r Raw) Bytes() []byte { return r.Data }

// Edited returns the Raw of a part that replaces one with r.
func (r Raw) Edited() Raw {
	if r.Data == nil {
		return r
	}
	return Raw{Base: r.Data}
}

// Text is plain text.
type Text struct {
	Text string
	Raw
}

// Thinking is a model's reasoning. It goes back unmodified or not at all.
type Thinking struct {
	Text      string
	Signature string // opaque proof of the provider; for encrypted reasoning its whole body
	Redacted  bool   // the text is hidden from us
	Raw
}

// ToolCall is a request of the model to run a tool.
type ToolCall struct {
	CallID string
	Name   string
	Args   string // JSON, or free text if Custom
	Custom bool   // the tool takes free text
	Hosted bool   // the provider runs the tool itself; no result message follows
	Raw
}

// ToolResult is the output of a tool.
type ToolResult struct {
	CallID  string
	Content []Part // Text, Media, Stub or Opaque
	IsError bool
	// Loads names deferred tools of which the Content says what they are. A provider that defers
	// tools itself is told their names instead, and puts the definitions in their place.
	Loads []string
	Raw
}

// Text returns the text contents of r, joined by newlines. Stubs count with
// what the model sees.
func (r ToolResult) Text() string { return joinText(r.Content) }

// WithContent returns r with other content, ready to replace r.
func (r ToolResult) WithContent(content ...Part) ToolResult {
	r.Content, r.Loads = content, nil
	r.Raw = r.Raw.Edited()
	return r
}

// Media is an image, a document or another thing that is not text.
type Media struct {
	Type   string // media type such as image/png; empty if unknown
	Size   int    // encoded size on the wire in bytes
	Width  int    // pixels; 0 if unknown
	Height int    // pixels; 0 if unknown
	Tokens int    // tokens where the reader knows them; 0 if not
	// Detail is how closely the request has an image looked at: "low", "medium",
	// "high" or "original"; empty where it leaves that to the provider.
	Detail string
	Raw
}

// IsImage reports whether m is an image.
func (m Media) IsImage() bool { return strings.HasPrefix(m.Type, "image/") }

// Stub is what a model sees in place of content that was stored.
type Stub struct {
	Ref  Ref    // what is stored
	Text string // what the model sees; names the Ref
	Size int    // size of what is stored, in bytes
	// Of an output that a host has stored itself, what else it said about all of it.
	Lines  int
	Tokens int // by the host's count
	Raw
}

// Opaque is a part that is carried and counted but not understood.
type Opaque struct {
	Kind  string
	Loads []string // names of deferred tools whose definitions the provider puts in its place
	// Compacts names the provider that made it to stand for all that came before it, and that
	// alone reads it; empty for anything else.
	Compacts string
	Raw
}

// Compacts returns the provider whose compaction m holds: what stands before m it reads no more.
// Empty if m holds none.
func Compacts(m Message) string {
	for _, p := range m.Parts {
		if o, ok := p.(Opaque); ok && o.Compacts != "" {
			return o.Compacts
		}
	}
	return ""
}

// WithoutCompaction returns m without the compactions in it, which only their provider reads, and
// false if nothing else is in it.
func WithoutCompaction(m Message) (Message, bool) {
	var parts []Part
	for _, p := range m.Parts {
		if o, ok := p.(Opaque); !ok || o.Compacts == "" {
			parts = append(parts, p)
		}
	}
	if len(parts) == len(m.Parts) || len(parts) == 0 {
		return m, len(parts) > 0
	}
	return m.WithParts(parts), true
}

func (Text) part()       {}
func (Thinking) part()   {}
func (ToolCall) part()   {}
func (ToolResult) part() {}
func (Media) part()      {}
func (Stub) part()       {}
func (Opaque) part()     {}

var (
	_ Part = Text{}
	_ Part = Thinking{}
	_ Part = ToolCall{}
	_ Part = ToolResult{}
	_ Part = Media{}
	_ Part = Stub{}
	_ Part = Opaque{}
)

// Loads returns the names of the deferred tools that m puts before the model, in order.
func Loads(m Message) []string {
	var names []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case Opaque:
			names = append(names, p.Loads...)
		case ToolResult:
			names = append(names, p.Loads...)
			for _, c := range p.Content {
				if o, ok := c.(Opaque); ok {
					names = append(names, o.Loads...)
				}
			}
		}
	}
	return names
}

func joinText(parts []Part) string {
	var texts []string
	for _, p := range parts {
		switch p := p.(type) {
		case Text:
			texts = append(texts, p.Text)
		case Stub:
			texts = append(texts, p.Text)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return strings.Join(texts, "\n")
}
