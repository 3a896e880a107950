package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
)

// A phase is where a request is on its way:
//
//	          Prepare              a rule asks
//	idle ────────────▶ preparing ─────────────▶ asking
//	 ▲                  ▲   │ ▲                   │
//	 │                  │   │ └───────────────────┘ Answer
//	 │     blobs failed │   ▼ it fits
//	 │                  └─ handed ── Advance ──▶ sent ── Rejected ──▶ refused
//	 │                                            │                      │
//	 ├────────────────── Usage ───────────────────┘                      │
//	 └ it cannot be made to fit              preparing ◀─── at once ─────┘
//
// A question in the background is no phase: the request goes on without its answer.
type phase uint8

// The phases.
const (
	phaseIdle      phase = iota
	phasePreparing       // on its way through the rules
	phaseAsking          // it waits for an answer
	phaseHanded          // in the Ready that holds it
	phaseSent            // it left
	phaseRefused         // a provider refused it for its length
)

// A request is the one being made, or the last one.
type request struct {
	phase
	after   phase // what the one before had come to
	rule    int   // the next rule to look at
	resume  int   // the first rule to look at where a restart came while it waited for an answer
	to      int   // place among the targets of the one that it goes to
	noStore bool  // until it is out: nothing new can be stored

	before sending // what had been sent before it, until it is out
}

// making reports whether a request is on its way to its Ready.
func (r request) making() bool { return r.phase == phasePreparing || r.phase == phaseAsking }

// sending is what is known about the request that was sent last.
type sending struct {
	seq    int
	to     budget.Target // it need not be named any more
	meter  *meter.Meter  // that counted it; nil before the first one
	edit   edit.ID       // the newest edit
	end    int           // length of the transcript
	output int           // what it let the reply have
	front  llm.Digest    // what stood before its messages
}
