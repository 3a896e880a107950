package plimsoll

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Options say how a session is kept. The zero value of every field has a meaning, but
// that at least one target is wanted.
type Options struct {
	ID     string        // names the session in the store; empty: "default"
	Policy policy.Policy // zero: the preset balanced
	// Targets are where calls may go, the preferred one first; at least one. They hold until
	// a Prepare names others. No record has those: a session that is opened again goes by
	// its options, also in a Rejected that comes before the first Prepare.
	Targets []budget.Target
	// Window asks a provider for the window of a target, in tokens, where neither the target nor
	// the catalogue states one: once for each, before the policy assumes one or refuses. The client
	// of package client can. nil: nobody is asked.
	Window func(ctx context.Context, t budget.Target) (int, error)
	Store  store.Store // nil: a store in memory. It stays the caller's, to be closed after the session

	// Summariser answers the questions of the policy, such as a [ModelSummariser] with a model
	// of its own. nil: Model does, and without one the deterministic summariser.
	Summariser Summariser
	// SummaryTimeout is how long one summary may take, all questions for it together; 0: two
	// minutes. A Summariser of code (ByCode) has as long as it takes.
	SummaryTimeout time.Duration

	// Model is asked for summaries where there is no Summariser, and by those of the policy's
	// own tools that need a model; nil: they do what they can by themselves.
	Model Model
	// WithoutTools offers none of the policy's own tools (Policy.Tools). false: a conversation
	// has them from its first request on, for [Session.Builtin] to answer.
	WithoutTools bool
	// ToolKind says where a tool of the host's comes from; nil: its own Kind does. Tools of MCP
	// servers and of skills are left out of requests where they take much of the window, if the
	// policy has it so (Policy.Deferral), for the model to find with tool_search.
	ToolKind func(llm.Tool) llm.ToolKind
	// Allow says which tools the model may be offered, the host's and the policy's own, such as
	// the lists of a settings file do; nil: all. A call of another one [Session.Builtin]
	// answers, with the statement that it is not allowed.
	Allow func(tool string) bool
	// StoreLater stores an output only when it leaves the view, for a host whose client has
	// the whole conversation. false: every output is stored when it comes.
	StoreLater bool
	// SnapshotLater leaves it to the host when a snapshot that is due is taken, by
	// [Session.Snapshot]. false: the call takes it after which it is due.
	SnapshotLater bool

	// Prompt is what the system prompt is made of; nil: the host sets it, by
	// [Session.SetSections].
	Prompt *Prompt

	// Catalog is what is known about models; nil: the embedded one.
	Catalog *catalog.Catalog
	// Encodings loads vocabularies; nil: the embedded ones, each loaded once for all
	// sessions of the process that bring none of their own, and kept until it ends.
	Encodings token.Encodings

	// Now tells the time, by which the session knows when a provider keeps nothing of the last
	// request any more, so that an edit breaks no cache. nil: time.Now.
	Now func() time.Time

	// Effort is how hard models are asked to think, in each provider's own form, as far as they
	// can be asked: "none", "minimal", "low", "medium" or "high". Empty: they are asked nothing.
	// What they think is within the output that a request may have.
	Effort string

	// Reasoning is the budget of thinking in tokens, for display only: it is within
	// the output reserve.
	Reasoning int

	// Debug is told what the guard sums up, a record for each of the topics
	// context-guard/… (docs/troubleshooting.md). nil: nobody is, unless the environment
	// says CONTEXT_DEBUG=true; then standard error is, in lines of JSON.
	Debug *slog.Logger
}

// filled returns o with every default in place.
func (o Options) filled() (Options, error) {
	if o.ID == "" {
		o.ID = "default"
	}
	if o.Policy.Name == "" && o.Policy.Version == 0 {
		p, err := policy.Preset("balanced")
		if err != nil {
			return o, fmt.Errorf("plimsoll: open %q: %w", o.ID, err)
		}
		o.Policy = p
	}
	if o.Store == nil {
		o.Store = &store.Memory{}
	}
	if o.Catalog == nil {
		c, err := catalog.Load()
		if err != nil {
			return o, fmt.Errorf("plimsoll: open %q: %w", o.ID, err)
		}
		o.Catalog = &c
	}
	if o.Encodings == nil {
		o.Encodings = ours.Load
	}
	if o.Summariser == nil && o.Model != nil {
		o.Summariser = ModelSummariser{Model: o.Model, Catalog: o.Catalog, Encodings: o.Encodings}
	}
	if o.Summariser == nil {
		o.Summariser = Deterministic{}
	}
	if o.SummaryTimeout == 0 {
		o.SummaryTimeout = summaryTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Effort != "" && !slices.Contains(catalog.Efforts(), o.Effort) {
		return o, fmt.Errorf("plimsoll: open %q: effort, want one of %s, got %q", o.ID, strings.Join(catalog.Efforts(), ", "), o.Effort)
	}
	o.Debug = drive.Debug(o.Debug)
	return o, nil
}

// modelled reports whether summaries are written by more than code.
func (o *Options) modelled() bool {
	_, code := o.Summariser.(ByCode)
	return !code
}
