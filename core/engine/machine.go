package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
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
	// belongs to it any more, so it is counted from scratch.
	Offline bool
	// Calibration, if not nil, is used for the preferred target and taught by
	// somebody else.
	Calibration *token.Calibration
	// Reasoning is the budget of thinking in tokens, for display only.
	Reasoning int
	// Trace fills Ready.Traces.
	Trace bool
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
	view        edit.View
	count       []*meter.Meter // one for each target, equal ones shared
	spare       []*meter.Meter // of targets that were named before, kept up so that they need not learn anew
	gauge       *meter.Meter   // the policy's own estimator; count[0] if that is the count
	shown       *edit.Lines
	guard       budget.Guard
	stored      map[llm.Ref]bool                 // blobs that are durable or handed out
	learnt      map[string]int                   // windows that rejections taught, by target
	learntBytes map[string]int                   // and the most bytes
	remembered  map[string]journal.MeterState    // of meters that a restart has not made yet, by key
	reported    map[llm.MessageID]journal.Output // replies of before a restart whose size was
	humans      [2]llm.MessageID                 // the first and the last message that a person typed

	thought llm.MessageID // the last message with thinking

	// What happened last.
	lastUsage llm.Usage
	covered   bool // the usage that was committed last contains the reply that comes next
	reports   int  // of usage so far
	due       map[string]bool
	asks      []Ask
	asked     int
	summary   *prepared
	declined  declined
	tried     map[string]journal.Situation
	noted     map[string]bool // rules whose note stands until there is room again
	final     Reason
	turnAt    llm.MessageID // the message that opened this Turn
	opened    bool          // a Turn began since the last request
	wanted    Reason        // the reason for which the next Step is to be the final one
	incoming  incoming      // the output being appended, if the host has stored it
	granted   int           // tokens of room that the output being appended was promised
	prepare   *preparing
	to        int // place among the targets of the one that the request goes to
	sent      sending
	refused   *Rejected // the answer to the request sent last
	checked   wholeness // of the view, by the whole-request check

	// What the next Ready holds, and how far the last one got.
	out       Ready
	handed    bool // out was handed out and Advance has to come
	lastEdit  edit.ID
	confirmed int            // edits of the journal that are durable
	held      *prepared      // summary as it was then
	stated    *journal.State // that was put into a Ready last, while nothing has happened since
	noStore   bool           // until the request is out: nothing new can be stored
	stopped   bool
	stats     Stats
}

// sending is what is known about the request that was sent last.
type sending struct {
	seq    int
	target int          // place among the targets
	meter  *meter.Meter // that counted it; nil before the first one
	edit   edit.ID      // the newest edit
	end    int          // length of the transcript
	output int          // what it let the reply have
}

// Stats count what a machine did.
type Stats struct {
	Edits     map[edit.Kind]int
	Backstop  int // edits of the backstop
	StillOver int
	Refused   int
}

// situation returns the one that m is in.
func (m *Machine) situation() journal.Situation {
	return journal.Situation{Messages: len(m.messages), Edit: m.newestEdit(), Reports: m.reports}
}

// newestEdit returns the number of the newest edit; 0 if there is none. One that was
// taken back has left its number unused.
func (m *Machine) newestEdit() edit.ID {
	if len(m.journal) == 0 {
		return 0
	}
	return m.journal[len(m.journal)-1].ID
}

// prepared is a summary that waits for the batch it goes with.
type prepared struct {
	ask  int // the question that it answers
	span edit.Span
	text string
}

// New returns a machine for an empty conversation.
func New(c Config) (*Machine, error) {
	if err := policy.Validate(c.Policy); err != nil {
		return nil, fmt.Errorf("engine: new: %w", err)
	}
	m := &Machine{cfg: c, policy: c.Policy}
	m.reset()
	if err := m.setTargets(c.Targets); err != nil {
		return nil, err
	}
	m.indexLines()
	m.traceInit()
	return m, nil
}

