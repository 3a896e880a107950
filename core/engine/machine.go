package engine

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// ErrStopped is returned by Feed after the records of a Ready could not be
// written. Only Restore is accepted then.
var ErrStopped = errors.New("engine: stopped: records could not be written, want Restore")

// A Config is what a machine starts with.
type Config struct {
	Policy    policy.Policy
	Targets   []budget.Target // until Prepare names others; at least one
	Catalog   catalog.Catalog
	Encodings token.Encodings
	// Offline is set by a host that replays: once the view is edited, no usage
	// belongs to it any more, so it is counted from scratch (DESIGN.md section 8).
	Offline bool
	// Calibration, if not nil, is used for the preferred target and taught by
	// somebody else.
	Calibration *token.Calibration
}

// A Machine keeps one conversation within its window. It is not safe for
// concurrent use. Make one with [New].
type Machine struct {
	cfg     Config
	policy  policy.Policy
	targets []budget.Target // resolved: every window is known

	// The truth.
	messages []llm.Message // the transcript; messages[i].ID is i+1
	turns    turn.Index
	journal  []edit.Edit // all edits, superseded ones too
	sections []llm.Section
	tools    []llm.Tool

	// What follows from it.
	view   edit.View
	count  []*meter // one for each target, equal ones shared
	gauge  *meter   // the policy's own estimator; count[0] if that is the count
	shown  *edit.Lines
	guard  budget.Guard
	stored map[llm.Ref]bool // blobs that are durable or handed out

	// What happened last.
	lastUsage   llm.Usage
	replyTokens int // size of the reply that is appended next, if its usage said so; else -1
	due         map[string]bool
	asks        []Ask
	asked       int
	summary     *prepared
	tried       map[string]state
	noted       bool
	final       Reason
	sent        int
	prepare     *preparing

	// What the next Ready holds, and how far the last one got.
	out       Ready
	lastEdit  edit.ID
	confirmed int // edits of the journal that are durable
	noStore   bool
	stopped   bool
	stats     Stats
}

// Stats count what a machine did.
type Stats struct {
	Edits     map[edit.Kind]int
	Backstop  int // edits of the backstop
	StillOver int
	Refused   int
}

// state names a situation in which a rule was tried.
type state struct{ messages, edits int }

// prepared is a summary that waits for the batch it goes with.
type prepared struct {
	span edit.Span
	text string
}

// New returns a machine for an empty conversation.
func New(c Config) (*Machine, error) {
	if err := policy.Validate(c.Policy); err != nil {
		return nil, fmt.Errorf("engine: new: %w", err)
	}
	m := &Machine{cfg: c}
	m.reset()
	m.policy = c.Policy
	if err := m.setTargets(c.Targets); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Machine) reset() {
	m.messages, m.journal, m.sections, m.tools = nil, nil, nil, nil
	m.turns, m.view = turn.Index{}, edit.View{}
	m.stored = map[llm.Ref]bool{}
	m.due, m.tried = map[string]bool{}, map[string]state{}
	m.replyTokens = -1
	m.stats = Stats{Edits: map[edit.Kind]int{}}
	m.out = Ready{}
	m.confirmed, m.stopped = 0, false
}

// Policy returns the policy in force.
func (m *Machine) Policy() policy.Policy { return m.policy }

// Stats returns what the machine did so far.
func (m *Machine) Stats() Stats { return m.stats }

// View returns what would be sent now. It is not changed by later inputs.
func (m *Machine) View() edit.View { return m.view }

// Journal returns all edits made so far, superseded ones too. The caller must
// not change them.
func (m *Machine) Journal() []edit.Edit { return m.journal }

// Messages returns the transcript. The caller must not change it.
func (m *Machine) Messages() []llm.Message { return m.messages }

// Count returns the size of the view for the preferred target.
func (m *Machine) Count() token.Estimate { return m.count[0].estimate(m.cfg.Offline) }

// Calibration returns what the preferred target's count has learnt. The caller
// must not change it.
func (m *Machine) Calibration() *token.Calibration { return m.count[0].cal }

// Over returns what of the view does not fit the preferred target, or nil.
func (m *Machine) Over() *budget.OverError {
	if !m.over() {
		return nil
	}
	return m.overError()
}

// Targets returns the targets with their windows as resolved.
func (m *Machine) Targets() []budget.Target { return m.targets }

// Components returns the view by component for the preferred target, in tokens.
func (m *Machine) Components() budget.Components { return m.count[0].components() }

// Feed takes an input. An error means that the input was not accepted and
// changed nothing.
func (m *Machine) Feed(in Input) error {
	if _, ok := in.(Restore); m.stopped && !ok {
		return ErrStopped
	}
	switch in := in.(type) {
	case Append:
		return m.feedAppend(in.Message)
	case Stored:
		return m.feedStored(in)
	case SetTools:
		m.tools = in.Tools
		m.record(journal.Record{Kind: journal.KindTools, Tools: in.Tools})
		m.measureFront()
	case SetSections:
		m.sections = in.Sections
		m.record(journal.Record{Kind: journal.KindSections, Sections: in.Sections})
		m.measureFront()
	case Prepare:
		return m.feedPrepare(in)
	case Usage:
		return m.feedUsage(in)
	case Rejected:
		return m.feedRejected(in)
	case Answer:
		return m.feedAnswer(in)
	case TurnEnd:
		m.record(journal.Record{Kind: journal.KindTurnEnd})
		m.background(policy.AtTurnEnd)
	case SetPolicy:
		return m.feedPolicy(in.Policy)
	case Fork:
		return m.feedFork(in)
	case Restore:
		return m.feedRestore(in.Snapshot)
	}
	return nil
}

func (m *Machine) feedPolicy(p policy.Policy) error {
	if err := policy.Validate(p); err != nil {
		return fmt.Errorf("engine: set policy: %w", err)
	}
	old := m.policy
	m.policy = p
	if err := m.setTargets(m.cfg.Targets); err != nil {
		m.policy = old
		return err
	}
	m.record(journal.Record{Kind: journal.KindPolicy, Policy: p})
	m.remeasure()
	return nil
}

// HasReady reports whether there is something to do.
func (m *Machine) HasReady() bool {
	o := m.out
	return len(o.Blobs) > 0 || len(o.Records) > 0 || o.Ask != nil || o.Send != nil || o.Refused != nil ||
		len(o.Edits) > 0 || len(o.Events) > 0 || len(m.asks) > 0 && m.asks[0].ID > m.asked
}

// Ready returns what has to be done now. Call Advance when it was done.
func (m *Machine) Ready() Ready {
	if m.out.Ask == nil {
		for i := range m.asks {
			if m.asks[i].ID > m.asked {
				ask := m.asks[i]
				m.out.Ask = &ask
				m.asked = ask.ID
				break
			}
		}
	}
	return m.out
}

// Advance tells the machine how its last Ready went.
func (m *Machine) Advance(o Outcome) {
	done := m.out
	m.out = Ready{}
	if len(o.FailedBlobs) > 0 {
		m.withdraw(done, o.FailedBlobs)
		return
	}
	if o.RecordsErr != nil {
		m.stopped = true
		return
	}
	for _, b := range done.Blobs {
		m.stored[b.Ref] = true
	}
	m.confirmed = len(m.journal)
}

func (m *Machine) record(r journal.Record) { m.out.Records = append(m.out.Records, r) }

func (m *Machine) event(kind EventKind, rule, format string, args ...any) {
	m.out.Events = append(m.out.Events, Event{kind, rule, fmt.Sprintf(format, args...)})
}
