package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// withdraw takes back the edits of a Ready whose blobs could not all be stored.
// The whole lot goes, since later edits may build on the ones that failed, but for
// the notes that were put in, which need nothing stored; the records of what
// happened stay. A request that was on its way is made again with what is durable
// (law 12).
func (m *Machine) withdraw(done Ready, o Outcome) {
	kept := m.journal[:m.confirmed:m.confirmed]
	for _, e := range m.journal[m.confirmed:] {
		if e.Op == edit.Insert {
			kept = append(kept, e)
			m.out.Edits = append(m.out.Edits, e)
			continue
		}
		m.stats.Edits[e.Kind]--
		if e.Rule == backstopRule {
			m.stats.Backstop--
		}
	}
	m.out.Events = slices.DeleteFunc(slices.Clone(done.Events), func(e Event) bool { return e.Kind == EventStillOver || e.Kind == EventSkip })
	m.out.Traces = done.Traces
	for _, p := range done.Placements { // what the rules did is taken back
		m.out.Placements = append(m.out.Placements, p.untouched())
	}
	why := ""
	if o.BlobsErr != nil {
		why = ": " + o.BlobsErr.Error()
	}
	m.event(EventWithdrawn, "", "%d of %d blobs could not be stored, %d edits are taken back%s", len(o.FailedBlobs), len(done.Blobs), len(m.journal)-len(kept), why)
	m.journal = kept
	for _, b := range done.Blobs {
		delete(m.stored, b.Ref)
	}
	waited := m.prepare != nil
	m.rerecord(done)
	was := m.gauge.total()
	m.refold()
	m.guard.Edited(m.gauge.total() - was)
	if m.summary == nil {
		m.summary = m.held
	}
	clear(m.tried)
	if done.Send != nil {
		m.sent.seq--
		if done.Send.StillOver {
			m.stats.StillOver--
		}
	}
	if done.Refused != nil {
		m.stats.Refused--
	}
	if done.Send == nil && done.Refused == nil && done.Torn == nil && !waited {
		return
	}
	m.noStore = true
	m.begin()
}

// rerecord puts the records of a Ready that was not carried out into the next one.
// Edits that were taken back are left out. So is a question that a request waits
// for, since its answer could not be used; any other one is asked again.
func (m *Machine) rerecord(done Ready) {
	drop := done.Ask != nil && !done.Ask.Background
	if done.Ask != nil {
		m.asked = done.Ask.ID - 1
	}
	if drop {
		m.asks = nil
	}
	for _, r := range done.Records {
		if r.Kind == journal.KindEdit && r.Edit.Op != edit.Insert || r.Kind == journal.KindAsk && drop {
			continue
		}
		m.record(r)
	}
}

// refold makes the view anew from the transcript and the journal.
func (m *Machine) refold() {
	view, err := edit.Fold(m.messages, edit.Holding(m.journal))
	if err != nil { // the journal was valid when it was made
		m.event(EventNoProgress, "", "%v", err)
		return
	}
	m.view = view
	m.remeasure()
}

func (m *Machine) feedRestore(s journal.Snapshot) error {
	p := m.policy
	if s.Policy.Name != "" {
		p = s.Policy
	}
	if err := policy.Validate(p); err != nil {
		return fmt.Errorf("engine: restore: %w", err)
	}
	view, err := edit.Fold(s.Messages, edit.Holding(s.Edits))
	if err != nil {
		return fmt.Errorf("engine: restore: %w", err)
	}
	old := *m
	m.reset()
	m.policy, m.view = p, view
	m.messages, m.journal = slices.Clone(s.Messages), slices.Clone(s.Edits)
	m.sections, m.tools = s.Sections, s.Tools
	m.lastEdit, m.asked = s.LastEdit, s.LastAsk
	maps.Copy(m.learnt, s.Windows) // resolve takes the smaller of these and what is stated
	maps.Copy(m.learntBytes, s.Bytes)
	if err := m.setTargets(m.cfg.Targets); err != nil {
		*m = old
		return err
	}
	for _, msg := range s.Messages {
		m.remark(msg)
		_ = m.turns.Append(msg) // orphans were refused when they were appended
	}
	for _, e := range s.Edits {
		for _, r := range e.Refs {
			m.stored[r] = true
		}
	}
	m.confirmed = len(m.journal)
	for id, o := range s.Outputs { // each model counts its own
		for i, t := range m.targets {
			if o.Model == t.Model || o.Model == "" && i == 0 {
				m.count[i].known[id] = o.Tokens
			}
		}
	}
	m.remeasure()
	m.recall(s)
	m.opened, m.out.Traces = false, nil
	m.traceInit()
	return nil
}

// feedFork is Restore of another machine's past: its messages up to At and the
// edits that concern only them.
func (m *Machine) feedFork(in Fork) error {
	if len(m.messages) > 0 {
		return fmt.Errorf("engine: fork of %q: this machine has %d messages, want an empty one", in.Parent, len(m.messages))
	}
	if in.At < 0 || int(in.At) > len(in.Snapshot.Messages) {
		return fmt.Errorf("engine: fork of %q: at message %d, want 0 to %d", in.Parent, in.At, len(in.Snapshot.Messages))
	}
	s := in.Snapshot
	s.Messages = s.Messages[:in.At]
	s.Outputs = maps.Clone(s.Outputs)
	maps.DeleteFunc(s.Outputs, func(id llm.MessageID, _ journal.Output) bool { return id > in.At })
	s.Edits = slices.DeleteFunc(slices.Clone(s.Edits), func(e edit.Edit) bool { return e.Span.To > in.At+1 })
	if s.Forced.At > in.At {
		s.Forced = journal.Reason{}
	}
	if s.Exceed.At > in.At {
		s.Exceed = journal.Reason{}
	}
	if s.UsageAt > in.At {
		s.Usage, s.UsageAt, s.UsageEdit = journal.Usage{}, 0, 0
	}
	if err := m.feedRestore(s); err != nil {
		return err
	}
	m.record(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: in.Parent, At: in.At}})
	return nil
}

// clone returns a machine on which something can be tried out.
func (m *Machine) clone() *Machine {
	c := *m
	c.turns = *m.turns.Clone()
	c.journal = slices.Clip(m.journal)
	c.stored = maps.Clone(m.stored)
	c.tried, c.due = maps.Clone(m.tried), maps.Clone(m.due)
	c.stats.Edits = maps.Clone(m.stats.Edits)
	c.out, c.shown = Ready{}, nil
	c.cloneMeters(m)
	return &c
}