// reset makes m as it was when it was new, but for its policy and targets.
func (m *Machine) reset() {
	*m = Machine{
		cfg: m.cfg, policy: m.policy, sent: sending{seq: m.sent.seq},
		stored: map[llm.Ref]bool{}, learnt: map[string]int{}, learntBytes: map[string]int{}, remembered: map[string]journal.MeterState{},
		due: map[string]bool{}, tried: map[string]journal.Situation{}, noted: map[string]bool{},
		stats: Stats{Edits: map[edit.Kind]int{}},
	}
}

// Policy returns the policy in force.
func (m *Machine) Policy() policy.Policy { return m.policy }

// Guard returns the guard's counters.
func (m *Machine) Guard() budget.Counters { return m.guard.Counters() }

// Reserved returns the tokens that are held for outputs on their way.
func (m *Machine) Reserved() int { return m.guard.Reserved() }

// Final returns the reason for which the final Step was forced, or is going to be by
// the next Prepare; empty if neither.
func (m *Machine) Final() Reason {
	if m.final == ReasonNone {
		return m.wanted
	}
	return m.final
}

// Verdict returns what a request that is prepared now would follow.
func (m *Machine) Verdict() budget.Verdict { return m.decided(m.fits) }

// Projected returns what the next prompt is expected to have by the guard's sum.
func (m *Machine) Projected() int { return m.guard.Project(0).Base }

// SentTo returns the target of the request that was sent last; the preferred one if
// none was.
func (m *Machine) SentTo() budget.Target { return m.targets[min(m.sent.target, len(m.targets)-1)] }

// Acceptable returns the error that Feed would return for an Append of msg, and changes
// nothing.
func (m *Machine) Acceptable(msg llm.Message) error { return m.acceptable(msg) }

// Stats returns what the machine did so far.
func (m *Machine) Stats() Stats { return m.stats }

// View returns what would be sent now. It is not changed by later inputs.
func (m *Machine) View() edit.View { return m.view }

// Sections returns the system prompt as it would be sent. The caller must not change it.
func (m *Machine) Sections() []llm.Section { return m.allSections() }

// Tools returns the tools as they would be offered. The caller must not change them.
func (m *Machine) Tools() []llm.Tool { return m.offered() }

// Journal returns all edits made so far, superseded ones too. The caller must
// not change them.
func (m *Machine) Journal() []edit.Edit { return m.journal }

// Messages returns the transcript. The caller must not change it.
func (m *Machine) Messages() []llm.Message { return m.messages }

// Count returns the size of the view for the preferred target.
func (m *Machine) Count() token.Estimate { return m.count[0].Count() }

// Calibration returns what the preferred target's count has learnt. The caller
// must not change it.
func (m *Machine) Calibration() *token.Calibration { return m.count[0].Calibration() }

// Over returns what of the view does not fit the preferred target, or nil.
func (m *Machine) Over() *budget.OverError {
	if m.fits(0) {
		return nil
	}
	trial := m.clone()
	trial.to = 0
	return trial.overError()
}

// Targets returns the targets with their windows as resolved.
func (m *Machine) Targets() []budget.Target { return m.targets }

// Components returns the view by component for the preferred target, in tokens.
func (m *Machine) Components() budget.Components { return m.count[0].Components() }

