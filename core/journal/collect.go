package journal

import (
	"fmt"
	"iter"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// A Snapshot is what a session comes to: all that a restart needs. What it begins with is
// the state that was written last, and then what came after, record by record.
type Snapshot struct {
	Records  int                      // how many records it was collected from; the sequence number of the next one
	Messages []llm.Message            // the transcript; Messages[i].ID is i+1
	Edits    []edit.Edit              // all of them in order of ID, superseded ones too; see edit.Holding
	Thoughts []Thought                // messages with thinking, in order
	LastEdit edit.ID                  // the highest number used, also by an edit that no longer holds
	LastAsk  int                      // likewise
	Outputs  map[llm.MessageID]Output // replies whose size was reported
	Answered map[int]Dialogue         // asks that were answered, by number
	TurnEnd  llm.MessageID            // the last message of the last Turn that was ended; 0 if none was
	Fork     Fork                     // the newest; zero if the session was not forked from another

	State *State   // the newest; nil: none was written (before version 2, or before the first request)
	Base  Base     // what there was beside it
	Tail  []Record // what came after it, in order; without one, all records
}

// A Base is what there was when a state was written.
type Base struct {
	Messages int     // of the transcript
	Edit     edit.ID // the highest number among the edits
	Sections []llm.Section
	Told     edit.ID // as Edit, when Sections were set: notes of earlier edits about sections are of other ones
	Tools    []llm.Tool
	Offer    []int         // of the tools, those that are offered; nil: none is left out
	Declared bool          // the others are declared, as deferred
	Policy   policy.Policy // zero, with Version 0, if none was recorded
}

// A Thought is a message with thinking, which is bound to what stood before it.
type Thought struct {
	Message llm.MessageID
	Edit    edit.ID    // the newest that it was made under
	Final   bool       // it was made in a final Step, which has other tools
	Front   llm.Digest // the system prompt and the tools that it was made under, as [FrontOf] names them
}

// An Output is the size of a reply as its usage reported it.
type Output struct {
	Tokens int
	Model  string // that wrote it; empty: the preferred one of then
}

// A Dialogue is a question with its answer.
type Dialogue struct {
	Ask    Ask
	Answer Answer
}

// Collect reads the records of a session in order. It stops at the first error
// of the sequence, and at the first record that cannot follow those before it:
//
//   - message ids are 1, 2, 3, ...;
//   - edit ids ascend (one that was withdrawn before it was recorded leaves a
//     gap), supersede only earlier ones, and pass [edit.Check] at their place;
//   - ask ids ascend, and an answer ends an ask that is open;
//   - a fork does not claim messages that are not there.
//
// At a fork, messages after it go, and with them what was recorded since, so that the
// state is the one of then. But what is no matter of those messages stays: edits that
// concern none of them, which the parent has sent, and what refusals taught.
// Questions that are open end there: the fork asks those again that nobody waits for, under
// numbers of its own. To fork a session, collect its records and the fork's own.
//
// The snapshot shares slices with the records.
func Collect(records iter.Seq2[Record, error]) (Snapshot, error) { return CollectAbout(0, records) }

// CollectAbout is Collect of about that many records, as far as it is known, for which room is
// made at once: of each Step there are two messages, often an edit, and figures.
func CollectAbout(n int, records iter.Seq2[Record, error]) (Snapshot, error) {
	var c collector
	if n > 0 {
		c.out.Messages, c.out.Edits, c.log = make([]llm.Message, 0, n/2), make([]edit.Edit, 0, n/4), make([]entry, 0, n)
	}
	for r, err := range records {
		if err != nil {
			return Snapshot{}, fmt.Errorf("journal: collect: record %d: %w", c.out.Records, err)
		}
		if err := c.add(&r); err != nil {
			return Snapshot{}, fmt.Errorf("journal: collect: record %d: %w", c.out.Records, err)
		}
		c.out.Records++
	}
	if err := c.finish(); err != nil {
		return Snapshot{}, fmt.Errorf("journal: collect: %w", err)
	}
	if len(c.out.Messages) == 0 {
		c.out.Messages = nil
	}
	if len(c.out.Edits) == 0 {
		c.out.Edits = nil
	}
	return c.out, nil
}

// Read decodes the lines of a session, as a store yields them, for [Collect]: most
// states are only looked through. It ends after the first error.
func Read(lines iter.Seq2[[]byte, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var in reader
		for line, err := range lines {
			var r Record
			if err == nil {
				r, err = in.decode(line)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

type collector struct {
	sections  []llm.Section // before all messages, as they are now
	tools     []llm.Tool
	offer     []int      // which of them are offered; nil: all
	declared  bool       // the others are declared, as deferred
	frontNow  llm.Digest // of both, where named is set
	named     bool
	sentFront llm.Digest // of the request that left last

	out   Snapshot
	turns turn.Index // over out.Messages
	asks  []Ask      // without an answer
	log   []entry    // of all records that still count

	output Output // reported of the reply to come; 0 tokens: nothing was
	final  bool   // the Steps are final ones: as the last state says, until a person or another policy begins anew

	// What the entries of other kinds are short for.
	usages heap[Usage]
	states heap[writtenState]
	rest   heap[Record]
}

// note puts a record into the log.
func (c *collector) note(r *Record) {
	e := entry{kind: r.Kind}
	switch r.Kind {
	case KindMessage:
		e.at = int(r.Message.ID)
	case KindEdit:
		e.at = int(r.Edit.ID)
	case KindUsage:
		e.at = c.usages.add(r.Usage)
	case KindState:
		e.at = c.states.add(writtenState{r.State, r.Unread})
	default:
		e.at = c.rest.add(*r)
	}
	c.log = append(c.log, e)
	c.noteFinal(e)
	c.noteFront(e)
}

// noteFront notes of a record what stands before all messages after it, and what stood there
// when a request left.
func (c *collector) noteFront(e entry) {
	switch e.kind {
	case KindSections:
		c.sections, c.named = c.rest.at(e.at).Sections, false
	case KindTools:
		c.tools, c.offer, c.declared, c.named = c.rest.at(e.at).Tools, nil, false, false
	case KindOffer:
		c.offer, c.declared, c.named = c.rest.at(e.at).Offer, c.rest.at(e.at).Declared, false
	case KindState:
		c.sentFront = c.front()
	}
}

// noteFinal notes of a record whether the Steps after it are final ones.
func (c *collector) noteFinal(e entry) {
	switch e.kind {
	case KindState:
		_, c.final = c.states.at(e.at).sent()
	case KindPolicy:
		c.final = false
	}
}

// follow indexes the next message. One that does not pair is indexed all the same; the
// transcript is what it is, and the view is checked before it is sent.
func (c *collector) follow(m llm.Message) {
	if m.Origin == llm.Human && c.turns.CanCut(c.turns.Len()) {
		c.final = false
	}
	_ = c.turns.Append(m)
}

func (c *collector) add(r *Record) error {
	s := &c.out
	var err error
	switch r.Kind {
	case KindMessage:
		err = c.message(r.Message)
	case KindEdit:
		if err = errLean; r.Within == (Within{}) {
			err = c.edit(r.Edit)
		}
	case KindUsage:
		c.output = Output{}
		if r.Usage.Output {
			c.output = Output{r.Usage.Usage.Output, r.Usage.Model}
		}
	case KindTurnEnd:
		s.TurnEnd = c.last()
	case KindAsk:
		err = c.ask(r.Ask)
	case KindAnswer:
		err = c.answer(r.Answer)
	case KindFork:
		err = c.fork(r.Fork)
	case KindRejected, KindForce, KindExceeded, KindSections, KindTools, KindOffer, KindPolicy, KindRule:
	case KindState:
		err = c.state(r)
	default:
		return unknownKind(r.Kind)
	}
	if err == nil {
		c.note(r)
	}
	return err
}

// front names what stands before all messages now.
func (c *collector) front() llm.Digest {
	if !c.named {
		c.frontNow, c.named = FrontOf(c.sections, Offered(c.tools, c.offer, c.declared)), true
	}
	return c.frontNow
}

func (c *collector) state(r *Record) (err error) {
	w := writtenState{r.State, r.Unread}
	c.out.LastEdit = max(c.out.LastEdit, w.lastEdit())
	if c.output.Tokens == 0 {
		return nil
	}
	if w.read, err = w.state(); err != nil {
		return err
	}
	if !slices.ContainsFunc(w.read.Meters, func(m MeterState) bool { return m.Awaited != nil }) {
		c.output = Output{} // another request left: the reply to the one before never came
	}
	return nil
}

// finish makes of the log what a restart begins with.
func (c *collector) finish() (err error) {
	s, from := &c.out, 0
	for i := len(c.log) - 1; i >= 0; i-- {
		if c.log[i].kind == KindState {
			s.State, err = c.states.at(c.log[i].at).state()
			from = i + 1
			break
		}
	}
	for _, e := range c.log[:from] {
		switch e.kind {
		case KindMessage:
			s.Base.Messages = e.at
		case KindEdit:
			s.Base.Edit = edit.ID(e.at)
		case KindSections:
			s.Base.Sections, s.Base.Told = c.rest.at(e.at).Sections, s.Base.Edit
		case KindTools:
			s.Base.Tools, s.Base.Offer, s.Base.Declared = c.rest.at(e.at).Tools, nil, false
		case KindOffer:
			s.Base.Offer, s.Base.Declared = c.rest.at(e.at).Offer, c.rest.at(e.at).Declared
		case KindPolicy:
			s.Base.Policy = *c.rest.at(e.at).Policy
		}
	}
	for _, e := range c.log[from:] {
		s.Tail = append(s.Tail, c.record(e))
	}
	return err
}

// record returns what an entry is short for, but for states: nothing follows the newest.
func (c *collector) record(e entry) Record {
	switch e.kind {
	case KindMessage:
		return Record{Kind: e.kind, Message: c.out.Messages[e.at-1]}
	case KindEdit:
		at, _ := slices.BinarySearchFunc(c.out.Edits, edit.ID(e.at), func(e edit.Edit, id edit.ID) int { return int(e.ID - id) })
		return Record{Kind: e.kind, Edit: c.out.Edits[at]}
	case KindUsage:
		return Record{Kind: e.kind, Usage: *c.usages.at(e.at)}
	}
	return *c.rest.at(e.at)
}

// last returns the id of the newest message.
func (c *collector) last() llm.MessageID { return llm.MessageID(len(c.out.Messages)) }

func (c *collector) message(m llm.Message) error {
	if want := c.last() + 1; m.ID != want {
		return fmt.Errorf("message id, want %d, got %d", want, m.ID)
	}
	c.follow(m)
	c.out.Messages = append(c.out.Messages, m)
	if slices.ContainsFunc(m.Parts, isThinking) {
		c.out.Thoughts = append(c.out.Thoughts, c.thought(m.ID))
	}
	if c.output.Tokens > 0 && isReply(m) {
		if c.out.Outputs == nil {
			c.out.Outputs = map[llm.MessageID]Output{}
		}
		c.out.Outputs[m.ID], c.output = c.output, Output{}
	}
	return nil
}

// thought returns what thinking was made under: what the request was that left last, if it
// answers that one, else what there is now.
func (c *collector) thought(id llm.MessageID) Thought {
	t := Thought{Message: id, Edit: c.out.LastEdit, Final: c.final, Front: c.front()}
	if n := c.states.n; n > 0 {
		if sent, _ := c.states.at(n - 1).sent(); sent.Messages == int(id)-1 {
			t.Edit, t.Front = sent.Edit, c.sentFront
		}
	}
	return t
}

// isReply reports whether a model wrote m.
func isReply(m llm.Message) bool { return m.Origin == llm.Model && !m.Flags.Has(llm.FlagSynthetic) }

func (c *collector) edit(e edit.Edit) error {
	s := &c.out
	if e.ID <= s.LastEdit {
		return fmt.Errorf("edit id, want more than %d, got %d", s.LastEdit, e.ID)
	}
	for _, old := range e.Supersedes {
		if old >= e.ID {
			return fmt.Errorf("edit %d supersedes %d, want an earlier one", e.ID, old)
		}
	}
	added := e // the others have been checked
	if before, after, without := e.Added(s.Edits); without > 0 {
		added.Refs = slices.Concat(e.Refs[:1], before, after)
	}
	if err := edit.Check(added, s.Messages, &c.turns); err != nil {
		return fmt.Errorf("edit %d: %w", e.ID, err)
	}
	s.Edits = append(s.Edits, e)
	s.LastEdit = e.ID
	return nil
}

func (c *collector) fork(f Fork) error {
	s := &c.out
	if f.At < 0 || f.At > c.last() {
		return fmt.Errorf("fork at message %d, want 0 to %d", f.At, c.last())
	}
	c.cut(f.At)
	s.Messages = slices.Clip(s.Messages[:f.At])
	c.turns, c.final = turn.Index{}, false
	c.sections, c.tools, c.offer, c.declared, c.named = nil, nil, nil, false, false
	for _, e := range c.log {
		if e.kind == KindMessage {
			c.follow(s.Messages[e.at-1])
		}
		c.noteFinal(e)
		c.noteFront(e)
	}
	s.Thoughts = slices.DeleteFunc(s.Thoughts, func(t Thought) bool { return t.Message > f.At })
	for id := range s.Outputs {
		if id > f.At {
			delete(s.Outputs, id)
		}
	}
	c.asks, c.output, s.TurnEnd = nil, Output{}, min(s.TurnEnd, f.At)
	s.Fork = f
	return nil
}

// cut takes out of the log what came after message at, but for what is no matter of the
// messages after it.
func (c *collector) cut(at llm.MessageID) {
	s := &c.out
	s.Edits = slices.DeleteFunc(slices.Clone(s.Edits), func(e edit.Edit) bool { return e.Span.To > at+1 })
	stays := make(map[int]bool, len(s.Edits))
	for _, e := range s.Edits {
		stays[int(e.ID)] = true
	}
	end := c.end(at)
	var kept []entry
	for i, e := range c.log {
		switch {
		case e.kind == KindEdit && stays[e.at], e.kind != KindEdit && i < end:
			kept = append(kept, e)
		case e.kind == KindRejected:
			c.rest.at(e.at).Rejected.Used = 0 // it is of another request
			kept = append(kept, e)
		}
	}
	c.log = kept
}

// end returns the place in the log at which the time of message at ends: at the next
// message. Where that is a reply, what its call reported belongs to it.
func (c *collector) end(at llm.MessageID) int {
	next := slices.IndexFunc(c.log, func(e entry) bool { return e.kind == KindMessage && e.at == int(at)+1 })
	if next < 0 {
		return len(c.log)
	}
	if isReply(c.out.Messages[at]) {
		for i := next - 1; i >= 0 && c.log[i].kind != KindMessage; i-- {
			if c.log[i].kind == KindState {
				return i + 1
			}
		}
	}
	return next
}

func (c *collector) ask(a Ask) error {
	if a.ID <= c.out.LastAsk {
		return fmt.Errorf("ask id, want more than %d, got %d", c.out.LastAsk, a.ID)
	}
	c.asks = append(c.asks, a)
	c.out.LastAsk = a.ID
	return nil
}

func (c *collector) answer(a Answer) error {
	i := slices.IndexFunc(c.asks, func(open Ask) bool { return open.ID == a.Ask })
	if i < 0 {
		return fmt.Errorf("answer to ask %d, want one that is open", a.Ask)
	}
	if c.out.Answered == nil {
		c.out.Answered = map[int]Dialogue{}
	}
	c.out.Answered[a.Ask] = Dialogue{c.asks[i], a}
	c.asks = slices.Delete(c.asks, i, i+1)
	return nil
}
