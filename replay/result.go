package replay

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// Schema is the version of the JSON form of a Result. docs/replay-json.md lists
// all fields.
const Schema = 2

// A Result is one segment of a session under all policies and windows.
type Result struct {
	Schema   int    `json:"schema"`
	Session  string `json:"session"` // the file's name
	Format   string `json:"format"`
	Segment  int    `json:"segment"`        // from 1
	Name     string `json:"name,omitempty"` // of the conversation, in a file that has several
	Start    string `json:"start"`          // why the segment starts where it does
	NotRun   string `json:"not_run,omitempty"`
	Base     Base   `json:"base,omitempty"` // empty: BaseFull
	Model    string `json:"model"`          // of the segment's first Step
	Steps    int    `json:"steps"`
	Copied   int    `json:"copied,omitempty"` // calls that were copied from another session; they are in no other figure
	Messages int    `json:"messages"`

	WindowGuessed bool      `json:"window_guessed,omitempty"` // nobody knows the model's own window
	Problems      []Problem `json:"problems"`                 // of the whole file, with its first segment
	// Accepted is a prompt that was accepted above what is known of the model; nil: none was.
	Accepted *inspect.Accepted `json:"accepted,omitempty"`

	Parent    string   `json:"parent,omitempty"`    // id of the session that this one began from; with its first segment
	Kin       string   `json:"kin,omitempty"`       // how: "sub-agent" or "fork"; with its first segment
	Abandoned []Branch `json:"abandoned,omitempty"` // lines that do not lead to the session's end; with its first segment

	Reported struct {
		Peak int `json:"peak"` // tokens of the largest prompt that the provider reported; 0 if none
	} `json:"reported"`
	Overhead Overhead   `json:"overhead"`
	Billing  Billing    `json:"billing"`
	Estimate Estimate   `json:"estimate"`
	By       []Estimate `json:"estimate_by"`        // the same by model and by whether the output was reported
	LeftOut  []LeftOut  `json:"left_out,omitempty"` // windows of which there is no run
	Runs     []Run      `json:"runs"`

	// Whole is what the session's own calls took, of all segments, run or not; with its last
	// segment. Agents are those inside the file, and those that were attached; Result.Attach.
	Whole      *inspect.Family `json:"whole,omitempty"`
	Agents     []inspect.Agent `json:"agents,omitempty"`
	WithAgents *inspect.Family `json:"with_agents,omitempty"`
}

// Attach adds the reports of the session's sub-agents to the result of its last segment. No
// policy is run on them.
func (r *Result) Attach(agents []inspect.Report) {
	if r.Whole != nil {
		r.Agents = append(r.Agents, inspect.AgentsOf(agents)...)
		r.WithAgents = r.Whole.With(r.Agents)
	}
}

// A LeftOut is a window on which a segment was not run.
type LeftOut struct {
	Window string `json:"window"` // as asked for
	Why    string `json:"why"`
}

// head writes what is known of a whole session, with its first segment.
func (r *Result) head(s *sessionfile.Session, o inspect.Options) {
	for _, p := range s.Problems {
		r.Problems = append(r.Problems, Problem(p))
	}
	r.Parent, r.Kin = s.Parent, string(s.Kin)
	r.Abandoned, _ = o.Aside(s)
}

// last writes what the session took, with its last segment, and what the sub-agents took that
// are inside its file.
func (r *Result) last(s *sessionfile.Session, whole inspect.Family, o inspect.Options) {
	r.Whole = &whole
	_, r.Agents = o.Aside(s)
	r.Attach(nil)
}

// nothing returns the result for a session without a segment.
func nothing(s *sessionfile.Session, o inspect.Options) Result {
	res := Result{
		Schema: Schema, Session: s.Path, Format: string(s.Format), NotRun: "the file holds no conversation",
		Problems: []Problem{}, By: []Estimate{}, Runs: []Run{},
	}
	res.head(s, o)
	res.last(s, inspect.Family{CostUSD: catalog.Dollars(0)}, o)
	return res
}

// A Branch is a range of lines that is in no segment.
type Branch = inspect.Branch

// A Problem is something that the file could not be read by.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line"`
	What string `json:"what"`
}

// An Overhead is what the client sends beside what the file holds.
type Overhead = inspect.Overhead