// Feed takes an input. An error means that the input was not accepted and
// changed nothing. After Ready it is Advance's turn first, but for Restore.
func (m *Machine) Feed(in Input) error {
	if _, ok := in.(Restore); !ok && m.stopped {
		return ErrStopped
	} else if !ok && m.handed {
		// Its type is not named: that would put every input on the heap.
		return errors.New("engine: feed: want Advance after Ready, got an input")
	}
	switch in := in.(type) {
	case Append:
		return m.reserved(in.Reserved, func() error { return m.feedAppend(in.Message) })
	case Stored:
		return m.reserved(in.Reserved, func() error { return m.feedStored(in) })
	case SetTools:
		if slices.EqualFunc(m.tools, in.Tools, sameTool) {
			return nil // told in every Step, it is recorded once
		}
		m.setTools(ownTools(in.Tools))
		m.record(journal.Record{Kind: journal.KindTools, Tools: m.tools})
	case SetSections:
		if slices.EqualFunc(m.sections, in.Sections, sameSection) {
			return nil
		}
		m.setSections(ownSections(in.Sections))
		m.record(journal.Record{Kind: journal.KindSections, Sections: m.sections})
	case Prepare:
		return m.feedPrepare(in)
	case Usage:
		return m.feedUsage(in)
	case Rejected:
		return m.feedRejected(in)
	case Reserve:
		return m.feedReserve(in)
	case Release:
		return m.feedRelease(in)
	case Answer:
		return m.feedAnswer(in)
	case TurnEnd:
		m.record(journal.Record{Kind: journal.KindTurnEnd})
		m.background(policy.AtTurnEnd)
	case Force:
		return m.feedForce(in)
	case Compact:
		m.compact(in)
	case Undo:
		return m.feedUndo(in)
	case SetPolicy:
		return m.feedPolicy(in.Policy)
	case Fork:
		return m.feedFork(in)
	case Restore:
		return m.feedRestore(in.Snapshot)
	}
	return nil
}

func (m *Machine) setTools(tools []llm.Tool) {
	m.tools = tools
	m.measureFront()
}

func (m *Machine) setSections(sections []llm.Section) {
	m.sections = sections
	m.measureFront()
}

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && a.Schema == b.Schema && a.Custom == b.Custom && a.Builtin == b.Builtin && sameRaw(a.Raw, b.Raw)
}

func sameSection(a, b llm.Section) bool {
	return a.Name == b.Name && a.Kind == b.Kind && a.Text == b.Text && a.Cacheable == b.Cacheable && a.Tokens == b.Tokens && sameRaw(a.Raw, b.Raw)
}

func sameRaw(a, b llm.Raw) bool { return bytes.Equal(a.Data, b.Data) && bytes.Equal(a.Base, b.Base) }

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
	// What the old rules were up to means nothing to the new ones.
	m.summary, m.declined = nil, declined{}
	m.setFinal(ReasonNone)
	clear(m.due)
	clear(m.tried)
	clear(m.noted)
	m.guard.Rebase(m.gauge.Total())
	m.indexLines()
	return nil
}

// HasReady reports whether there is something to do.
func (m *Machine) HasReady() bool {
	o := m.out
	return !m.stopped && (len(o.Blobs) > 0 || len(o.Records) > 0 || o.Ask != nil || o.Send != nil || o.Refused != nil || o.Torn != nil ||
		o.Grant != "" || len(o.Edits) > 0 || len(o.Events) > 0 || len(o.Traces) > 0 || len(m.asks) > 0 && m.asks[0].ID > m.asked)
}

// Ready returns what has to be done now. Call Advance when it was done, before
// the next Feed.
func (m *Machine) Ready() Ready {
	m.handed = m.HasReady()
	if m.handed && m.out.Ask == nil {
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

// Advance tells the machine how its last Ready went. Without a Ready before it,
// it does nothing.
func (m *Machine) Advance(o Outcome) {
	if !m.handed {
		return
	}
	done := m.out
	m.out, m.handed = Ready{}, false
	if len(o.FailedBlobs) > 0 {
		m.withdraw(done, o)
		return
	}
	if o.RecordsErr != nil {
		m.stopped = true
		return
	}
	for _, b := range done.Blobs {
		m.stored[b.Ref] = true
	}
	m.confirmed, m.held = len(m.journal), m.summary
	if done.Send != nil || done.Refused != nil || done.Torn != nil {
		m.noStore = false
	}
}

func (m *Machine) record(r journal.Record) {
	m.out.Records = append(m.out.Records, r)
	m.stated = nil
}

func (m *Machine) event(kind EventKind, rule, format string, args ...any) {
	m.out.Events = append(m.out.Events, Event{Kind: kind, Rule: rule, Text: fmt.Sprintf(format, args...)})
}
