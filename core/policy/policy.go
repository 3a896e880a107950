package policy

import "github.com/plimsoll-dev/plimsoll/core/budget"

// A Policy says, as plain data, what is done about a full context and when.
// The engine reads it; nothing in it is code. Fractions are permille.
type Policy struct {
	Version   int        `json:"version"`   // of this format: 1
	Name      string     `json:"name"`      // a preset's name or one's own
	About     string     `json:"about"`     // one sentence
	Source    string     `json:"source"`    // the document that it follows, if any
	Window    WindowRule `json:"window"`    // what is left of the capacity
	Estimator string     `json:"estimator"` // drives this policy's own triggers; "count" is the one count, which decides whether a call fits
	Rules     []Rule     `json:"rules"`     // in order; the first that acts is followed by the next

	ToolsPermille int `json:"tools_permille"` // the estimator's figure for tool schemas is taken times this, in permille (guard: 2090)

	LowWater    int  `json:"low_water"`    // a batch goes down to this share of the limit, in permille; 0: below the rule's own threshold
	FirstBatch  int  `json:"first_batch"`  // the first batch of a conversation goes down to this share, in permille; 0: to low_water as well
	MinimumGain Gain `json:"minimum_gain"` // a batch that saves less is not adopted

	MinimumSummary Least `json:"minimum_summary"` // a summary that says less takes nobody's place

	References References `json:"references"` // the note of a batch that names what is no longer shown

	Economy Economy `json:"economy"` // what an edit saves against what the cache break costs

	Prompt Front `json:"prompt"` // what stands before the messages, and what of a request a provider is asked to keep

	Order    string `json:"order"`    // what a batch takes out: "arrival", the oldest first, "use", what calls referred to least lately, or "reference", what they refer to least
	Backstop bool   `json:"backstop"` // the engine's own last resort acts below the rules

	Tail        Tail              `json:"tail"`         // what no rule touches at the new end
	Pins        []string          `json:"pins"`         // what no rule removes: "first_human", "last_human", "rules"
	PinPermille int               `json:"pin_permille"` // of the limit, above which of a person's pinned message its ends stay, with its Ref; 0: all of it does
	Deferral    Deferral          `json:"deferral"`     // tools that are left out, for the model to search for
	FinalTool   string            `json:"final_tool"`   // the only tool left in a forced final Step; empty: none
	Tools       []string          `json:"tools"`        // builtin tools that it would offer to the model
	Templates   map[string]string `json:"templates"`    // texts shown to the model, by name; see Templates

	// The question for a summary. Directives follow as bullets.
	SummaryPrompt     string   `json:"summary_prompt"`     // what to summarise
	SummaryDirectives []string `json:"summary_directives"` // further demands on it
	RetainPrompt      string   `json:"retain_prompt"`      // what to retain, where a rule asks for that (Args.Retain); empty, or null in JSON: nobody is asked
	RetainDirectives  []string `json:"retain_directives"`

	SummarySlot     string        `json:"summary_slot"` // "section", "user_messages" or "note"
	OnFloor         string        `json:"on_floor"`     // "error" or "send"
	OnUnknownWindow UnknownWindow `json:"on_unknown_window"`
	OnSummaryError  string        `json:"on_summary_error"` // "keep" (history stays as it is), "next" (the next rule acts) or "fallback" (the deterministic summary)
}

// A Front says how what stands before the messages changes, and where cache marks stand.
type Front struct {
	// Changed says what becomes of a section of a built prompt that changes after the first
	// request: "rewrite", it is sent as it is now, which breaks the cache from there on, or
	// "note", the model is told at the end, and the system prompt stays as it was.
	Changed string `json:"changed"`
	Marks   string `json:"marks"` // "moving", "sections" or "none"; see package prompt
	Long    bool   `json:"long"`  // marks before the messages ask for the longest lifetime
	// Clients says that the marks stand in the requests of a gateway's clients, too, where a client
	// sets none itself and its provider keeps nothing else.
	Clients bool `json:"clients"`
	// Explicit says that the beginning of a prompt may be kept as a resource of its own, where the
	// provider has such and a host that makes calls finds that it pays.
	Explicit bool `json:"explicit"`
}

