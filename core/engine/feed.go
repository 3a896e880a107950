package engine

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// New returns a machine for an empty conversation.
func New(c Config) (*Machine, error) {
	if err := policy.Validate(c.Policy); err != nil {
		return nil, fmt.Errorf("engine: new: %w", err)
	}
	m := new(Machine)
	m.cfg, m.policy = c, c.Policy
	m.reset()
	if err := m.setTargets(c.Targets); err != nil {
		return nil, err
	}
	m.indexLines()
	m.traceInit()
	return m, nil
}

// Feed takes an input. An error means that the input was not accepted and
// changed nothing. After Ready it is Advance's turn first, but for Restore.
func (m *Machine) Feed(in Input) error {
	if _, ok := in.(Restore); !ok && m.stopped {
		return ErrStopped
	} else if !ok && m.handed {
		// Its type is not named: that would put every input on the heap.
		return errors.New("engine: feed: want Advance after Ready, got an input")
	}
	if _, ok := in.(Prepare); !ok {
		m.request.resume = 0
	}
	switch in := in.(type) {
	case Append:
		return m.reserved(in.Reserved, func() error { return m.feedAppend(in.Message) })
	case Stored:
		return m.reserved(in.Reserved, func() error { return m.feedStored(in) })
	case SetTools:
		m.feedTools(in)
	case Promote:
		m.feedPromote(in)
	case SetSections:
		m.feedSections(in)
	case SetPrompt:
		m.feedPrompt(in)
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
		m.feedTurnEnd()
	case Force:
		return m.feedForce(in)
	case Compact:
		m.feedCompact(in)
	case Undo:
		return m.feedUndo(in)
	case SetPolicy:
		return m.feedPolicy(in.Policy)
	case Fork:
		return m.feedFork(in)
	case Restore:
		return m.feedRestore(in.Snapshot)
	default:
		return errors.New("engine: feed: want one of the inputs of this package")
	}
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
	m.confirmed, m.held = len(m.journal), m.summary
	m.guard.Kept()
	if done.Send != nil || done.Refused != nil || done.Torn != nil {
		m.request.noStore = false
	}
	if m.request.phase == phaseHanded {
		m.request.phase = phaseSent
	}
}
