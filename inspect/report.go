package inspect

import (
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Schema is the version of the JSON form of a Report, of a [Listing] and of a [Diff].
// docs/inspect-json.md lists all fields.
const Schema = 2

// The kinds of a Step's size.
const (
	Reported      = "reported"   // by the provider
	ClientCounted = "client"     // by the client that wrote the file
	Calibrated    = "calibrated" // predicted from what was reported before
	Estimated     = "estimated"  // nothing was reported before
)

// The kinds of a Step's cost.
const (
	CostStated    = "stated"    // by the file
	CostReported  = "reported"  // list prices of what the provider reported
	CostEstimated = "estimated" // list prices of sizes that nobody reported, or of another model
)

// A Report is what is in one session file.
type Report struct {
	Schema  int    `json:"schema"`
	Session string `json:"session"` // the file's name
	Identity
	End         End        `json:"end"` // how it ended
	Totals      Totals     `json:"totals"`
	Segments    []Segment  `json:"segments"`
	Findings    []Finding  `json:"findings"`     // what could have been had for less; package advice finds them
	Tools       []ToolSum  `json:"tools"`        // outputs by tool, by the tokens that they took of all Steps
	Causes      []CauseSum `json:"break_causes"` // all breaks by cause, by the tokens that were not read
	Largest     []Output   `json:"largest"`      // outputs, the dearest first; of unknown cost by the tokens that they took of all Steps
	Repeated    []Repeat   `json:"repeated"`     // likewise
	Unanswered  []Call     `json:"unanswered"`   // calls without a result
	Cuts        []Cut      `json:"cuts"`         // what the client took out
	CacheBreaks []Break    `json:"cache_breaks"` // the most expensive, in the order of Steps
	Thinking    []Thinking `json:"thinking"`     // one for each segment that has some
	Problems    []Problem  `json:"problems"`     // lines that could not be read as they should be
	Abandoned   []Branch   `json:"abandoned"`    // lines that do not lead to the end
	Stated      []Stated   `json:"stated"`       // what the file says about its own sums, beside ours
	Kindred
	Talk []Talk `json:"-"` // one for each segment, if it was asked for
}

// An Identity is what a session says of itself.
type Identity struct {
	Format        string `json:"format"`
	Client        string `json:"client,omitempty"`
	ClientVersion string `json:"client_version,omitempty"`
	ID            string `json:"id"`
	Parent        string `json:"parent,omitempty"` // id of the session that this one began from
	Kin           string `json:"kin,omitempty"`    // how: "sub-agent" or "fork"; empty without a parent
}

// Top returns the report with at most n of each list of which it has the largest; those that
// it has if n is 0.
func (r Report) Top(n int) Report {
	if n <= 0 {
		return r
	}
	r.Largest, r.Repeated = r.Largest[:min(n, len(r.Largest))], r.Repeated[:min(n, len(r.Repeated))]
	if len(r.CacheBreaks) > n {
		lost := make([]int, len(r.CacheBreaks))
		for i, b := range r.CacheBreaks {
			lost[i] = b.Lost
		}
		slices.Sort(lost)
		least := lost[len(lost)-n]
		equal := n // of the smallest that are kept
		for _, l := range lost {
			if l > least {
				equal--
			}
		}
		r.CacheBreaks = slices.DeleteFunc(slices.Clone(r.CacheBreaks), func(b Break) bool {
			if b.Lost == least {
				equal--
			}
			return b.Lost < least || b.Lost == least && equal < 0
		})
	}
	return r
}

// Kindred are the sub-agents of a session: those inside its file, and those that were attached;
// see [Report.Attach].
type Kindred struct {
	Agents     []Agent `json:"agents"`
	WithAgents *Family `json:"with_agents,omitempty"` // the sums over it and them
}

// Totals sum up a session.
type Totals struct {
	Steps          int           `json:"steps"`           // that this session made; copied ones are in no sum
	CopiedSteps    int           `json:"copied_steps"`    // that were copied from another session
	CopiedTokens   int           `json:"copied_tokens"`   // of their prompts
	Messages       int           `json:"messages"`        // of all segments, those that were carried over counted once
	Reported       bool          `json:"reported"`        // the prompt of every Step
	OutputReported bool          `json:"output_reported"` // and its output; else what the model wrote is more than Usage says
	Tokens         int           `json:"tokens"`          // of all prompts
	Kinds          []KindSum     `json:"kinds"`           // the same by what the sizes stand on, the surest first
	Usage          Usage         `json:"usage"`           // as far as reported
	CostUSD        catalog.Money `json:"cost_usd"`        // null unless it is known of every Step
	CostSteps      int           `json:"cost_steps"`      // Steps whose cost is known
	CostEstimated  int           `json:"cost_estimated"`  // of these, Steps whose cost is estimated
	Peak           int           `json:"peak"`            // largest prompt
	PeakStep       string        `json:"peak_step,omitempty"`
	Outputs        int           `json:"outputs"`            // tool results
	Repeated       int           `json:"repeated"`           // tokens of content that was shown before
	CacheBreaks    int           `json:"cache_breaks"`       // all, listed or not
	CacheLost      int           `json:"cache_lost"`         // tokens that were not read in them
	Start          int64         `json:"start_ms,omitempty"` // Unix milliseconds; absent if nobody knows
	End            int64         `json:"end_ms,omitempty"`
}

// A KindSum is the Steps whose sizes stand on the same.
type KindSum struct {
	Kind   string `json:"kind"` // that of Step.Kind
	Steps  int    `json:"steps"`
	Tokens int    `json:"tokens"`
}

// A Segment is a stretch of a session in which each request extends the one before.
type Segment struct {
	Number int    `json:"segment"`
	Start  string `json:"start"`
	Name   string `json:"name,omitempty"`    // of the conversation, in a file with several
	NotRun string `json:"not_run,omitempty"` // why its requests cannot be rebuilt
	Model  string `json:"model"`             // of its first Step; "unknown" where the file names none
	Window int    `json:"window"`            // tokens; 0: nobody knows
	// Accepted is a prompt that was accepted above a limit that is known; nil: none was.
	Accepted *Accepted `json:"accepted,omitempty"`
	Messages int       `json:"messages"` // with what it carries over
	Hidden   Overhead  `json:"hidden"`
	Steps    []Step    `json:"steps"`
	// Failures are the calls that came to nothing, the one that is the last of Steps included.
	Failures []Failed `json:"failures"`
}

// An Accepted is the largest prompt of a segment, accepted by the provider although it is
// above a limit that is known: that one is too small for this session.
type Accepted struct {
	Step   int `json:"step"`   // in the segment, from 1
	Line   int `json:"line"`   // of the reply
	Tokens int `json:"tokens"` // of the prompt
	Known  int `json:"known"`  // what is known: by the file, the client's default or the catalogue
	Window int `json:"window"` // what is taken for this session instead
}

// A Step is one model call.
type Step struct {
	Step   int    `json:"step"`              // in its segment, from 1
	Number int    `json:"number"`            // in the session, from 1
	Line   int    `json:"line"`              // of the reply; 0: there is none, or the format has no lines
	Time   int64  `json:"time_ms,omitempty"` // Unix milliseconds
	Model  string `json:"model,omitempty"`
	// MessageID and RequestID are the provider's, where the file has them.
	MessageID string `json:"message_id,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	// Copied is the id of the session that made this call; empty for a call of this one.
	Copied  string         `json:"copied,omitempty"`
	Tokens  int            `json:"tokens"` // of the prompt
	Kind    string         `json:"kind"`   // "reported", "client", "calibrated" or "estimated"
	By      map[string]int `json:"by"`     // tokens by content; they add up to Tokens
	Usage   *Usage         `json:"usage,omitempty"`
	CostUSD catalog.Money  `json:"cost_usd"`
	// CostKind is CostStated, CostReported or CostEstimated; absent where CostUSD is null.
	CostKind string `json:"cost_kind,omitempty"`
	// Estimate is what a reported prompt was taken for; nil where it measured what is hidden.
	Estimate *Prediction `json:"estimate,omitempty"`
	New      int         `json:"new"` // messages since the Step before
	// Refused says that the request was refused for its length; it has no reply, cost nothing,
	// and is in no sum.
	Refused *Failed `json:"refused,omitempty"`
	Cache   *Cache  `json:"cache,omitempty"`
}

// Own returns the Steps that the session made itself and that were answered: without copied
// and refused ones.
func (g Segment) Own() []Step {
	return slices.DeleteFunc(slices.Clone(g.Steps), func(s Step) bool { return s.Copied != "" || s.Refused != nil })
}

// A StepRef names one Step of a session.
type StepRef struct {
	Segment int `json:"segment"` // from 1
	Step    int `json:"step"`    // in the segment, from 1
}

// Name returns "segment.step".
func (r StepRef) Name() string { return strconv.Itoa(r.Segment) + "." + strconv.Itoa(r.Step) }

// Usage is what a provider reported, in tokens, in disjoint parts; see llm.Usage.
type Usage struct {
	Input        int `json:"input"`
	CacheRead    int `json:"cache_read"`
	CacheWrite5m int `json:"cache_write_5m"`
	CacheWrite1h int `json:"cache_write_1h"`
	Output       int `json:"output"`
	Reasoning    int `json:"reasoning"` // within output
}

func usageOf(u llm.Usage) Usage {
	return Usage{u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning}
}

// A Cache is what a Step took from the provider's cache, in tokens.
type Cache struct {
	Read     int `json:"read"`
	Written  int `json:"written"`
	Expected int `json:"expected"` // what package cache expects to be read; 0 where it cannot say
}

// An Output is one tool result.
type Output struct {
	StepRef                 // the Step that was sent it first
	Tool      string        `json:"tool"`
	CallID    string        `json:"call_id,omitempty"`
	Arguments string        `json:"arguments,omitempty"` // their first line
	Line      int           `json:"line"`
	Tokens    int           `json:"tokens"`  // estimated
	Steps     int           `json:"steps"`   // that it was sent with
	Carried   int           `json:"carried"` // tokens of all those Steps together
	CostUSD   catalog.Money `json:"cost_usd"`
}

// A ToolSum is what the outputs of one tool took.
type ToolSum struct {
	Tool    string        `json:"tool"`
	Outputs int           `json:"outputs"`
	Tokens  int           `json:"tokens"`
	Carried int           `json:"carried"` // tokens of all Steps that they were sent with
	CostUSD catalog.Money `json:"cost_usd"`
}

// A CauseSum is the breaks of one cause, listed or not.
type CauseSum struct {
	Cause   string        `json:"cause"`
	Breaks  int           `json:"breaks"`
	Kept    int           `json:"kept_seconds,omitempty"` // how long the provider states that it keeps a prefix, of the first one; absent if it does not
	Lost    int           `json:"lost"`
	CostUSD catalog.Money `json:"cost_usd"`
}

// A Repeat is what an output shows that an earlier one shows in full in the same
// context: runs of at least four equal lines, or the whole of it.
type Repeat struct {
	Output
	Lines   int    `json:"lines"` // that are repeated, of all runs
	From    int    `json:"from"`  // first repeated line in the output, from 1
	Whole   bool   `json:"whole"` // nothing else is in it
	Earlier Source `json:"earlier"`
}

// A Source is where content was shown first.
type Source struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments,omitempty"`
	Line      int    `json:"line"`
	From      int    `json:"from"` // line in the output, from 1
}

// A Call is a call that never got a result.
type Call struct {
	StepRef
	Tool      string `json:"tool"`
	CallID    string `json:"call_id,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Line      int    `json:"line"`
	Why       string `json:"why"` // "interrupted": the conversation went on; "open": it ends there
}

// A Cut is what a client took out of the context by itself.
type Cut struct {
	StepRef                        // the first Step after it
	What            string         `json:"what"`                   // "compaction", "microcompaction" or "rollback"
	Line            int            `json:"line"`                   // of the first message that was new in the new context
	Time            int64          `json:"time_ms,omitempty"`      // Unix milliseconds
	Idle            int            `json:"idle_seconds,omitempty"` // since the last Step before it
	Cold            int            `json:"cold_seconds,omitempty"` // of these, after the provider's cache had lapsed
	ColdUSD         *catalog.Money `json:"cold_usd,omitempty"`     // what it cost the client's summary that its prompt was not cached any more, estimated
	Before          int            `json:"before"`                 // tokens of the last Step before
	After           int            `json:"after"`                  // tokens of the first Step after; 0: there was none
	MessagesBefore  int            `json:"messages_before"`
	MessagesAfter   int            `json:"messages_after"` // before anything new was said
	DroppedMessages int            `json:"dropped_messages"`
	ChangedMessages int            `json:"changed_messages"` // that stayed with other content
	Dropped         map[string]int `json:"dropped"`          // tokens by content, estimated
	Added           map[string]int `json:"added"`            // the same of what the client put in
}

// The causes of a Break.
const (
	CauseLapsed     = "lapsed"      // more time went by than the provider keeps a prefix, or is sure to
	CauseModel      = "model"       // another model was asked
	CauseCompacted  = "compacted"   // the client summarised
	CauseCleared    = "cleared"     // the client cleared old outputs
	CauseRolledBack = "rolled-back" // the user took something back
	CauseRewritten  = "rewritten"   // the client began another context
	CauseThinking   = "thinking"    // thinking left the prompt
	CauseHidden     = "hidden"      // not even what the client sends before the conversation was read
	CauseUnknown    = "unknown"
)

// A Break is a Step at which the provider read less from its cache than was there.
type Break struct {
	StepRef
	Number   int           `json:"number"` // of the Step in the session
	Line     int           `json:"line"`
	Time     int64         `json:"time_ms,omitempty"` // Unix milliseconds
	Cause    string        `json:"cause"`
	Read     int           `json:"read"`
	Expected int           `json:"expected"` // tokens that could have been read, were nothing lapsed
	Lost     int           `json:"lost"`
	Idle     int           `json:"idle_seconds,omitempty"` // since the Step before
	CostUSD  catalog.Money `json:"cost_usd"`               // of what was not read, beyond what reading costs
	At       Place         `json:"at"`
}

// A Place is where in a request something lies.
type Place struct {
	What    string `json:"what"`    // "hidden", "section" (system prompt or tools) or "message"
	Message int    `json:"message"` // in the request, from 1; 0: before all messages
	Line    int    `json:"line"`    // of that message in the file
	Byte    int    `json:"byte"`    // in the request as its codec writes it; -1: it cannot be written
	Kind    string `json:"kind"`    // "exact" or "estimated"
}

// Thinking is what became of a segment's thinking.
type Thinking struct {
	Segment int    `json:"segment"`
	Blocks  int    `json:"blocks"`
	Signed  int    `json:"signed"`
	Hidden  int    `json:"hidden"` // blocks whose text nobody sees
	Tokens  int    `json:"tokens"`
	Carried string `json:"carried"` // "kept", "dropped" or "unknown": after the end of its Turn, by the reported prompts
	Turns   int    `json:"turns"`   // Turn ends at which that could be told
	Dropped int    `json:"dropped"` // tokens that left the prompts by themselves
}

// A Problem is something in a file that could not be read as it should be.
type Problem struct {
	Line int    `json:"line"` // 0: the file as a whole
	What string `json:"what"`
}

// A Branch is a range of lines that is in no segment.
type Branch struct {
	First    int    `json:"first"`
	Last     int    `json:"last"`
	Messages int    `json:"messages"`
	Why      string `json:"why"`
	// Took is what its model calls took, which are Steps of no segment; nil if it has none.
	// That of a sub-agent is in the sums with sub-agents, that of other branches in none.
	Took *Family `json:"took,omitempty"`
}

// An Agent is the session of a sub-agent, which a call of this one started.
type Agent struct {
	Session       string        `json:"session"`        // the file's name
	Line          int           `json:"line,omitempty"` // its first one, where that is the file of this session itself
	ID            string        `json:"id"`
	Steps         int           `json:"steps"`
	Unsized       int           `json:"unsized_steps,omitempty"` // of these, Steps of whose prompts nobody knows the size
	Tokens        int           `json:"tokens"`                  // of all prompts
	Peak          int           `json:"peak"`
	Usage         Usage         `json:"usage"`
	CostUSD       catalog.Money `json:"cost_usd"`
	CostSteps     int           `json:"cost_steps"`
	CostEstimated int           `json:"cost_estimated"`
}

// A Family is what a session took, or it together with its sub-agents.
type Family struct {
	Steps         int           `json:"steps"`
	Unsized       int           `json:"unsized_steps,omitempty"` // of these, Steps of whose prompts nobody knows the size
	Tokens        int           `json:"tokens"`
	CostUSD       catalog.Money `json:"cost_usd"` // null unless it is known of every Step
	CostSteps     int           `json:"cost_steps"`
	CostEstimated int           `json:"cost_estimated"`
}

// A Prediction is what a prompt was taken for before the call, beside what its provider
// then reported.
type Prediction struct {
	Point    int    `json:"point"`   // by the count: calibrated by the reports before
	Bound    int    `json:"bound"`   // its upper bound
	Kind     string `json:"kind"`    // of the count: "calibrated" or "estimated"
	Counter  int    `json:"counter"` // by the counter alone, with what is hidden
	Reported int    `json:"reported"`
	// The errors are what each has more than was reported, as a share of that, in parts
	// per million.
	ErrorPPM        int `json:"error_ppm"`
	CounterErrorPPM int `json:"counter_error_ppm"`
}

// A Stated is what the file itself says about a sum, beside ours of the same Steps.
type Stated struct {
	Line  int    `json:"line"`
	What  string `json:"what"`            // what states it
	Model string `json:"model,omitempty"` // whose calls alone; empty for all
	From  int    `json:"from"`            // first segment, from 1
	To    int    `json:"to"`              // last one
	// FromStep and ToStep are the first and the last step of these segments that it sums up,
	// from 1; 0 if it sums up all of them.
	FromStep int            `json:"from_step,omitempty"`
	ToStep   int            `json:"to_step,omitempty"`
	Figures  []StatedFigure `json:"figures"`
}

// A StatedFigure is one figure twice.
type StatedFigure struct {
	Name string `json:"name"`
	// Stated and Ours are Steps or tokens; of the cost there are the two below instead.
	Stated    int64          `json:"stated"`
	Ours      int64          `json:"ours"`
	StatedUSD *catalog.Money `json:"stated_usd,omitempty"`
	OursUSD   *catalog.Money `json:"ours_usd,omitempty"`
	Estimated bool           `json:"estimated,omitempty"` // ours, as far as the file has no usage
	Differs   bool           `json:"differs"`             // by more than the figure was rounded
	Why       string         `json:"why,omitempty"`       // what is known to be missing from ours
}

// An Overhead is what the client sends beside what the file holds, in tokens.
type Overhead struct {
	Tokens int    `json:"tokens"`
	Kind   string `json:"kind"` // "measured", "assumed" or "none"
	// Unrecorded is what the segment's first prompt has beyond overhead and file,
	// such as files that the client attached again after a compaction. It is counted
	// with every request.
	Unrecorded int `json:"unrecorded"`
}

// all returns what of a prompt is in no message.
func (o Overhead) all() int { return o.Tokens + o.Unrecorded }

// Sections returns what of a prompt is in no message, as sections of which only the size
// is known.
func (o Overhead) Sections() []llm.Section {
	var out []llm.Section
	if o.Tokens > 0 {
		out = append(out, llm.Section{Name: "overhead", Tokens: o.Tokens})
	}
	if o.Unrecorded > 0 {
		out = append(out, llm.Section{Name: "unrecorded", Tokens: o.Unrecorded})
	}
	return out
}