// An Estimate says how well each next prompt was predicted. Errors are shares of
// the reported prompt, in parts per million.
type Estimate struct {
	Model           string `json:"model,omitempty"`
	Pairs           int    `json:"pairs"`
	Kind            string `json:"kind"`
	OutputReported  bool   `json:"output_reported"` // of every pair
	P50PPM          int    `json:"p50_ppm"`
	P95PPM          int    `json:"p95_ppm"`
	MaxPPM          int    `json:"max_ppm"`
	BoundCoveredPPM int    `json:"bound_covered_ppm"` // share of pairs at or below the bound
	MarginP50Tokens int    `json:"margin_p50_tokens"` // bound less point
}

// A Run is one policy on one window.
type Run struct {
	Policy          string         `json:"policy"`
	Window          string         `json:"window"` // as asked for
	Capacity        int            `json:"capacity"`
	Limit           int            `json:"limit"`
	Note            string         `json:"note,omitempty"` // what was changed to fit a small window
	Estimator       string         `json:"estimator"`
	CountKind       string         `json:"count_kind"`   // the least sure one
	Steps           int            `json:"steps"`        // that were prepared
	StepsOver       int            `json:"steps_over"`   // sent above the limit by the upper bound of the count; under a policy without a backstop by the sizes of TokensSent
	CommonLimit     int            `json:"common_limit"` // the lowest limit of all policies on this window
	OverCommon      int            `json:"over_common"`  // sent above it by the count
	StillOver       int            `json:"still_over"`   // of a forced final Step that nothing could bring below
	Irreducible     []Irreducible  `json:"irreducible"`
	BackstopEdits   int            `json:"backstop_edits"`
	ToolsNotOffered []string       `json:"tools_not_offered"`
	Orphans         int            `json:"orphans"`
	UnresolvedRefs  int            `json:"unresolved_refs"`
	Uncovered       int            `json:"uncovered"`     // parts that left and can be found under no Ref
	RuleBreaks      []RuleBreak    `json:"rule_breaks"`   // of the provider's rules, that the client's own request did not have
	EndedAtStep     int            `json:"ended_at_step"` // 0: ran to the end
	EndReason       string         `json:"end_reason"`
	TokensRaw       int            `json:"tokens_raw"`    // sum over all Steps of what the client sent
	TokensToEnd     int            `json:"tokens_to_end"` // the same for the requests that the run sent
	TokensSent      int            `json:"tokens_sent"`   // as reported where the client sent the same, else the count
	PeakSent        int            `json:"peak_sent"`     // largest of the same sizes that TokensSent sums up
	Edits           map[string]int `json:"edits"`
	PrefixBreaks    int            `json:"prefix_breaks"` // views that do not extend the one before
	CacheBreaks     int            `json:"cache_breaks"`  // calls that lost what the provider still had warm
	CostUSD         catalog.Money  `json:"cost_usd"`      // null where a price is not known
	Bill            Bill           `json:"bill"`
	Batches         []Batch        `json:"batches,omitempty"`   // that broke the cache, in order, if it was asked for
	Batched         *BatchSum      `json:"batched,omitempty"`   // what they came to
	Grounding       *Grounding     `json:"grounding,omitempty"` // if it was asked for
	Missing         []Missing      `json:"missing,omitempty"`   // what was not visible, Step by Step, if the series was asked for
	Series          []Point        `json:"series,omitempty"`    // one for each Step, if it was asked for
	Timing          Timing         `json:"timing"`
}

// A RuleBreak is a rule of the provider that a request of ours breaks where the client's
// own, at the same Step, does not. See package check for the rules.
type RuleBreak struct {
	Step    int    `json:"step"`
	Rule    string `json:"rule"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

// An Irreducible is a Step whose floor is above the limit.
type Irreducible struct {
	Step  int            `json:"step"`
	Floor int            `json:"floor"`
	Limit int            `json:"limit"`
	Parts map[string]int `json:"parts"` // of the floor, in tokens
	// Recomputed is the floor by the judge, which shares no code with the engine: by
	// text alone, without margin. 0 if nobody judged.
	Recomputed int `json:"recomputed"`
}

// Timing is how long a run took.
type Timing struct {
	Seconds float64 `json:"seconds"`
}

// Unreadable returns the result for a file that could not be read at all.
func Unreadable(name string, err error) Result {
	return Result{
		Schema: Schema, Session: name, NotRun: "the file could not be read", By: []Estimate{}, Runs: []Run{},
		Problems: []Problem{{File: name, What: err.Error()}},
	}
}
