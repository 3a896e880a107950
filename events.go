package plimsoll

import (
	"context"
	"iter"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// An Event is something that happened in a session. Of the pointers the one that Kind
// names is set; what it points to must not be changed.
type Event struct {
	Session string
	Seq     uint64 // counts the events of a session from 1 since it was opened
	Missed  uint64 // events before this one that a slow reader did not get
	Kind    EventKind
	Text    string // a sentence

	Edit     *edit.Edit
	Notice   *engine.Event
	Sent     *Sent
	Refused  *budget.OverError
	Answered *Answered
}

// EventKind says what an event is about.
type EventKind string

// The kinds.
const (
	EventEdit       EventKind = "edit"       // Edit: the view was changed
	EventNotice     EventKind = "notice"     // Notice: what the engine tells beside its edits
	EventSent       EventKind = "sent"       // Sent: Prepare returned a request
	EventRefused    EventKind = "refused"    // Refused: a request cannot be made to fit
	EventAnswered   EventKind = "answered"   // Answered: a provider reported usage
	EventSummarised EventKind = "summarised" // Answered: what calls of a model for a summary took, all together
	EventUnsaved    EventKind = "unsaved"    // only Text: no snapshot was kept, so that a resume reads all records
	EventPrompt     EventKind = "prompt"     // only Text: a file that the system prompt is made of could not be read
	EventUnread     EventKind = "unread"     // only Text: one of the policy's own tools could not read what is stored
)

// Sent is a request that Prepare returned, in figures.
type Sent struct {
	Seq       int // of the request
	Target    budget.Target
	Count     token.Estimate
	Limit     int
	Projected int // by the guard's own sum, in tokens
	Messages  int
	Edited    bool
	Final     engine.Reason
	StillOver bool
}

// Answered is what a provider reported about a call.
type Answered struct {
	Target budget.Target
	Usage  llm.Usage
	Cost   catalog.Money // by list prices
}

// heldEvents is how many events are kept for readers.
const heldEvents = 1024

// A broadcast is a ring of events that any number of readers follow.
type broadcast struct {
	session string

	mu    sync.Mutex
	ring  []Event       // the event with number n is at n % heldEvents
	last  uint64        // number of the newest
	ended bool          // no more will come
	more  chan struct{} // is closed when something changes; nil: nobody waits
}

func newBroadcast(session string) *broadcast { return &broadcast{session: session} }

func (b *broadcast) add(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	b.last++
	e.Session, e.Seq = b.session, b.last
	if len(b.ring) < heldEvents {
		b.ring = append(b.ring, e)
	} else {
		b.ring[(b.last-1)%heldEvents] = e
	}
	b.wake()
}

func (b *broadcast) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended = true
		b.wake()
	}
}

func (b *broadcast) wake() {
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
}

// next returns the first event after number seen that is still held; else whether more
// may come, and what says so.
func (b *broadcast) next(seen uint64) (e Event, ok, ended bool, more <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if seen == b.last {
		if b.more == nil && !b.ended {
			b.more = make(chan struct{})
		}
		return Event{}, false, b.ended, b.more
	}
	oldest := b.last - uint64(len(b.ring)) + 1
	at := max(seen+1, oldest)
	e = b.ring[(at-1)%heldEvents]
	e.Missed = at - seen - 1
	return e, true, false, nil
}

func (b *broadcast) events(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var seen uint64
		for ctx.Err() == nil {
			e, ok, ended, more := b.next(seen)
			switch {
			case ok:
				seen = e.Seq
				if !yield(e) {
					return
				}
			case ended:
				return
			default:
				select {
				case <-ctx.Done():
				case <-more:
				}
			}
		}
	}
}

// number returns that of the newest event.
func (b *broadcast) number() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// noticeAfter returns what the newest notice after an event says, of those for which
// which is true; empty if there is none.
func (b *broadcast) noticeAfter(seen uint64, which func(engine.Event) bool) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := b.last; n > seen && n+heldEvents > b.last; n-- {
		if e := b.ring[(n-1)%heldEvents]; e.Kind == EventNotice && which(*e.Notice) {
			return e.Text
		}
	}
	return ""
}
