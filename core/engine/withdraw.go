package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/meter"
)

// withdraw takes back the edits of a Ready whose blobs could not all be stored.
// The whole lot goes, since later edits may build on the ones that failed, but for
// the notes that were put in and need nothing stored; the records of what
// happened stay. A request that was on its way is made again with what is durable
// (law 12).
func (m *Machine) withdraw(done Ready, o Outcome) {
	kept := m.journal[:m.confirmed:m.confirmed]
	for _, e := range m.journal[m.confirmed:] {
		if needsNothing(e) {
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
	m.out.Traces, m.out.Grant = done.Traces, done.Grant
	for _, p := range done.Placements { // what the rules did is taken back
		m.out.Placements = append(m.out.Placements, p.unstored())
	}
	why := ""
	if o.BlobsErr != nil {
		why = ": " + o.BlobsErr.Error()
	}
	m.event(EventWithdrawn, "", "%d of %d blobs could not be stored, %d edits are taken back%s", len(o.FailedBlobs), len(done.Blobs), len(m.journal)-len(kept), why)
	for _, b := range done.Blobs {
		delete(m.stored, b.Ref)
	}
	waited := m.request.making()
	m.rerecord(done)
	m.journal = m.journal[:m.confirmed:m.confirmed]
	m.refold()
	m.guard.Withdrawn()
	if len(kept) > m.confirmed {
		without := m.gauge.Total()
		m.journal = kept
		m.refold()
		m.guard.Edited(m.gauge.Total() - without)
	}
	if m.summary == nil {
		m.summary = m.held
	}
	clear(m.tried)
	m.wrote = nil
	if done.Send != nil {
		m.sent = m.request.before // it never left
		m.all((*meter.Meter).Stay)
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
	m.request.noStore = true
	m.begin()
}

// needsNothing reports whether an edit is a note that needs nothing stored.
func needsNothing(e edit.Edit) bool { return e.Op == edit.Insert && len(e.Refs) == 0 }

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
		if r.Kind == journal.KindEdit && !needsNothing(r.Edit) || r.Kind == journal.KindAsk && drop || r.Kind == journal.KindState {
			continue
		}
		m.record(r)
	}
}