// References says how long the note may be that names, after a batch, what is no longer
// shown: names that calls used, names that were seen, commands, a person's words.
type References struct {
	Permille int `json:"permille"` // of the limit without system prompt and tools; 0: there is no such note
	Most     int `json:"most"`     // tokens
}

// Deferral says when tools are left out of requests: those of MCP servers and of skills, where
// the model is offered tool_search (Policy.Tools), so that it can find them.
type Deferral struct {
	Permille int    `json:"permille"` // of the limit, above which so many of them leave that the rest takes no more; 0: none ever does
	Until    string `json:"until"`    // how long a tool stays that was found or called: "turn", or "end" of the session
	Means    string `json:"means"`    // how: "append", what is found stands behind the others in the list; or "native", where the provider defers tools itself, all are declared; empty: "append"
}

// A WindowRule says what is subtracted from a window's capacity before anything
// is compared with it.
type WindowRule struct {
	Buffer         int      `json:"buffer"`          // tokens kept free; 0: the rule has none
	BufferPermille int      `json:"buffer_permille"` // of the capacity, more than which the buffer is not, so that small windows can be used; 0: it is whole everywhere
	Output         int      `json:"output"`          // tokens reserved for the reply where nobody states them; 0: none
	OutputPermille int      `json:"output_permille"` // the same as a share of the capacity, in permille
	ReserveOutput  bool     `json:"reserve_output"`  // whether the reply is carved out at all
	Subtract       []string `json:"subtract"`        // components that the document subtracts too: "system", "summary", "tools" (shown only; the sum compared is the same)
}

// A Rule is one thing a policy does.
type Rule struct {
	Name string    `json:"name"`
	At   Moment    `json:"at"`
	When Condition `json:"when"` // the zero condition always holds
	Do   Action    `json:"do"`
	Args Args      `json:"args"`

	// Forced is for a rule that acts whenever its condition holds. Any other one that
	// takes out what was sent already waits, under a policy with an Economy, until that
	// pays for the cache break, or until nothing is cached any more. Without an Economy
	// nobody waits, so that it makes no difference.
	Forced bool `json:"forced"`
}

// An Economy says how far ahead a policy reckons. The zero Economy reckons nothing.
type Economy struct {
	Horizon int `json:"horizon"` // the most further calls that an edit is expected to serve; 0: no rule waits

	// What a token written to the cache and one read from it cost, in permille of the
	// input's price, where no price is known of the model. 0: then no rule waits either.
	Write int `json:"write"`
	Read  int `json:"read"`
}

// Waits reports whether r acts only where that pays. A summary that was asked for was
// paid, and what a provider refuses has to change.
func (p Policy) Waits(r Rule) bool {
	spec, ok := specOf(r.Do)
	return ok && spec.waits && p.Economy.Horizon > 0 && !r.Forced && r.Do != DoSummarise && r.At != AtRejected
}

// A Moment is when a rule is looked at.
type Moment string

// The moments.
const (
	AtAppend   Moment = "append"   // a message was appended
	AtTool     Moment = "tool"     // a tool output was appended
	AtPrepare  Moment = "prepare"  // before a model call
	AtUsage    Moment = "usage"    // a provider reported usage
	AtRejected Moment = "rejected" // a provider rejected a call as too long
	AtTurnEnd  Moment = "turn_end" // a Turn ended
)

// A Condition compares a measure with a threshold: Value, or Permille of Of
// clamped to [Min, Max] (0: no bound).
type Condition struct {
	Measure  Measure `json:"measure"`
	Op       string  `json:"op"` // ">" or ">="
	Value    int     `json:"value"`
	Permille int     `json:"permille"`
	Of       Base    `json:"of"`
	Min      int     `json:"min"`
	Max      int     `json:"max"`
}

