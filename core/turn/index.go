package turn

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// none marks the absence of a place in one of the slices of an Index.
const none = -1

// A Turn is the messages at positions [Start, End).
type Turn struct{ Start, End int }

// A Round is an assistant message with tool calls, the results of these calls
// and everything between, at positions [Call, End). See the package comment.
type Round struct {
	Call int // position of the assistant message with the first calls
	End  int // position after the last result; the end of the conversation while a call is open
	Open int // calls that still need a result
}

// A Call is one tool call: the part Part of the message at Position.
type Call struct {
	Position, Part int
	CallID, Name   string
}

// A Result is one tool result: the part Part of the message at Position.
type Result struct {
	Position, Part int
	CallID         string
}

// Reasons in an OrphanError.
const (
	ReasonUnknown   = "no call has this id"
	ReasonAnswered  = "every call with this id has a result"
	ReasonDuplicate = "an open call has the same id"
)

// An OrphanError says that a message does not pair cleanly. The message was
// indexed all the same: an orphan result stands alone, a call with a duplicate id
// is answered first.
type OrphanError struct {
	CallID   string
	Position int    // of the message
	Part     int    // within the message
	Reason   string // one of the Reason constants
	More     int    // further faults of the same message
}

// Error describes the first fault of the message.
func (e *OrphanError) Error() string {
	text := fmt.Sprintf("turn: append: call id %q at message %d, part %d, want one open call for each result and ids that differ, got: %s",
		e.CallID, e.Position, e.Part, e.Reason)
	if e.More > 0 {
		text += fmt.Sprintf(" (and %d more)", e.More)
	}
	return text
}

// An Index is the structure of a conversation so far. The zero Index is empty
// and ready. It keeps no messages and is not safe for concurrent use.
type Index struct {
	length  int
	humans  []int    // positions that open a Turn, ascending
	cuts    []int    // legal cuts below length, ascending
	rounds  []round  // ascending and disjoint
	calls   []call   // in order of appearance
	results []result // in order of appearance
	// The newest call of each id, by its place in calls: of all calls, of the open
	// ones, of the hosted ones without a result.
	latest, open, hosted map[string]int
}

type round struct {
	call, end int
	open      int
	first     int // its first call in Index.calls
}

type call struct {
	Call
	hosted bool
	result int // in Index.results, or none
	below  int // the next older call in the same map (open or hosted) with its id, or none
}

type result struct {
	Result
	call int // in Index.calls, or none for an orphan
}

// Append adds the next message. It returns an *OrphanError if a result answers
// no open call or a call reuses the id of an open one; the message is indexed in
// any case, and the caller decides what becomes of it. The cost is linear in the
// number of parts, amortised over all calls.
func (x *Index) Append(m llm.Message) error {
	position := x.length
	if x.canCutEnd() {
		x.cuts = append(x.cuts, position)
		if m.Origin == llm.Human {
			x.humans = append(x.humans, position)
		}
	}
	x.length++
	var fault *OrphanError
	for i, p := range m.Parts {
		reason, id := "", ""
		switch p := p.(type) {
		case llm.ToolCall:
			reason, id = x.addCall(p, position, i), p.CallID
		case llm.ToolResult:
			reason, id = x.addResult(p.CallID, position, i), p.CallID
		}
		switch {
		case reason == "":
		case fault == nil:
			fault = &OrphanError{CallID: id, Position: position, Part: i, Reason: reason}
		default:
			fault.More++
		}
	}
	if fault != nil {
		return fault
	}
	return nil
}

// addCall indexes a call and returns what is wrong with it, or "".
func (x *Index) addCall(c llm.ToolCall, position, part int) string {
	last := len(x.rounds) - 1
	if last < 0 || x.rounds[last].open == 0 && x.rounds[last].end <= position {
		x.rounds = append(x.rounds, round{call: position, end: position + 1, first: len(x.calls)})
		last++
	}
	x.rounds[last].end = max(x.rounds[last].end, position+1)
	if x.latest == nil {
		x.latest, x.open, x.hosted = map[string]int{}, map[string]int{}, map[string]int{}
	}
	waiting, reason := x.hosted, ""
	if !c.Hosted {
		x.rounds[last].open++
		waiting = x.open
	}
	below, ok := waiting[c.CallID]
	switch {
	case !ok:
		below = none
	case !c.Hosted:
		reason = ReasonDuplicate
	}
	x.latest[c.CallID], waiting[c.CallID] = len(x.calls), len(x.calls)
	x.calls = append(x.calls, call{
		Call:   Call{Position: position, Part: part, CallID: c.CallID, Name: c.Name},
		result: none, below: below, hosted: c.Hosted,
	})
	return reason
}

