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

// A Snapshot is what a session comes to: all that a restart needs.
type Snapshot struct {
	Records  int           // how many records it was collected from; the sequence number of the next one
	Messages []llm.Message // the transcript; Messages[i].ID is i+1
	Edits    []edit.Edit   // all of them in order of ID, superseded ones too; see edit.Holding
	LastEdit edit.ID       // the highest number used, also by an edit that no longer holds
	EditAt   llm.MessageID // the last message before the newest edit
	Sections []llm.Section // the newest; nil if none were recorded
	Tools    []llm.Tool    // the newest; nil if none were recorded
	Policy   policy.Policy // the newest; zero, with Version 0, if none was recorded

	Usage     Usage                    // the newest; zero if none was recorded
	UsageAt   llm.MessageID            // the last message before it
	UsageEdit edit.ID                  // the last edit before it
	Outputs   map[llm.MessageID]Output // replies whose size was reported
	Windows   map[string]int           // the smallest window that a refusal stated, by target
	Bytes     map[string]int           // the most bytes that refusals leave, by target

	Asks    []Ask         // those without an answer
	LastAsk int           // the highest number used
	TurnEnd llm.MessageID // the last message of the last Turn that was ended; 0 if none was
	Forced  Reason        // why the host wants the final Step of the Turn that is open; zero: it does not
	Exceed  Reason        // with any text: an output found no room in it
	Fork    Fork          // the newest; zero if the session was not forked from another
}

// An Output is the size of a reply as its usage reported it.
type Output struct {
	Tokens int
	Model  string // that wrote it; empty: the preferred one of then
}

// A Reason is a text, and the last message before it was given.
type Reason struct {
	Text string
	At   llm.MessageID
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
// At a fork, messages after it go, and with them the edits that concern any of
// them, also where these superseded others: the fork sees what its parent saw
// then (law 5). Questions and usage of the time after it go as well; numbers are
// not used again. To fork a session, collect its records and the fork's own.
//
// The snapshot shares slices with the records.
func Collect(records iter.Seq2[Record, error]) (Snapshot, error) {
	var c collector
	for r, err := range records {
		if err != nil {
			return Snapshot{}, fmt.Errorf("journal: collect: record %d: %w", c.out.Records, err)
		}
		if err := c.add(r); err != nil {
			return Snapshot{}, fmt.Errorf("journal: collect: record %d: %w", c.out.Records, err)
		}
		c.out.Records++
	}
	c.out.Edits = c.edits
	return c.out, nil
}

// Read decodes the lines of a session, as a store yields them. It ends after
// the first error.
func Read(lines iter.Seq2[[]byte, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for line, err := range lines {
			var r Record
			if err == nil {
				r, err = Decode(line)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

type collector struct {
	out   Snapshot
	turns turn.Index  // over out.Messages
	edits []edit.Edit // all of them, superseded ones too

	output Output // reported of the reply to come; 0 tokens: nothing was
}

func (c *collector) add(r Record) error {
	s := &c.out
	switch r.Kind {
	case KindMessage:
		return c.message(r.Message)
	case KindEdit:
		return c.edit(r.Edit)
	case KindUsage:
		if r.Usage.Prompt() > 0 || s.Usage.Prompt() == 0 { // else it says nothing about the prompt
			s.Usage, s.UsageAt, s.UsageEdit = r.Usage, c.last(), s.LastEdit
		}
		c.output = Output{}
		if r.Usage.Output {
			c.output = Output{r.Usage.Usage.Output, r.Usage.Model}
		}
	case KindRejected:
		s.Windows = smaller(s.Windows, r.Rejected.Target, r.Rejected.Window)
		s.Bytes = smaller(s.Bytes, r.Rejected.Target, r.Rejected.Bytes)
	case KindForce:
		s.Forced = Reason{r.Reason, c.last()}
	case KindExceeded:
		s.Exceed = Reason{string(KindExceeded), c.last()}
	case KindSections:
		s.Sections = r.Sections
	case KindTools:
		s.Tools = r.Tools
	case KindPolicy:
		s.Policy = r.Policy
	case KindTurnEnd:
		s.TurnEnd = c.last()
	case KindAsk:
		return c.ask(r.Ask)
	case KindAnswer:
		return c.answer(r.Answer)
	case KindFork:
		return c.fork(r.Fork)
	default:
		return unknownKind(r.Kind)
	}
	return nil
}

// smaller keeps the smallest positive number by name.
func smaller(of map[string]int, name string, n int) map[string]int {
	if n <= 0 {
		return of
	}
	if of == nil {
		of = map[string]int{}
	}
	if old, ok := of[name]; !ok || n < old {
		of[name] = n
	}
	return of
}

// last returns the id of the newest message.
func (c *collector) last() llm.MessageID { return llm.MessageID(len(c.out.Messages)) }

func (c *collector) message(m llm.Message) error {
	if want := c.last() + 1; m.ID != want {
		return fmt.Errorf("message id, want %d, got %d", want, m.ID)
	}
	// A message that does not pair is indexed all the same; the transcript is what
	// it is, and the view is checked before it is sent.
	if m.Origin == llm.Human && c.turns.CanCut(c.turns.Len()) { // a Turn begins
		c.out.Forced, c.out.Exceed = Reason{}, Reason{}
	}
	_ = c.turns.Append(m)
	c.out.Messages = append(c.out.Messages, m)
	if c.output.Tokens > 0 && m.Origin == llm.Model && !m.Flags.Has(llm.FlagSynthetic) {
		if c.out.Outputs == nil {
			c.out.Outputs = map[llm.MessageID]Output{}
		}
		c.out.Outputs[m.ID], c.output = c.output, Output{}
	}
	return nil
}

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
	if err := edit.Check(e, s.Messages, &c.turns); err != nil {
		return fmt.Errorf("edit %d: %w", e.ID, err)
	}
	c.edits = append(c.edits, e)
	s.LastEdit, s.EditAt = e.ID, c.last()
	return nil
}

func (c *collector) fork(f Fork) error {
	s := &c.out
	if f.At < 0 || f.At > c.last() {
		return fmt.Errorf("fork at message %d, want 0 to %d", f.At, c.last())
	}
	c.edits = slices.DeleteFunc(c.edits, func(e edit.Edit) bool { return e.Span.To > f.At+1 })
	s.Messages = slices.Clip(s.Messages[:f.At])
	c.turns = turn.Index{}
	for _, m := range s.Messages {
		_ = c.turns.Append(m)
	}
	if s.UsageAt > f.At {
		s.Usage, s.UsageAt, s.UsageEdit = Usage{}, 0, 0
	}
	if s.Forced.At > f.At {
		s.Forced = Reason{}
	}
	if s.Exceed.At > f.At {
		s.Exceed = Reason{}
	}
	s.Asks, s.TurnEnd = nil, min(s.TurnEnd, f.At)
	s.Fork = f
	return nil
}

func (c *collector) ask(a Ask) error {
	if a.ID <= c.out.LastAsk {
		return fmt.Errorf("ask id, want more than %d, got %d", c.out.LastAsk, a.ID)
	}
	c.out.Asks = append(c.out.Asks, a)
	c.out.LastAsk = a.ID
	return nil
}

func (c *collector) answer(a Answer) error {
	i := slices.IndexFunc(c.out.Asks, func(open Ask) bool { return open.ID == a.Ask })
	if i < 0 {
		return fmt.Errorf("answer to ask %d, want one that is open", a.Ask)
	}
	c.out.Asks = slices.Delete(c.out.Asks, i, i+1)
	return nil
}