// A Measure is a number that a condition looks at.
type Measure string

// The measures. Token measures use the policy's estimator.
const (
	MeasureView     Measure = "view"         // tokens of the whole view: system, skills, tools, summary, history, notes
	MeasureHistory  Measure = "history"      // tokens of the component history
	MeasureMessages Measure = "messages"     // messages of the component history in the view
	MeasureOutputs  Measure = "outputs"      // tokens of all tool outputs in the view
	MeasureOutput   Measure = "output"       // tokens of the tool output just appended
	MeasureBytes    Measure = "output_bytes" // bytes of the tool output just appended
	MeasureUsage    Measure = "usage"        // prompt + output of the last call, as reported
	MeasureGuard    Measure = "guard"        // the guard's verdict over all targets: 2 final, 1 skip, 0 ok
)

// A Base is what a permille is taken of.
type Base string

// The bases.
const (
	OfCapacity Base = "capacity" // the target's whole window, or its most input if that is less
	OfLimit    Base = "limit"    // what the window rule leaves
)

// An Action is what a rule does.
type Action string

// The actions. All but note, final and summarise are edits of content that is
// stored first and can be read back.
const (
	DoDedup     Action = "dedup"     // runs of lines that are shown elsewhere in full become a pointer
	DoCap       Action = "cap"       // one output: cut lines and bytes, keep the beginning (and end), name the Ref
	DoOffload   Action = "offload"   // one output becomes a stub with a short preview
	DoTrim      Action = "trim"      // oldest outputs become placeholders until the measure holds
	DoClear     Action = "clear"     // outputs in the oldest share of messages become placeholders
	DoPreview   Action = "preview"   // outputs that came long ago become previews, from the place on from where that saves most; it has to pay
	DoDemote    Action = "demote"    // one batch: outputs to previews, to stubs, then old Rounds into the archive, down to the low-water mark
	DoSummarise Action = "summarise" // ask for a summary of the oldest, then put it in their place
	DoTruncate  Action = "truncate"  // drop the oldest messages, pair by pair, until the measure holds
	DoDropTurns Action = "drop"      // drop a share of the oldest Turns
	DoNote      Action = "note"      // append a note for the model
	DoFinal     Action = "final"     // force the final Step
	DoProvider  Action = "provider"  // ask a provider that can to shorten prompts by itself; every request asks, from the first on
	DoFail      Action = "fail"      // one output gives way to the statement that it failed for want of room; the tool budget is exceeded
)

// Args are an action's parameters. Which ones an action reads is listed by Validate.
type Args struct {
	Template   string `json:"template,omitempty"`    // name of the text shown
	Lines      int    `json:"lines,omitempty"`       // dedup: shortest run; cap: lines kept at head and tail
	Chars      int    `json:"chars,omitempty"`       // dedup: a run must have more characters than this; offload: characters of the preview
	LineLength int    `json:"line_length,omitempty"` // cap: longest line in bytes
	Bytes      int    `json:"bytes,omitempty"`       // cap: most bytes kept; offload: most bytes of the preview; clear: smallest output touched
	Permille   int    `json:"permille,omitempty"`    // cap: most tokens, as a share of the limit; clear, summarise, drop: share of messages or Turns; demote: share of an output that its preview keeps
	To         int    `json:"to,omitempty"`          // trim, truncate: down to this permille of the threshold; 0: just below it
	Keep       Tail   `json:"keep,omitzero"`         // overrides the policy's tail
	Min        int    `json:"min,omitempty"`         // summarise: fewest messages worth a summary; truncate: fewest kept
	MaxTokens  int    `json:"max_tokens,omitempty"`  // summarise: longest summary
	Background bool   `json:"background,omitempty"`  // summarise: the call need not wait for it
	Model      bool   `json:"model,omitempty"`       // summarise: only where the host has a model write it
	Errors     bool   `json:"errors,omitempty"`      // offload, clear: failed outputs too
	Retain     bool   `json:"retain,omitempty"`      // summarise: ask for a retain section as well
	What       string `json:"what,omitempty"`        // provider: what it is asked for, "outputs", "thinking" or "compact"; empty: "outputs"
	Tokens     int    `json:"tokens,omitempty"`      // provider: of the prompt from where on, instead of a share of the limit (Permille)
	Show       string `json:"show,omitempty"`        // cap: what is kept, "view" or "ends"; empty: "view"; note: "section", in the system prompt; empty: at the end
}