// addResult indexes a result and returns what is wrong with it, or "".
func (x *Index) addResult(callID string, position, part int) string {
	waiting := x.open
	answered, ok := waiting[callID]
	if !ok {
		waiting = x.hosted
		answered, ok = waiting[callID]
	}
	if !ok {
		answered = none
	}
	x.results = append(x.results, result{Result: Result{Position: position, Part: part, CallID: callID}, call: answered})
	if !ok {
		if _, known := x.latest[callID]; known {
			return ReasonAnswered
		}
		return ReasonUnknown
	}
	c := &x.calls[answered]
	c.result = len(x.results) - 1
	if c.below == none {
		delete(waiting, callID)
	} else {
		waiting[callID] = c.below
	}
	if c.hosted {
		x.rejoin(answered, position)
	} else { // open, and therefore of the last Round
		x.rounds[len(x.rounds)-1].open--
	}
	x.rounds[len(x.rounds)-1].end = position + 1
	return ""
}

// rejoin makes one Round of the Round of a hosted call and all that follows it
// up to position, and takes back the cuts and Turns inside. They are at the end
// of their slices, so that each is taken back at most once.
func (x *Index) rejoin(hosted, position int) {
	r := sort.Search(len(x.rounds), func(i int) bool { return x.rounds[i].first > hosted }) - 1
	if x.rounds[r].end > position {
		return
	}
	for _, later := range x.rounds[r+1:] {
		x.rounds[r].open += later.open
	}
	x.rounds = x.rounds[:r+1]
	inside := x.rounds[r].call + 1
	x.cuts = x.cuts[:sort.SearchInts(x.cuts, inside)]
	x.humans = x.humans[:sort.SearchInts(x.humans, inside)]
}

// Len returns the number of messages.
func (x *Index) Len() int { return x.length }

// Turns returns all Turns in order. Together they cover every message.
func (x *Index) Turns() []Turn {
	if x.length == 0 {
		return nil
	}
	turns := make([]Turn, 0, len(x.humans)+1)
	start := 0
	for i, h := range x.humans {
		if i > 0 {
			turns = append(turns, Turn{start, h})
			start = h
		}
	}
	return append(turns, Turn{start, x.length})
}

// Rounds returns all Rounds in order. They do not overlap.
func (x *Index) Rounds() []Round {
	rounds := make([]Round, len(x.rounds))
	for i := range x.rounds {
		rounds[i] = x.roundOf(i)
	}
	return rounds
}

// RoundAt returns the Round that contains a position.
func (x *Index) RoundAt(position int) (Round, bool) {
	i := sort.Search(len(x.rounds), func(i int) bool { return x.rounds[i].call > position }) - 1
	if i < 0 || position >= x.length {
		return Round{}, false
	}
	r := x.roundOf(i)
	return r, position < r.End
}

func (x *Index) roundOf(i int) Round {
	r := x.rounds[i]
	if r.open > 0 {
		r.end = x.length
	}
	return Round{Call: r.call, End: r.end, Open: r.open}
}

// OpenCalls returns the calls that still need a result, in order. They all
// belong to the last Round.
func (x *Index) OpenCalls() []Call {
	if len(x.rounds) == 0 || x.rounds[len(x.rounds)-1].open == 0 {
		return nil
	}
	var open []Call
	for _, c := range x.calls[x.rounds[len(x.rounds)-1].first:] {
		if c.result == none && !c.hosted {
			open = append(open, c.Call)
		}
	}
	return open
}

// CallOf returns the latest call with an id. To find the call of an older
// result, use [Index.CallFor]: ids may come back.
func (x *Index) CallOf(callID string) (Call, bool) {
	i, ok := x.latest[callID]
	if !ok {
		return Call{}, false
	}
	return x.calls[i].Call, true
}

// CallFor returns the call that the result at a place answers. It reports false
// if there is no result at this place or it is an orphan.
func (x *Index) CallFor(position, part int) (Call, bool) {
	i, ok := slices.BinarySearchFunc(x.results, place{position, part}, func(r result, want place) int {
		return want.compare(r.Position, r.Part)
	})
	if !ok || x.results[i].call == none {
		return Call{}, false
	}
	return x.calls[x.results[i].call].Call, true
}

// ResultFor returns the result that answers the call at a place. It reports
// false if there is no call at this place or it has no result.
func (x *Index) ResultFor(position, part int) (Result, bool) {
	i, ok := slices.BinarySearchFunc(x.calls, place{position, part}, func(c call, want place) int {
		return want.compare(c.Position, c.Part)
	})
	if !ok || x.calls[i].result == none {
		return Result{}, false
	}
	return x.results[x.calls[i].result].Result, true
}

// Clone returns an independent copy, for a fork.
func (x *Index) Clone() *Index {
	c := *x
	c.humans = slices.Clone(x.humans)
	c.cuts = slices.Clone(x.cuts)
	c.rounds = slices.Clone(x.rounds)
	c.calls = slices.Clone(x.calls)
	c.results = slices.Clone(x.results)
	c.latest = maps.Clone(x.latest)
	c.open = maps.Clone(x.open)
	c.hosted = maps.Clone(x.hosted)
	return &c
}

// A place is a part of a message.
type place struct{ position, part int }

// compare orders another place against p, as BinarySearchFunc wants it.
func (p place) compare(position, part int) int {
	if position != p.position {
		return position - p.position
	}
	return part - p.part
}
