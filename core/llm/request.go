package llm

// A Request is everything that one model call sends.
type Request struct {
	Model     string
	Sections  []Section // the system prompt
	Tools     []Tool
	Messages  []Message
	Marks     Marks // what of all that the provider is asked to keep
	MaxOutput int   // tokens the model may write; 0 if not stated
	Settings  Settings
	Dialect   Dialect
	// Frame holds the request body as it came, with the places of the system
	// prompt, the tools and the messages in it. Zero if it was made here.
	Frame Frame
}

// Streamed returns r with the reply asked for as a stream.
func (r Request) Streamed() Request {
	r.Settings.Stream = true
	return r
}

// A Frame is a request body as it came. A span of zero length means that the
// body has no such field.
type Frame struct {
	Raw      []byte
	System   Span   // the whole value of the system prompt
	Tools    Span   // the whole value of the tool list
	Messages Span   // the whole value of the message list
	Each     []Span // the place in Raw of each wire message, in order
	// Mixed holds the wire messages that became several messages each, because different
	// authors speak in them: every one as one message, with its envelope, in order.
	Mixed []Message
	// Pieces says of each of Mixed how many messages it became.
	Pieces []int
}

// A Section is one piece of the system prompt, in the order it is sent.
type Section struct {
	Name      string
	Kind      SectionKind
	Text      string
	Cacheable bool
	// Tokens is the size of a section whose text nobody can see, such as the
	// hidden prompt and tool list of a recorded client. 0 if Text is the content.
	Tokens int
	Raw
}

// SectionKind says which component of the budget a section belongs to.
type SectionKind uint8

// The kinds of section. The zero kind is the system prompt proper.
const (
	SectionSystem SectionKind = iota
	SectionSkills
	SectionSummary
	SectionNotes
	SectionTools // only for a hidden tool list of which nothing but the size is known
)

// A Tool is a tool definition as the model sees it.
type Tool struct {
	Name        string
	Description string
	Schema      string // JSON schema of the arguments, as text; empty if none. Of a Custom tool: its format
	Custom      bool   // takes free text instead of JSON
	Builtin     bool   // served by the engine's host itself
	Kind        ToolKind
	// Deferred: the model has the definition before it only once it has found the tool. A
	// provider that can is told so; for any other a codec leaves it out until then.
	Deferred bool
	// Finder: it is the provider's own search for deferred tools. One that was made here has no
	// name; a codec spells it.
	Finder bool
	Raw
}

// A ToolKind says where a tool comes from.
type ToolKind uint8

// The kinds. The zero kind is what a program has itself, and any tool of which nobody says more.
const (
	ToolBuiltIn ToolKind = iota
	ToolOfSkill
	ToolOfServer // of an MCP server
)

// String returns the kind in one word: "builtin", "skill" or "mcp".
func (k ToolKind) String() string {
	switch k {
	case ToolOfSkill:
		return "skill"
	case ToolOfServer:
		return "mcp"
	}
	return "builtin"
}

// Usage is what a provider reports about one call, in tokens, in disjoint parts:
// no token is in two fields but Reasoning, which is a share of Output.
type Usage struct {
	Input        int // uncached input
	CacheRead    int
	CacheWrite5m int // written with the short lifetime (or the only one)
	CacheWrite1h int // written with the long lifetime
	Output       int
	Reasoning    int // within Output
	// Cleared is what the provider itself took out of the prompt, since it was asked to: tokens
	// that are in none of the others.
	Cleared int
	// Made is what went into a resource that was made for the call, beside the prompt, at the
	// price of input: tokens that are in none of the others.
	Made int
	// Stored is what such resources were booked for with the call, in token-seconds.
	Stored int
}

// Prompt returns the tokens of the whole prompt, cached or not.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h }

// Total returns prompt and output.
func (u Usage) Total() int { return u.Prompt() + u.Output }

// Add returns the sum of u and v, field by field.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, CacheRead: u.CacheRead + v.CacheRead,
		CacheWrite5m: u.CacheWrite5m + v.CacheWrite5m, CacheWrite1h: u.CacheWrite1h + v.CacheWrite1h,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning, Cleared: u.Cleared + v.Cleared,
		Made: u.Made + v.Made, Stored: u.Stored + v.Stored,
	}
}

// IsZero reports whether nothing was reported.
func (u Usage) IsZero() bool { return u == Usage{} }

// Settings are those parameters of a request that every dialect has in some form. A
// codec reads them and writes them into another dialect, or into the body that they came
// in where they are others than it says; what is not here stays in that body.
type Settings struct {
	Stream      bool     // the reply is to be streamed; not part of the body in every dialect
	Temperature string   // a JSON number as it was spelled; empty if not stated
	TopP        string   // the same
	Stop        []string // stop sequences
	Choice      Choice
	// Effort asks the model to think. It is written into a body that is written from the
	// start, and not read from one that came: there it stays as it is.
	Effort Effort
	// CacheKey names the conversation to a provider that sends those of one key to one place,
	// where their beginning is kept, and that takes marks of its own; empty for any other.
	CacheKey string
	// DropBrokenThinking asks the provider to drop thinking that no longer fits the
	// prefix it was bound to, instead of refusing the request.
	DropBrokenThinking bool
	// Clear asks the provider to shorten the prompt by itself. It is written where the body that
	// came says nothing of that kind, and not read from one.
	Clear Clearing
	// Explicit says what of the prompt may be kept as a resource of its own, where the policy has it
	// so and the provider can. A host that makes calls makes it; no codec writes it.
	Explicit ExplicitCache
}

// An ExplicitCache is the beginning of a prompt that its provider may be asked to keep as a resource:
// its sections and tools, with some messages. The zero ExplicitCache is none.
type ExplicitCache struct {
	Name     string // of the conversation; empty: nothing is to be kept
	Messages int    // that go with sections and tools
	Tokens   int    // of all that, by the one count
}

// A Clearing is what a provider is asked to take out of prompts by itself, in tokens. The zero
// Clearing asks for nothing.
type Clearing struct {
	Above  int      // of a prompt: from there on it takes old outputs out; 0: it does not
	Keep   int      // the newest calls whose outputs stay
	Least  int      // that it takes out at once; 0: as few as there are
	Except []string // tools whose outputs stay
	// Thinking is the newest replies whose thinking stays; 0: thinking is left to the provider.
	Thinking int
	// Compact is the size of a prompt from which on the provider has its own summary stand for it;
	// 0: it does not. The reply then has a part that says so ([Opaque.Compacts]).
	Compact int
}

// IsZero reports whether nothing is asked for.
func (c Clearing) IsZero() bool { return c.Above == 0 && c.Thinking == 0 && c.Compact == 0 }

// Effort says how hard a model is to think, in the form that it takes. The zero Effort says
// nothing.
type Effort struct {
	Word   string // the provider's own, such as "low"
	Budget int    // tokens of thinking; 0: none is stated
	Off    bool   // it is not to think
}

// Choice says which tools the model may call. The zero Choice says nothing.
type Choice struct {
	Mode ChoiceMode
	Tool string // the name that ChoiceTool demands
}

// ChoiceMode is the kind of a [Choice].
type ChoiceMode uint8

// The kinds of choices. ChoiceOther is one that only its dialect has.
const (
	ChoiceUnset ChoiceMode = iota
	ChoiceAuto
	ChoiceNone
	ChoiceAny
	ChoiceTool
	ChoiceOther
)