// From returns the size of a prompt, in tokens, from which on a rule has a provider act, in a window
// with a limit.
func (a Args) From(limit int) int {
	if a.Tokens > 0 {
		return a.Tokens
	}
	return budget.Share(limit, a.Permille)
}

// What a provider can be asked for, by a rule that does [DoProvider].
const (
	ProviderOutputs  = "outputs"  // to leave old outputs out
	ProviderThinking = "thinking" // to leave old thinking out
	ProviderCompact  = "compact"  // to have its own summary stand for the conversation
)

// Asks returns what the rule asks a provider for; empty if it is of another action.
func (r Rule) Asks() string {
	switch {
	case r.Do != DoProvider:
		return ""
	case r.Args.What == "":
		return ProviderOutputs
	}
	return r.Args.What
}

// A Tail is a number of units at the new end of the conversation.
type Tail struct {
	Unit string `json:"unit,omitempty"` // "turns", "rounds" or "messages"
	N    int    `json:"n,omitempty"`
}

// A Gain is what an edit must save to be worth it. Both hold.
type Gain struct {
	Tokens   int `json:"tokens"`
	Permille int `json:"permille"` // of what is replaced
}

// Least is how much a summary has to say: Tokens, or a share of what it stands for
// that is more, but for Most.
type Least struct {
	Tokens   int `json:"tokens"`
	Permille int `json:"permille"` // of what it stands for
	Most     int `json:"most"`     // tokens that the share never exceeds; 0: no bound
}

// Of returns the fewest tokens that a summary of so many has to say.
func (l Least) Of(tokens int) int {
	n := budget.Share(tokens, l.Permille)
	if l.Most > 0 {
		n = min(n, l.Most)
	}
	return max(l.Tokens, n)
}

// UnknownWindow says what happens when a model's window is not known.
type UnknownWindow struct {
	Action string `json:"action"` // "default", "error" or "output_multiple"
	Value  int    `json:"value"`  // tokens, or the factor of the output reserve
	Warn   bool   `json:"warn"`
}

// Names of the texts in Policy.Templates. The braces of a text are filled in by
// the engine: {ref}, {source}, {tool}, {bytes}, {bytes,} (with thousands
// separators), {lines}, {tokens}, {text}, {preview}, {n}, {used} (percent).
// Validate knows which of them each action fills.
const (
	TemplateCap        = "cap"        // after the kept beginning of a capped output
	TemplateOffload    = "offload"    // in place of an offloaded output
	TemplateTrim       = "trim"       // in place of a trimmed output
	TemplateClear      = "clear"      // in place of a cleared output
	TemplateDrop       = "drop"       // in place of dropped messages
	TemplateSummary    = "summary"    // heads a summary
	TemplateStatus     = "status"     // the note on how full the context is
	TemplateFinal      = "final"      // the instruction of a forced final Step
	TemplateFail       = "fail"       // in place of the output that exceeded the tool budget
	TemplateSkipped    = "skipped"    // in place of outputs after that, and of calls that were not run
	TemplateDedup      = "dedup"      // in place of lines shown elsewhere
	TemplateDeferred   = "deferred"   // the note on how many tools are left out
	TemplateReferences = "references" // heads the note that names what is no longer shown
	TemplateRetain     = "retain"     // heads what a summary was asked to retain
)
