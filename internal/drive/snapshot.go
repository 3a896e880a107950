package drive

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

const (
	// mostPage is the bytes of records from which on a page has enough.
	mostPage = 4 << 20
	// leastPage is the records below which a page is made anew with what came after it, so
	// that a session of short Turns has no page for each of them.
	leastPage = 128
)

// A paging is how far the pages of a session reach. A snapshot is the newest page, and those
// before it.
type paging struct {
	from, to int   // of the newest page
	before   []int // where the pages before it end
	own      bool  // this driver has written it
	due      bool  // something was made shorter since
	wanted   bool  // one is due, and it is left to the host when it is taken
	cut      bool  // something has been made shorter at all
}

// pages returns the store as one that keeps snapshots, if it does and if it is to.
func (d *Driver) pages() (store.Snapshotter, bool) {
	s, ok := d.config.Store.(store.Snapshotter)
	return s, ok && d.config.Snapshots && !d.config.Ephemeral
}

// shrank reports whether edits make a view smaller.
func shrank(edits []edit.Edit) bool {
	for _, e := range edits {
		if e.Before > e.After {
			return true
		}
	}
	return false
}

// snapshotAfter takes a snapshot, if one is due and nobody waits for what in has led to: after
// each compaction that made something shorter, once its request has left, and again at the
// end of a Turn. Without one a resume reads all records, so that its failure ends nothing.
func (d *Driver) snapshotAfter(ctx context.Context, in engine.Input) error {
	due := d.paging.due
	switch in.(type) {
	case engine.TurnEnd:
		due = due || d.paging.cut && d.records > d.paging.to
	case engine.Usage, engine.Append, engine.Compact:
	default:
		return nil
	}
	s, ok := d.pages()
	if !ok || !due {
		return nil
	}
	d.paging.due = false
	if d.config.SnapshotLater {
		d.paging.wanted = true
		return nil
	}
	return d.addPages(ctx, s)
}

// SnapshotDue reports whether Snapshot would take one.
func (d *Driver) SnapshotDue() bool { return d.paging.wanted && !d.stopped }

// Snapshot takes the snapshot that is due, if one is (see [Config.SnapshotLater]).
func (d *Driver) Snapshot(ctx context.Context) error {
	s, ok := d.pages()
	if !ok || !d.SnapshotDue() {
		return nil
	}
	d.paging.wanted = false
	return d.addPages(ctx, s)
}

// addPages keeps pages of all records that none has.
func (d *Driver) addPages(ctx context.Context, s store.Snapshotter) error {
	for d.paging.to < d.records {
		if err := d.addPage(ctx, s); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
	}
	return nil
}

// addPage keeps the next page.
func (d *Driver) addPage(ctx context.Context, s store.Snapshotter) error {
	p := journal.Page{From: d.paging.to, Before: d.paging.before}
	if d.paging.to-d.paging.from < leastPage {
		p.From = d.paging.from
	} else {
		p.Before = append(slices.Clip(p.Before), d.paging.to)
	}
	lines, err := d.next(ctx, p.From)
	if err != nil {
		return err
	}
	if p.Lines, err = journal.Shorten(lines, d.machine.Journal()); err != nil {
		return err
	}
	if p.To = p.From + len(lines); p.To == d.records {
		p.Shown = shown(d.machine)
	}
	data, err := journal.EncodePage(p)
	if err != nil {
		return err
	}
	if err := s.PutSnapshot(ctx, d.config.ID, p.To, data); err != nil {
		return err
	}
	before := d.paging
	d.paging.from, d.paging.to, d.paging.before, d.paging.own = p.From, p.To, p.Before, true
	if before.own && before.to < p.To {
		return d.outdate(ctx, s, before, p.From)
	}
	return nil
}

// next returns the records from a number on that a page has.
func (d *Driver) next(ctx context.Context, from int) ([][]byte, error) {
	var lines [][]byte
	size := 0
	for l, err := range d.config.Store.Records(ctx, d.config.ID, from) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
		size += len(l)
		if from+len(lines) == d.records || from+len(lines) > d.paging.to && size >= mostPage {
			break
		}
	}
	if from+len(lines) <= d.paging.to {
		return nil, fmt.Errorf("records from %d on, want more than %d, got %d", from, d.paging.to-from, len(lines))
	}
	return lines, nil
}

// outdate takes from the page before what the newest one has: what is shown and where pages end,
// or all of it.
func (d *Driver) outdate(ctx context.Context, s store.Snapshotter, old paging, from int) error {
	if from < old.to {
		return s.PutSnapshot(ctx, d.config.ID, old.to, nil)
	}
	data, err := s.SnapshotAt(ctx, d.config.ID, old.to)
	if err != nil {
		return err
	}
	p, err := journal.DecodePage(data)
	if err == nil {
		p.Before = nil
		data, err = journal.EncodePage(p)
	}
	if err != nil {
		return err
	}
	return s.PutSnapshot(ctx, d.config.ID, old.to, data)
}

// shown is what a machine's view shows.
func shown(m *engine.Machine) journal.Shown {
	v := m.View()
	out := journal.Shown{Tokens: m.Count().Point, Messages: []llm.Message{}}
	for _, sec := range m.Sections() {
		out.Messages = append(out.Messages, llm.Message{Role: llm.RoleSystem, Parts: []llm.Part{llm.Text{Text: sec.Text}}})
	}
	for _, it := range v.Items {
		out.Messages = append(out.Messages, it.Message)
	}
	return out
}

// collect returns what the records come to.
func (d *Driver) collect(ctx context.Context) (journal.Snapshot, error) {
	from := d.config.Store
	if _, ok := d.pages(); !ok {
		from = withoutSnapshots{from}
	}
	snap, paged, err := Collect(ctx, from, d.config.ID, d.shown)
	d.paging = paging{from: paged.From, to: paged.To, before: paged.Before, cut: paged.To > 0}
	return snap, err
}

// withoutSnapshots is a store that keeps none.
type withoutSnapshots struct{ store.Store }

// Collect returns what the records of a session come to: from its snapshot and the records
// after it, or, where there is none that is of use, from all records. It also returns the newest
// page of that snapshot, or none. shown is given the records that are read, from the first one
// on each time that it is called.
func Collect(ctx context.Context, st store.Store, session string, shown func(iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error]) (journal.Snapshot, journal.Page, error) {
	if s, ok := st.(store.Snapshotter); ok {
		if last, pages, ok := readPages(ctx, s, session); ok {
			rest := journal.Read(st.Records(ctx, session, last.To))
			snap, err := journal.CollectAbout(last.To, shown(journal.Whole(joined(pages.all, rest))))
			pages.stop()
			if err == nil {
				return snap, last, nil
			}
		}
	}
	snap, err := journal.Collect(shown(journal.Read(st.Records(ctx, session, 0))))
	return snap, journal.Page{}, err
}

// joined yields the records of pages, then others.
func joined(pages iter.Seq2[*journal.Stretch, error], rest iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for p, err := range pages {
			if err != nil {
				yield(journal.Record{}, err)
				return
			}
			for rec := range p.All() {
				if !yield(rec, nil) {
					return
				}
			}
		}
		for rec, err := range rest {
			if !yield(rec, err) {
				return
			}
		}
	}
}
